// Mouse and touch on the scene: contact tooltips, selection and pushing of bodies.

import { Plane, Vector3 } from 'three';
import type { Contact } from './data';
import type { Stage } from './stage';
import type { Bodies } from './bodies';
import type { Contacts } from './contacts';

/** Distance within which a contact shows its tooltip [px]: mouse, touch. */
const REACH = { mouse: 14, touch: 26 };
/** A press that moves less than this is a click [px]. */
const CLICK = 5;

export interface PointerEvents {
  bodies(): Bodies | null;
  /** `true` when bodies can be pushed: the simulation is live and shows the latest frame. */
  pushes(): boolean;
  grab(body: number, point: Vector3): void;
  move(target: Vector3): void;
  release(): void;
  select(body: number): void;
  explain(contact: Contact | null, x: number, y: number): void;
}

export class Pointer {
  private grabbed: Plane | null = null;
  private pressed: { x: number; y: number } | null = null;

  constructor(private readonly stage: Stage, private readonly contacts: Contacts, private readonly events: PointerEvents) {
    const { canvas } = stage;
    // handled before the camera controls
    canvas.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.moved(event));
    window.addEventListener('pointerup', (event) => this.up(event));
    window.addEventListener('pointercancel', () => this.letGo());
    window.addEventListener('blur', () => this.letGo());
    canvas.addEventListener('pointerleave', () => events.explain(null, 0, 0));
  }

  private down(event: PointerEvent): void {
    if (!event.isPrimary) {
      // a second finger moves the camera
      this.letGo();
      return;
    }
    this.pressed = { x: event.clientX, y: event.clientY };
    if (event.button !== 0 || event.ctrlKey || event.shiftKey || !this.events.pushes()) return;
    const bodies = this.events.bodies();
    const hit = bodies?.pick(this.stage.ray(event.clientX, event.clientY));
    if (!bodies || !hit || !PUSHED.has(bodies.description.bodies[hit.body].motion)) return;
    const facing = new Vector3();
    this.stage.camera.getWorldDirection(facing);
    const point = hit.point.clone();
    if (this.stage.dimension === 2) point.z = 0;
    this.grabbed = new Plane().setFromNormalAndCoplanarPoint(facing, point);
    this.stage.controls.enabled = false;
    document.body.classList.add('grabbing');
    this.events.grab(hit.body, point);
  }

  private moved(event: PointerEvent): void {
    if (this.grabbed) {
      const target = this.stage.ray(event.clientX, event.clientY).ray.intersectPlane(this.grabbed, new Vector3());
      if (target) this.events.move(target);
      return;
    }
    if (event.buttons === 0) this.explain(event);
  }

  private up(event: PointerEvent): void {
    const { pressed } = this;
    this.pressed = null;
    this.letGo();
    if (!pressed || event.target !== this.stage.canvas) return;
    if (Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > CLICK) return;
    if (event.pointerType === 'touch' && this.explain(event)) return;
    const hit = this.events.bodies()?.pick(this.stage.ray(event.clientX, event.clientY));
    this.events.select(hit ? hit.body : -1);
  }

  private letGo(): void {
    if (!this.grabbed) return;
    this.grabbed = null;
    this.stage.controls.enabled = true;
    document.body.classList.remove('grabbing');
    this.events.release();
  }

  private explain(event: PointerEvent): boolean {
    const reach = event.pointerType === 'touch' ? REACH.touch : REACH.mouse;
    const contact = this.contacts.near(event.clientX, event.clientY, reach, this.stage);
    this.events.explain(contact, event.clientX, event.clientY);
    return contact !== null;
  }
}

/** Motions of bodies that can be pushed. */
const PUSHED = new Set(['rigid', 'point', 'slider']);

// Mouse and touch on the scene: contact tooltips, selection and pushing of bodies.

import { Plane, Vector3 } from 'three';
import type { Contact } from './data';
import type { Stage } from './stage';
import type { Bodies } from './bodies';
import type { Contacts } from './contacts';

/** Distance within which a contact shows its tooltip [px]: mouse, touch. */
const REACH = { mouse: 14, touch: 26 };
/** Distance around the pointer within which a thin body is picked [px]: mouse, touch. */
const AROUND = { mouse: 7, touch: 18 };
/** Number of bodies up to which the cursor looks around itself in every frame. */
const LOOKED_AROUND = 400;
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
    canvas.addEventListener('pointerleave', (event) => {
      // a finger leaves when it is lifted: its words stay until the next touch
      if (event.pointerType !== 'touch') events.explain(null, 0, 0);
      this.hover = null;
    });
  }

  /** Place of the resting cursor [px], until the cursor's shape has been chosen for it. */
  private hover: { x: number; y: number } | null = null;

  /** Chooses the shape of the cursor: a hand over what can be grabbed. Called once per drawn frame. */
  showCursor(): void {
    const { hover } = this;
    if (!hover || this.grabbed) return;
    const thorough = (this.events.bodies()?.poses.length ?? 0) <= LOOKED_AROUND;
    const hit = this.events.pushes() ? this.pick(hover.x, hover.y, thorough ? AROUND.mouse : 0) : null;
    this.stage.canvas.style.cursor = hit && this.canPush(hit.body) ? 'grab' : '';
  }

  private canPush(body: number): boolean {
    return PUSHED.has(this.events.bodies()?.description.bodies[body]?.motion ?? '');
  }

  /** Body at a point of the canvas [px]; one that can be pushed within `around` of it before the ground behind it. */
  private pick(x: number, y: number, around: number): { body: number; point: Vector3 } | null {
    const bodies = this.events.bodies();
    if (!bodies) return null;
    const hit = bodies.pick(this.stage.ray(x, y));
    if (around === 0 || (hit && this.canPush(hit.body))) return hit;
    for (let k = 0; k < 16; k++) {
      // near ones first
      const reach = k < 8 ? 0.5 * around : around;
      const angle = (k * Math.PI) / 4;
      const near = bodies.pick(this.stage.ray(x + reach * Math.cos(angle), y + reach * Math.sin(angle)));
      if (near && this.canPush(near.body)) return near;
    }
    return hit;
  }

  private down(event: PointerEvent): void {
    if (!event.isPrimary) {
      // a second finger moves the camera
      this.letGo();
      return;
    }
    this.pressed = { x: event.clientX, y: event.clientY };
    if (event.pointerType === 'touch') this.events.explain(null, 0, 0);
    if (event.button !== 0 || event.ctrlKey || event.shiftKey || !this.events.pushes()) return;
    const hit = this.pick(event.clientX, event.clientY, event.pointerType === 'touch' ? AROUND.touch : AROUND.mouse);
    if (!hit || !this.canPush(hit.body)) return;
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
    if (event.buttons === 0) {
      this.explain(event);
      this.hover = { x: event.clientX, y: event.clientY };
    }
  }

  private up(event: PointerEvent): void {
    const { pressed } = this;
    this.pressed = null;
    this.letGo();
    if (!pressed || event.target !== this.stage.canvas) return;
    if (Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > CLICK) return;
    if (event.pointerType === 'touch' && this.explain(event)) return;
    const hit = this.pick(event.clientX, event.clientY, event.pointerType === 'touch' ? AROUND.touch : AROUND.mouse);
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

// Renderer, camera, light and grid: a planar camera for scenes of the plane, an orbiting one for space.

import {
  AmbientLight, Box3, Color, DirectionalLight, DoubleSide, Fog, HemisphereLight, Mesh, MOUSE, OrthographicCamera,
  PCFShadowMap, PerspectiveCamera, PlaneGeometry, Raycaster, Scene, ShaderMaterial, TOUCH, Vector2, Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { palette } from './theme';

/** Margin of the framed bodies [px]. */
const MARGIN = 44;
/** Vertical field of view [°]. */
const FIELD = 40;

const GRID_VERTEX = `varying vec3 at;
void main() { vec4 p = modelMatrix * vec4(position, 1.0); at = p.xyz; gl_Position = projectionMatrix * viewMatrix * p; }`;
// lines at every unit and stronger ones at every tenth, one pixel wide at any distance
const GRID_FRAGMENT = `varying vec3 at;
uniform vec3 color; uniform float unit; uniform vec3 eye; uniform float far;
float lines(float every) {
  vec2 p = at.xy / every;
  vec2 d = abs(fract(p - 0.5) - 0.5) / fwidth(p);
  return 1.0 - min(min(d.x, d.y), 1.0);
}
void main() {
  float fade = 1.0 - smoothstep(0.3, 1.0, distance(at, eye) / far);
  float a = max(0.28 * lines(unit), 0.55 * lines(10.0 * unit)) * fade;
  if (a < 0.004) discard;
  gl_FragColor = vec4(color, a);
  #include <colorspace_fragment>
}`;

export class Stage {
  readonly scene = new Scene();
  readonly renderer: WebGLRenderer;
  readonly camera: OrthographicCamera | PerspectiveCamera;
  readonly controls: OrbitControls;
  /** Size of the scene [m]. */
  size = 1;
  lost = false;
  /** Covered margins of the canvas [px]. */
  private covered = { left: 0, right: 0, top: 0, bottom: 0 };
  private height = 4;
  /** Width and height of the canvas [px], cached because reading them while drawing forces a layout. */
  private width = 1;
  private tall = 1;
  private readonly light = new DirectionalLight(0xffffff, 2.1);
  private readonly grid: Mesh<PlaneGeometry, ShaderMaterial>;
  private readonly home = { position: new Vector3(), target: new Vector3() };

  constructor(readonly canvas: HTMLCanvasElement, readonly dimension: 2 | 3) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.info.autoReset = false;
    canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault();
      this.lost = true;
    });
    canvas.addEventListener('webglcontextrestored', () => (this.lost = false));
    if (dimension === 2) {
      this.camera = new OrthographicCamera();
    } else {
      this.camera = new PerspectiveCamera(FIELD);
      this.camera.up.set(0, 0, 1);
      this.renderer.shadowMap.enabled = true;
      this.renderer.shadowMap.type = PCFShadowMap;
      this.light.castShadow = true;
      this.light.shadow.mapSize.set(2048, 2048);
      this.scene.add(new HemisphereLight(0xffffff, 0x8a94a0, 1.5), new AmbientLight(0xffffff, 0.25), this.light, this.light.target);
    }
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.zoomToCursor = true;
    if (dimension === 2) {
      this.controls.enableRotate = false;
      this.controls.mouseButtons = { LEFT: MOUSE.PAN, MIDDLE: MOUSE.DOLLY, RIGHT: MOUSE.PAN };
      this.controls.touches = { ONE: TOUCH.PAN, TWO: TOUCH.DOLLY_PAN };
    } else {
      this.controls.maxPolarAngle = 0.53 * Math.PI;
    }
    const material = new ShaderMaterial({
      vertexShader: GRID_VERTEX,
      fragmentShader: GRID_FRAGMENT,
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
      polygonOffset: true,
      polygonOffsetFactor: -2,
      polygonOffsetUnits: -2,
      uniforms: { color: { value: new Color() }, unit: { value: 1 }, eye: { value: new Vector3() }, far: { value: 1 } },
    });
    this.grid = new Mesh(new PlaneGeometry(2, 2), material);
    this.grid.frustumCulled = false;
    this.scene.add(this.grid);
    this.paint();
  }

  paint(): void {
    const { background, grid } = palette();
    this.scene.background = new Color(background);
    this.grid.material.uniforms.color.value.set(grid);
    if (this.scene.fog) (this.scene.fog as Fog).color.set(background);
  }

  showGrid(shown: boolean): void {
    this.grid.visible = shown;
  }

  /** Sets the covered margins of the canvas [px]; the scene is centred in the rest. */
  cover(covered: { left: number; right: number; top: number; bottom: number }): void {
    this.covered = covered;
    this.resize();
  }

  /** Uncovered part of the canvas [px]. */
  get open(): { left: number; top: number; width: number; height: number } {
    const { left, right, top, bottom } = this.covered;
    const { clientWidth, clientHeight } = this.canvas;
    return { left, top, width: Math.max(clientWidth - left - right, 100), height: Math.max(clientHeight - top - bottom, 100) };
  }

  /** Size of the scene: scale of depths, light and fog [m]. */
  measure(bounds: Box3): void {
    const extent = bounds.getSize(new Vector3());
    this.size = Math.max(extent.x, extent.y, extent.z, 1e-3);
  }

  /** Moves the camera so that a box [m] fills the uncovered part. */
  frame(bounds: Box3): void {
    const centre = bounds.getCenter(new Vector3());
    const extent = bounds.getSize(new Vector3());
    const { camera } = this;
    const size = Math.max(extent.x, extent.y, extent.z, 1e-3);
    this.resize();
    const open = this.open;
    // room for arrows and names
    const margin = Math.min(MARGIN, 0.12 * Math.min(open.width, open.height));
    const [width, height] = [open.width - 2 * margin, open.height - 2 * margin];
    if (camera instanceof OrthographicCamera) {
      this.height = Math.max(extent.y / height, extent.x / width, 0.1 * size / height) * this.canvas.clientHeight;
      camera.near = 0.1 * this.size;
      camera.far = 20 * this.size;
      centre.z = 0;
      this.home.position.copy(centre).setZ(10 * this.size);
      camera.zoom = 1;
    } else {
      const radius = 0.5 * extent.length();
      const back = new Vector3(0.42, -0.86, 0.34).normalize();
      const distance = this.distance(bounds, back, centre, [width, height]);
      this.home.position.copy(back).multiplyScalar(distance).add(centre);
      camera.near = 0.01 * distance;
      camera.far = 60 * distance;
      this.scene.fog = new Fog(0, 6 * distance, 26 * distance);
      this.grid.position.z = 0;
      const reach = 2 * radius;
      const shadow = this.light.shadow.camera;
      [shadow.left, shadow.right, shadow.bottom, shadow.top] = [-reach, reach, -reach, reach];
      [shadow.near, shadow.far] = [0.1 * reach, 8 * reach];
      shadow.updateProjectionMatrix();
      this.light.shadow.normalBias = 0.004 * reach;
      this.light.shadow.radius = 3;
      this.lightFrom(centre);
    }
    this.home.target.copy(centre);
    this.framed = bounds.clone();
    this.paint();
    this.goHome();
  }

  /** Frames the same box again in another uncovered part, unless the view was moved by hand. */
  reframe(): void {
    if (this.framed && this.untouched) this.frame(this.framed);
  }

  private framed: Box3 | null = null;

  /** The camera is where it was put by `frame`. */
  private get untouched(): boolean {
    const { camera, controls, home } = this;
    const zoomed = camera instanceof OrthographicCamera && camera.zoom !== 1;
    const near = 1e-6 * this.size;
    return !zoomed && camera.position.distanceTo(home.position) < near && controls.target.distanceTo(home.target) < near;
  }

  /** Distance of the camera at which all corners of a box are within a part of the canvas [m]. */
  private distance(bounds: Box3, back: Vector3, centre: Vector3, [width, height]: [number, number]): number {
    const slope = Math.tan((FIELD * Math.PI) / 360) / this.canvas.clientHeight;
    const right = new Vector3().crossVectors(this.camera.up, back).normalize();
    const up = new Vector3().crossVectors(back, right);
    let most = 0;
    for (let i = 0; i < 8; i++) {
      const corner = new Vector3(
        i & 1 ? bounds.max.x : bounds.min.x,
        i & 2 ? bounds.max.y : bounds.min.y,
        i & 4 ? bounds.max.z : bounds.min.z,
      ).sub(centre);
      const across = Math.max(Math.abs(corner.dot(right)) / (width * slope), Math.abs(corner.dot(up)) / (height * slope));
      most = Math.max(most, corner.dot(back) + across);
    }
    return most;
  }

  private lightFrom(target: Vector3): void {
    const reach = this.light.shadow.camera.right;
    this.light.target.position.copy(target);
    this.light.position.set(-0.45, -0.6, 1.4).normalize().multiplyScalar(4 * reach).add(target);
  }

  private goHome(): void {
    this.camera.position.copy(this.home.position);
    this.controls.target.copy(this.home.target);
    if (this.camera instanceof OrthographicCamera) this.camera.zoom = 1;
    this.resize();
    this.controls.update();
  }

  /** Moves the camera so that a point is in the middle of the uncovered part. */
  centreOn(at: Vector3): void {
    this.follow(at.clone().sub(this.controls.target));
  }

  /** Turns the view in space, or moves it in the plane, by parts of a right angle or of its height. */
  turn(right: number, up: number): void {
    const { camera, controls } = this;
    const offset = camera.position.clone().sub(controls.target);
    if (camera instanceof OrthographicCamera) {
      const step = this.height / camera.zoom;
      this.follow(new Vector3(right * step, up * step, 0));
      return;
    }
    const across = new Vector3().crossVectors(camera.up, offset).normalize();
    offset.applyAxisAngle(camera.up, (right * Math.PI) / 2);
    const raised = offset.clone().applyAxisAngle(across, (-up * Math.PI) / 2);
    // not over the pole, and not far below the ground
    const polar = raised.angleTo(camera.up);
    if (polar > 0.02 && polar < controls.maxPolarAngle) offset.copy(raised);
    camera.position.copy(controls.target).add(offset);
    controls.update();
  }

  /** Zooms by a factor. */
  zoom(factor: number): void {
    const { camera, controls } = this;
    if (camera instanceof OrthographicCamera) {
      camera.zoom *= factor;
      camera.updateProjectionMatrix();
    } else {
      camera.position.sub(controls.target).divideScalar(factor).add(controls.target);
    }
    controls.update();
  }

  /** Moves the camera by a displacement. */
  follow(by: Vector3): void {
    this.camera.position.add(by);
    this.controls.target.add(by);
    if (this.dimension === 3) this.lightFrom(this.controls.target);
  }

  resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    [this.width, this.tall] = [width, Math.max(height, 1)];
    const aspect = width / Math.max(height, 1);
    this.renderer.setSize(width, height, false);
    if (this.camera instanceof OrthographicCamera) {
      const half = 0.5 * this.height;
      [this.camera.left, this.camera.right] = [-half * aspect, half * aspect];
      [this.camera.bottom, this.camera.top] = [-half, half];
    } else {
      this.camera.aspect = aspect;
    }
    const { left, right, top, bottom } = this.covered;
    this.camera.setViewOffset(width, height, 0.5 * (right - left), 0.5 * (bottom - top), width, height);
  }

  /** Size of a pixel at a point of the world [m]. */
  pixel(at: Vector3): number {
    const height = this.tall;
    if (this.camera instanceof OrthographicCamera) return this.height / this.camera.zoom / height;
    return (2 * this.camera.position.distanceTo(at) * Math.tan((FIELD * Math.PI) / 360)) / height;
  }

  /** Ray through a point of the canvas [px]. */
  ray(x: number, y: number): Raycaster {
    const ray = new Raycaster();
    const at = new Vector2((2 * x) / this.canvas.clientWidth - 1, 1 - (2 * y) / this.canvas.clientHeight);
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  /** Position of a point of the world on the canvas [px]. */
  project(at: Vector3): { x: number; y: number; ahead: boolean } {
    const p = at.clone().project(this.camera);
    return {
      x: 0.5 * (p.x + 1) * this.width,
      y: 0.5 * (1 - p.y) * this.tall,
      ahead: p.z < 1,
    };
  }

  render(): void {
    this.controls.update();
    const target = this.controls.target;
    const pixel = this.pixel(target);
    const { uniforms } = this.grid.material;
    // grid lines 18 to 180 pixels apart
    uniforms.unit.value = 10 ** Math.ceil(Math.log10(18 * pixel));
    const far = this.camera instanceof OrthographicCamera ? 1e6 * this.size : 3 * this.camera.position.distanceTo(target);
    uniforms.far.value = far;
    uniforms.eye.value.copy(this.dimension === 2 ? this.camera.position : target);
    const reach = this.dimension === 2 ? 2 * this.width * pixel + 2 * this.height : far;
    this.grid.scale.set(reach, reach, 1);
    this.grid.position.set(target.x, target.y, this.dimension === 2 ? -2 * this.size : 0);
    this.renderer.info.reset();
    this.renderer.render(this.scene, this.camera);
  }
}

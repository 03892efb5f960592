// Bodies, drawn as instances of a few geometries.

import {
  Box3, BufferGeometry, Color, DynamicDrawUsage, Float32BufferAttribute, Group, InstancedMesh, Material, Matrix4, Mesh,
  MeshBasicMaterial, MeshLambertMaterial, Raycaster, Vector3, type Intersection,
} from 'three';
import type { Description, Frame, Shape } from './data';
import { form, type Form } from './geometry';
import { poseLength, poseMatrix } from './pose';
import { palette } from './theme';

/** Largest number of instanced geometries; further shapes share one mesh, whose vertices are transformed here. */
const KINDS = 8;

/** How a body is drawn. */
export type Look = 'shown' | 'faded' | 'hidden';

/** Opacity of faded bodies: what is inside is seen through several walls. */
const FADED = 0.2;

interface Part {
  body: number;
  shape: Shape;
  /** Pose and scale in the body. */
  local: Matrix4;
  color: Color;
  form: Form;
  /** Transparent: a sensor or a part of a faded body. */
  clear: boolean;
}

/** Shapes of one mesh: instances of a geometry, or parts with their own vertices. */
interface Batch {
  mesh: InstancedMesh | Mesh;
  parts: Part[];
  /** First vertex and untransformed vertices of each part with its own vertices. */
  own?: { starts: number[]; position: Float32Array; normal: Float32Array };
}

/** Edges of a width in pixels, and marks, for any material. */
function withEdges<M extends Material>(material: M, edge: { value: Color }): M {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.edgeColor = edge;
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', 'attribute float edge; attribute float tint; varying float vEdge; varying float vTint;\n#include <common>')
      .replace('#include <begin_vertex>', 'vEdge = edge; vTint = tint;\n#include <begin_vertex>');
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', 'uniform vec3 edgeColor; varying float vEdge; varying float vTint;\n#include <common>')
      .replace('#include <color_fragment>', `#include <color_fragment>
        diffuseColor.rgb *= vTint;
        float edgePixels = vEdge / max(fwidth(vEdge), 1e-6);
        diffuseColor.rgb = mix(mix(diffuseColor.rgb, edgeColor, 0.75), diffuseColor.rgb, smoothstep(0.4, 1.6, edgePixels));`);
  };
  return material;
}

export class Bodies {
  readonly group = new Group();
  /** Poses of all bodies in the world. */
  readonly poses: Matrix4[] = [];
  /** Bounding box of each body in its own frame [m]; empty for unbounded bodies and for those without shapes. */
  readonly boxes: Box3[] = [];
  /** Size of each body [m]: half the edge of the cube of as much volume; 0 for unbounded bodies. */
  readonly sizes: number[] = [];
  private readonly batches: Batch[] = [];
  private readonly moving: number[] = [];
  private readonly edge = { value: new Color() };
  private readonly product = new Matrix4();
  private readonly layer: number;
  private readonly geometries = new Map<string, BufferGeometry>();
  private highlighted: readonly number[] = [];
  /** Colour of a part that is not fixed, where a quantity chooses it. */
  private shade: ((body: number, shape: Shape) => Color | null) | null = null;

  constructor(readonly description: Description, size: number, looks: ReadonlyMap<string, Look> = new Map()) {
    const { dimension, bodies } = description;
    // planar bodies are stacked in depth, so that overlaps are drawn in the order of their numbers
    this.layer = dimension === 2 ? size / (bodies.length + 1) : 0;
    const kinds = new Map<string, Part[]>();
    bodies.forEach((body, i) => {
      this.poses.push(poseMatrix(body.pose, 0, dimension, new Matrix4()));
      if (body.motion !== 'fixed') this.moving.push(i);
      const look = looks.get(body.name) ?? 'shown';
      const box = new Box3();
      for (const shape of body.shapes) {
        const drawn = form(shape, size, dimension);
        const local = poseMatrix(shape.pose, 0, dimension, new Matrix4());
        local.scale(new Vector3(...drawn.scale));
        const geometry = this.geometry(drawn);
        if (drawn.radius !== null && !shape.sensor) box.union(geometry.boundingBox!.clone().applyMatrix4(local));
        if (look === 'hidden') continue;
        const clear = shape.sensor || look === 'faded';
        const key = `${clear ? 'clear ' : ''}${drawn.radius === null ? 'far ' : ''}${drawn.key}`;
        const part = { body: i, shape, local, color: new Color(), form: drawn, clear };
        kinds.set(key, [...(kinds.get(key) ?? []), part]);
      }
      this.boxes.push(box);
      this.sizes.push(meanSize(box, dimension));
    });
    const sorted = [...kinds.values()].sort((a, b) => b.length - a.length);
    sorted.slice(0, KINDS).forEach((parts) => this.instances(parts));
    const rest = sorted.slice(KINDS).flat();
    for (const clear of [false, true]) {
      const parts = rest.filter((part) => part.clear === clear);
      if (parts.length > 0) this.soup(parts);
    }
    this.paint();
    this.place();
  }

  /** Geometry of a form, built once. */
  private geometry(form: Form): BufferGeometry {
    let geometry = this.geometries.get(form.key);
    if (!geometry) {
      geometry = form.build();
      geometry.computeBoundingBox();
      this.geometries.set(form.key, geometry);
    }
    return geometry;
  }

  private material(clear: boolean): Material {
    const look = clear ? { transparent: true, opacity: FADED, depthWrite: false } : {};
    return withEdges(
      this.description.dimension === 2 ? new MeshBasicMaterial(look) : new MeshLambertMaterial(look),
      this.edge,
    );
  }

  private add(mesh: InstancedMesh | Mesh, parts: Part[], own?: Batch['own']): void {
    mesh.frustumCulled = false;
    // an unbounded floor casts no shadow
    mesh.castShadow = parts[0].form.radius !== null && !parts[0].clear;
    if (parts[0].clear) mesh.renderOrder = 1;
    mesh.receiveShadow = true;
    this.group.add(mesh);
    this.batches.push({ mesh, parts, own });
  }

  private instances(parts: Part[]): void {
    const mesh = new InstancedMesh(this.geometry(parts[0].form), this.material(parts[0].clear), parts.length);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.add(mesh, parts);
  }

  private soup(parts: Part[]): void {
    const names = ['position', 'normal', 'edge', 'tint'] as const;
    const all: Record<string, number[]> = { position: [], normal: [], edge: [], tint: [], color: [] };
    const starts = [0];
    for (const part of parts) {
      const geometry = this.geometry(part.form);
      for (const name of names) for (const x of geometry.getAttribute(name).array) all[name].push(x);
      starts.push(all.edge.length);
    }
    const geometry = new BufferGeometry();
    for (const name of names) {
      const items = name === 'position' || name === 'normal' ? 3 : 1;
      geometry.setAttribute(name, new Float32BufferAttribute(all[name], items));
    }
    geometry.setAttribute('color', new Float32BufferAttribute(new Float32Array(all.position.length), 3));
    const material = this.material(parts[0].clear) as MeshLambertMaterial;
    material.vertexColors = true;
    const own = { starts, position: new Float32Array(all.position), normal: new Float32Array(all.normal) };
    this.add(new Mesh(geometry, material), parts, own);
  }

  /** Colours of the theme. */
  paint(): void {
    const { bodies, fixed, ground, edge } = palette();
    this.edge.value.set(edge);
    const mark = new Color(palette().modes[1]);
    for (const batch of this.batches) {
      for (const part of batch.parts) {
        const still = this.description.bodies[part.body].motion === 'fixed';
        const shade = this.shade?.(part.body, part.shape);
        if (shade) part.color.copy(shade);
        else part.color.set(still ? (part.form.radius === null ? ground : fixed) : bodies[part.body % bodies.length]);
        // of a floor only a little: it may fill the view
        if (this.highlighted.includes(part.body)) part.color.lerp(mark, part.form.radius === null ? 0.08 : 0.45);
      }
      this.color(batch);
    }
  }

  private color({ mesh, parts, own }: Batch): void {
    if (mesh instanceof InstancedMesh) {
      parts.forEach((part, i) => mesh.setColorAt(i, part.color));
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    } else if (own) {
      const colors = mesh.geometry.getAttribute('color');
      parts.forEach(({ color }, i) => {
        for (let k = own.starts[i]; k < own.starts[i + 1]; k++) colors.setXYZ(k, color.r, color.g, color.b);
      });
      colors.needsUpdate = true;
    }
  }

  /** Colours of all parts, for tests. */
  colors(): string[] {
    return this.batches.flatMap(({ parts }) => parts.map(({ color }) => color.getHexString()));
  }

  highlight(bodies: readonly number[]): void {
    if (bodies.join() === this.highlighted.join()) return;
    this.highlighted = bodies;
    this.paint();
  }

  /** Chooses colours by a quantity; `null` gives every body its own again. */
  shadeBy(shade: ((body: number, shape: Shape) => Color | null) | null): void {
    this.shade = shade;
    this.paint();
  }

  /** Moves the bodies to their poses in a frame. */
  show(frame: Frame): void {
    const { dimension } = this.description;
    const length = poseLength(dimension);
    this.moving.forEach((body, i) => poseMatrix(frame.poses, i * length, dimension, this.poses[body]));
    this.place();
  }

  private place(): void {
    for (const { mesh, parts, own } of this.batches) {
      if (mesh instanceof InstancedMesh) {
        const array = mesh.instanceMatrix.array;
        parts.forEach(({ body, local }, i) => {
          this.product.multiplyMatrices(this.poses[body], local);
          this.product.elements[14] += this.layer * body;
          this.product.toArray(array, 16 * i);
        });
        mesh.instanceMatrix.needsUpdate = true;
      } else if (own) {
        this.placeOwn(mesh, parts, own);
      }
    }
  }

  private placeOwn(mesh: Mesh, parts: Part[], own: NonNullable<Batch['own']>): void {
    const position = mesh.geometry.getAttribute('position');
    const normal = mesh.geometry.getAttribute('normal');
    parts.forEach(({ body, local }, i) => {
      const e = this.product.multiplyMatrices(this.poses[body], local).elements;
      const lift = this.layer * body;
      for (let k = own.starts[i]; k < own.starts[i + 1]; k++) {
        const [x, y, z] = [own.position[3 * k], own.position[3 * k + 1], own.position[3 * k + 2]];
        position.setXYZ(
          k,
          e[0] * x + e[4] * y + e[8] * z + e[12],
          e[1] * x + e[5] * y + e[9] * z + e[13],
          e[2] * x + e[6] * y + e[10] * z + e[14] + lift,
        );
        const [a, b, c] = [own.normal[3 * k], own.normal[3 * k + 1], own.normal[3 * k + 2]];
        normal.setXYZ(k, e[0] * a + e[4] * b + e[8] * c, e[1] * a + e[5] * b + e[9] * c, e[2] * a + e[6] * b + e[10] * c);
      }
    });
    position.needsUpdate = true;
    normal.needsUpdate = true;
  }

  /** Corners of the bounding box of a body in the world [m]; none for unbounded bodies. */
  corners(body: number): Vector3[] {
    const { min, max } = this.boxes[body];
    if (min.x > max.x) return [];
    const flat = this.description.dimension === 2;
    const all = [];
    for (let i = 0; i < (flat ? 4 : 8); i++) {
      const z = flat ? 0 : i & 4 ? max.z : min.z;
      all.push(new Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, z).applyMatrix4(this.poses[body]));
    }
    return all;
  }

  /** Centre of a body in the world [m]: of its box, or its origin where it has none. */
  centre(body: number, out = new Vector3()): Vector3 {
    const box = this.boxes[body];
    return (box.isEmpty() ? out.set(0, 0, 0) : box.getCenter(out)).applyMatrix4(this.poses[body]);
  }

  /** Numbers of the bodies that move. */
  get movers(): readonly number[] {
    return this.moving;
  }

  /** First body along a ray, and the point of intersection. */
  pick(ray: Raycaster): { body: number; point: Vector3 } | null {
    let best: Intersection | null = null;
    let body = -1;
    for (const { mesh, parts, own } of this.batches) {
      // what is inside a faded body can be picked
      if (parts[0].clear) continue;
      // bodies have moved since it was last computed
      if (mesh instanceof InstancedMesh) mesh.boundingSphere = null;
      else mesh.geometry.boundingSphere = null;
      for (const hit of ray.intersectObject(mesh, false)) {
        if (best && hit.distance >= best.distance) continue;
        best = hit;
        const vertex = 3 * (hit.faceIndex ?? 0);
        const part = own ? own.starts.findIndex((start) => start > vertex) - 1 : (hit.instanceId ?? 0);
        body = parts[part].body;
      }
    }
    return best && { body, point: best.point };
  }

  /** Median size of the moving bodies [m]. */
  get middling(): number {
    const sizes = this.moving.map((i) => this.sizes[i]).filter((r) => r > 0).sort((a, b) => a - b);
    return sizes[sizes.length >> 1] ?? 0;
  }

  dispose(): void {
    for (const { mesh } of this.batches) {
      mesh.geometry.dispose();
      (mesh.material as Material).dispose();
      if (mesh instanceof InstancedMesh) mesh.dispose();
    }
    this.geometries.forEach((geometry) => geometry.dispose());
  }
}

/** Half the edge of a cube, or square, of the volume of a box [m]. */
function meanSize(box: Box3, dimension: 2 | 3): number {
  if (box.isEmpty()) return 0;
  const half = box.getSize(new Vector3()).multiplyScalar(0.5).toArray().slice(0, dimension);
  // a thin body is as thick as can be seen
  const least = 0.1 * Math.max(...half);
  return half.reduce((product, x) => product * Math.max(x, least), 1) ** (1 / dimension);
}

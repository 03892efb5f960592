// Bodies, drawn as instances of a few geometries.

import {
  BufferGeometry, Color, DynamicDrawUsage, Float32BufferAttribute, Group, InstancedMesh, Material, Matrix4, Mesh,
  MeshBasicMaterial, MeshLambertMaterial, Raycaster, Vector3, type Intersection,
} from 'three';
import type { Description, Frame } from './data';
import { form, type Form } from './geometry';
import { poseLength, poseMatrix } from './pose';
import { palette } from './theme';

/** Largest number of instanced geometries; further shapes share one mesh, whose vertices are transformed here. */
const KINDS = 8;

interface Part {
  body: number;
  /** Pose and scale in the body. */
  local: Matrix4;
  color: Color;
  form: Form;
  sensor: boolean;
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
  /** Radius of each body about its origin [m]; 0 for unbounded bodies. */
  readonly radii: number[] = [];
  private readonly batches: Batch[] = [];
  private readonly moving: number[] = [];
  private readonly edge = { value: new Color() };
  private readonly product = new Matrix4();
  private readonly layer: number;
  private highlighted = -1;

  constructor(readonly description: Description, size: number) {
    const { dimension, bodies } = description;
    // planar bodies are stacked in depth, so that overlaps are drawn in the order of their numbers
    this.layer = dimension === 2 ? size / (bodies.length + 1) : 0;
    const kinds = new Map<string, Part[]>();
    bodies.forEach((body, i) => {
      this.poses.push(poseMatrix(body.pose, 0, dimension, new Matrix4()));
      if (body.motion !== 'fixed') this.moving.push(i);
      let radius = 0;
      for (const shape of body.shapes) {
        const drawn = form(shape, size, dimension);
        const local = poseMatrix(shape.pose, 0, dimension, new Matrix4());
        if (drawn.radius !== null) {
          radius = Math.max(radius, new Vector3().setFromMatrixPosition(local).length() + drawn.radius);
        }
        local.scale(new Vector3(...drawn.scale));
        const key = `${shape.sensor ? 'sensor ' : ''}${drawn.key}`;
        const part = { body: i, local, color: new Color(), form: drawn, sensor: shape.sensor };
        kinds.set(key, [...(kinds.get(key) ?? []), part]);
      }
      this.radii.push(radius);
    });
    const sorted = [...kinds.values()].sort((a, b) => b.length - a.length);
    sorted.slice(0, KINDS).forEach((parts) => this.instances(parts));
    const rest = sorted.slice(KINDS).flat();
    if (rest.length > 0) this.soup(rest);
    this.paint();
    this.place();
  }

  private material(sensor: boolean): Material {
    const look = sensor ? { transparent: true, opacity: 0.35, depthWrite: false } : {};
    return withEdges(
      this.description.dimension === 2 ? new MeshBasicMaterial(look) : new MeshLambertMaterial(look),
      this.edge,
    );
  }

  private add(mesh: InstancedMesh | Mesh, parts: Part[], own?: Batch['own']): void {
    mesh.frustumCulled = false;
    // an unbounded floor casts no shadow
    mesh.castShadow = parts[0].form.radius !== null && !parts[0].sensor;
    mesh.receiveShadow = true;
    this.group.add(mesh);
    this.batches.push({ mesh, parts, own });
  }

  private instances(parts: Part[]): void {
    const mesh = new InstancedMesh(parts[0].form.build(), this.material(parts[0].sensor), parts.length);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    this.add(mesh, parts);
  }

  private soup(parts: Part[]): void {
    const names = ['position', 'normal', 'edge', 'tint'] as const;
    const all: Record<string, number[]> = { position: [], normal: [], edge: [], tint: [], color: [] };
    const starts = [0];
    const built = new Map<string, BufferGeometry>();
    for (const part of parts) {
      const geometry = built.get(part.form.key) ?? part.form.build();
      built.set(part.form.key, geometry);
      for (const name of names) for (const x of geometry.getAttribute(name).array) all[name].push(x);
      starts.push(all.edge.length);
    }
    const geometry = new BufferGeometry();
    for (const name of names) {
      const items = name === 'position' || name === 'normal' ? 3 : 1;
      geometry.setAttribute(name, new Float32BufferAttribute(all[name], items));
    }
    geometry.setAttribute('color', new Float32BufferAttribute(new Float32Array(all.position.length), 3));
    const material = this.material(false) as MeshLambertMaterial;
    material.vertexColors = true;
    const own = { starts, position: new Float32Array(all.position), normal: new Float32Array(all.normal) };
    this.add(new Mesh(geometry, material), parts, own);
  }

  /** Colours of the theme. */
  paint(): void {
    const { bodies, fixed, ground, edge } = palette();
    this.edge.value.set(edge);
    for (const batch of this.batches) {
      for (const part of batch.parts) {
        const still = this.description.bodies[part.body].motion === 'fixed';
        const own = still ? (part.form.radius === null ? ground : fixed) : bodies[part.body % bodies.length];
        part.color.set(own);
        if (part.body === this.highlighted) part.color.lerp(new Color(palette().modes[1]), 0.35);
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

  highlight(body: number): void {
    if (body === this.highlighted) return;
    this.highlighted = body;
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

  /** First body along a ray, and the point of intersection. */
  pick(ray: Raycaster): { body: number; point: Vector3 } | null {
    let best: Intersection | null = null;
    let body = -1;
    for (const { mesh, parts, own } of this.batches) {
      if (parts[0].sensor) continue;
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

  /** Median radius of the bodies [m]. */
  get middling(): number {
    const radii = this.moving.map((i) => this.radii[i]).filter((r) => r > 0).sort((a, b) => a - b);
    return radii[radii.length >> 1] ?? 0;
  }

  dispose(): void {
    for (const { mesh } of this.batches) {
      mesh.geometry.dispose();
      (mesh.material as Material).dispose();
      if (mesh instanceof InstancedMesh) mesh.dispose();
    }
  }
}

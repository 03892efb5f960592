// The triangles of shapes. Besides position and normal every vertex has `edge`, 0 on the edges of the shape and 1
// in the middle of a face, by which the shader draws edges of the same width everywhere, and `tint`, which marks
// round shapes so that their turning is seen.

import { BufferGeometry, Float32BufferAttribute } from 'three';
import type { ShapeKind } from './data';
import { boxFacets, profile, revolved, roundedOutline, roundedSolid } from './rounded';

/** Drawn extent of half-planes and half-spaces, relative to the size of the scene. */
export const FAR = 200;

/** Segments of a full circle. */
export const SEGMENTS = 48;
/** Brightness of the marked quarters of round shapes. */
const MARK = 0.84;

/** Geometry shared by several shapes, with the scale of this one. */
export interface Form {
  key: string;
  build: () => BufferGeometry;
  scale: [number, number, number];
  /** Largest distance from the origin of its frame [m]; null for unbounded shapes. */
  radius: number | null;
}

export class Triangles {
  private readonly position: number[] = [];
  private readonly normal: number[] = [];
  private readonly edge: number[] = [];
  private readonly tint: number[] = [];

  vertex(p: number[], n: number[], edge: number, tint: number): void {
    this.position.push(p[0], p[1], p[2] ?? 0);
    this.normal.push(n[0], n[1], n[2]);
    this.edge.push(edge);
    this.tint.push(tint);
  }

  /** A convex face as a fan about its middle. */
  fan(corners: number[][], normal: number[], middle: number[], tint: (k: number) => number = () => 1): void {
    corners.forEach((a, k) => {
      const b = corners[(k + 1) % corners.length];
      this.vertex(middle, normal, 1, tint(k));
      this.vertex(a, normal, 0, tint(k));
      this.vertex(b, normal, 0, tint(k));
    });
  }

  build(): BufferGeometry {
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new Float32BufferAttribute(this.position, 3));
    geometry.setAttribute('normal', new Float32BufferAttribute(this.normal, 3));
    geometry.setAttribute('edge', new Float32BufferAttribute(this.edge, 1));
    geometry.setAttribute('tint', new Float32BufferAttribute(this.tint, 1));
    return geometry;
  }
}

export const quarter = (turn: number) => (Math.floor(4 * turn + 1e-9) % 2 === 0 ? 1 : MARK);
const mean = (points: number[][]) =>
  [0, 1, 2].map((i) => points.reduce((sum, p) => sum + (p[i] ?? 0), 0) / points.length);

function circle(): BufferGeometry {
  const rim = Array.from({ length: SEGMENTS }, (_, k) => {
    const angle = (2 * Math.PI * k) / SEGMENTS;
    return [Math.cos(angle), Math.sin(angle), 0];
  });
  const out = new Triangles();
  out.fan(rim, [0, 0, 1], [0, 0, 0], (k) => quarter(k / SEGMENTS));
  return out.build();
}

function flat(corners: number[][]): BufferGeometry {
  const out = new Triangles();
  out.fan(corners, [0, 0, 1], mean(corners));
  return out.build();
}

/** A capsule of radius 1 along x in the plane. */
function stadium(half: number): BufferGeometry {
  const cap = (centre: number, from: number) =>
    Array.from({ length: SEGMENTS / 2 + 1 }, (_, k) => {
      const angle = from + (2 * Math.PI * k) / SEGMENTS;
      return [centre + Math.cos(angle), Math.sin(angle), 0];
    });
  return flat([...cap(half, -Math.PI / 2), ...cap(-half, Math.PI / 2)]);
}

/** Half-plane y ≤ 0, as far as it is drawn; only its upper side has an edge. */
function below(): BufferGeometry {
  const out = new Triangles();
  const n = [0, 0, 1];
  const [a, b, c, d] = [[-1, 0, 0], [1, 0, 0], [1, -1, 0], [-1, -1, 0]];
  for (const [p, e] of [[a, 0], [d, 1], [b, 0], [b, 0], [d, 1], [c, 1]] as [number[], number][]) {
    out.vertex(p, n, e, 1);
  }
  return out.build();
}

function floor(): BufferGeometry {
  const out = new Triangles();
  const corners = [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, -1, 0], [1, 1, 0], [-1, 1, 0]];
  corners.forEach((p) => out.vertex(p, [0, 0, 1], 1, 1));
  return out.build();
}

function cube(): BufferGeometry {
  const out = new Triangles();
  for (const axis of [0, 1, 2]) {
    for (const side of [-1, 1]) {
      const at = (u: number, v: number) => {
        const p = [0, 0, 0];
        p[axis] = side;
        p[(axis + 1) % 3] = u;
        p[(axis + 2) % 3] = v;
        return p;
      };
      const corners = [at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)];
      if (side < 0) corners.reverse();
      out.fan(corners, at(0, 0), at(0, 0));
    }
  }
  return out.build();
}

/** A ball of radius 1 whose halves are moved apart along z. */
function round(half: number): BufferGeometry {
  const [along, about] = [20, 32];
  const out = new Triangles();
  const at = (i: number, k: number): [number[], number[]] => {
    const polar = (Math.PI * i) / along;
    const angle = (2 * Math.PI * k) / about;
    const n = [Math.sin(polar) * Math.cos(angle), Math.sin(polar) * Math.sin(angle), Math.cos(polar)];
    return [[n[0], n[1], n[2] + (i <= along / 2 ? half : -half)], n];
  };
  const quad = (a: [number[], number[]][], tint: number) => {
    for (const i of [0, 1, 2, 0, 2, 3]) out.vertex(a[i][0], a[i][1], 1, tint);
  };
  for (let k = 0; k < about; k++) {
    for (let i = 0; i < along; i++) {
      const upper = i < along / 2 ? 0 : 0.25;
      const corners = [at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
      if (i === along / 2) {
        // the belt between the halves
        const lift = ([p, n]: [number[], number[]]): [number[], number[]] => [[p[0], p[1], half], n];
        const lower = ([p, n]: [number[], number[]]): [number[], number[]] => [[p[0], p[1], -half], n];
        const [l, r] = [at(i, k), at(i, k + 1)];
        if (half > 0) quad([lift(l), lower(l), lower(r), lift(r)], quarter(k / about));
        corners[0] = lower(l);
        corners[3] = lower(r);
      }
      quad(corners, quarter(k / about + upper));
    }
  }
  return out.build();
}

function solid(vertices: number[][], facets: number[][]): BufferGeometry {
  const out = new Triangles();
  for (const facet of facets) {
    const corners = facet.map((i) => vertices[i]);
    const [a, b, c] = corners;
    const [u, v] = [b.map((x, i) => x - a[i]), c.map((x, i) => x - b[i])];
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const length = Math.hypot(...n) || 1;
    out.fan(corners, n.map((x) => x / length), mean(corners));
  }
  return out.build();
}

/** The form of a shape; `size` is that of the scene [m]. */
export function form(shape: ShapeKind, size: number, dimension: 2 | 3): Form {
  const farthest = (points: number[][]) => Math.max(...points.map((p) => Math.hypot(...p)));
  switch (shape.kind) {
    case 'disk': {
      const r = shape.radius;
      return { key: 'disk', build: circle, scale: [r, r, 1], radius: r };
    }
    case 'ellipse': {
      const [a, b] = shape.semi_axes;
      return { key: 'disk', build: circle, scale: [a, b, 1], radius: Math.max(a, b) };
    }
    case 'polygon': {
      const { vertices, rounding } = shape;
      return {
        key: `polygon ${JSON.stringify(vertices)} ${rounding}`,
        build: () => flat(rounding > 0 ? roundedOutline(vertices, rounding) : vertices.map(([x, y]) => [x, y, 0])),
        scale: [1, 1, 1],
        radius: farthest(vertices) + rounding,
      };
    }
    case 'half_plane':
      return { key: 'below', build: below, scale: [FAR * size, FAR * size, 1], radius: null };
    case 'half_space':
      return { key: 'floor', build: floor, scale: [FAR * size, FAR * size, 1], radius: null };
    case 'sphere': {
      const r = shape.radius;
      return { key: 'ball', build: () => round(0), scale: [r, r, r], radius: r };
    }
    case 'ellipsoid': {
      const [a, b, c] = shape.semi_axes;
      return { key: 'ball', build: () => round(0), scale: [a, b, c], radius: Math.max(a, b, c) };
    }
    case 'box': {
      const [a, b, c] = shape.half_extents;
      if (shape.rounding > 0) return rounded(boxFacets(a, b, c), shape.rounding);
      return { key: 'box', build: cube, scale: [a, b, c], radius: Math.hypot(a, b, c) };
    }
    case 'cylinder':
    case 'cone': {
      const { kind, half_length, radius, rounding } = shape;
      return {
        key: `${kind} ${half_length} ${radius} ${rounding}`,
        build: () => revolved(profile(half_length, radius, kind === 'cone' ? 0 : radius, rounding)),
        scale: [1, 1, 1],
        radius: Math.hypot(half_length, radius) + rounding,
      };
    }
    case 'polyhedron':
      if (shape.rounding > 0) return rounded(shape, shape.rounding);
      return {
        key: `polyhedron ${JSON.stringify(shape.vertices)}`,
        build: () => solid(shape.vertices, shape.facets),
        scale: [1, 1, 1],
        radius: farthest(shape.vertices),
      };
    case 'capsule':
      return capsule(shape.half_length, shape.radius, dimension, size);
  }
}

/** The form of a rounded box or polyhedron. */
function rounded(core: { vertices: number[][]; facets: number[][] }, radius: number): Form {
  return {
    key: `rounded ${JSON.stringify(core.vertices)} ${radius}`,
    build: () => roundedSolid(core.vertices, core.facets, radius),
    scale: [1, 1, 1],
    radius: Math.max(...core.vertices.map((p) => Math.hypot(...p))) + radius,
  };
}

/** The form of a capsule: along x in the plane, along z in space. */
function capsule(half: number, radius: number, dimension: 2 | 3, size: number): Form {
  // a segment gets the smallest visible thickness
  const r = Math.max(radius, 2e-3 * size);
  const ratio = half / r;
  const build = dimension === 2 ? () => stadium(ratio) : () => round(ratio);
  return { key: `capsule ${ratio.toPrecision(6)}`, build, scale: [r, r, dimension === 2 ? 1 : r], radius: half + r };
}

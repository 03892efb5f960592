// Surfaces of bodies of revolution and of rounded shapes: the points within a radius of a polygon, polyhedron, cylinder or
// cone.

import type { BufferGeometry } from 'three';
import { quarter, SEGMENTS, Triangles } from './geometry';

/** Steps of an arc about an edge or a corner. */
const STEPS = 6;

/** A point of a profile: distance from the axis, place along it, the normal in the same directions, and `edge`. */
type ProfilePoint = [number, number, number, number, number];

const range = (n: number) => Array.from({ length: n + 1 }, (_, k) => k);
const add = (p: number[], n: number[], r: number) => p.map((x, i) => x + r * n[i]);
const unit = (v: number[]) => {
  const length = Math.hypot(...v) || 1;
  return v.map((x) => x / length);
};
const cross = (u: number[], v: number[]) => [
  u[1] * v[2] - u[2] * v[1],
  u[2] * v[0] - u[0] * v[2],
  u[0] * v[1] - u[1] * v[0],
];
/** Directions from one unit vector to another. */
const arc = (from: number[], to: number[]) =>
  range(STEPS).map((k) => unit(from.map((x, i) => x + (k / STEPS) * (to[i] - x))));

/** Pieces of the profile of a cylinder, or of a cone if `top` is 0, from the middle of the base to that of the top. */
export function profile(half: number, radius: number, top: number, rounding: number): ProfilePoint[][] {
  const slope = Math.atan2(radius - top, 2 * half);
  const bend = (rho: number, z: number, from: number, to: number): ProfilePoint[] =>
    range(STEPS).map((k) => {
      const angle = from + ((to - from) * k) / STEPS;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      return [rho + rounding * c, z + rounding * s, c, s, 1];
    });
  // edges are drawn where the shape has them
  const rim = rounding > 0 ? 1 : 0;
  const [c, s] = [Math.cos(slope), Math.sin(slope)];
  const side = (u: number, edge: number): ProfilePoint => {
    const rho = radius + (top - radius) * u + rounding * c;
    return [rho, half * (2 * u - 1) + rounding * s, c, s, edge];
  };
  const pieces: ProfilePoint[][] = [
    [[0, -half - rounding, 0, -1, 1], [radius, -half - rounding, 0, -1, rim]],
    [side(0, rim), side(0.5, 1), side(1, top > 0 ? rim : 1)],
  ];
  if (top > 0) pieces.push([[top, half + rounding, 0, 1, rim], [0, half + rounding, 0, 1, 1]]);
  if (rounding > 0) {
    pieces.push(bend(radius, -half, -Math.PI / 2, slope), bend(top, half, slope, Math.PI / 2));
  }
  return pieces;
}

/** The surface that profiles sweep about z. */
export function revolved(pieces: ProfilePoint[][]): BufferGeometry {
  const out = new Triangles();
  for (let k = 0; k < SEGMENTS; k++) {
    const [from, to] = [k, k + 1].map((i) => (2 * Math.PI * i) / SEGMENTS);
    const vertex = ([rho, z, a, b, edge]: ProfilePoint, angle: number) => {
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      out.vertex([rho * c, rho * s, z], [a * c, a * s, b], edge, quarter(k / SEGMENTS));
    };
    for (const piece of pieces) {
      for (let i = 0; i + 1 < piece.length; i++) {
        const [p, q] = [piece[i], piece[i + 1]];
        for (const [point, angle] of [[p, from], [p, to], [q, to], [p, from], [q, to], [q, from]] as const) {
          vertex(point, angle);
        }
      }
    }
  }
  return out.build();
}

/** The outline of a rounded polygon. */
export function roundedOutline(vertices: number[][], radius: number): number[][] {
  const n = vertices.length;
  const normal = (i: number) => {
    const [p, q] = [vertices[i % n], vertices[(i + 1) % n]];
    return unit([q[1] - p[1], p[0] - q[0]]);
  };
  return vertices.flatMap((p, i) =>
    arc(normal(i + n - 1), normal(i)).map((m) => [p[0] + radius * m[0], p[1] + radius * m[1], 0]),
  );
}

/** Corners and facets of a box. */
export function boxFacets(a: number, b: number, c: number): { vertices: number[][]; facets: number[][] } {
  const vertices = range(7).map((i) => [i & 1 ? a : -a, i & 2 ? b : -b, i & 4 ? c : -c]);
  const facets = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
  return { vertices, facets };
}

/** The surface of a rounded polyhedron: facets moved outwards, and arcs between them. */
export function roundedSolid(vertices: number[][], facets: number[][], radius: number): BufferGeometry {
  const out = new Triangles();
  const normals = facets.map(([i, j, k]) => {
    const [a, b, c] = [vertices[i], vertices[j], vertices[k]];
    return unit(cross(add(b, a, -1), add(c, b, -1)));
  });
  const point = (v: number, n: number[]) => out.vertex(add(vertices[v], n, radius), n, 1, 1);
  const sides = new Map<string, number>();
  facets.forEach((corners, f) => {
    corners.forEach((v, k) => sides.set(`${v} ${corners[(k + 1) % corners.length]}`, f));
    for (let k = 1; k + 1 < corners.length; k++) {
      for (const v of [corners[0], corners[k], corners[k + 1]]) point(v, normals[f]);
    }
  });
  // arcs of normals about each vertex, from facet to facet
  const around = vertices.map((): number[][][] => []);
  for (const [side, f] of sides) {
    const [v, w] = side.split(' ').map(Number);
    const across = sides.get(`${w} ${v}`);
    if (across === undefined) continue;
    const turn = arc(normals[f], normals[across]);
    around[v].push(turn);
    if (across < f) continue;
    for (let k = 0; k < STEPS; k++) {
      for (const [u, m] of [[v, k], [v, k + 1], [w, k + 1], [v, k], [w, k + 1], [w, k]]) point(u, turn[m]);
    }
  }
  around.forEach((turns, v) => {
    const middle = unit(turns.flat().reduce((sum, n) => add(sum, n, 1), [0, 0, 0]));
    for (const turn of turns) {
      for (let k = 0; k < STEPS; k++) {
        const [inner, outer] = [arc(middle, turn[k]), arc(middle, turn[k + 1])];
        for (let i = 0; i < STEPS; i++) {
          for (const n of [inner[i], inner[i + 1], outer[i + 1], inner[i], outer[i + 1], outer[i]]) point(v, n);
        }
      }
    }
  });
  return out.build();
}

// Poses as matrices.

import { Matrix4, Quaternion, Vector3 } from 'three';

const position = new Vector3();
const turn = new Quaternion();
const ONE = new Vector3(1, 1, 1);

/** Converts the pose at index `at` of `numbers` to a matrix: x, y, angle, or x, y, z and a quaternion. */
export function poseMatrix(numbers: ArrayLike<number>, at: number, dimension: 2 | 3, out: Matrix4): Matrix4 {
  if (dimension === 2) {
    const half = 0.5 * numbers[at + 2];
    position.set(numbers[at], numbers[at + 1], 0);
    turn.set(0, 0, Math.sin(half), Math.cos(half));
  } else {
    position.set(numbers[at], numbers[at + 1], numbers[at + 2]);
    turn.set(numbers[at + 3], numbers[at + 4], numbers[at + 5], numbers[at + 6]);
  }
  return out.compose(position, turn, ONE);
}

/** Number of values of a pose. */
export const poseLength = (dimension: 2 | 3) => (dimension === 2 ? 3 : 7);

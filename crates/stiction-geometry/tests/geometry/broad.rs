//! Broad phase against tests of all pairs, over boxes that move, appear and vanish.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction_geometry::broad::{BroadPhase, Extent};

use crate::scenes::rng;

/// Boxes about 1 m wide that drift through a cube of this side.
struct Swarm {
    boxes: Vec<Extent>,
    velocities: Vec<[f64; 3]>,
    side: f64,
}

impl Swarm {
    fn new(rng: &mut ChaCha8Rng, count: usize, side: f64) -> Self {
        let mut three = |range: std::ops::Range<f64>| [0; 3].map(|_| rng.random_range(range.clone()));
        let mut boxes = Vec::new();
        let mut velocities = Vec::new();
        for _ in 0..count {
            let (min, size) = (three(0.0..side), three(0.5..1.5));
            boxes.push(Extent { min, max: std::array::from_fn(|i| min[i] + size[i]) });
            velocities.push(three(-0.3..0.3));
        }
        Self { boxes, velocities, side }
    }

    fn step(&mut self) {
        for (b, v) in self.boxes.iter_mut().zip(&mut self.velocities) {
            for i in 0..3 {
                if (b.min[i] < 0.0 && v[i] < 0.0) || (b.min[i] > self.side && v[i] > 0.0) {
                    v[i] = -v[i];
                }
                b.min[i] += v[i];
                b.max[i] += v[i];
            }
        }
    }
}

fn all_pairs(boxes: &[Extent], may_meet: impl Fn(usize, usize) -> bool) -> Vec<[usize; 2]> {
    let pairs = (0..boxes.len()).flat_map(|i| (i + 1..boxes.len()).map(move |j| [i, j]));
    pairs.filter(|&[i, j]| boxes[i].overlaps(&boxes[j]) && may_meet(i, j)).collect()
}

#[test]
fn the_tree_finds_the_overlaps_of_all_pairs() {
    let mut rng = rng(401);
    for count in [0, 1, 2, 3, 12, 13, 14, 15, 40, 300] {
        let mut swarm = Swarm::new(&mut rng, count, (count as f64).cbrt());
        let mut broad = BroadPhase::default();
        let mut found = vec![[7, 7]];
        let may_meet = |i: usize, j: usize| !(i + j).is_multiple_of(5);
        for frame in 0..60 {
            swarm.step();
            let mut boxes = swarm.boxes.clone();
            // some are unbounded or nowhere for a while
            for k in 0..count / 10 {
                match (frame + k) % 20 {
                    0..3 => boxes[10 * k].max[0] = f64::INFINITY,
                    3 => boxes[10 * k] = Extent { min: [f64::NEG_INFINITY; 3], max: [f64::INFINITY; 3] },
                    4 => boxes[10 * k].min[1] = f64::NAN,
                    _ => {}
                }
            }
            // and some are gone
            boxes.truncate(count - usize::from(frame % 30 > 25 && count > 13));
            broad.overlaps(&boxes, may_meet, &mut found);
            assert_eq!(found, all_pairs(&boxes, may_meet), "{count} boxes, frame {frame}");
            // a tree without a past says the same
            let mut fresh = Vec::new();
            BroadPhase::default().overlaps(&boxes, may_meet, &mut fresh);
            assert_eq!(found, fresh);
        }
    }
}

#[test]
fn distant_and_coincident_boxes_are_found() {
    let mut broad = BroadPhase::default();
    let mut found = Vec::new();
    let unit = |x: f64| Extent { min: [x, 0.0, 0.0], max: [x + 1.0, 1.0, 1.0] };
    for scale in [0.0, 1e-300, 1e10, 1e100, 1e300] {
        let boxes: Vec<_> = (0..100).map(|i| unit(scale * f64::from(i / 2))).collect();
        broad.overlaps(&boxes, |_, _| true, &mut found);
        assert_eq!(found, all_pairs(&boxes, |_, _| true), "{scale}");
    }
}

#[test]
fn tests_grow_with_the_boxes_not_with_their_pairs() {
    let mut rng = rng(402);
    let mut found = Vec::new();
    for count in [500, 1000, 2000, 4000] {
        // one box in eight units of volume
        let mut swarm = Swarm::new(&mut rng, count, 2.0 * (count as f64).cbrt());
        let mut broad = BroadPhase::default();
        for _ in 0..200 {
            swarm.step();
            broad.overlaps(&swarm.boxes, |_, _| true, &mut found);
            // each box meets (1 + 1)³ / 8 others on average, and each pair is counted once
            assert!(broad.tests() < count, "{count} boxes: {} tests", broad.tests());
        }
        assert!(found.len() > count / 4);
    }
}

//! Block factorization against a dense LU factorization, on random graphs and on chains, trees, loops and piles.

use super::{BlockMatrix, Node};
use nalgebra::{DMatrix, DVector};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn body(size: usize) -> Node {
    Node { size, saddle: false }
}

fn joint(size: usize) -> Node {
    Node { size, saddle: true }
}

/// Random values for a graph, unsymmetric between bodies. A body's diagonal dominates the couplings of its contacts, as
/// contact stiffness does; a joint has no diagonal.
struct Sample {
    nodes: Vec<Node>,
    edges: Vec<(u32, u32)>,
    blocks: Vec<(usize, usize, Vec<f64>)>,
}

impl Sample {
    fn new(nodes: &[Node], edges: &[(u32, u32)], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut blocks = Vec::new();
        let mut random = |rows: usize, columns: usize, diagonal: f64| -> Vec<f64> {
            let entry = |k: usize| if k / columns == k % columns { diagonal } else { 0.0 };
            (0..rows * columns).map(|k| entry(k) + rng.random_range(-1.0..1.0)).collect()
        };
        for (i, node) in nodes.iter().enumerate().filter(|(_, node)| !node.saddle) {
            let beside = edges.iter().map(|&(a, b)| (a as usize, b as usize));
            let beside = beside.filter_map(|(a, b)| if a == i { Some(b) } else { (b == i).then_some(a) });
            let coupled: usize = beside.map(|k| if nodes[k].saddle { 0 } else { nodes[k].size }).sum();
            blocks.push((i, i, random(node.size, node.size, 12.0 + coupled as f64)));
        }
        for &(a, b) in edges {
            let (a, b) = (a as usize, b as usize);
            let (m, n) = (nodes[a].size, nodes[b].size);
            let entries = random(m, n, if nodes[a].saddle || nodes[b].saddle { 4.0 } else { 0.0 });
            let other = if nodes[a].saddle || nodes[b].saddle {
                (0..n * m).map(|k| entries[k % m * n + k / m]).collect()
            } else {
                random(n, m, 0.0)
            };
            blocks.push((a, b, entries));
            blocks.push((b, a, other));
        }
        Self { nodes: nodes.to_vec(), edges: edges.to_vec(), blocks }
    }

    fn fill(&self, matrix: &mut BlockMatrix) {
        matrix.lay_out(&self.nodes, &self.edges);
        matrix.clear();
        for (a, b, entries) in &self.blocks {
            matrix.add(matrix.slot(*a, *b), entries);
        }
    }

    fn dense(&self) -> DMatrix<f64> {
        let starts: Vec<usize> =
            (0..=self.nodes.len()).map(|i| self.nodes[..i].iter().map(|node| node.size).sum()).collect();
        let n = starts[self.nodes.len()];
        let mut dense = DMatrix::zeros(n, n);
        for (a, b, entries) in &self.blocks {
            for (k, entry) in entries.iter().enumerate() {
                let columns = self.nodes[*b].size;
                dense[(starts[*a] + k / columns, starts[*b] + k % columns)] += entry;
            }
        }
        dense
    }

    /// Largest error of a solution, relative to that of a dense factorization with pivoting across blocks.
    fn error(&self, matrix: &mut BlockMatrix) -> f64 {
        self.fill(matrix);
        assert!(matrix.factor(), "singular");
        let dense = self.dense();
        let exact = DVector::from_fn(dense.nrows(), |i, _| f64::from(u32::try_from(i % 7).unwrap()) - 2.5);
        let mut x = &dense * &exact;
        // the error of the dense factorization measures what rounding loses
        let reference = dense.lu().solve(&x).expect("regular");
        let lost = (&reference - &exact).amax();
        matrix.solve(x.as_mut_slice());
        (x - &exact).amax() / (1e-12 + 100.0 * lost)
    }
}

fn chain(links: u32, closed: bool) -> (Vec<Node>, Vec<(u32, u32)>) {
    let mut nodes = vec![body(6); links as usize];
    let mut edges = Vec::new();
    for i in 0..links - u32::from(!closed) {
        nodes.push(joint(5));
        edges.push((links + i, i));
        edges.push(((i + 1) % links, links + i));
    }
    (nodes, edges)
}

#[test]
fn chains_have_no_fill() {
    for links in [2, 3, 10, 50] {
        let (nodes, edges) = chain(links, false);
        let mut matrix = BlockMatrix::default();
        assert!(Sample::new(&nodes, &edges, 1).error(&mut matrix) < 1.0);
        assert_eq!(matrix.work().blocks, nodes.len() + edges.len(), "{links} links");
    }
}

#[test]
fn trees_have_no_fill() {
    // each node but the first hangs on an earlier one, by a joint or by a contact
    let (mut nodes, mut edges) = (vec![body(6)], Vec::new());
    for i in 1..60_u32 {
        let parent = (i * 7919) % i;
        nodes.push(body(6));
        edges.push((i, parent));
    }
    let mut matrix = BlockMatrix::default();
    assert!(Sample::new(&nodes, &edges, 2).error(&mut matrix) < 1.0);
    assert_eq!(matrix.work().blocks, nodes.len() + edges.len());
    // and the same with joints between
    let (mut nodes, mut hinges) = (vec![body(6); 60], Vec::new());
    for (k, &(a, b)) in (60..).zip(&edges) {
        nodes.push(joint(5));
        hinges.extend([(a, k), (k, b)]);
    }
    assert!(Sample::new(&nodes, &hinges, 2).error(&mut matrix) < 1.0);
    assert_eq!(matrix.work().blocks, nodes.len() + hinges.len());
}

#[test]
fn closed_loops_are_solved() {
    for links in [3, 4, 50] {
        let (nodes, edges) = chain(links, true);
        assert!(Sample::new(&nodes, &edges, 3).error(&mut BlockMatrix::default()) < 1.0, "{links} links");
    }
}

#[test]
fn a_chain_that_hangs_on_the_world_is_solved() {
    // degree alone would take the joint to the world first, whose own block is zero
    let (mut nodes, mut edges) = chain(20, false);
    edges.push((u32::try_from(nodes.len()).unwrap(), 0));
    nodes.push(joint(5));
    let mut matrix = BlockMatrix::default();
    assert!(Sample::new(&nodes, &edges, 4).error(&mut matrix) < 1.0);
    assert_eq!(matrix.work().blocks, nodes.len() + edges.len());
    // at both ends: 120 velocities and 105 rows
    edges.push((u32::try_from(nodes.len()).unwrap(), 19));
    nodes.push(joint(5));
    assert!(Sample::new(&nodes, &edges, 4).error(&mut matrix) < 1.0);
}

#[test]
fn two_joints_wait_for_both_their_bodies() {
    // a body of three velocities between two joints of two rows: after it and one of them the other is singular
    let nodes = [body(3), body(3), body(3), joint(2), joint(2), joint(1), joint(1)];
    let edges = [(3, 0), (3, 1), (4, 1), (4, 2), (5, 0), (6, 2)];
    assert!(Sample::new(&nodes, &edges, 5).error(&mut BlockMatrix::default()) < 1.0);
}

#[test]
fn singular_and_infinite_matrices_are_refused() {
    let mut matrix = BlockMatrix::default();
    matrix.lay_out(&[body(2), body(1)], &[(0, 1)]);
    let refused = |matrix: &mut BlockMatrix, first: &[f64], between: f64| {
        matrix.clear();
        matrix.add(matrix.slot(0, 0), first);
        matrix.add(matrix.slot(0, 1), &[between, 0.0]);
        matrix.add(matrix.slot(1, 0), &[0.0, 1.0]);
        matrix.add(matrix.slot(1, 1), &[1.0]);
        !matrix.factor()
    };
    assert!(!refused(&mut matrix, &[0.0, 1.0, 1.0, 0.0], 0.0));
    assert!(refused(&mut matrix, &[1.0, 2.0, 2.0, 4.0], 0.0));
    assert!(refused(&mut matrix, &[1.0, f64::NAN, 0.0, 1.0], 0.0));
    assert!(refused(&mut matrix, &[1.0, 0.0, 0.0, f64::INFINITY], 0.0));
    assert!(refused(&mut matrix, &[1.0, 0.0, 0.0, 1.0], f64::NAN));
    assert!(!refused(&mut matrix, &[2.0, 0.0, 0.0, 1.0], 0.0));
}

#[test]
fn blocks_are_added_by_rows_or_as_they_are_stored() {
    let nodes = [body(6), body(6)];
    let full: Vec<f64> = (0..36).map(|k| f64::from(k % 7) + if k % 7 == 0 { 9.0 } else { 0.1 }).collect();
    let (mut one, mut other) = (BlockMatrix::default(), BlockMatrix::default());
    one.lay_out(&nodes, &[(0, 1)]);
    other.lay_out(&nodes, &[(0, 1)]);
    for (a, b) in [(0, 0), (1, 1), (0, 1), (1, 0)] {
        let slot = one.slot(a, b);
        let entries: Vec<f64> = full.iter().map(|x| if a == b { *x } else { 0.1 * x }).collect();
        let mut lanes = [[0.0; 8]; 6];
        for (k, x) in entries.iter().enumerate() {
            let (i, j) = (k / 6, k % 6);
            let (lane, place) = if slot.is_transposed() { (i, j) } else { (j, i) };
            lanes[lane][place] = *x;
        }
        one.add(slot, &entries);
        other.add_lanes(slot, &lanes);
    }
    assert!(one.factor() && other.factor());
    let (mut x, mut y) = ([1.0; 12], [1.0; 12]);
    one.solve(&mut x);
    other.solve(&mut y);
    assert_eq!(x, y);
}

#[test]
fn equal_graphs_keep_their_slots_and_others_are_laid_out() {
    let (nodes, edges) = chain(5, false);
    let mut matrix = BlockMatrix::default();
    let mut error = |sample: &Sample| sample.error(&mut matrix);
    assert!(error(&Sample::new(&nodes, &edges, 1)) < 1.0);
    assert!(error(&Sample::new(&nodes, &edges, 2)) < 1.0);
    assert!(error(&Sample::new(&[body(3), body(2)], &[(1, 0), (0, 1)], 3)) < 1.0);
    assert!(error(&Sample::new(&[body(4)], &[], 4)) < 1.0);
    assert!(error(&Sample::new(&nodes, &edges, 5)) < 1.0);
}

#[test]
fn stiff_contacts_do_not_spoil_the_residual() {
    // unit masses and rows with stiffnesses over twelve decades, as at the end of an interior-point method
    let (n, mut rng) = (30_u32, ChaCha8Rng::seed_from_u64(8));
    let edges: Vec<(u32, u32)> =
        (1..n).flat_map(|i| [(i - 1, i), (i / 2, i)]).filter(|(a, b)| a != b).collect();
    let mut sample = Sample { nodes: vec![body(6); n as usize], edges: edges.clone(), blocks: Vec::new() };
    let unit: Vec<f64> = (0..36).map(|k| if k % 7 == 0 { 1.0 } else { 0.0 }).collect();
    sample.blocks.extend((0..n as usize).map(|i| (i, i, unit.clone())));
    for (a, b) in edges {
        for _ in 0..3 {
            let stiffness = 10_f64.powf(rng.random_range(-2.0..10.0));
            let row: Vec<f64> = (0..12).map(|_| rng.random_range(-1.0..1.0)).collect();
            for (i, left) in [(a, &row[..6]), (b, &row[6..])] {
                for (j, right) in [(a, &row[..6]), (b, &row[6..])] {
                    let entries = (0..36).map(|k| stiffness * left[k / 6] * right[k % 6]).collect();
                    sample.blocks.push((i as usize, j as usize, entries));
                }
            }
        }
    }
    let mut matrix = BlockMatrix::default();
    sample.fill(&mut matrix);
    assert!(matrix.factor());
    let dense = sample.dense();
    let right = DVector::from_fn(dense.nrows(), |_, _| rng.random_range(-1.0..1.0));
    let mut x = right.clone();
    matrix.solve(x.as_mut_slice());
    let residual = (&dense * &x - &right).amax() / (dense.amax() * x.amax());
    // a hundred roundings
    assert!(residual < 100.0 * f64::EPSILON, "{residual}");
}

#[test]
fn joints_in_parts_and_joints_twice_grow_with_the_chain() {
    // rows one by one, which together leave a body free to move, and joints twice, which need their compliance
    for (parts, rows) in [(5, 1), (2, 5)] {
        let blocks = |links: u32| {
            let (mut nodes, mut edges) = (vec![body(6); links as usize], Vec::new());
            for i in 1..links {
                for _ in 0..parts {
                    let k = u32::try_from(nodes.len()).unwrap();
                    edges.extend([(i - 1, k), (k, i)]);
                    nodes.push(joint(rows));
                }
            }
            let mut sample = Sample::new(&nodes, &edges, 7);
            for (i, node) in nodes.iter().enumerate().filter(|(_, node)| node.saddle) {
                let n = node.size;
                let unit = (0..n * n).map(|k| if k % (n + 1) == 0 { -0.1 } else { 0.0 }).collect();
                sample.blocks.push((i, i, unit));
            }
            let mut matrix = BlockMatrix::default();
            assert!(sample.error(&mut matrix) < 1.0, "{parts} parts");
            matrix.work().blocks
        };
        let (few, many) = (blocks(10), blocks(40));
        assert!(many < 5 * few, "{few} and {many} blocks");
    }
}

#[test]
fn storage_is_reused_without_allocation() {
    let (large, small) = (chain(50, false), chain(20, true));
    let mut matrix = BlockMatrix::default();
    let mut x = [1.0; 6 * 50 + 5 * 49];
    let mut run = |(nodes, edges): &(Vec<Node>, Vec<(u32, u32)>)| {
        matrix.lay_out(nodes, edges);
        matrix.clear();
        for (i, node) in nodes.iter().enumerate() {
            let mut unit = [[0.0; 8]; 6];
            (0..node.size).for_each(|k| unit[k][k] = 1.0);
            matrix.add_lanes(matrix.slot(i, i), &unit);
        }
        assert!(matrix.factor());
        matrix.solve(&mut x);
    };
    run(&large);
    let kept = allocation_counter::measure(|| {
        run(&small);
        run(&large);
    });
    assert_eq!(kept.count_total, 0);
}

/// Bodies on a grid of n × n × n, coupled by faces.
fn pile(n: u32) -> Vec<(u32, u32)> {
    let mut edges = Vec::new();
    for i in 0..n * n * n {
        let (x, y, z) = (i % n, i / n % n, i / n / n);
        let sides = [(x, 1), (y, n), (z, n * n)];
        edges.extend(sides.iter().filter(|(at, _)| at + 1 < n).map(|(_, step)| (i, i + step)));
    }
    edges
}

#[test]
fn threads_do_not_change_a_bit() {
    let sample = Sample::new(&[body(6); 512], &pile(8), 9);
    let solve = |threads| {
        let mut matrix = BlockMatrix::default();
        sample.fill(&mut matrix);
        let parallel = |panel| super::parallel::is_parallel::<6>(panel);
        assert!(matrix.symbolic.panels.iter().filter(|panel| parallel(panel)).count() > 3);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert!(pool.install(|| matrix.factor()));
        let mut x = vec![1.0; 6 * 512];
        matrix.solve(&mut x);
        x
    };
    let one = solve(1);
    for threads in 2..=5 {
        assert_eq!(one, solve(threads), "{threads} threads");
    }
}

#[test]
fn a_pile_is_dissected() {
    // 9 × 9 × 9 bodies, and three more apart: enough that layers are tried
    let mut edges = pile(9);
    edges.extend([(729, 730), (730, 731)]);
    let mut nodes = vec![body(1); 732];
    let mut matrix = BlockMatrix::default();
    assert!(Sample::new(&nodes, &edges, 6).error(&mut matrix) < 1.0);
    // with a joint anywhere all is ordered by degree
    let parted = matrix.work().flops;
    nodes.push(joint(1));
    edges.push((731, 732));
    matrix.lay_out(&nodes, &edges);
    assert!(matrix.work().flops > 1.2 * parted, "{} and {parted}", matrix.work().flops);
}

fn graph() -> impl Strategy<Value = (Vec<Node>, Vec<(u32, u32)>)> {
    let bodies = prop_oneof![
        prop::collection::vec(1..=6_usize, 1..40),
        prop::collection::vec(1..=3_usize, 1..40),
        prop::collection::vec(6..=6_usize, 1..60),
    ];
    bodies.prop_flat_map(|sizes| {
        let n = u32::try_from(sizes.len()).unwrap();
        let contacts = prop::collection::vec((0..n, 0..n), 0..2 * sizes.len());
        // few rows, so that joints are independent: the second body may be the world
        let joints = prop::collection::vec((0..n, prop::option::of(0..n)), 0..=sizes.len() / 3);
        (Just(sizes), contacts, joints).prop_map(|(sizes, contacts, joints)| {
            let mut nodes: Vec<Node> = sizes.into_iter().map(body).collect();
            let mut edges: Vec<(u32, u32)> = contacts.into_iter().filter(|(a, b)| a != b).collect();
            let mut taken = vec![0; nodes.len()];
            for (a, b) in joints {
                let ends: Vec<u32> = b.into_iter().filter(|b| *b != a).chain([a]).collect();
                let free = |i: &u32| nodes[*i as usize].size - taken[*i as usize];
                let rows = ends.iter().map(free).min().unwrap_or(0);
                if rows > 0 {
                    let k = u32::try_from(nodes.len()).unwrap();
                    for &end in &ends {
                        taken[end as usize] += rows;
                        edges.push((end, k));
                    }
                    nodes.push(joint(rows));
                    taken.push(0);
                }
            }
            (nodes, edges)
        })
    })
}

proptest! {
    #[test]
    fn random_graphs_agree_with_a_dense_factorization((nodes, edges) in graph(), seed in 0..1000_u64) {
        let error = Sample::new(&nodes, &edges, seed).error(&mut BlockMatrix::default());
        prop_assert!(error < 1.0, "{error}");
    }
}

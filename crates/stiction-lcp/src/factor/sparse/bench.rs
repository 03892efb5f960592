//! Times of factorizations and solves of block matrices, printed by an ignored test:
//! `cargo nextest run --release -p stiction-lcp --run-ignored only --no-capture factor::sparse::bench`

use super::{BlockMatrix, Node};
use std::hint::black_box;
use std::time::Instant;

type Graph = (Vec<Node>, Vec<(u32, u32)>);

fn body(size: usize) -> Node {
    Node { size, saddle: false }
}

fn stack(size: usize, n: u32) -> Graph {
    (vec![body(size); n as usize], (1..n).map(|i| (i - 1, i)).collect())
}

fn chain(links: u32, size: usize, rows: usize) -> Graph {
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for i in 0..links {
        nodes.push(body(size));
        if i + 1 < links {
            nodes.push(Node { size: rows, saddle: true });
            edges.extend([(2 * i, 2 * i + 1), (2 * i + 1, 2 * i + 2)]);
        }
    }
    (nodes, edges)
}

/// Wall of bricks: each lies on two of the row below; with `sides` it also touches its neighbours.
fn wall(size: usize, n: u32, sides: bool) -> Graph {
    let at = |row: u32, column: u32| row * n + column;
    let mut edges = Vec::new();
    for row in 0..n {
        for column in 0..n {
            if sides && column + 1 < n {
                edges.push((at(row, column), at(row, column + 1)));
            }
            if row + 1 < n {
                edges.push((at(row, column), at(row + 1, column)));
                let other = if row % 2 == 0 { column.checked_sub(1) } else { Some(column + 1) };
                if let Some(other) = other.filter(|&other| other < n) {
                    edges.push((at(row, column), at(row + 1, other)));
                }
            }
        }
    }
    (vec![body(size); (n * n) as usize], edges)
}

/// Pile of boxes: neighbours by faces, and with `diagonals` also by edges of the cells upwards.
fn pile(n: u32, diagonals: bool) -> Graph {
    let at = |x: u32, y: u32, z: u32| (z * n + y) * n + x;
    let mut edges = Vec::new();
    for z in 0..n {
        for y in 0..n {
            for x in 0..n {
                let faces: &[(u32, u32, u32)] = &[(1, 0, 0), (0, 1, 0), (0, 0, 1)];
                let up: &[(u32, u32, u32)] = if diagonals { &[(1, 0, 1), (0, 1, 1), (1, 1, 0)] } else { &[] };
                for &(a, b, c) in faces.iter().chain(up) {
                    if x + a < n && y + b < n && z + c < n {
                        edges.push((at(x, y, z), at(x + a, y + b, z + c)));
                    }
                }
            }
        }
    }
    (vec![body(6); (n * n * n) as usize], edges)
}

/// Shortest of many times [µs]; each measures enough runs to last a millisecond.
fn least(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    run();
    let once = start.elapsed().as_secs_f64();
    let runs = (0.001 / once).clamp(1.0, 1e5);
    let mut least = f64::INFINITY;
    for _ in 0..60 {
        let (start, mut done) = (Instant::now(), 0.0);
        while done < runs {
            run();
            done += 1.0;
        }
        least = least.min(start.elapsed().as_secs_f64() / runs);
    }
    least * 1e6
}

fn fill(matrix: &mut BlockMatrix, (nodes, edges): &Graph) {
    for (i, node) in nodes.iter().enumerate().filter(|(_, node)| !node.saddle) {
        let n = node.size;
        let entries: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { 30.0 } else { 0.5 }).collect();
        matrix.add(matrix.slot(i, i), &entries);
    }
    for &(a, b) in edges {
        for (a, b) in [(a as usize, b as usize), (b as usize, a as usize)] {
            let (m, n) = (nodes[a].size, nodes[b].size);
            let entries: Vec<f64> = (0..m * n).map(|k| if k / n == k % n { -1.0 } else { 0.1 }).collect();
            matrix.add(matrix.slot(a, b), &entries);
        }
    }
}

#[test]
#[ignore = "a benchmark"]
fn times() {
    println!(
        "{:<22} {:>6} {:>7} {:>9} {:>10} {:>10} {:>10} {:>10} {:>6} {:>10}",
        "", "nodes", "blocks", "MF", "analyse us", "clear us", "factor us", "solve us", "GF/s", "2 threads"
    );
    let cases: Vec<(&str, Graph)> = vec![
        ("2 bodies", stack(6, 2)),
        ("2 planar bodies", stack(3, 2)),
        ("stack of 10", stack(6, 10)),
        ("planar stack of 10", stack(3, 10)),
        ("chain 10", chain(10, 6, 5)),
        ("chain 100", chain(100, 6, 5)),
        ("chain 1000", chain(1000, 6, 5)),
        ("chain 10000", chain(10_000, 6, 5)),
        ("planar chain 1000", chain(1000, 3, 2)),
        ("wall 32 x 32", wall(6, 32, false)),
        ("wall, sides touch", wall(6, 32, true)),
        ("planar wall", wall(3, 32, false)),
        ("pile 10^3, faces", pile(10, false)),
        ("pile 10^3, diagonals", pile(10, true)),
    ];
    for (name, graph) in cases {
        let (nodes, edges) = &graph;
        let mut matrix = BlockMatrix::default();
        let analyse = least(|| {
            matrix.lay_out(&[], &[]);
            matrix.lay_out(nodes, edges);
        });
        let clear = least(|| matrix.clear());
        fill(&mut matrix, &graph);
        let mut filled = matrix.clone();
        // a copy takes as long as a part of the factorization: its time is subtracted
        let copy = least(|| filled.copy_entries(black_box(&matrix)));
        let mut factor_on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                least(|| {
                    filled.copy_entries(&matrix);
                    assert!(filled.factor());
                })
            }) - copy
        };
        let (factor, shared) = (factor_on(1), factor_on(2));
        let mut x = vec![1.0; nodes.iter().map(|node| node.size).sum()];
        let solve = least(|| {
            filled.solve(black_box(&mut x));
            x.fill(1.0);
        });
        let cost = filled.work();
        println!(
            "{name:<22} {:>6} {:>7} {:>9.3} {analyse:>10.1} {clear:>10.2} {factor:>10.2} {solve:>10.2} {:>6.1} {shared:>10.2}",
            nodes.len(),
            cost.blocks,
            cost.flops * 1e-6,
            cost.flops * 1e-3 / factor
        );
    }
}

impl BlockMatrix {
    fn copy_entries(&mut self, from: &Self) {
        self.planar.copy_entries(&from.planar);
        self.spatial.copy_entries(&from.spatial);
    }
}

impl<const C: usize, const P: usize> super::Numeric<C, P> {
    fn copy_entries(&mut self, from: &Self) {
        self.lower.copy_from_slice(&from.lower);
        self.upper.copy_from_slice(&from.upper);
    }
}

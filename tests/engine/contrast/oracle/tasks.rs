//! Data of the four tasks that a rule must learn, with the settings of the specification. A batch depends on the seed and on its window only.

use super::{Batch, Energy, Error, Geometry, Nudge, Random, Rates, Retrieval, Rotor};

/// Rows of a batch.
const ROWS: usize = 32;

/// Eight classes at the corners of a cube in three of eight coordinates; the other five say nothing.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) energy: Energy,
    pub(crate) rates: Rates,
    pub(crate) nudge: Nudge,
    seed: u64,
    corners: Corners,
}

/// The fresh rows of a window: `centres` holds the middle of each row's class, [B, n], to which the source's rule nudges.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) batch: Batch,
    pub(crate) centres: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Corners {
    /// Half the edge of the cube.
    half: f64,
    /// Deviation around a corner.
    deviation: f64,
    /// Deviation of the coordinates that say nothing.
    distraction: f64,
    /// Data are turned by the inverse of these angles, so that the angles themselves are a solution.
    hidden: Vec<f64>,
}

const N: usize = 8;
const CLASSES: usize = 8;

impl Task {
    /// Task A: find the metric. Short signal, long distractors, the rotor frozen.
    pub(crate) fn metric(seed: u64, capacity: usize) -> Self {
        Self::new(seed, capacity, Corners { half: 1.0, deviation: 0.1, distraction: 4.0, hidden: vec![0.0; N] })
    }

    /// Task A-rot: the data of task A, turned by hidden angles.
    pub(crate) fn rotation(seed: u64, capacity: usize) -> Self {
        let hidden = Random::stream(seed, HIDDEN).gaussians(N, 0.6);
        let task = Self::new(seed, capacity, Corners { half: 1.0, deviation: 0.1, distraction: 4.0, hidden });
        Self { rates: Rates { theta: 0.3, ..task.rates }, ..task }
    }

    /// The control: the axes that say something are the long ones, so that a rule that only shortens distances loses them.
    pub(crate) fn control(seed: u64, capacity: usize) -> Self {
        Self::new(seed, capacity, Corners { half: 2.0, deviation: 0.8, distraction: 1.0, hidden: vec![0.0; N] })
    }

    fn new(seed: u64, capacity: usize, corners: Corners) -> Self {
        let (bank, _) = corners.sample(&mut Random::stream(seed, BANK), capacity);
        let retrieval = Retrieval {
            n: N,
            d: CLASSES,
            beta: 5.0,
            r: 1.0,
            eps: 1e-8,
            keys: bank.queries,
            states: bank.targets,
            rotor: Rotor::new(N, N),
        };
        Self {
            energy: Energy::new(retrieval, Error::Squared),
            rates: Rates { metric: 1.0, theta: 0.0 },
            nudge: Nudge::Symmetric(0.1),
            seed,
            corners,
        }
    }

    pub(crate) fn geometry(&self) -> Geometry {
        Geometry::identity(&self.energy.retrieval.rotor)
    }

    pub(crate) fn rows(&self, window: usize) -> Rows {
        let (batch, centres) = self.corners.sample(&mut Random::stream(self.seed, window as u64), ROWS);
        Rows { batch, centres }
    }
}

/// Streams that no window uses.
const BANK: u64 = u64::MAX;
const HIDDEN: u64 = u64::MAX - 1;

impl Corners {
    /// Points with one-hot labels, and the middles of their classes.
    fn sample(&self, random: &mut Random, count: usize) -> (Batch, Vec<f64>) {
        let rotor = Rotor::new(N, N);
        let mut batch = Batch { queries: Vec::new(), targets: Vec::new() };
        let mut centres = Vec::new();
        for _ in 0..count {
            let class = random.below(CLASSES);
            let sign = |axis: usize| if class >> axis & 1 == 1 { self.half } else { -self.half };
            let centre: Vec<f64> = (0..N).map(|axis| if axis < 3 { sign(axis) } else { 0.0 }).collect();
            let deviation = |axis: usize| if axis < 3 { self.deviation } else { self.distraction };
            let point: Vec<f64> = (0..N).map(|axis| centre[axis] + deviation(axis) * random.gaussian()).collect();
            batch.queries.extend(rotor.undo(&self.hidden, &point));
            batch.targets.extend(one_hot(class, CLASSES));
            centres.extend(rotor.undo(&self.hidden, &centre));
        }
        (batch, centres)
    }
}

/// Task B: which token follows. One Gaussian key for each of 32 tokens, and a fixed map from a token to its successor; the embedding is learned.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) energy: Energy,
    pub(crate) rates: Rates,
    pub(crate) embedding_rate: f64,
    pub(crate) nudge: Nudge,
    /// The embedding before training, [V, n].
    pub(crate) embedding: Vec<f64>,
    successors: Vec<usize>,
    seed: u64,
}

impl Tokens {
    pub(crate) fn new(seed: u64, error: Error) -> Self {
        let count = 32;
        let mut random = Random::stream(seed, BANK);
        let retrieval = Retrieval {
            n: N,
            d: count,
            beta: 2.0,
            r: 1.0,
            eps: 1e-8,
            keys: random.gaussians(count * N, 1.0),
            states: (0..count).flat_map(|token| one_hot(token, count)).collect(),
            rotor: Rotor::new(N, N),
        };
        Self {
            energy: Energy::new(retrieval, error),
            rates: Rates { metric: 0.1, theta: 0.0 },
            embedding_rate: 5.0,
            nudge: Nudge::Symmetric(0.05),
            embedding: random.gaussians(count * N, 1.0),
            successors: random.permutation(count),
            seed,
        }
    }

    /// The tokens of a window, one a row, and their successors as one-hot targets, [B, V].
    pub(crate) fn rows(&self, window: usize) -> (Vec<Vec<usize>>, Vec<f64>) {
        let mut random = Random::stream(self.seed, window as u64);
        let count = self.successors.len();
        let ids: Vec<usize> = (0..ROWS).map(|_| random.below(count)).collect();
        let targets = ids.iter().flat_map(|&id| one_hot(self.successors[id], count)).collect();
        (ids.into_iter().map(|id| vec![id]).collect(), targets)
    }
}

fn one_hot(class: usize, count: usize) -> Vec<f64> {
    (0..count).map(|at| f64::from(u8::from(at == class))).collect()
}

//! Givens layers: Q = G_{L-1} ... G_0, where layer l turns the disjoint planes (a, b) with a = (2p + l) mod n and b = (a + 1) mod n.
//!
//! Slot l * (n / 2) + p of theta holds the angle of plane p in layer l. Only the first `live` slots turn; the others stay at angle 0.

#[derive(Clone, Debug)]
pub(crate) struct Rotor {
    pub(crate) n: usize,
    pub(crate) live: usize,
    pub(crate) layers: Vec<Vec<(usize, usize)>>,
}

impl Rotor {
    /// As many layers as hold `live` angles.
    pub(crate) fn new(n: usize, live: usize) -> Self {
        assert!(n >= 2, "rotor: got {n} coordinates, expected at least 2");
        let plane = |layer: usize, at: usize| ((2 * at + layer) % n, (2 * at + layer + 1) % n);
        let layer = |layer: usize| (0..n / 2).map(|at| plane(layer, at)).collect();
        Self { n, live, layers: (0..live.div_ceil(n / 2)).map(layer).collect() }
    }

    /// The number of slots, P = L * (n / 2).
    pub(crate) fn slots(&self) -> usize {
        self.layers.iter().map(Vec::len).sum()
    }

    /// Q x.
    pub(crate) fn apply(&self, theta: &[f64], x: &[f64]) -> Vec<f64> {
        let mut x = x.to_vec();
        for (slot, plane) in self.planes() {
            turn(&mut x, plane, self.angle(theta, slot));
        }
        x
    }

    /// The transpose of Q times x, which is its inverse.
    pub(crate) fn undo(&self, theta: &[f64], x: &[f64]) -> Vec<f64> {
        let mut x = x.to_vec();
        for (slot, plane) in self.planes().into_iter().rev() {
            turn(&mut x, plane, -self.angle(theta, slot));
        }
        x
    }

    /// Q as [n, n], row-major.
    pub(crate) fn matrix(&self, theta: &[f64]) -> Vec<f64> {
        let mut matrix = vec![0.0; self.n * self.n];
        for column in 0..self.n {
            let mut unit = vec![0.0; self.n];
            unit[column] = 1.0;
            for (row, value) in self.apply(theta, &unit).into_iter().enumerate() {
                matrix[row * self.n + column] = value;
            }
        }
        matrix
    }

    /// Every slot with its plane, in the order in which they turn.
    pub(crate) fn planes(&self) -> Vec<(usize, (usize, usize))> {
        self.layers.iter().flatten().copied().enumerate().collect()
    }

    /// The angle of a slot: 0 beyond the live ones and beyond the end of theta.
    pub(crate) fn angle(&self, theta: &[f64], slot: usize) -> f64 {
        let live = &theta[..theta.len().min(self.live)];
        live.get(slot).copied().unwrap_or(0.0)
    }
}

/// x_a' = cos(t) x_a - sin(t) x_b, x_b' = sin(t) x_a + cos(t) x_b.
pub(crate) fn turn(x: &mut [f64], (a, b): (usize, usize), angle: f64) {
    let (sin, cos) = angle.sin_cos();
    (x[a], x[b]) = (cos * x[a] - sin * x[b], sin * x[a] + cos * x[b]);
}

//! Metrics of classes and scores: confusion, macro F1, the two censoring rates, direction, thresholds, ranking.

use serde::Serialize;

/// Classes of a censored quantity: 0 below the window, 1 inside it, 2 above it.
const CLASSES: usize = 3;

/// Counts of (true class, predicted class) of a censored quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Confusion(pub [[u64; CLASSES]; CLASSES]);

impl Confusion {
    /// Counts pairs of class indices.
    pub fn of(truth: &[usize], predicted: &[usize]) -> Self {
        let mut counts = [[0; CLASSES]; CLASSES];
        for (&truth, &predicted) in truth.iter().zip(predicted) {
            counts[truth][predicted] += 1;
        }
        Self(counts)
    }

    /// F1 of a class: 2 · true positives / (predicted + actual); 0 for a class that is neither.
    pub fn f1(&self, class: usize) -> f64 {
        let actual: u64 = self.0[class].iter().sum();
        let predicted: u64 = self.0.iter().map(|row| row[class]).sum();
        if actual + predicted == 0 { 0.0 } else { 2.0 * self.0[class][class] as f64 / (actual + predicted) as f64 }
    }

    /// Mean F1 over the classes.
    pub fn macro_f1(&self) -> f64 {
        (0..CLASSES).map(|class| self.f1(class)).sum::<f64>() / CLASSES as f64
    }

    /// Share of the rows inside the window that are predicted censored; absent without such rows.
    pub fn false_censored(&self) -> Option<f64> {
        let inside: u64 = self.0[1].iter().sum();
        (inside > 0).then(|| (self.0[1][0] + self.0[1][2]) as f64 / inside as f64)
    }

    /// Share of the censored rows that are predicted inside; absent without such rows.
    pub fn false_inside(&self) -> Option<f64> {
        let censored: u64 = self.0[0].iter().chain(&self.0[2]).sum();
        (censored > 0).then(|| (self.0[0][1] + self.0[2][1]) as f64 / censored as f64)
    }

    /// Mean F1 of "below" and "above" over the truly censored rows; a row predicted inside is an error for its side.
    pub fn direction_f1(&self) -> Option<f64> {
        let [below, above] = [self.0[0], self.0[2]];
        let f1 = |right: u64, actual: [u64; 3], wrong: u64| {
            let total = actual.iter().sum::<u64>() + right + wrong;
            if total == 0 { 0.0 } else { 2.0 * right as f64 / total as f64 }
        };
        let any = below.iter().chain(&above).any(|&count| count > 0);
        any.then(|| f64::midpoint(f1(below[0], below, above[0]), f1(above[2], above, below[2])))
    }
}

/// The effect of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Threshold {
    /// The threshold on |Q|; below it a row is predicted censored.
    pub tau: f64,
    /// Share of the rows inside the window below it.
    pub false_censored: f64,
    /// Share of the censored rows not below it.
    pub false_inside: f64,
    /// Share of all rows below it.
    pub bottom_rate: f64,
}

/// The effect of each threshold, from |Q| of the rows inside the window and of the censored rows: two sorts, then a binary
/// search per threshold. Empty groups have rate 0.
pub fn sweep(inside: &[f64], censored: &[f64], taus: &[f64]) -> Vec<Threshold> {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let (inside, censored) = (sorted(inside), sorted(censored));
    let below = |values: &[f64], tau: f64| values.partition_point(|value| *value < tau);
    let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
    let at = |&tau: &f64| {
        let (left, right) = (below(&inside, tau), below(&censored, tau));
        Threshold {
            tau,
            false_censored: share(left, inside.len()),
            false_inside: share(censored.len() - right, censored.len()),
            bottom_rate: share(left + right, inside.len() + censored.len()),
        }
    };
    taus.iter().map(at).collect()
}

/// `count` numbers from 10^low to 10^high, evenly in the logarithm.
pub fn log_space(low: f64, high: f64, count: usize) -> Vec<f64> {
    (0..count).map(|at| 10_f64.powf(low + (high - low) * at as f64 / (count - 1) as f64)).collect()
}

/// The rates by which an operating point of a censoring model is chosen; an absent rate is worse than any other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Operation {
    /// Share of the rows inside the window predicted censored.
    pub false_censored: Option<f64>,
    /// Share of the censored rows predicted inside.
    pub false_inside: Option<f64>,
    /// Mean F1 of the two directions.
    pub direction_f1: Option<f64>,
}

/// The index of the best candidate by each criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OperatingPoints {
    /// Fewest censored rows predicted inside.
    pub safety_first: Option<usize>,
    /// Fewest rows inside predicted censored.
    pub accuracy_first: Option<usize>,
    /// Best direction.
    pub direction_aware: Option<usize>,
    /// Smallest sum of both rates.
    pub balanced: Option<usize>,
}

impl OperatingPoints {
    /// The best of some candidates; the first of equal ones. A rate of 0 is the best one, not an absent one.
    pub fn of(candidates: &[Operation]) -> Self {
        let smallest = |cost: &dyn Fn(&Operation) -> Option<f64>| {
            let known = candidates.iter().enumerate().filter_map(|(at, one)| cost(one).map(|cost| (at, cost)));
            known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
        };
        Self {
            safety_first: smallest(&|one| one.false_inside),
            accuracy_first: smallest(&|one| one.false_censored),
            direction_aware: smallest(&|one| one.direction_f1.map(|f1| -f1)),
            balanced: smallest(&|one| Some(one.false_inside? + one.false_censored?)),
        }
    }
}

/// Area under the ROC curve: the probability that a positive scores above a negative; ties count half. Absent unless both occur.
pub fn auroc(is_positive: &[bool], scores: &[f64]) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let positives = is_positive.iter().filter(|&&is| is).count();
    let negatives = is_positive.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let (mut rank_sum, mut done) = (0.0, 0);
    for ties in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let mean_rank = done as f64 + f64::midpoint(1.0, ties.len() as f64);
        rank_sum += mean_rank * ties.iter().filter(|&&at| is_positive[at]).count() as f64;
        done += ties.len();
    }
    let (positives, negatives) = (positives as f64, negatives as f64);
    Some((rank_sum - positives * (positives + 1.0) / 2.0) / (positives * negatives))
}

/// Average precision: Σ (recall_k - recall_(k-1)) · precision_k from the highest score down, equal scores taken together.
pub fn average_precision(is_positive: &[bool], scores: &[f64]) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let positives = is_positive.iter().filter(|&&is| is).count();
    let (mut hits, mut seen, mut area) = (0, 0, 0.0);
    for ties in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let new = ties.iter().filter(|&&at| is_positive[at]).count();
        hits += new;
        seen += ties.len();
        area += new as f64 * hits as f64 / seen as f64;
    }
    (positives > 0).then(|| area / positives as f64)
}

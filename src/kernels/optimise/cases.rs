//! Cases of `optimise`, and their oracle: one weight's update in f64.

use std::sync::Arc;

use crate::device::{Case, Expected, Tiles};
use crate::kernels::evidence::{Numbers, case, device, within, words};
use crate::kernels::fold;
use crate::kernels::optimise::{
    self, FROZEN, GradientBounds, Limit, LossScale, RATES, Rule, SCALE_AT, STATE, Sizes, TAIL,
};
use crate::program::Program;

/// The new p, m, v and a in plain f64.
pub type Oracle = Arc<dyn Fn(f64, [f64; 4], [f64; RATES]) -> [f64; 4]>;

/// A rule and its oracle: the new p, m, v and a of a gradient, a state and the step's rates.
#[derive(Clone)]
pub struct RuleCase {
    /// The optimiser and its constants.
    pub name: String,
    /// As the kernel takes it.
    pub rule: Rule,
    /// In plain f64.
    pub oracle: Oracle,
    /// The rates of the first step.
    pub rates: [f32; RATES],
}

/// Rates of which each matters.
pub const DISTINCT: [f32; RATES] = [0.01, 0.02, 1.5, 0.99];

/// Where and how a step is made.
#[derive(Clone, Copy)]
struct Place {
    total: usize,
    parts: usize,
    group: usize,
    /// The step of an epoch of at least three, from 0.
    cursor: u32,
    /// Updates that were left out before in this epoch.
    skipped: f32,
    /// Whether the second line is frozen and the third has rates of its own.
    is_grouped: bool,
    /// Whether a gradient is not finite.
    is_odd: bool,
    /// Factor of the gradients.
    scale: f32,
}

const ALONE: Place =
    Place { total: 64, parts: 1, group: 1, cursor: 2, skipped: 0.0, is_grouped: false, is_odd: false, scale: 1.0 };

/// A mean of the weights is kept, and every rate matters.
fn stand_in(bounds: GradientBounds, is_grouped: bool) -> RuleCase {
    let program = Program::with_results(Rule::INPUTS, |x| {
        let m = 0.5 * x[2] + x[0];
        let v = 0.75 * x[3] + 0.25 * (x[0] * x[0]);
        let p = x[1] * x[8] - x[5] * m / (v + x[6]) * x[7];
        vec![p, m, v, 0.9 * (x[4] + x[1] - p)]
    });
    let oracle = |g: f64, [p, m, v, a]: [f64; 4], rates: [f64; RATES]| {
        let (m, v) = (m / 2.0 + g, (3.0 * v + g * g) / 4.0);
        let next = p * rates[3] - rates[0] * rates[2] * m / (v + rates[1]);
        [next, m, v, 0.9 * (a + p - next)]
    };
    let rule = Rule { bounds, is_grouped, ..Rule::new(program, None) };
    RuleCase { name: format!("stand-in, {bounds:?}"), rule, oracle: Arc::new(oracle), rates: DISTINCT }
}

/// Cases of `optimise` with an example rule; each optimiser has its own cases as well.
pub fn cases() -> Vec<Case> {
    let free = stand_in(GradientBounds::default(), false);
    let mut cases: Vec<Case> =
        [(64, 1), (8832, 3)].map(|(total, parts)| update_case(&free, Place { total, parts, ..ALONE })).into();
    let summed = GradientBounds { is_summed: true, ..GradientBounds::default() };
    // The first of two that is also the epoch's last, the second of three, the last of three.
    for group in [2, 4, 3] {
        cases.push(update_case(&stand_in(summed, false), Place { group, ..ALONE }));
    }
    let adaptive = Limit::Adaptive { deviations: 2.0, most: 0.2 };
    for limit in [Limit::Norm(0.5), Limit::Norm(1e6), Limit::Length(0.1), adaptive] {
        let bounds = GradientBounds { limit, ..GradientBounds::default() };
        cases.push(update_case(&stand_in(bounds, false), Place { total: 8832, ..ALONE }));
    }
    for (limit, largest) in [(Limit::Tensor(0.3), None), (Limit::Norm(0.5), Some(0.01)), (Limit::None, Some(0.2))] {
        let bounds = GradientBounds { limit, largest, ..GradientBounds::default() };
        cases.push(update_case(&stand_in(bounds, true), Place { total: 320, is_grouped: true, ..ALONE }));
    }
    // Finite gradients whose norm is above every number, or above 2^126, whose reciprocal a device may take for 0. The factor is a normal number: a
    // device may take others for 0.
    for (limit, scale) in
        [(Limit::Norm(1e3), 3e38), (Limit::Tensor(1e3), 3e38), (Limit::Norm(1e3), 4e37), (Limit::Norm(2.0), 1e19)]
    {
        let bounds = GradientBounds { limit, ..GradientBounds::default() };
        let is_grouped = limit.is_by_tensor();
        cases.push(update_case(&stand_in(bounds, is_grouped), Place { total: 832, is_grouped, scale, ..ALONE }));
    }
    // Left out, and the rates of the update after two that were.
    let skips = GradientBounds { skips: true, ..GradientBounds::default() };
    cases.push(update_case(&stand_in(skips, false), Place { is_odd: true, ..ALONE }));
    // The scale of the loss grows, stays, falls to its least, and stays within a group.
    let scale =
        |interval, rows| LossScale { initial: 1.0, growth: 2.0, backoff: 0.25, interval, least: 3.0, most: 7.0, rows };
    for (interval, is_odd, group) in [(2.0, false, 1), (3.0, false, 1), (2.0, true, 1), (2.0, false, 4)] {
        let bounds = GradientBounds { limit: Limit::Norm(0.5), scale: Some(scale(interval, 8.0)), ..skips };
        cases.push(update_case(&stand_in(bounds, false), Place { group, is_odd, ..ALONE }));
    }
    cases.push(update_case(&stand_in(skips, true), Place { total: 320, skipped: 2.0, is_grouped: true, ..ALONE }));
    cases
}

/// Cases of `optimise` with a rule.
pub fn of_rule(known: &RuleCase) -> Vec<Case> {
    let bounds = GradientBounds { limit: Limit::Norm(0.5), is_summed: true, ..GradientBounds::default() };
    let limited = RuleCase {
        name: format!("{}, limited", known.name),
        rule: Rule { bounds, ..known.rule.clone() },
        ..known.clone()
    };
    vec![
        update_case(known, ALONE),
        update_case(known, Place { total: 2112, parts: 3, ..ALONE }),
        update_case(&limited, Place { total: 2112, group: 3, ..ALONE }),
    ]
}

/// Rows of the epoch.
const ROWS: usize = 7;
/// What is remembered of an epoch before the step, and mean, variance and number of past norms.
const PAST: [f64; 3] = [0.04, 0.0001, 12.0];
/// The scale of the loss before the step, where it is scaled.
const SCALE: f32 = 4.0;

/// The rates of a step, different in each table.
fn rates(first: [f32; RATES], table: usize, step: u32) -> [f32; RATES] {
    first.map(|rate| rate * (1.0 + 0.1 * table as f32 - 0.01 * step as f32))
}

impl Place {
    fn steps(&self) -> u32 {
        self.group.max(3) as u32
    }

    fn tables(&self) -> usize {
        if self.is_grouped { 2 } else { 1 }
    }

    fn ends(&self) -> bool {
        (self.cursor as usize + 1).is_multiple_of(self.group) || self.cursor + 1 == self.steps()
    }

    fn begins(&self) -> bool {
        (self.cursor as usize) < self.group
    }

    /// Updates of the epoch before this one.
    fn applied(&self) -> f32 {
        self.cursor as f32 - self.skipped
    }

    /// First and end line of each tensor and its table: tensors of one line and of two by turns; the second is frozen, the third has the other table.
    fn tensors(&self) -> Vec<(usize, usize, u32)> {
        let mut tensors: Vec<(usize, usize, u32)> = Vec::new();
        let mut line = 0;
        while self.is_grouped && line < self.total / 64 {
            let end = (line + 1 + tensors.len() % 2).min(self.total / 64);
            tensors.push((line, end, [0, FROZEN, 1][tensors.len() % 3]));
            line = end;
        }
        tensors
    }

    /// Tables of rates, the order of the rows, the words of lines.
    fn order(&self, first: [f32; RATES]) -> Vec<u32> {
        let table = |at: usize| (0..self.steps()).flat_map(move |step| rates(first, at, step)).map(f32::to_bits);
        let mut order: Vec<u32> = table(0).chain([0; ROWS]).collect();
        (1..self.tables()).for_each(|at| order.extend(table(at)));
        for (first, end, of) in self.tensors() {
            (first..end).for_each(|_| order.extend([of, first as u32, end as u32]));
        }
        order
    }

    /// The state after the step, from before: `norm` if an update was made, with the most that it was allowed.
    fn remembered(&self, before: &[f32], bounds: GradientBounds, update: Option<[f64; 2]>) -> Vec<f64> {
        let mut after: Vec<f64> = before.iter().map(|&x| f64::from(x)).collect();
        // Copy 0 is read by even steps, such as the sixth.
        let (read, written) = after.split_at_mut(STATE);
        written[..10].copy_from_slice(&read[..10]);
        if self.begins() {
            written[..4].fill(0.0);
        }
        match update {
            Some([norm, most]) => {
                written[0] += 1.0;
                written[2] += f64::from(u8::from(norm > most));
                written[3] = written[3].max(norm.min(3e38));
                if matches!(bounds.limit, Limit::Adaptive { .. }) {
                    let (weight, apart) = (1.0 / 13.0, norm.min(most) - PAST[0]);
                    written[4] += weight * apart;
                    written[5] = (1.0 - weight) * (PAST[1] + weight * apart * apart);
                    written[6] = 13.0;
                }
            }
            None if self.ends() => written[1] += 1.0,
            None => {}
        }
        if let Some(scale) = bounds.scale.filter(|_| self.ends()) {
            let [growth, backoff, interval, least, most] =
                [scale.growth, scale.backoff, scale.interval, scale.least, scale.most].map(f64::from);
            [written[8], written[9]] = match (update.is_some(), read[9] + 1.0) {
                (false, _) => [(read[8] * backoff).max(least), 0.0],
                (true, clean) if clean >= interval => [(read[8] * growth).min(most), 0.0],
                (true, clean) => [read[8], clean],
            };
        }
        after[SCALE_AT] = after[STATE + 8];
        after
    }
}

/// The figures that `fold` writes after sums of one part, and `tensor_norms` for these tensors.
fn figures(sums: &[f32], tensors: &[(usize, usize, u32)]) -> Vec<f32> {
    let figure = |words: &[f32]| -> [f32; 4] {
        let finite = words.iter().map(|&g| f64::from(g)).filter(|g| g.is_finite());
        let most = finite.clone().fold(0.0_f64, |most, g| most.max(g.abs()));
        let bad = words.len() - finite.clone().count();
        [most as f32, finite.map(|g| (g / most).powi(2)).sum::<f64>() as f32, bad as f32, 0.0]
    };
    let mut wholes = vec![0.0; 4 * fold::workgroups(sums.len())];
    wholes[..4].copy_from_slice(&figure(sums));
    let mut lines: Vec<[f32; 4]> = sums.chunks(64).map(figure).collect();
    for &(first, end, _) in tensors {
        lines[first..end].fill([0.0; 4]);
        lines[first] = figure(&sums[64 * first..64 * end]);
    }
    lines.into_iter().flatten().chain(wholes).collect()
}

/// A step of an epoch of three steps, or of more if groups are longer.
fn update_case(known: &RuleCase, place: Place) -> Case {
    let Place { total, parts, group, cursor, skipped, is_grouped, is_odd, scale: size } = place;
    let GradientBounds { limit, largest, skips, scale, .. } = known.rule.bounds;
    let is_folded = known.rule.bounds.needs_fold();
    let mut numbers = Numbers::new(73);
    let (steps, tables) = (place.steps(), place.tables());
    let sizes = Sizes {
        total,
        parts,
        steps: steps as usize,
        group,
        rows: ROWS,
        tables,
        folded: total,
        figures: fold::workgroups(total),
    };
    let mut partials = numbers.floats(parts * (total + TAIL));
    for part in partials.chunks_exact_mut(total + TAIL) {
        part[..total].iter_mut().for_each(|g| *g *= size);
        part[total + 1] = 2.0;
        part[total + 2] = if is_folded { 3.0 } else { 0.0 };
    }
    if is_odd {
        partials[5] = f32::INFINITY;
    }
    let weight: f64 = if is_folded { 3.0 } else { 2.0 * parts as f64 };
    let sum = |at: usize| (0..parts).map(|part| f64::from(partials[part * (total + TAIL) + at])).sum::<f64>();
    let unscaled = scale.map_or(1.0, |scale| f64::from(scale.rows / SCALE));
    let mean: Vec<f64> = (0..total).map(|at| sum(at) / weight * unscaled).collect();
    let mut report = vec![0.0; steps as usize + 2];
    report[cursor as usize] = sum(total) / sum(total + 1);
    if is_folded {
        let tensors = if limit.is_by_tensor() { place.tensors() } else { Vec::new() };
        partials.extend(figures(&partials[..total], &tensors));
    }
    let norm = |range: std::ops::Range<usize>| mean[range].iter().map(|g| g * g).sum::<f64>().sqrt();
    let whole = norm(0..total);
    let most = match limit {
        Limit::None | Limit::Tensor(_) | Limit::Trust => f64::MAX,
        Limit::Norm(most) | Limit::Length(most) => f64::from(most),
        Limit::Adaptive { deviations, .. } => PAST[0] + f64::from(deviations) * PAST[1].sqrt().max(0.05 * PAST[0]),
    };
    let factor = if whole > most || matches!(limit, Limit::Length(_)) { most / whole } else { 1.0 };
    let before = if place.begins() { 0.0 } else { place.applied() };
    let row = if is_folded { (before as u32 * group as u32).min(steps - 1) } else { cursor };
    let moments = if known.rule.arrays() > 0 { total } else { 0 };
    let (p, m) = (numbers.floats(total), numbers.floats(moments));
    let v: Vec<f32> = numbers.floats(moments).iter().map(|v| v * v).collect();
    let has_mean = known.rule.has_mean();
    let a = numbers.floats(if has_mean { total } else { 0 });
    let (is_applied, tensors) = (place.ends() && !(skips && is_odd), place.tensors());
    let next = |i: usize| {
        let state = [&p, &m, &v, &a].map(|array| f64::from(array.get(i).copied().unwrap_or_default()));
        let own = tensors.iter().find(|(first, end, _)| (64 * first..64 * end).contains(&i));
        let (first, end, of) = own.copied().unwrap_or((0, 0, 0));
        if !is_applied || of == FROZEN {
            return state;
        }
        let of_tensor = match limit {
            Limit::Tensor(most) => (f64::from(most) / norm(64 * first..64 * end)).min(1.0),
            _ => 1.0,
        };
        let g = mean[i] * factor * of_tensor;
        let g = largest.map_or(g, |largest| g.clamp(-f64::from(largest), f64::from(largest)));
        (known.oracle)(g, state, rates(known.rates, of as usize, row).map(f64::from))
    };
    let updated: Vec<[f64; 4]> = (0..total).map(next).collect();
    let column = |k: usize| updated.iter().map(|row| row[k]).collect::<Vec<_>>();
    let mut state = vec![0.0_f32; known.rule.moment_words(total) - known.rule.arrays() * total];
    state[..4].copy_from_slice(&[place.applied(), skipped, 1.0, 0.01]);
    state[4..7].copy_from_slice(&PAST.map(|past| past as f32));
    state[8..10].copy_from_slice(&if scale.is_some() { [SCALE, 1.0] } else { [0.0; 2] });
    let after = if is_folded {
        place.remembered(&state, known.rule.bounds, is_applied.then_some([whole, most]))
    } else {
        state.iter().map(|&x| f64::from(x)).collect()
    };
    let kept = |k: usize, is_kept: bool| if is_kept { column(k) } else { Vec::new() };
    let [of_m, of_v, of_mean] = [kept(1, moments > 0), kept(2, moments > 0), kept(3, has_mean)];
    let expected = vec![
        Expected::Floats(column(0)),
        Expected::Floats([of_m, of_v, of_mean, after].concat()),
        Expected::Words(vec![6, (cursor + 1) % steps, 6, cursor]),
        Expected::Floats(report),
    ];
    let more = if is_grouped { ", in groups" } else { "" };
    let odd = if is_odd { ", not finite" } else { "" };
    let large = if size == 1.0 { String::new() } else { format!(", gradients times {size:e}") };
    let name = format!("{}, {total} words in {parts} parts, {group} steps an update{more}{odd}{large}", known.name);
    let inputs = vec![place.order(known.rates), words(&partials)];
    let mut made = case(name, within(1e-5, 1e-6), inputs, expected, |given, out| {
        let outputs = [0, 1, 2, 3].map(|at: usize| out[at].clone());
        let info = device(if parts > 1 { Tiles::FewLarge } else { Tiles::ManySmall });
        optimise::dispatch(&info, &known.rule, sizes, [given[0].clone(), given[1].clone()], outputs)
    });
    made.outputs =
        vec![words(&p), words(&[m, v, a, state].concat()), vec![5, 1, 6, cursor], vec![0; steps as usize + 2]];
    made
}

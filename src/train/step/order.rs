//! The upload of an epoch: the optimiser's rates per step, then the order of the training rows.

use crate::optim::Moment;
use crate::train::config::TrainerConfig;
use crate::train::groups::Groups;
use crate::train::progress::Standing;

/// Words per step in the table of rates.
pub(crate) const ROW_WORDS: usize = 4;

/// Words of `order` for an epoch of `steps` steps over `rows` rows.
pub(crate) fn order_words(groups: &Groups, steps: usize, rows: usize) -> usize {
    groups.tables.len() * ROW_WORDS * steps + rows + groups.lines.len()
}

/// The words of `order` for an epoch: `steps` table rows (equal within a group of accumulated steps), then the permutation; then the tables of
/// other groups of parameters, and to which group each line of parameters belongs. Updates that were left out do not count.
pub(crate) fn epoch_words(
    settings: &TrainerConfig,
    groups: &Groups,
    steps: usize,
    epoch: usize,
    standing: &Standing,
    permutation: &[u32],
) -> Vec<u32> {
    let mut words = Vec::with_capacity(order_words(groups, steps, permutation.len()));
    let updates = steps.div_ceil(settings.accumulate);
    let before = (epoch * updates) as u64 - standing.skipped;
    for (table, rates) in groups.tables.iter().enumerate() {
        let optimizer = groups.optimizer(table, &settings.optimizer);
        for step in 0..steps {
            let done = before + (step / settings.accumulate) as u64;
            let at = Moment { update: done, updates: updates as u64, epochs: settings.epochs, drops: standing.drops };
            let lr = settings.lr * rates.factor * settings.schedule.factor(at);
            let row = if rates.is_matrix { optimizer.matrix_row(lr, done + 1) } else { optimizer.row(lr, done + 1) };
            words.extend(row.map(f32::to_bits));
        }
        if table == 0 {
            words.extend(permutation);
        }
    }
    words.extend(&groups.lines);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::{Optimizer, Schedule, ScheduleShape, Step};
    use crate::train::groups::Rates;

    /// Each optimiser with decays of 1/2 and 3/4 for the moments and 1/2 for the weights.
    fn optimizers() -> [Optimizer; 3] {
        let moments =
            |optimizer: Optimizer| optimizer.with("beta1", 0.5).and_then(|optimizer| optimizer.with("beta2", 0.75));
        let [adam, adamw] = [Optimizer::adam(0.5), Optimizer::adamw(0.5)].map(|optimizer| moments(optimizer).unwrap());
        [Optimizer::sgd(0.75).unwrap().with_weight_decay(0.5), adam, adamw]
    }

    /// The table rows of three steps of the second epoch under a warm-up over five updates to a base rate of 0.1 and a half of it.
    fn table(optimizer: Optimizer, accumulate: usize) -> Vec<[f32; ROW_WORDS]> {
        let schedule = Schedule { warmup_steps: 5, shape: ScheduleShape::Step(Step { every: 1, factor: 0.5 }) };
        let settings =
            TrainerConfig { optimizer, schedule, accumulate, lr: 0.1, epochs: 2, ..TrainerConfig::default() };
        let groups = Groups { tables: vec![Rates::PLAIN], lines: Vec::new(), frozen: Vec::new(), matrices: Vec::new() };
        let words = epoch_words(&settings, &groups, 3, 1, &Standing::default(), &[2, 0, 1]);
        assert_eq!(words[3 * ROW_WORDS..], [2, 0, 1], "the order of the rows follows");
        words[..3 * ROW_WORDS].chunks(ROW_WORDS).map(|row| std::array::from_fn(|k| f32::from_bits(row[k]))).collect()
    }

    #[test]
    fn rate_and_decay_of_a_step_come_from_the_schedule() {
        // Updates 4, 5 and 6 of the run; with two steps for each, updates 3, 3 and 4. Per update: its rate, and the corrections
        // 1 - 1/2^t and 1 - (3/4)^t of its moments.
        let (third, fourth) =
            ((0.1 / 2.0 * 3.0 / 5.0, 7.0 / 8.0, 37.0 / 64.0), (0.1 / 2.0 * 4.0 / 5.0, 15.0 / 16.0, 175.0 / 256.0));
        let (fifth, sixth) = ((0.05, 31.0 / 32.0, 781.0 / 1024.0), (0.05, 63.0 / 64.0, 3367.0 / 4096.0));
        for (accumulate, updates) in [(1, [fourth, fifth, sixth]), (2, [third, third, fourth])] {
            for (optimizer, got) in optimizers().map(|optimizer| (optimizer.clone(), table(optimizer, accumulate))) {
                for (step, (lr, first, second)) in updates.into_iter().enumerate() {
                    let (moments, decay) = ([lr / first, 1.0 / f64::sqrt(second)], 1.0 - 0.5 * lr);
                    let expected = match optimizer.name() {
                        "sgd" => [lr, 0.5, 0.0, 0.0],
                        "adam" => [lr, moments[0], moments[1], 0.5],
                        _ => [lr, moments[0], moments[1], decay],
                    };
                    let is_near =
                        got[step].iter().zip(expected).all(|(got, expected)| (f64::from(*got) - expected).abs() < 1e-7);
                    assert!(is_near, "{optimizer:?}, step {step}: got {:?}, expected {expected:?}", got[step]);
                }
            }
        }
    }
}

//! The four tasks: the contrastive rule learns them, and the source's rule loses the control.

use super::super::oracle::tasks::{Rows, Task, Tokens};
use super::super::oracle::{Batch, Error, Geometry, Rates, Relaxed, ScalarRule, Velocity, descend, pool, scatter};

/// The mean loss and accuracy over fresh rows, which no window of a training sees.
pub(in super::super) fn score(task: &Task, geometry: &Geometry) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for window in 1000..1020 {
        let Rows { batch, .. } = task.rows(window);
        sums[0] += task.energy.loss(geometry, &batch);
        sums[1] += accuracy(&task.energy.free(geometry, &batch), &batch.targets);
    }
    sums.map(|sum| sum / 20.0)
}

/// The part of the rows whose largest entry is that of their target.
fn accuracy(rows: &[Relaxed], targets: &[f64]) -> f64 {
    let largest = |y: &[f64]| (0..y.len()).max_by(|&a, &b| y[a].total_cmp(&y[b]));
    let targets = targets.chunks_exact(rows[0].y.len());
    let right = rows.iter().zip(targets).filter(|(row, target)| largest(&row.y) == largest(target));
    right.count() as f64 / rows.len() as f64
}

fn train(task: &Task, geometry: &mut Geometry, windows: std::ops::Range<usize>, rates: Rates) {
    for window in windows {
        let gradient = task.energy.contrast(geometry, &task.rows(window).batch, task.nudge);
        assert!(descend(geometry, &gradient, rates), "window {window}");
    }
}

#[test]
fn the_metric_is_found() {
    let task = Task::metric(1, 64);
    let mut geometry = task.geometry();
    let [loss, accuracy] = score(&task, &geometry);
    assert!(loss > 0.4 && accuracy < 0.5, "before: loss {loss}, accuracy {accuracy}");
    train(&task, &mut geometry, 0..80, task.rates);
    let [loss, accuracy] = score(&task, &geometry);
    assert!(loss < 1e-3 && accuracy == 1.0, "after: loss {loss}, accuracy {accuracy}");
    let (signal, distractors) = geometry.metric.split_at(3);
    assert!(signal.iter().all(|&g| g > 1.2) && distractors.iter().all(|&g| g < 0.2), "{geometry:?}");
}

#[test]
fn the_metric_is_found_through_hidden_rotations() {
    for seed in 1..=5 {
        let task = Task::rotation(seed, 64);
        let mut geometry = task.geometry();
        let mut windows = 0;
        while windows < 200 && score(&task, &geometry)[1] < 1.0 {
            train(&task, &mut geometry, windows..windows + 10, task.rates);
            windows += 10;
        }
        let [loss, accuracy] = score(&task, &geometry);
        assert!(accuracy > 0.99, "seed {seed}, {windows} windows: loss {loss}, accuracy {accuracy}");
    }
}

#[test]
fn a_metric_alone_does_not_see_through_rotations() {
    let task = Task::rotation(1, 64);
    let mut geometry = task.geometry();
    train(&task, &mut geometry, 0..120, Rates { theta: 0.0, ..task.rates });
    let [loss, accuracy] = score(&task, &geometry);
    assert!(accuracy < 0.7, "loss {loss}, accuracy {accuracy}");
}

#[test]
fn an_embedding_learns_which_token_follows() {
    let task = Tokens::new(1, Error::CrossEntropy);
    let (mut embedding, mut geometry) = (task.embedding.clone(), Geometry::identity(&task.energy.retrieval.rotor));
    let (mut losses, mut accuracies) = (Vec::new(), Vec::new());
    for window in 0..200 {
        let (ids, targets) = task.rows(window);
        let mask = vec![vec![1.0]; ids.len()];
        let batch = Batch { queries: pool(&embedding, 8, &ids, &mask), targets };
        let free = task.energy.free(&geometry, &batch);
        let squares = free.iter().zip(batch.targets.chunks_exact(32));
        let loss = squares.map(|(row, target)| Error::Squared.loss(&row.y, target)).sum::<f64>() / free.len() as f64;
        losses.push(loss);
        accuracies.push(accuracy(&free, &batch.targets));
        let gradient = task.energy.contrast(&geometry, &batch, task.nudge);
        scatter(&mut embedding, &ids, &mask, &gradient.queries, task.embedding_rate);
        assert!(descend(&mut geometry, &gradient, task.rates), "window {window}");
    }
    let last = |values: &[f64]| values[180..].iter().sum::<f64>() / 20.0;
    assert!(losses[0] > 0.4 && accuracies[0] < 0.2, "{} {}", losses[0], accuracies[0]);
    assert!(last(&losses) < 0.02 && last(&accuracies) > 0.99, "{losses:?} {accuracies:?}");
}

#[test]
fn the_control_gets_better_with_contrasts_and_is_lost_to_the_source() {
    let task = Task::control(1, 64);
    let before = score(&task, &task.geometry());
    let mut contrastive = task.geometry();
    train(&task, &mut contrastive, 0..80, task.rates);
    let after = score(&task, &contrastive);
    assert!(after[0] < 0.7 * before[0] && after[1] > before[1], "loss and accuracy from {before:?} to {after:?}");
    let mut scalar = task.geometry();
    let rule = ScalarRule { velocity: Velocity::NudgedPosition, rate: 0.1, nudge_scale: 0.1 };
    for window in 0..400 {
        let Rows { batch, centres } = task.rows(window);
        // R is constant, so that one step is as good as 64.
        rule.train(&task.energy.retrieval, &mut scalar, &batch.queries, &centres, &[1.0]);
    }
    let lost = score(&task, &scalar);
    assert!(lost[1] < 0.5 * before[1], "accuracy from {} to {}", before[1], lost[1]);
    assert!(scalar.metric[..3].iter().all(|&g| g == 0.01), "{scalar:?}");
}

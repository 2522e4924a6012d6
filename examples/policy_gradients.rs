//! Policy gradients over episodes (REINFORCE, Williams 1992, with a baseline): a walker in a corridor learns to pass a key to open the door. Its state is
//! the place and whether it has the key. All episodes of a batch are computed in one pass, and the gradient is limited by its norm.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::prelude::*;

/// Places 0 to 6: the key is at 0, the door at 6, the walker starts at 3.
const PLACES: usize = 7;
const START: usize = 3;
/// Places without and with the key.
const STATES: usize = 2 * PLACES;
/// Steps of an episode at most.
const LONGEST: usize = 30;
const EPISODES: usize = 32;
const UPDATES: usize = 250;

/// A walker: its place, and whether it has the key.
#[derive(Clone, Copy)]
struct Walker {
    place: usize,
    has_key: bool,
}

impl Walker {
    fn state(self) -> usize {
        self.place + if self.has_key { PLACES } else { 0 }
    }

    /// Moves left (0) or right (1); the reward, and whether the episode ends.
    fn step(&mut self, action: usize) -> (f32, bool) {
        self.place = if action == 0 { self.place.saturating_sub(1) } else { (self.place + 1).min(PLACES - 1) };
        self.has_key |= self.place == 0;
        let is_open = self.has_key && self.place == PLACES - 1;
        (if is_open { 1.0 } else { 0.0 }, is_open)
    }
}

/// Draws between 0 and 1 from a seed.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }
}

/// What was done in all episodes: a row for each step.
#[derive(Default)]
struct Rollout {
    states: Vec<u32>,
    actions: Vec<u32>,
    /// The sum of the rewards from the step on, each later one times 0.98 more.
    returns: Vec<f32>,
    /// Share of episodes that open the door.
    opened: f32,
}

/// Plays episodes with the chances of going right in each state.
fn play(right: &[f32], draws: &mut Draws) -> Rollout {
    let mut rollout = Rollout::default();
    for _ in 0..EPISODES {
        let mut walker = Walker { place: START, has_key: false };
        let mut rewards = Vec::new();
        for _ in 0..LONGEST {
            let state = walker.state();
            let action = usize::from(draws.next() < right[state]);
            let (reward, is_over) = walker.step(action);
            rollout.states.push(state as u32);
            rollout.actions.push(action as u32);
            rewards.push(reward);
            if is_over {
                rollout.opened += 1.0 / EPISODES as f32;
                break;
            }
        }
        let mut later = 0.0;
        rewards.iter_mut().rev().for_each(|reward| {
            later = *reward + 0.98 * later;
            *reward = later;
        });
        rollout.returns.extend(rewards);
    }
    rollout
}

/// Moves the mean return of each state, the baseline, towards what was seen, and returns how much better each step was.
fn advantages(rollout: &Rollout, baseline: &mut [f32]) -> Vec<f32> {
    let better: Vec<f32> =
        rollout.states.iter().zip(&rollout.returns).map(|(state, seen)| seen - baseline[*state as usize]).collect();
    for (state, better) in rollout.states.iter().zip(&better) {
        baseline[*state as usize] += 0.01 * better;
    }
    better
}

/// The gradient of -mean(advantage · ln chance of the action) by the scores [states, actions], at most 1 long.
fn gradient(scores: &Var, rollout: &Rollout, advantages: &[f32]) -> Result<Vec<f32>> {
    let device = scores.value().device();
    let rows = rollout.states.len();
    let states = Tensor::from_u32(device, [rows], &rollout.states)?;
    let actions = Tensor::from_u32(device, [rows], &rollout.actions)?;
    let weights = Var::constant(Tensor::from_f32(device, [rows], advantages)?);
    let chances = ops::log_softmax(&ops::take_rows(scores, &states));
    let loss = -ops::mean(&(ops::pick(&chances, &actions) * weights), 0..1);
    let gradient = ops::grad(&loss, &[scores])?.remove(0).expect("the scores decide the chances");
    let gradient = pollster::block_on(gradient.value().to_f32())?;
    let norm = gradient.iter().map(|g| g * g).sum::<f32>().sqrt();
    Ok(gradient.iter().map(|g| g / norm.max(1.0)).collect())
}

/// The chance of going right in each state.
fn right(scores: &[f32]) -> Vec<f32> {
    scores.chunks_exact(2).map(|two| 1.0 / (1.0 + (two[0] - two[1]).exp())).collect()
}

fn main() -> Result<()> {
    let device = pollster::block_on(Device::open(&Request::default()))?;
    let mut draws = Draws(7);
    let (mut scores, mut baseline) = (vec![0.0; 2 * STATES], vec![0.0; STATES]);
    let before = play(&right(&scores), &mut draws);
    for update in 1..=UPDATES {
        let rollout = play(&right(&scores), &mut draws);
        let advantages = advantages(&rollout, &mut baseline);
        let leaf = Var::leaf(Tensor::from_f32(&device, [STATES, 2], &scores)?);
        let gradient = gradient(&leaf, &rollout, &advantages)?;
        scores.iter_mut().zip(gradient).for_each(|(score, g)| *score -= 8.0 * g);
        if update % 50 == 0 {
            let steps = rollout.states.len() as f32 / EPISODES as f32;
            println!("update {update}: {:.0} % open the door, {steps:.1} steps an episode", 100.0 * rollout.opened);
        }
    }
    let after = play(&right(&scores), &mut draws);
    let steps = after.states.len() as f32 / EPISODES as f32;
    println!(
        "door opened: {:.0} % before, {:.0} % after, in {steps:.1} steps",
        100.0 * before.opened,
        100.0 * after.opened
    );
    assert!(after.opened > 0.95 && after.opened > before.opened, "the policy must learn to open the door");
    // The shortest way has nine steps: three to the key and six to the door.
    assert!(steps < 11.0, "and do so on nearly the shortest way: got {steps} steps");
    Ok(())
}

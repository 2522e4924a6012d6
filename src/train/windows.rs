//! The steps of an epoch, in windows of bounded time, or a number of steps for measurements.

use super::events::{Event, Flow, Stop};
use super::learner::Learner;
use super::progress::Standing;
use super::step::order::epoch_words;
use super::step::setup::Setup;
use super::step::state::State;
use super::trainer::Trainer;
use crate::device::Timings;
use crate::error::{Error, Result};
use crate::host;

/// Steps between two reads of the loss inside a long epoch: bounds the queue of devices that cannot be waited for.
const STEPS_PER_LOOK: usize = 512;
/// Time between two `Event::Steps`.
const WINDOW_MS: f64 = 50.0;

impl Trainer {
    /// Uploads the table and the order of an epoch; a curriculum may change the loss first.
    pub(crate) fn begin_epoch(&mut self) -> Result<()> {
        let epoch = self.progress.history.len();
        let loss_of = |standing: &Standing| self.settings.curriculum.loss(&self.settings.loss, epoch, standing.held);
        let losses = self.progress.standings.iter().map(loss_of).collect();
        let Self { device, network, settings, data, groups, steps, learners, .. } = self;
        let has_hook = learners[0].state.gathered.is_some();
        let setup = Setup { device, network, settings, data, groups, steps: *steps, seed: settings.seed, has_hook };
        let states: Vec<&State> = learners.iter().map(|learner| &learner.state).collect();
        self.plans.turn_to(losses, &setup, &states)?;
        for (at, (Learner { state, sampler, .. }, standing)) in
            learners.iter().zip(&self.progress.standings).enumerate()
        {
            let seed = settings.seed_of(at);
            let order = match sampler {
                Some(sampler) => sampler.draw(seed, epoch),
                None => order_of_rows((self.shuffle)(epoch, seed), data.train.rows(data.targets))?,
            };
            let words = epoch_words(settings, groups, *steps, epoch, standing, &order);
            device.write(&state.order.buffer, state.order.offset, &words)?;
        }
        Ok(())
    }

    /// Runs the rest of the epoch in windows; `Some` if the run ends on the way.
    pub(super) async fn steps_of_epoch(
        &mut self,
        watch: &mut dyn FnMut(&Event<'_>) -> Flow,
    ) -> Result<(Option<Stop>, Flow)> {
        if self.progress.cursor == 0 {
            self.begin_epoch()?;
        }
        let mut unread = 0;
        let mut flow = Flow::Continue;
        while self.progress.cursor < self.steps {
            let count = self.window.min(self.steps - self.progress.cursor);
            let start = host::now_ms();
            self.run_steps(count).await?;
            self.progress.cursor += count;
            unread += count;
            if unread >= STEPS_PER_LOOK && self.progress.cursor < self.steps {
                let finite = |losses: &Vec<f32>| losses.iter().filter(|loss| loss.is_finite()).count();
                // A step whose update is left out has no loss.
                let least = if self.settings.bounds().skips { 1 } else { unread };
                // Of several models, one that has ended may go on to diverge; the end of the epoch looks at the others.
                let is_one = self.learners.len() == 1;
                if is_one
                    && self.losses(self.progress.cursor - unread, unread).await?.iter().any(|one| finite(one) < least)
                {
                    return Ok((Some(Stop::Diverged), flow));
                }
                unread = 0;
            }
            host::breathe().await;
            let expected = count as f64 * WINDOW_MS / (host::now_ms() - start).max(0.05);
            self.window = (expected as usize).clamp(1, STEPS_PER_LOOK);
            let (epoch, done) = (self.progress.history.len(), self.progress.cursor);
            flow = watch(&Event::Steps { epoch, done, steps: self.steps });
            if let Some(report) = self.source_report().await?
                && watch(&Event::Source(&report)) == Flow::Stop
            {
                flow = Flow::Stop;
            }
            if flow == Flow::Stop && self.progress.cursor < self.steps {
                return Ok((Some(Stop::Requested), flow));
            }
        }
        Ok((None, flow))
    }

    /// What the source of gradients reports of the last steps, if it does.
    pub async fn source_report(&self) -> Result<Option<Vec<(String, f64)>>> {
        match self.network.source() {
            Some(source) if !source.reported().is_empty() => {
                Ok(Some(source.report(&self.read_blocks(|name| source.reported().contains(&name)).await?)))
            }
            _ => Ok(None),
        }
    }

    /// Runs steps without evaluating or reading anything, for measurements and for tests that compare step by step. Past the end of the
    /// epoch its order and rates repeat.
    ///
    /// Errors for a run with a hook, which has to be waited for.
    pub fn advance(&mut self, steps: usize) -> Result<()> {
        self.refuse_hook("advance")?;
        let mut left = steps;
        while left > 0 {
            if self.progress.cursor == 0 {
                self.begin_epoch()?;
            }
            let count = left.min(self.steps - self.progress.cursor);
            self.plans.step.run(count)?;
            left -= count;
            self.progress.cursor = (self.progress.cursor + count) % self.steps;
        }
        Ok(())
    }

    fn refuse_hook(&self, place: &str) -> Result<()> {
        if self.hook.is_some() {
            return Err(Error::usage(format!("{place}: got a run with a hook, expected one without")));
        }
        Ok(())
    }

    /// The same, with every command measured; waits for the end. The time includes what the host does at the start of an epoch.
    pub async fn advance_timed(&mut self, steps: usize) -> Result<Timings> {
        self.refuse_hook("advance_timed")?;
        let start = host::now_ms();
        let mut epochs = Vec::new();
        let mut left = steps;
        while left > 0 {
            if self.progress.cursor == 0 {
                self.begin_epoch()?;
            }
            let count = left.min(self.steps - self.progress.cursor);
            epochs.push(self.plans.step.start_timed(count)?);
            left -= count;
            self.progress.cursor = (self.progress.cursor + count) % self.steps;
        }
        let mut timings = Timings::default();
        for epoch in epochs {
            timings.extend(&epoch.await?);
        }
        timings.wall[0] = start;
        Ok(timings)
    }
}

/// An order with as many rows as there are, perhaps some more than once. Errors for a row that does not exist: kernels use the numbers unchecked.
fn order_of_rows(order: Vec<u32>, rows: usize) -> Result<Vec<u32>> {
    if order.len() != rows {
        return Err(Error::usage(format!("shuffle: got an order of {} rows, expected {rows}", order.len())));
    }
    match order.iter().find(|&&row| row as usize >= rows) {
        Some(row) => Err(Error::usage(format!("shuffle: got row {row} in an order, expected rows below {rows}"))),
        None => Ok(order),
    }
}

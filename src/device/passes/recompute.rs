//! Memory for time: results that are computed before the turn of a recording and read after it, as activations are by a backward pass, are dropped, and
//! computed again by the same launches when they are needed (Griewank and Walther 2000; Chen et al. 2016). The bits are the same.

use std::ops::Range;

use super::in_place::transient_bytes;
use super::liveness::Uses;
use super::options::{Passes, Recompute};
use crate::device::handle::Device;
use crate::device::record::{Buffer, Command, Cost, Dispatch, Label, Recording, Slot, View};
use crate::error::{Error, Result};

/// The recording with results computed again, how many launches that takes, and their cost.
pub(in crate::device) fn recomputed(
    device: &Device,
    recording: Recording,
    passes: &Passes,
) -> Result<(Recording, (usize, Cost))> {
    let none = (0, Cost::default());
    let is_asked = passes.recompute != Recompute::Nothing || passes.drops.is_some();
    let Some(turn) = recording.turn.filter(|_| is_asked) else { return Ok((recording, none)) };
    let saved = Saved::of(&recording, turn);
    if let Some(drops) = &passes.drops {
        return Ok(saved.dropping(device, &recording, &saved.chosen(&recording, &**drops)));
    }
    match passes.recompute {
        Recompute::Nothing => Ok((recording, none)),
        Recompute::Every(length) => Ok(saved.dropping(device, &recording, &saved.all_but_every(length))),
        Recompute::Root => Ok(saved.dropping(device, &recording, &saved.all_but_every(root(saved.launches)))),
        Recompute::Cheap(flops) => {
            Ok(saved.dropping(device, &recording, &saved.chosen(&recording, &|_, cost| cost.flops < flops)))
        }
        Recompute::Within(most) => {
            let needed = transient_bytes(&recording, Some(&saved.uses), passes);
            if needed <= most {
                return Ok((recording, none));
            }
            let mut best: Option<(Recording, (usize, Cost))> = None;
            let mut least = needed;
            for (bytes, tried) in saved.all(device, &recording, passes) {
                least = least.min(bytes);
                let is_cheaper = best.as_ref().is_none_or(|(_, (_, cost))| tried.1.1.flops < cost.flops);
                if bytes <= most && is_cheaper {
                    best = Some(tried);
                }
            }
            best.ok_or_else(|| {
                Error::usage(format!(
                    "memory budget: got {most} bytes for the intermediate results of a step, expected at least {least}"
                ))
            })
        }
    }
}

/// The nearest whole number to a root, at least 2.
fn root(count: usize) -> usize {
    ((count as f64).sqrt().round() as usize).max(2)
}

/// What launches before the turn save for those after it.
pub(super) struct Saved {
    turn: usize,
    /// From here on what the launches before the turn have read is overwritten.
    end: usize,
    uses: Uses,
    /// For each buffer that can be computed again, the launch that writes it.
    writers: Vec<(*const Slot, usize)>,
    /// What launches before the turn pass on to each other.
    passed: Vec<Passed>,
    /// Words that the launches before each command pass on to those from it on.
    crossing_words: Vec<usize>,
    /// The results that are read after the turn and can be dropped, in the order of their launches.
    results: Vec<SavedResult>,
    /// Number of launches with such results.
    launches: usize,
}

/// A result that is read after the turn.
struct SavedResult {
    slot: *const Slot,
    /// The command that makes it.
    command: usize,
    /// Its launch among those with such results.
    launch: usize,
}

/// A buffer that can be computed again and that launches before the turn read.
struct Passed {
    slot: *const Slot,
    words: usize,
    /// The launch that writes it, and the last before the turn that reads it.
    command: usize,
    last: usize,
}

impl Passed {
    /// Whether it is made before a command and read from it on.
    fn crosses(&self, command: usize) -> bool {
        self.command < command && self.last >= command
    }
}

/// What is dropped, and what is kept although nothing but launches that run again reads it.
#[derive(Default)]
struct Selection {
    dropped: Vec<*const Slot>,
    kept: Vec<*const Slot>,
}

impl Saved {
    pub(super) fn of(recording: &Recording, turn: usize) -> Self {
        let uses = Uses::of(recording);
        let commands = &recording.commands;
        let writes = |range: Range<usize>, buffer: &Buffer| {
            commands[range].iter().flat_map(Command::writes).filter(|view| view.buffer.is(buffer)).count()
        };
        let reads = |range: Range<usize>, buffer: &Buffer| {
            commands[range].iter().any(|command| command.reads().iter().any(|view| view.buffer.is(buffer)))
        };
        let held = |view: &&View| uses.is_persistent(&view.buffer);
        // From where what was held at the start, such as parameters, is overwritten, nothing can be computed again.
        let given: Vec<&View> = commands[..turn].iter().flat_map(Command::reads).filter(held).collect();
        let overwrites = |command: &Command| {
            command.writes().iter().any(|written| given.iter().any(|view| view.buffer.is(&written.buffer)))
        };
        let end = commands[turn..].iter().position(overwrites).map_or(commands.len(), |at| turn + at);
        let (mut writers, mut passed, mut results, mut launches) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let last_read = |buffer: &Buffer| {
            commands[..turn].iter().rposition(|command| command.reads().iter().any(|view| view.buffer.is(buffer)))
        };
        for (at, command) in commands[..turn].iter().enumerate() {
            let Command::Dispatch(Dispatch { inputs, outputs, .. }) = command else { continue };
            let is_own = |view: &View| {
                let is_whole = view.offset == 0 && view.words == view.buffer.words();
                is_whole && !held(&view) && writes(0..commands.len(), &view.buffer) == 1
            };
            let stays = |view: &View| !held(&view) || writes(at..end, &view.buffer) == 0;
            if !outputs.iter().all(is_own) || !inputs.iter().all(stays) {
                continue;
            }
            // What is read where nothing can be computed again is kept for all its readers.
            let free = outputs.iter().filter(|view| !reads(end..commands.len(), &view.buffer));
            writers.extend(free.clone().map(|view| (view.buffer.key(), at)));
            passed.extend(free.clone().filter_map(|view| {
                let (slot, words) = (view.buffer.key(), view.words);
                Some(Passed { slot, words, command: at, last: last_read(&view.buffer)? })
            }));
            let before = results.len();
            results.extend(free.filter(|view| reads(turn..end, &view.buffer)).map(|view| SavedResult {
                slot: view.buffer.key(),
                command: at,
                launch: launches,
            }));
            launches += usize::from(results.len() > before);
        }
        let words_at =
            |at: usize| passed.iter().filter(|passed: &&Passed| passed.crosses(at)).map(|passed| passed.words).sum();
        let crossing_words = (0..=turn).map(words_at).collect();
        Self { turn, end, uses, writers, passed, crossing_words, results, launches }
    }

    /// Everything but what each stretch passes on, and all of the last stretch, which is needed at once. A stretch has `length` launches with results, or
    /// up to twice as many where less is passed on then: a network with residual connections is cut between its blocks, where one result is passed on.
    fn all_but_every(&self, length: usize) -> Selection {
        let length = length.max(1);
        // The command of each launch with results.
        let mut commands: Vec<usize> = self.results.iter().map(|result| result.command).collect();
        commands.dedup();
        let (mut first, mut kept) = (0, Vec::new());
        while first + length < self.launches {
            let place = commands[first + length - 1] + 1;
            // Not just before the last launch: the end of a network is narrow, but what comes before it is needed at once.
            let inner = &commands[..self.launches - 1];
            let end = inner.get(first + 2 * length - 1).copied().unwrap_or(place);
            let cut = (place..=end).min_by_key(|place| self.crossing_words[*place]).unwrap_or(place);
            kept.extend(self.passed.iter().filter(|passed| passed.crosses(cut)).map(|passed| passed.slot));
            first = commands.partition_point(|command| *command < cut);
        }
        let is_dropped = |result: &&SavedResult| result.launch < first && !kept.contains(&result.slot);
        Selection { dropped: self.results.iter().filter(is_dropped).map(|result| result.slot).collect(), kept }
    }

    /// The recordings for every length of a stretch, each with its bytes.
    pub(super) fn all<'r>(
        &'r self,
        device: &'r Device,
        recording: &'r Recording,
        passes: &'r Passes,
    ) -> impl Iterator<Item = (u64, (Recording, (usize, Cost)))> + 'r {
        (2..=self.launches.max(2)).map(move |length| {
            let tried = self.dropping(device, recording, &self.all_but_every(length));
            (transient_bytes(&tried.0, Some(&self.uses), passes), tried)
        })
    }

    /// The results of the launches that `drops` chooses.
    fn chosen(&self, recording: &Recording, drops: &dyn Fn(&Label, Cost) -> bool) -> Selection {
        let is_chosen = |result: &&SavedResult| {
            drops(&recording.labels[result.command], self.cost_of_again(recording, result.command))
        };
        Selection {
            dropped: self.results.iter().filter(is_chosen).map(|result| result.slot).collect(),
            kept: Vec::new(),
        }
    }

    /// The cost of a launch and of those before it that run again for it because their results are not saved, as where a result is packed.
    fn cost_of_again(&self, recording: &Recording, command: usize) -> Cost {
        let Command::Dispatch(dispatch) = &recording.commands[command] else { return Cost::default() };
        let own = (dispatch.kernel.cost)(dispatch);
        let is_saved = |view: &&View| self.results.iter().any(|result| result.slot == view.buffer.key());
        let made = dispatch.inputs.iter().filter(|view| !is_saved(view));
        let writers = made.filter_map(|view| self.writers.iter().find(|(slot, _)| *slot == view.buffer.key()));
        writers.fold(own, |cost, (_, writer)| cost + self.cost_of_again(recording, *writer))
    }

    /// The recording in which these results are computed again after the turn, each just before it is read first.
    fn dropping(&self, device: &Device, recording: &Recording, choice: &Selection) -> (Recording, (usize, Cost)) {
        let mut again = Again {
            saved: self,
            device,
            recording,
            choice,
            copies: Vec::new(),
            made: Recording { turn: recording.turn, ..Recording::default() },
            cost: Cost::default(),
        };
        again.made.extend(recording, 0..self.turn);
        let mut count = 0;
        for at in self.turn..self.end {
            let command = &recording.commands[at];
            let before = again.made.commands.len();
            for view in command.reads() {
                again.need(&view.buffer);
            }
            count += again.made.commands.len() - before;
            let command = again.with_copies(command);
            again.made.push(command, recording.labels[at].clone());
        }
        again.made.extend(recording, self.end..recording.commands.len());
        (again.made, (count, again.cost))
    }
}

/// A recording in the making.
struct Again<'r> {
    saved: &'r Saved,
    device: &'r Device,
    recording: &'r Recording,
    choice: &'r Selection,
    /// What was computed again.
    copies: Vec<(*const Slot, Buffer)>,
    made: Recording,
    cost: Cost,
}

impl Again<'_> {
    /// Computes a result again if it was dropped, and before it whatever that needs.
    fn need(&mut self, buffer: &Buffer) {
        let key = buffer.key();
        let is_saved = self.saved.results.iter().any(|result| result.slot == key);
        let is_kept = is_saved && !self.choice.dropped.contains(&key) || self.choice.kept.contains(&key);
        let is_again = self.copies.iter().any(|(slot, _)| *slot == key);
        let Some((_, writer)) = self.saved.writers.iter().find(|(slot, _)| *slot == key && !is_kept && !is_again)
        else {
            return;
        };
        let Command::Dispatch(dispatch) = &self.recording.commands[*writer] else { return };
        for view in &dispatch.inputs {
            self.need(&view.buffer);
        }
        let mut again = dispatch.clone();
        for view in &mut again.inputs {
            self.replace(view);
        }
        for view in &mut again.outputs {
            let copy = self.device.buffer(view.buffer.words());
            self.copies.push((view.buffer.key(), copy.clone()));
            view.buffer = copy;
        }
        self.cost = self.cost + (again.kernel.cost)(&again);
        self.made.push(Command::Dispatch(again), self.recording.labels[*writer].clone());
    }

    /// The command that reads what was computed again instead of what was dropped.
    fn with_copies(&self, command: &Command) -> Command {
        let mut command = command.clone();
        let read = match &mut command {
            Command::Dispatch(dispatch) => &mut dispatch.inputs[..],
            Command::Copy { from, .. } => std::slice::from_mut(from),
        };
        for view in read {
            self.replace(view);
        }
        command
    }

    /// Reads what was computed again, if it was.
    fn replace(&self, view: &mut View) {
        if let Some((_, copy)) = self.copies.iter().find(|(slot, _)| *slot == view.buffer.key()) {
            view.buffer = copy.clone();
        }
    }
}

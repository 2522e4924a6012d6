//! Passes over a recording before it is planned: pointwise chains are fused, copies of results are left out, and what a caller chooses is stored in
//! 16 bits or computed again.

use std::rc::Rc;

use super::Device;
use super::halves::{Halves, in_halves};
use super::kernel::Cost;
use super::recompute::Recompute;
use super::recording::{Buffer, Command, Dispatch, Label, Recording, VIEW_WORDS, View};

/// Chooses launches by what they are part of and by their cost.
pub type Choice = Rc<dyn Fn(&Label, Cost) -> bool>;

/// The passes that a caller chooses.
#[derive(Clone)]
pub struct Passes {
    /// Which results are dropped before [`Device::turn`] and computed again after it.
    pub recompute: Recompute,
    /// Chooses, instead of `recompute`, the launches whose results are dropped, by what they are part of and their cost.
    pub drops: Option<Choice>,
    /// Which are stored in 16 bits.
    pub halves: Option<Halves>,
    /// Whether launches write over inputs that nothing reads later, where that saves memory. On by default; the bits are the same.
    pub in_place: bool,
}

impl Default for Passes {
    fn default() -> Self {
        Self { recompute: Recompute::default(), drops: None, halves: None, in_place: true }
    }
}

impl Passes {
    /// The recording after all passes but those of results that are computed again and of inputs that are overwritten.
    pub(super) fn rewritten(&self, device: &Device, recording: Recording) -> Recording {
        let fused = without_copies(fuse(recording));
        let Some(halves) = &self.halves else { return fused };
        let converted = in_halves(device, fused, halves);
        if halves.is_merged { fuse(converted) } else { converted }
    }
}

/// Merges each dispatch whose only result has one reader into that reader, if the reader's kernel has a `fuse` rule.
fn fuse(mut recording: Recording) -> Recording {
    let mut at = 0;
    while at < recording.commands.len() {
        if let Some((reader, merged)) = merged_into_reader(&recording, at) {
            recording.commands[reader] = Command::Dispatch(merged);
            recording.remove(at);
            // The merged dispatch may itself be merged now, and so may the commands before it.
            at = at.saturating_sub(1);
        } else {
            at += 1;
        }
    }
    recording
}

/// Lets a dispatch write straight to where its result is only copied to.
fn without_copies(mut recording: Recording) -> Recording {
    let mut at = 0;
    while at < recording.commands.len() {
        if let Some((writer, place, target)) = copied_result(&recording, at) {
            recording.remove(at);
            if let Command::Dispatch(dispatch) = &mut recording.commands[writer] {
                dispatch.outputs[place] = target;
            }
        } else {
            at += 1;
        }
    }
    recording
}

/// For a copy: the command and the output that make what it copies, and the target, if nothing else sees the result and nothing uses the
/// target before the copy does.
fn copied_result(recording: &Recording, at: usize) -> Option<(usize, usize, View)> {
    let Command::Copy { from, to } = &recording.commands[at] else { return None };
    let makes = |command: &Command| command.writes().iter().position(|view| view.buffer.is(&from.buffer));
    let (writer, place) =
        recording.commands[..at].iter().enumerate().find_map(|(writer, command)| Some((writer, makes(command)?)))?;
    let Command::Dispatch(dispatch) = &recording.commands[writer] else { return None };
    let is_whole = |view: &View| view.offset == 0 && view.words == from.buffer.words();
    // One handle is the writer's and one the copy's.
    let is_alone = Rc::strong_count(&from.buffer.0) == 2 && from.buffer.0.memory.get().is_none();
    let overlaps = |view: &View| {
        view.buffer.is(&to.buffer) && view.offset < to.offset + to.words && to.offset < view.offset + view.words
    };
    // No buffer is both an input and an output of a dispatch.
    let is_read = dispatch.inputs.iter().any(|view| view.buffer.is(&to.buffer));
    let is_used = recording.commands[writer..at]
        .iter()
        .any(|command| command.reads().iter().chain(command.writes()).any(overlaps));
    let fits = is_whole(from) && is_whole(&dispatch.outputs[place]) && to.offset.is_multiple_of(VIEW_WORDS);
    (fits && is_alone && !is_read && !is_used).then(|| (writer, place, to.clone()))
}

fn merged_into_reader(recording: &Recording, at: usize) -> Option<(usize, Dispatch)> {
    let Command::Dispatch(producer) = &recording.commands[at] else { return None };
    producer.outputs.iter().find_map(|result| merged_by(recording, at, producer, result))
}

/// The reader of one of a producer's results, with the producer merged into it.
fn merged_by(recording: &Recording, at: usize, producer: &Dispatch, result: &View) -> Option<(usize, Dispatch)> {
    let later = &recording.commands[at + 1..];
    let is_in = |views: &[View], buffer: &Buffer| views.iter().any(|view| view.buffer.is(buffer));
    let reader = at + 1 + later.iter().position(|command| is_in(command.reads(), &result.buffer))?;
    let Command::Dispatch(consumer) = &recording.commands[reader] else { return None };
    let fuse = consumer.kernel.fuse?;
    let mentions = consumer.inputs.iter().filter(|view| view.buffer.is(&result.buffer)).count();
    // One handle is in the producer and the rest in this reader: no other code uses the intermediate result.
    if Rc::strong_count(&result.buffer.0) != 1 + mentions || result.buffer.0.memory.get().is_some() {
        return None;
    }
    // This includes the reader: merged, it would read and write one buffer. The merged launch
    // runs at the reader's place, so no command before it may use the producer's other results.
    let is_changed = recording.commands[at + 1..=reader].iter().any(|command| {
        let is_other = |view: &&View| !view.buffer.is(&result.buffer);
        producer.inputs.iter().any(|input| is_in(command.writes(), &input.buffer))
            || producer
                .outputs
                .iter()
                .filter(is_other)
                .any(|other| is_in(command.writes(), &other.buffer) || is_in(command.reads(), &other.buffer))
    });
    if is_changed {
        return None;
    }
    let mut merged = consumer.clone();
    while let Some(input) = merged.inputs.iter().position(|view| view.buffer.is(&result.buffer)) {
        merged = fuse(producer, &merged, input)?;
    }
    Some((reader, merged))
}

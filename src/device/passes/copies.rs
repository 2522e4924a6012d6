//! Results that are only copied are written straight to where they are copied to.

use std::rc::Rc;

use crate::device::record::{Command, Recording, VIEW_WORDS, View};

/// Lets a dispatch write straight to where its result is only copied to.
pub(super) fn without_copies(mut recording: Recording) -> Recording {
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

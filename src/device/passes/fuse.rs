//! Launches whose only reader can compute what they do are merged into it.

use std::rc::Rc;

use crate::device::record::{Buffer, Command, Dispatch, Recording, View};

/// Merges each dispatch whose only result has one reader into that reader, if the reader's kernel has a `fuse` rule.
pub(super) fn fuse(mut recording: Recording) -> Recording {
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

//! Launches that write over an input which nothing reads later: the kernel reads that input from its own output, and both are one buffer. This pass runs
//! last: results that are computed again change what is read later.

use super::liveness::{Sharing, Uses};
use super::options::Passes;
use crate::device::record::{Buffer, Command, Dispatch, Recording, View};

/// The pass is used where it saves at least 1/100 of the bytes: on the CPU a launch in place is slower while its buffers fit into the cache.
const LEAST_SHARE: u64 = 100;

/// The recording in which launches write over their inputs, if the pass is on and that saves enough memory.
pub(in crate::device) fn in_place(recording: Recording, passes: &Passes) -> Recording {
    let (made, _) = planned(&recording, None, passes);
    made.unwrap_or(recording)
}

/// Bytes of memory that the intermediate results of a recording will take after this pass and after sharing; nothing is allocated. `known` says of the
/// buffers of another recording which of them are persistent, where both are held at once.
pub(super) fn transient_bytes(recording: &Recording, known: Option<&Uses>, passes: &Passes) -> u64 {
    planned(recording, known, passes).1
}

/// The recording to plan instead of the given one, if there is one, and the bytes of its intermediate results.
fn planned(recording: &Recording, known: Option<&Uses>, passes: &Passes) -> (Option<Recording>, u64) {
    let uses = Uses::among(recording, known);
    let apart = Sharing::of(recording, &uses).bytes();
    let Some(made) = overwriting(recording, &uses).filter(|_| passes.in_place) else { return (None, apart) };
    let bytes = Sharing::of(&made, &Uses::among(&made, Some(&uses))).bytes();
    if bytes < apart && bytes <= apart - apart / LEAST_SHARE { (Some(made), bytes) } else { (None, apart) }
}

/// The recording in which every launch that can writes over an input; `None` if none can.
fn overwriting(recording: &Recording, uses: &Uses) -> Option<Recording> {
    let mut made = recording.clone();
    // Results, and the buffers that they are now in.
    let mut moved: Vec<(Buffer, Buffer)> = Vec::new();
    for (at, command) in made.commands.iter_mut().enumerate() {
        if let Some((dispatch, input)) = overwritten(command, at, uses) {
            let result = dispatch.outputs[0].buffer.clone();
            let input = place(&moved, &input).unwrap_or(input);
            moved.push((result, input));
            *command = Command::Dispatch(dispatch);
        }
        for view in command.views_mut() {
            if let Some(place) = place(&moved, &view.buffer) {
                view.buffer = place;
            }
        }
    }
    (!moved.is_empty()).then_some(made)
}

/// Where a result is now, if it has moved.
fn place(moved: &[(Buffer, Buffer)], buffer: &Buffer) -> Option<Buffer> {
    moved.iter().find(|(result, _)| result.is(buffer)).map(|(_, place)| place.clone())
}

/// For a launch that can write over an input: the launch that reads it from its output, and the input's buffer.
fn overwritten(command: &Command, at: usize, uses: &Uses) -> Option<(Dispatch, Buffer)> {
    let Command::Dispatch(dispatch) = command else { return None };
    let in_place = dispatch.kernel.in_place?;
    let [result] = &dispatch.outputs[..] else { return None };
    let is_own = |view: &View| {
        let is_whole = view.offset == 0 && view.words == view.buffer.words();
        is_whole && !uses.is_persistent(&view.buffer)
    };
    if !is_own(result) || uses.span(&result.buffer)[0] != at {
        return None;
    }
    let is_last_read = |view: &View| is_own(view) && view.words == result.words && uses.span(&view.buffer)[1] == at;
    dispatch.inputs.iter().enumerate().filter(|(_, view)| is_last_read(view)).find_map(|(place, input)| {
        let made = in_place(dispatch, place)?;
        let is_bound = made.inputs.iter().any(|view| view.buffer.is(&input.buffer));
        (!is_bound).then(|| (made, input.buffer.clone()))
    })
}

//! Results stored in 16 bits: what some launches compute is packed as soon as it is there, and unpacked again for each launch that reads it. So a
//! plan keeps half the bytes of it, and the launches themselves compute in 32 bits. Kernels with a `fuse` rule for conversions
//! read and write the halves directly.

use super::liveness::Uses;
use super::options::Halves;
use crate::device::handle::Device;
use crate::device::record::{Buffer, Command, Recording, View};

/// Results of fewer words are not worth two launches.
const FEWEST: usize = 256;

/// The recording with the results of the launches that `halves` takes, if a launch that it takes reads them, in 16 bits.
pub(super) fn in_halves(device: &Device, recording: Recording, halves: &Halves) -> Recording {
    let with_packed = |buffer: Buffer| {
        let packed = device.buffer(buffer.words().div_ceil(2));
        (buffer, packed)
    };
    let stored: Vec<(Buffer, Buffer)> = chosen(&recording, halves).into_iter().map(with_packed).collect();
    let mut made = Recording::default();
    for (at, (command, label)) in recording.commands.iter().zip(&recording.labels).enumerate() {
        if recording.turn == Some(at) {
            made.turn = Some(made.commands.len());
        }
        let mut command = command.clone();
        let mut unpacked: Vec<(Buffer, Buffer)> = Vec::new();
        for view in reads_mut(&mut command) {
            let Some((_, packed)) = stored.iter().find(|(buffer, _)| buffer.is(&view.buffer)) else { continue };
            if let Some((_, whole)) = unpacked.iter().find(|(buffer, _)| buffer.is(&view.buffer)) {
                view.buffer = whole.clone();
                continue;
            }
            let whole = device.floats(view.buffer.words());
            made.push(Command::Dispatch((halves.unpack)(packed.view(), whole.view())), label.clone());
            unpacked.push((std::mem::replace(&mut view.buffer, whole.clone()), whole));
        }
        let writes: Vec<View> = command.writes().to_vec();
        made.push(command, label.clone());
        for view in writes {
            if let Some((_, packed)) = stored.iter().find(|(buffer, _)| buffer.is(&view.buffer)) {
                let launch = (halves.pack)(view, packed.view());
                made.push(Command::Dispatch(launch), label.clone());
            }
        }
    }
    made
}

/// The results that are stored in 16 bits.
fn chosen(recording: &Recording, halves: &Halves) -> Vec<Buffer> {
    let uses = Uses::of(recording);
    let labelled = || recording.commands.iter().zip(&recording.labels);
    let mut found = Vec::new();
    for (command, label) in labelled() {
        let Command::Dispatch(dispatch) = command else { continue };
        for view in dispatch.outputs.iter().filter(|_| (halves.takes)(label)) {
            let is_whole = view.offset == 0 && view.words == view.buffer.words() && view.words >= FEWEST;
            if !view.buffer.holds_floats() || !is_whole || uses.is_persistent(&view.buffer) {
                continue;
            }
            let is_it = |other: &View| other.buffer.is(&view.buffer);
            let is_written_once = labelled().filter(|(command, _)| command.writes().iter().any(is_it)).count() == 1;
            let mut readers = labelled().filter(|(command, _)| command.reads().iter().any(is_it));
            if is_written_once && readers.any(|(_, label)| (halves.takes)(label)) {
                found.push(view.buffer.clone());
            }
        }
    }
    found
}

fn reads_mut(command: &mut Command) -> &mut [View] {
    match command {
        Command::Dispatch(dispatch) => &mut dispatch.inputs,
        Command::Copy { from, .. } => std::slice::from_mut(from),
    }
}

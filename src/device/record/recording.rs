//! Work as plain data: dispatches and copies over buffers, in order. Only a plan made from a recording runs.

use std::fmt;
use std::ops::Range;

use super::buffer::View;
use super::kernel::Dispatch;
use super::label::Label;

/// One entry of a recording.
#[derive(Clone)]
pub enum Command {
    /// Run a kernel.
    Dispatch(Dispatch),
    /// Copy words from one view to another of the same length.
    Copy {
        /// Source.
        from: View,
        /// Destination.
        to: View,
    },
}

impl Command {
    /// Views read by the command.
    pub fn reads(&self) -> &[View] {
        match self {
            Self::Dispatch(dispatch) => &dispatch.inputs,
            Self::Copy { from, .. } => std::slice::from_ref(from),
        }
    }

    /// All of its views.
    pub(in crate::device) fn views_mut(&mut self) -> impl Iterator<Item = &mut View> {
        let (reads, writes) = match self {
            Self::Dispatch(Dispatch { inputs, outputs, .. }) => (&mut inputs[..], &mut outputs[..]),
            Self::Copy { from, to } => (std::slice::from_mut(from), std::slice::from_mut(to)),
        };
        reads.iter_mut().chain(writes)
    }

    /// What it runs, for messages.
    pub(in crate::device) fn name(&self) -> &'static str {
        match self {
            Self::Dispatch(dispatch) => dispatch.kernel.name,
            Self::Copy { .. } => "copy",
        }
    }

    /// Views written by the command (and perhaps read).
    pub fn writes(&self) -> &[View] {
        match self {
            Self::Dispatch(dispatch) => &dispatch.outputs,
            Self::Copy { to, .. } => std::slice::from_ref(to),
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes = |views: &[View]| views.iter().map(|view| view.words.to_string()).collect::<Vec<_>>().join(", ");
        let (reads, writes) = (sizes(self.reads()), sizes(self.writes()));
        write!(f, "{}({reads}) -> ({writes})", self.name())
    }
}

/// Commands in order. Print it to debug; its length is the cost.
#[derive(Clone, Default)]
pub struct Recording {
    /// The commands.
    pub commands: Vec<Command>,
    /// What each command is part of.
    pub labels: Vec<Label>,
    /// Where the commands begin that may compute again what those before have computed; `None` if nothing is computed again.
    pub turn: Option<usize>,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (command, label) in self.commands.iter().zip(&self.labels) {
            writeln!(f, "{command:?}  {label}")?;
        }
        Ok(())
    }
}

impl Recording {
    /// Appends a command.
    pub(in crate::device) fn push(&mut self, command: Command, label: Label) {
        self.commands.push(command);
        self.labels.push(label);
    }

    /// Appends commands of another recording.
    pub(in crate::device) fn extend(&mut self, from: &Self, range: Range<usize>) {
        self.commands.extend_from_slice(&from.commands[range.clone()]);
        self.labels.extend_from_slice(&from.labels[range]);
    }

    /// Removes a command.
    pub(in crate::device) fn remove(&mut self, at: usize) {
        self.commands.remove(at);
        self.labels.remove(at);
        self.turn = self.turn.map(|turn| if at < turn { turn - 1 } else { turn });
    }
}

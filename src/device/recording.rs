//! Work as plain data: dispatches and copies over buffers, in order. Only a plan made from a recording runs.

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::rc::{Rc, Weak};

use super::Inner;
use super::kernel::{Kernel, SharedBody};
use super::tag::Tag;
use crate::error::Error;

/// The number of a memory block of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory(pub u32);

/// A buffer of 32-bit words. Memory is allocated when its contents must outlive a plan.
#[derive(Clone)]
pub struct Buffer(pub(super) Rc<Slot>);

pub(super) struct Slot {
    pub(super) words: usize,
    /// Whether all of its words are floats.
    pub(super) holds_floats: bool,
    /// What its memory holds.
    pub(super) tag: Tag,
    pub(super) memory: Cell<Option<Memory>>,
    /// Why it has no contents, if the device refused to store them. Whatever uses the buffer fails with this error.
    pub(super) refused: Option<Error>,
    pub(super) device: Weak<Inner>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let (Some(memory), Some(device)) = (self.memory.get(), self.device.upgrade()) {
            device.release(memory, self.words);
        }
    }
}

impl Buffer {
    /// Its length in 32-bit words.
    pub fn words(&self) -> usize {
        self.0.words
    }

    /// Whether all of its words are floats.
    pub(super) fn holds_floats(&self) -> bool {
        self.0.holds_floats
    }

    /// The whole buffer as a view.
    pub fn view(&self) -> View {
        View { buffer: self.clone(), offset: 0, words: self.words() }
    }

    /// Whether two handles name the same buffer.
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    pub(super) fn key(&self) -> *const Slot {
        Rc::as_ptr(&self.0)
    }
}

/// Offsets of views are multiples of this many words, the portable binding alignment.
pub const VIEW_WORDS: usize = 64;

/// A run of words inside a buffer; its offset is a multiple of `VIEW_WORDS`.
#[derive(Clone)]
pub struct View {
    /// The buffer.
    pub buffer: Buffer,
    /// First word.
    pub offset: usize,
    /// Number of words.
    pub words: usize,
}

/// One launch of a kernel.
#[derive(Clone)]
pub struct Dispatch {
    /// The kernel's record.
    pub kernel: &'static Kernel,
    /// The program or fragments that specialise the kernel, if it takes any.
    pub body: Option<SharedBody>,
    /// The `Params` uniform.
    pub params: Vec<u32>,
    /// Read-only bindings in order.
    pub inputs: Vec<View>,
    /// Read-write bindings in order.
    pub outputs: Vec<View>,
}

impl Dispatch {
    /// The uniform as the kernel's own `Params`.
    pub fn params<P: bytemuck::AnyBitPattern>(&self) -> P {
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(&self.params))
    }

    /// Bytes bound, counting every input and output once.
    pub fn bytes(&self) -> u64 {
        4 * self.inputs.iter().chain(&self.outputs).map(|view| view.words as u64).sum::<u64>()
    }
}

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
    pub(super) fn views_mut(&mut self) -> impl Iterator<Item = &mut View> {
        let (reads, writes) = match self {
            Self::Dispatch(Dispatch { inputs, outputs, .. }) => (&mut inputs[..], &mut outputs[..]),
            Self::Copy { from, to } => (std::slice::from_mut(from), std::slice::from_mut(to)),
        };
        reads.iter_mut().chain(writes)
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
        let name = match self {
            Self::Dispatch(dispatch) => dispatch.kernel.name,
            Self::Copy { .. } => "copy",
        };
        write!(f, "{name}({reads}) -> ({writes})")
    }
}

/// What a command is part of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// The op that recorded it; empty if no op did.
    pub op: &'static str,
    /// The layer of the model, such as `layers.3`, or another part of a step; empty if nobody said.
    pub layer: Rc<str>,
    /// Whether it computes a gradient.
    pub is_backward: bool,
}

impl Label {
    /// Commands of a part of a step: a layer such as `layers.3`, or `loss`, or `update`.
    pub fn part(name: &str) -> Self {
        Self { layer: name.into(), ..Self::default() }
    }

    /// For the commands of an op, unless they are those of the gradient of another.
    #[must_use]
    pub fn of_op(self, op: &'static str) -> Self {
        if self.op.is_empty() { Self { op, ..self } } else { self }
    }

    /// For the commands of its gradient.
    #[must_use]
    pub fn of_gradient(&self) -> Self {
        Self { is_backward: true, ..self.clone() }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = if self.is_backward { "backward" } else { "" };
        let words = [&*self.layer, self.op, direction];
        f.write_str(&words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "))
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
    pub(super) fn push(&mut self, command: Command, label: Label) {
        self.commands.push(command);
        self.labels.push(label);
    }

    /// Appends commands of another recording.
    pub(super) fn extend(&mut self, from: &Self, range: Range<usize>) {
        self.commands.extend_from_slice(&from.commands[range.clone()]);
        self.labels.extend_from_slice(&from.labels[range]);
    }

    /// Removes a command.
    pub(super) fn remove(&mut self, at: usize) {
        self.commands.remove(at);
        self.labels.remove(at);
        self.turn = self.turn.map(|turn| if at < turn { turn - 1 } else { turn });
    }
}

//! Recording: commands get labels and buffers get tags; what is recorded can be captured as a plan.

use std::rc::Rc;

use super::plan::Plan;
use crate::device::handle::Device;
use crate::device::passes::{Outline, Passes, rewritten};
use crate::device::record::{Command, Label, Recording, Tag, View};
use crate::error::Result;

impl Device {
    /// Appends a command. It runs when a value is read or a plan is run.
    ///
    /// Panics if a buffer belongs to another device, or is bound both as input and as output.
    #[track_caller]
    pub fn record(&self, command: Command) {
        for view in command.reads().iter().chain(command.writes()) {
            let (own, other) = (&self.0.owner, &view.buffer.0.owner);
            assert!(
                Rc::ptr_eq(own, other),
                "{}: got tensors of two devices, {own} and {other}: expected tensors of one device",
                command.name()
            );
        }
        if let Command::Dispatch(dispatch) = &command {
            let name = dispatch.kernel.name;
            for (at, out) in dispatch.outputs.iter().enumerate() {
                let is_same = |view: &View| view.buffer.is(&out.buffer);
                assert!(!dispatch.inputs.iter().any(is_same), "{name}: a buffer is bound both as input and as output");
                assert!(!dispatch.outputs[..at].iter().any(is_same), "{name}: a buffer is bound as two outputs");
            }
        }
        let label = self.label();
        self.0.pending.borrow_mut().push(command, label);
    }

    /// The label of the commands that are recorded now.
    pub fn label(&self) -> Label {
        self.0.label.borrow().clone()
    }

    /// Records what `work` does under another label.
    pub fn labelled<T>(&self, label: Label, work: impl FnOnce() -> T) -> T {
        let before = self.0.label.replace(label);
        let _restored = Finally::new(|| drop(self.0.label.replace(before)));
        work()
    }

    /// Buffers made by `work` get a tag.
    pub fn tagged<T>(&self, tag: Tag, work: impl FnOnce() -> T) -> T {
        let before = self.0.tag.replace(tag);
        let _restored = Finally::new(|| self.0.tag.set(before));
        work()
    }

    /// Makes a plan of the commands that `work` records. Tensors in `work`'s result keep their memory; other buffers share memory. Tracked values in the
    /// result lose their history: gradients are taken inside `work`.
    pub fn capture<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(Plan, T)> {
        self.capture_with(&Passes::default(), work)
    }

    /// The same with passes that take memory for time or precision.
    pub fn capture_with<T>(&self, passes: &Passes, work: impl FnOnce() -> Result<T>) -> Result<(Plan, T)> {
        let (recording, kept) = self.recorded(work)?;
        Ok((Plan::new(self, recording, passes)?, kept))
    }

    /// What a plan of the commands that `work` records would take; nothing of it is bound or allocated.
    pub fn outline<T>(&self, passes: &Passes, work: impl FnOnce() -> Result<T>) -> Result<Outline> {
        let (recording, _kept) = self.recorded(work)?;
        Ok(Outline::of(self, &rewritten(self, recording, passes), passes))
    }

    /// What `work` records, and its result.
    fn recorded<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<(Recording, T)> {
        self.flush()?;
        self.0.is_capturing.set(true);
        let mut recording = Recording::default();
        let kept = {
            let _ended = Finally::new(|| {
                self.0.is_capturing.set(false);
                // Before the plan is made, which keeps what is still held.
                self.0.at_end.take().into_iter().for_each(|work| work());
                recording = std::mem::take(&mut *self.0.pending.borrow_mut());
            });
            work()
        };
        Ok((recording, kept?))
    }

    /// Whether what is recorded now becomes a plan, so that no value can be read.
    pub fn is_capturing(&self) -> bool {
        self.0.is_capturing.get()
    }

    /// Does something when the capture that is in progress ends; nothing outside a capture.
    pub(crate) fn at_end_of_capture(&self, work: impl FnOnce() + 'static) {
        if self.0.is_capturing.get() {
            self.0.at_end.borrow_mut().push(Box::new(work));
        }
    }

    /// Says that the commands recorded from here on read what those before have computed, as the backward pass does of a forward pass. The first
    /// call in a capture counts.
    pub fn turn(&self) {
        let mut pending = self.0.pending.borrow_mut();
        let here = pending.commands.len();
        pending.turn.get_or_insert(here);
    }
}

/// Does something at the end of a block, even if a panic ends it, so that a program which catches the panic can go on.
struct Finally<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Finally<F> {
    fn new(end: F) -> Self {
        Self(Some(end))
    }
}

impl<F: FnOnce()> Drop for Finally<F> {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

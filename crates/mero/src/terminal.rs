//! The terminal and the process: what is printed, in which colours, progress, interrupts, the command line.

pub(crate) mod color;
pub(crate) mod console;
pub(crate) mod interrupt;
pub(crate) mod printable;
pub(crate) mod progress;
pub(crate) mod shell;
pub(crate) mod spelled;

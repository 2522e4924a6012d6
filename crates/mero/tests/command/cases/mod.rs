//! Files and commands that people reported to go wrong, with the right answer worked out by hand. Their files are in `tests/cases`.

mod cells;
mod faces;
#[cfg(target_os = "linux")]
mod memory;
mod outputs;
mod structure;
mod targets;

//! Options that several commands share, and what the command line says of files.

pub(crate) mod contents;
pub(crate) mod flags;
pub(crate) mod hardware;
pub(crate) mod outputs;
pub(crate) mod pairs;
pub(crate) mod reading;
pub(crate) mod sizes;

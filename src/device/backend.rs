//! The contract of a device: blocks of words and prepared commands, and no op names; and its entry in the table of devices.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;

use super::info::Info;
use super::record::{BoundCommand, Memory, Region};
use super::request::Request;
use super::timings::Timings;
use crate::error::Result;

/// The contract of a device: blocks of words and prepared commands, and no op names.
pub trait Backend {
    /// What the device is and what it can do.
    fn info(&self) -> &Info;
    /// A new block of `words` words; contents unspecified.
    fn allocate(&self, words: usize) -> Result<Memory>;
    /// Frees a block.
    fn free(&self, memory: Memory);
    /// Copies words in, ordered after everything run before.
    fn write(&self, memory: Memory, offset: usize, data: &[u32]) -> Result<()>;
    /// Compiles and binds commands for any number of runs.
    fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>>;
    /// Runs prepared commands `times` times in order.
    fn run(&self, prepared: &dyn Prepared, times: usize) -> Result<()>;
    /// The same, with every command measured; `None` if the device cannot measure commands. Everything is submitted before this returns, and the
    /// future waits for the end.
    fn run_timed(&self, prepared: &dyn Prepared, times: usize) -> Option<Soon<'static, Result<Timings>>> {
        let _ = (prepared, times);
        None
    }
    /// Waits for everything before it and copies words out.
    fn read(&self, region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>>;
    /// Copies words out at once, if nothing has to be waited for.
    fn read_now(&self, region: Region, out: &mut [u32]) -> bool {
        let _ = (region, out);
        false
    }
    /// Whether matrix products can be left to a library.
    fn has_library(&self) -> Result<bool> {
        Ok(false)
    }
    /// Counts of pipelines compiled and bind groups created.
    fn made(&self) -> (u64, u64);
}

/// A plan's commands, compiled by a backend for itself.
pub trait Prepared: Any {}

/// What the table says of a device.
pub struct Entry {
    /// The name a user chooses.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Whether this build has it.
    pub is_here: bool,
    /// Whether a user may choose it for work. The others only plan.
    pub is_choice: bool,
    /// Opens it.
    pub(super) open: for<'a> fn(Opening<'a>) -> Soon<'a, Opened>,
    /// Describes every one that is here, best first, without opening it.
    pub(super) list: fn() -> Soon<'static, Vec<Info>>,
}

/// What a device hands over once it is open.
pub(super) type Opened = Result<Box<dyn Backend>>;

/// How a device is opened.
#[derive(Clone, Copy)]
pub(super) struct Opening<'a> {
    pub request: &'a Request,
    /// The user named the device. `auto` opens no software adapter.
    pub by_name: bool,
    /// Which of several, best first: 1 for `cuda:1`.
    pub index: usize,
}

/// A future in a box.
pub(super) type Soon<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

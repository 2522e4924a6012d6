//! The list of devices. `auto`, the command's `--device`, `mero devices` and the JavaScript option `device` all read it. A new device is one file with
//! an `Entry`, and one word here.

use std::future::Future;
use std::pin::Pin;

use super::{Backend, Info, Request, cpu, dry, webgpu};
use crate::error::{Error, Result};

/// The devices in the order in which `auto` tries them.
static DEVICES: [&Entry; 3] = [&webgpu::ENTRY, &cpu::ENTRY, &dry::ENTRY];

/// The name that leaves the choice to the engine.
pub const AUTO: &str = "auto";

/// What the table says of a device.
pub struct Entry {
    /// The name a user chooses.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Whether a user may choose it for work. The others only plan.
    pub is_choice: bool,
    /// Opens it.
    pub(super) open: for<'a> fn(Opening<'a>) -> Soon<'a, Opened>,
    /// Describes every one that is here, best first, without opening it.
    pub(super) list: fn() -> Soon<'static, Vec<Info>>,
}

/// What a device hands over once it is open.
type Opened = Result<Box<dyn Backend>>;

/// A future in a box.
pub(super) type Soon<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// How a device is opened.
#[derive(Clone, Copy)]
pub(super) struct Opening<'a> {
    pub request: &'a Request,
    /// The user named the device. `auto` opens no software adapter.
    pub by_name: bool,
}

/// Every device, best first.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    DEVICES.into_iter()
}

/// The names a user may choose for work: `auto`, then the devices, best first.
pub fn choices() -> Vec<&'static str> {
    [AUTO].into_iter().chain(entries().filter(|entry| entry.is_choice).map(|entry| entry.name)).collect()
}

/// The entry called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.name == name)
}

/// Opens the device that was asked for.
pub(super) async fn open(request: &Request) -> Opened {
    if request.device == AUTO {
        return automatic(request).await;
    }
    let entry = find(&request.device).ok_or_else(|| {
        let names: Vec<_> = [AUTO].into_iter().chain(entries().map(|entry| entry.name)).collect();
        Error::usage(format!("device \"{}\" is unknown; there are {}", request.device, names.join(", ")))
    })?;
    (entry.open)(Opening { request, by_name: true }).await
}

/// Opens the first device that can be opened.
async fn automatic(request: &Request) -> Opened {
    let mut refused = Error::internal("device: the table has no device to choose");
    for entry in entries().filter(|entry| entry.is_choice) {
        match (entry.open)(Opening { request, by_name: false }).await {
            Ok(backend) => return Ok(backend),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Describes every device that is here, without opening it.
pub(super) async fn list() -> Vec<Info> {
    let mut all = Vec::new();
    for entry in entries() {
        all.extend((entry.list)().await);
    }
    all
}

//! The list of devices. `auto`, the command's `--device`, `mero devices` and the JavaScript option `device` all read it. A new device is one file with
//! an `Entry`, and one word in `DEVICES` of `mod.rs`.

use super::DEVICES;
use super::backend::{Entry, Opened, Opening};
use super::info::Info;
use super::request::{AUTO, Request};
use crate::error::{Error, Result, hint};

/// Every device, best first.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    DEVICES.iter().copied()
}

/// The names a user may choose for work: `auto`, then the devices, best first.
pub fn choices() -> Vec<&'static str> {
    [AUTO].into_iter().chain(entries().filter(|entry| entry.is_choice).map(|entry| entry.name)).collect()
}

/// The entry called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().find(|entry| entry.name == name)
}

/// A device's name and which of several it is: `cuda:1` is the second that `cuda` lists, and `cuda` the first.
pub fn split(device: &str) -> Result<(&str, usize)> {
    let Some((name, index)) = device.split_once(':') else { return Ok((device, 0)) };
    if name == AUTO {
        return Err(Error::usage(format!(
            "device \"{device}\": got a number after \"auto\", expected a device, as in webgpu:1"
        )));
    }
    let wrong = || {
        Error::usage(format!("device \"{device}\": got \"{index}\" after the colon, expected a number, as in {name}:1"))
    };
    Ok((name, index.parse().map_err(|_| wrong())?))
}

/// Opens the requested device.
pub(super) async fn open(request: &Request) -> Opened {
    if request.device == AUTO {
        return automatic(request).await;
    }
    let (name, index) = split(&request.device)?;
    let entry = find(name).ok_or_else(|| {
        let known = entries().filter(|entry| entry.is_here).map(|entry| entry.name);
        let names: Vec<_> = [AUTO].into_iter().chain(known).collect();
        let near = hint(name, names.iter().copied());
        Error::usage(format!("device \"{name}\" is unknown; there are {}{near}", names.join(", ")))
    })?;
    if index > 0 {
        let found = (entry.list)().await;
        let listed: Vec<_> =
            found.iter().enumerate().map(|(at, info)| format!("{name}:{at} ({})", info.name)).collect();
        if !found.is_empty() && index >= found.len() {
            return Err(Error::usage(format!("device \"{name}:{index}\" is absent: there is {}", listed.join(", "))));
        }
    }
    (entry.open)(Opening { request, by_name: true, index }).await
}

/// Opens the first device that can be opened.
async fn automatic(request: &Request) -> Opened {
    let mut refused = Error::internal("device: the table has no device to choose");
    for entry in entries().filter(|entry| entry.is_choice) {
        match (entry.open)(Opening { request, by_name: false, index: 0 }).await {
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

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::Pin;

    use pollster::block_on;

    use super::super::dry::Dry;
    use super::super::{Backend, BoundCommand, Command, Device, Memory, Prepared, Region};
    use super::*;
    use crate::error::ErrorKind;

    /// A dry device that refuses every block.
    struct Full(Dry);

    impl Backend for Full {
        fn info(&self) -> &Info {
            self.0.info()
        }
        fn allocate(&self, _words: usize) -> Result<Memory> {
            Err(Error::device("no memory"))
        }
        fn free(&self, memory: Memory) {
            self.0.free(memory);
        }
        fn write(&self, memory: Memory, offset: usize, data: &[u32]) -> Result<()> {
            self.0.write(memory, offset, data)
        }
        fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>> {
            self.0.prepare(commands)
        }
        fn run(&self, prepared: &dyn Prepared, times: usize) -> Result<()> {
            self.0.run(prepared, times)
        }
        fn read(&self, region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>> {
            self.0.read(region)
        }
        fn made(&self) -> (u64, u64) {
            self.0.made()
        }
    }

    #[test]
    fn a_refused_constant_fails_where_it_is_used() {
        let device = Device::over(Box::new(Full(Dry::new(1))));
        let (constant, copy) = (device.constant(&[1, 2]), device.buffer(2));
        device.record(Command::Copy { from: constant.view(), to: copy.view() });
        // The copy first: it runs at the first read.
        for buffer in [copy, constant] {
            let error = block_on(device.read(&buffer.view())).expect_err("the device is full");
            assert_eq!((error.kind(), error.to_string()), (ErrorKind::Device, "no memory".to_owned()));
        }
    }

    #[test]
    fn every_choice_is_in_the_table_once() {
        let names: Vec<_> = entries().map(|entry| entry.name).collect();
        assert_eq!(choices()[0], AUTO);
        for name in &choices()[1..] {
            assert_eq!(names.iter().filter(|known| *known == name).count(), 1, "{name}");
        }
        assert!(find("dry").is_some_and(|entry| !entry.is_choice));
    }

    #[test]
    fn info_names_its_entry() {
        for info in block_on(Device::list()) {
            assert!(find(info.device).is_some(), "{}", info.device);
        }
    }
}

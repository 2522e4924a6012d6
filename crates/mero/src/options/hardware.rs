//! The device that runs the work, as the command line gives it.

use clap::Args;
use pollster::block_on;

use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::Device;
use meromorph::device::{self, Geometries, Geometry, Info, Products, Request};
use meromorph::error::hint;
use meromorph::train::{Trainer, geometry};

/// The device that runs the work.
#[derive(Args)]
#[command(next_help_heading = "Hardware")]
pub(crate) struct Hardware {
    #[arg(long, default_value = device::AUTO, value_name = "NAME", help = format!("{}; webgpu:1 is the second GPU", device::choices().join(", ")))]
    pub device: String,
    /// Threads of the cpu device; 0 = all
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    /// Use kernels without subgroup operations, for a driver with faulty ones
    #[arg(long)]
    pub no_subgroups: bool,
    /// How the fused training step splits a batch on a GPU: measured once for the GPU and its driver, default, or rows and invocations of a workgroup, as in 8x128-held
    #[arg(long, default_value = MEASURED, value_name = "SPLIT")]
    pub geometry: String,
    /// Which matrix products cuBLAS computes on the device cuda: those for which it is the fastest, own for none, library for all, tf32 for all with factors rounded to 10 bits
    #[arg(long, default_value = FASTEST, value_name = "WHICH")]
    pub products: String,
}

/// The products that are left to a library by default.
const FASTEST: &str = "fastest";

/// The geometry that is measured, and the one that is not.
const MEASURED: &str = "measured";
const DEFAULT: &str = "default";

/// More than the cores of any machine, fewer than an operating system refuses.
const MOST_THREADS: usize = 1024;

impl Hardware {
    /// For a command without the other options.
    pub(crate) fn of(device: &str, threads: usize) -> Self {
        Self {
            device: device.to_owned(),
            threads,
            no_subgroups: false,
            geometry: DEFAULT.to_owned(),
            products: FASTEST.to_owned(),
        }
    }

    /// Those of its options that are not the defaults, as on a command line, each with a space before it; with the geometry that was found, so that the
    /// command gives the same bits where another would be found.
    pub(crate) fn options(&self, found: Geometry) -> String {
        let mut text = String::new();
        let measured = if found == Geometry::DEFAULT { MEASURED.to_owned() } else { found.to_string() };
        let geometry = if self.geometry == MEASURED { &measured } else { &self.geometry };
        let named = [
            ("device", &self.device, device::AUTO),
            ("geometry", geometry, MEASURED),
            ("products", &self.products, FASTEST),
        ];
        for (name, value, _) in named.into_iter().filter(|(_, value, default)| *value != default) {
            text += &format!(" --{name} {value}");
        }
        if self.threads != 0 {
            text += &format!(" --threads {}", self.threads);
        }
        if self.no_subgroups {
            text += " --no-subgroups";
        }
        text
    }

    /// Errors if the device is unknown or cannot run kernels, or if there are too many threads.
    pub(crate) fn check(&self) -> Answer {
        if self.threads > MOST_THREADS {
            return Err(Failure::usage(format!("threads is {}, expected at most {MOST_THREADS}", self.threads)));
        }
        self.geometries()?;
        Products::parse(&self.products)?;
        let ((name, _), choices) = (device::split(&self.device)?, device::choices());
        if choices.contains(&name) {
            return Ok(());
        }
        let (listed, near) = (choices.join(", "), hint(name, choices.iter().copied()));
        Err(Failure::usage(match device::find(name) {
            Some(entry) => format!("device \"{name}\" {}; choose one of {listed}", entry.summary),
            None => format!("device \"{name}\" is unknown; there are {listed}{near}"),
        }))
    }

    fn geometries(&self) -> Answer<Geometries> {
        Ok(match self.geometry.as_str() {
            MEASURED => Geometries::Measured,
            DEFAULT => Geometries::Fixed(Geometry::DEFAULT),
            text => Geometries::Fixed(Geometry::parse(text)?),
        })
    }

    pub(crate) fn open(&self) -> Answer<Device> {
        self.open_with(false)
    }

    /// The same for a device whose plans are timed.
    pub(crate) fn open_timed(&self) -> Answer<Device> {
        self.open_with(true)
    }

    fn open_with(&self, timestamps: bool) -> Answer<Device> {
        self.check()?;
        let (device, subgroups) = (self.device.clone(), !self.no_subgroups);
        let geometries = self.geometries()?;
        let products = Products::parse(&self.products)?;
        let request = Request { device, threads: self.threads, subgroups, timestamps, geometries, products };
        Ok(block_on(Device::open(&request))?)
    }
}

/// Finds out how a GPU splits the batches of a run, if the user did not say.
pub(crate) fn choose_geometry(trainer: &mut Trainer, hardware: &Hardware) -> Answer {
    let given = hardware.geometry.as_str();
    if ![MEASURED, DEFAULT].contains(&given) && !geometry::matters(trainer) {
        let Info { device, name, .. } = trainer.device().info();
        return Err(Failure::usage(format!(
            "geometry: got {given}, which has no effect on the {} step on {device} ({name}): expected the fused step on a GPU that is not implemented in software",
            trainer.step_kind().name()
        )));
    }
    let is_new = trainer.device().known_geometry(trainer.settings().batch).is_none();
    let _progress = is_new.then(|| Progress::open("measuring the GPU"));
    Ok(block_on(trainer.choose_geometry())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_repeats_what_is_not_a_default() {
        let plain = Hardware { geometry: MEASURED.to_owned(), ..Hardware::of(device::AUTO, 0) };
        assert_eq!(plain.options(Geometry::DEFAULT), "");
        let found = Geometry { rows: 8, lanes: 128, is_held: true };
        assert_eq!(plain.options(found), " --geometry 8x128-held");
        let chosen = Hardware { no_subgroups: true, products: "tf32".to_owned(), ..Hardware::of("cuda:1", 2) };
        assert_eq!(
            chosen.options(found),
            " --device cuda:1 --geometry default --products tf32 --threads 2 --no-subgroups"
        );
    }
}

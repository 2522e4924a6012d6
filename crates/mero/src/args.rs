//! Flags that several commands share, as clap reads them.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use pollster::block_on;

use super::progress::Progress;
use super::{Answer, Failure};
use meromorph::device::{self, Geometries, Geometry, Info, Products, Request};
use meromorph::error::hint;
use meromorph::files::read_table;
use meromorph::files::{Format, Header};
use meromorph::files::{Table, tensors};
use meromorph::files::{check_bytes, unpack};
use meromorph::internal::host;
use meromorph::options::names;
use meromorph::train::{Trainer, geometry};
use meromorph::{Device, Error, Result};

/// The device that runs the work.
#[derive(Args)]
#[command(next_help_heading = "Hardware")]
pub(super) struct Hardware {
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
    pub(super) fn of(device: &str, threads: usize) -> Self {
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
    pub(super) fn options(&self, found: Geometry) -> String {
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
    pub(super) fn check(&self) -> Answer {
        if self.threads > MOST_THREADS {
            return Err(Failure::usage(format!("threads is {}, wanted at most {MOST_THREADS}", self.threads)));
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

    pub(super) fn open(&self) -> Answer<Device> {
        self.open_with(false)
    }

    /// The same for a device whose plans are timed.
    pub(super) fn open_timed(&self) -> Answer<Device> {
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
pub(super) fn choose_geometry(trainer: &mut Trainer, hardware: &Hardware) -> Answer {
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

/// Options of lists of names besides those of training, which are read by [`names`].
pub(super) const NAMES: [&str; 2] = ["na", "partial"];

/// How a table's file is read.
#[derive(Args, Clone)]
#[command(next_help_heading = "Reading the table")]
pub(super) struct Reading {
    /// The first record holds names; by default, it does if none of its cells is a number
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// The first record is data; columns are named c0, c1, …
    #[arg(long)]
    no_header: bool,
    /// Character between cells; by default, the one of , ; and tab that the first record has most often (a tab is \t)
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<String>,
    /// Decimal mark of numbers: . or ,
    #[arg(long, default_value = ".", value_name = "CHAR")]
    decimal: String,
    /// Character between groups of three digits
    #[arg(long, value_name = "CHAR")]
    thousands: Option<String>,
    /// Texts that mean a missing cell, besides NA, N/A, nan, null, ? and nothing
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    na: Vec<String>,
    /// Sheet of an Excel workbook; by default, the first
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
}

impl Reading {
    /// Errors if the marks contradict each other.
    pub(super) fn format(&self) -> Answer<Format> {
        let header = match (self.header, self.no_header) {
            (true, _) => Header::Yes,
            (_, true) => Header::No,
            _ => Header::Auto,
        };
        let delimiter = self.delimiter.as_ref().map(|text| text.replace("\\t", "\t"));
        let missing = self.na.iter().flat_map(|text| names(text)).collect();
        let (decimal, thousands) = (self.decimal.clone(), self.thousands.clone());
        let format = Format { header, delimiter, decimal, thousands, missing, sheet: self.sheet.clone() };
        format.check().map_err(|error| Failure::usage(error.to_string()))?;
        Ok(format)
    }
}

/// The bytes of a table's file, unpacked if they are compressed, and its name. `-` is standard input.
pub(super) fn read_bytes(file: &Path) -> Result<(Vec<u8>, String)> {
    let _progress = reading(file);
    let (bytes, source) = if file == Path::new("-") {
        (host::read_stdin(check_bytes)?, "standard input".to_owned())
    } else {
        (host::read_checked(file, check_bytes)?, file.display().to_string())
    };
    Ok((unpack(bytes, &source)?, source))
}

/// Reads a table and frees the bytes of its file.
pub(super) fn read(file: &Path, format: &Format) -> Result<Table> {
    let (bytes, source) = read_bytes(file)?;
    let _progress = reading(file);
    read_table(&bytes, &source, format)
}

/// Files from this size are read for a noticeable time.
const LARGE: u64 = 32 << 20;

/// Progress for a file that takes a while, and for standard input.
pub(super) fn reading(file: &Path) -> Option<Progress> {
    let bytes = host::file_bytes(file).unwrap_or(u64::MAX);
    let size = if bytes < u64::MAX { format!(" ({})", meromorph::report::bytes(bytes)) } else { String::new() };
    (bytes >= LARGE).then(|| Progress::open(&format!("reading {}{size}", file.display())))
}

/// Reads a model or checkpoint file.
pub(super) fn read_model(path: &Path) -> Result<Vec<u8>> {
    host::read_checked(path, tensors::check_start)
}

/// Errors if a wanted column is not in a text table whose first record was read as data and has that name: years are names that look like numbers.
pub(super) fn check_header<'a>(table: &Table, header: Header, names: impl IntoIterator<Item = &'a str>) -> Answer {
    let mut columns = table.columns().iter().enumerate();
    if header != Header::Auto || columns.any(|(at, column)| column.name != format!("c{at}")) {
        return Ok(());
    }
    let is_first = |name: &str| table.columns().iter().any(|column| column.cells.text(0).as_deref() == Some(name));
    let Some(name) = names.into_iter().find(|name| table.find(name).is_none() && is_first(name)) else { return Ok(()) };
    let source = table.source();
    Err(Error::new(format!(
        "column \"{name}\" not in {source}: its first record holds numbers and is read as data; --header reads it as names"
    ))
    .into())
}

/// Errors if `out` is standard output, is one of the `inputs` (what it is, path), or cannot be written.
pub(super) fn check_out(out: &Path, inputs: &[(&str, &Path)]) -> Answer {
    if out == Path::new("-") {
        return Err(Failure::usage("cannot write to standard output; give a file name instead of -"));
    }
    if let Some((what, _)) = inputs.iter().find(|(_, input)| host::is_same_file(out, input)) {
        return Err(Failure::usage(format!("{} is the {what} itself; name another file", out.display())));
    }
    Ok(host::check_writable(out)?)
}

/// The same for several outputs (what it is, path), and an error if two are one file.
pub(super) fn check_outs(outs: &[(&str, Option<&Path>)], inputs: &[(&str, &Path)]) -> Answer {
    let mut known = inputs.to_vec();
    for (what, out) in outs.iter().filter_map(|(what, out)| Some((*what, (*out)?))) {
        check_out(out, &known)?;
        known.push((what, out));
    }
    Ok(())
}

/// Errors if the place of a page has something else than a page.
pub(super) fn check_page(page: Option<&Path>) -> Answer {
    let Some(page) = page else { return Ok(()) };
    let mut start = Vec::new();
    // A pipe or a device has nothing to lose; what cannot be read is found out when the page is written.
    if let Some(Ok(file)) = host::file_bytes(page).map(|_| std::fs::File::open(page)) {
        let _ = file.take(PAGE.len() as u64).read_to_end(&mut start);
    }
    if start.is_empty() || start.eq_ignore_ascii_case(PAGE) {
        return Ok(());
    }
    Err(Failure::usage(format!("{} exists and is not a page; name another file", page.display())))
}

/// How pages begin.
const PAGE: &[u8] = b"<!doctype html";

/// The outputs of `train` and `demo`.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Output {
    /// The model file
    #[arg(long, value_name = "MODEL")]
    pub out: Option<PathBuf>,
    /// Replace what is in the place of the model or the checkpoint; a model of the same columns and target is replaced without it
    #[arg(long)]
    pub force: bool,
    /// Print only JSON, one object per line
    #[arg(long)]
    pub json: bool,
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

//! Experiments as archives of numpy: `phi_angles` [m], `c2_exp` [m, n, n], the times `t1` [n] (and the same `t2`) or the time step `dt`, perhaps `q`,
//! `stator_rotor_gap` and `sigma` [m, n, n]. What an archive lacks comes from the configuration.

use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use super::experiment::Experiment;
use super::values::{Stored, Values};
use meromorph::error::{Error, Result, listed};
use meromorph::files::npy::{self, Array};
use meromorph::internal::host::{self, Archive, Member, RangeFile, RangeReader, Spool, number};

/// What a configuration says about an experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// The time step in seconds.
    pub dt: Option<f64>,
    /// The first and the last frame, from 1, both included; the last may be open.
    pub frames: (Option<usize>, Option<usize>),
    /// The wavevector in 1/Å.
    pub q: Option<f64>,
    /// The gap between stator and rotor in Å.
    pub gap: Option<f64>,
}

const EXPECTED: &str = "expected an archive of numpy (NPZ) with phi_angles, c2_exp and t1 or dt, as numpy.savez writes";

/// Reads an experiment into memory. Errors if an array is missing or has another shape, if the file contradicts the setup, or if a number that is used
/// is not finite.
pub fn read_experiment(path: &Path, setup: &Setup) -> Result<Experiment> {
    let experiment = open_experiment(path, setup)?.held()?;
    let source = path.display().to_string();
    experiment.check().map_err(|error| error.within(&source))?;
    experiment.check_measured(&source)?;
    Ok(experiment)
}

/// The same whose matrices stay in the file, or in a temporary one if they are packed; they are not looked at yet. Those in Fortran order are in memory.
pub fn open_experiment(path: &Path, setup: &Setup) -> Result<Experiment> {
    let source = path.display().to_string();
    let opened = Arc::new(RangeFile::open(path)?);
    match opened.part(0, 4)?[..] {
        [b'P', b'K', 3, 4] => {}
        [0x89, b'H', b'D', b'F'] => {
            return Err(Error::new(format!("{source}: is an HDF5 file, which is not read: {EXPECTED}")));
        }
        _ => return Err(Error::new(format!("{source}: is not an archive: {EXPECTED}"))),
    }
    let mut file = File { archive: Archive::open_file(&opened)?, opened: &opened, source: &source };
    let phi = file.line("phi_angles")?.ok_or_else(|| file.missing("phi_angles"))?;
    let (shape, c2) = file.cube("c2_exp")?.ok_or_else(|| file.missing("c2_exp"))?;
    let [angles, times, _] = shape;
    let wrong = |what: String| Error::new(format!("{source}: {what}"));
    if phi.len() != angles {
        return Err(wrong(format!("phi_angles: got {} angles, expected {angles} as in c2_exp", phi.len())));
    }
    let sigma = match file.cube("sigma")? {
        Some((other, _)) if other != shape => {
            return Err(wrong(format!("sigma: got the shape {other:?}, expected {shape:?} as c2_exp")));
        }
        found => found.map(|(_, sigma)| sigma),
    };
    let dt = file.agreed("dt", setup.dt)?;
    let t = file.times(times, dt)?;
    let own = t[times - 1] / (times - 1) as f64 - t[0] / (times - 1) as f64;
    if let Some(dt) = dt.filter(|dt| !is_near(*dt, own)) {
        let [dt, own] = [dt, own].map(number);
        return Err(wrong(format!("t1: its steps are {own} on average, expected dt, {dt}")));
    }
    let q = file.agreed("q", setup.q)?;
    let q = q.ok_or_else(|| {
        wrong("q is missing: expected analyzer_parameters.scattering.wavevector_q, or the array q".to_owned())
    })?;
    let gap = file.agreed("stator_rotor_gap", setup.gap)?;
    let (kept, frames) = (kept(setup.frames, times).map_err(|error| error.within(&source))?, times);
    let experiment = Experiment { phi, t, dt: dt.unwrap_or(own), q, gap, c2, sigma };
    if kept == (0..frames) { Ok(experiment) } else { experiment.with_times(kept) }
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs())
}

/// The times to keep. Frames count from 1; a file that has exactly as many times as there are frames was cut before, and one with fewer, none of which
/// are left out at the start, is used whole.
fn kept((first, last): (Option<usize>, Option<usize>), times: usize) -> Result<std::ops::Range<usize>> {
    let (first, end) = (first.unwrap_or(1), last.unwrap_or(times));
    if first < 1 || end < first + 2 {
        return Err(Error::usage(format!("frames: got {first} to {end}, expected three frames or more, from 1 on")));
    }
    match last {
        Some(end) if end + 1 - first == times => Ok(0..times),
        _ if end <= times => Ok(first - 1..end),
        _ if first == 1 && times >= 3 => Ok(0..times),
        _ => Err(Error::new(format!("frames: got {first} to {end}, expected at most {times}, the times of c2_exp"))),
    }
}

/// An archive that is read.
struct File<'a> {
    archive: Archive<'a, BufReader<RangeReader<'a>>>,
    opened: &'a Arc<RangeFile>,
    source: &'a str,
}

impl File<'_> {
    fn missing(&self, name: &str) -> Error {
        let members = self.archive.names().unwrap_or_default();
        let names: Vec<&str> = members.iter().map(|member| member.strip_suffix(".npy").unwrap_or(member)).collect();
        let source = self.source;
        Error::new(format!("{source}: the array \"{name}\" is missing: got {}; {EXPECTED}", listed(&names)))
    }

    /// Hands over an array, if it is there.
    fn with<T>(&mut self, name: &str, take: impl FnOnce(&Array<'_>, &str) -> Result<T>) -> Result<Option<T>> {
        let member = format!("{name}.npy");
        if !self.archive.names()?.contains(&member) {
            return Ok(None);
        }
        let place = format!("{}: {name}", self.source);
        // A member that is longer than its header says is not unpacked.
        let (start, bytes) = self.archive.start(&member, npy::MOST_HEADER_BYTES)?;
        npy::Layout::parse(&start, bytes, &place)?;
        let bytes = self.archive.unpack(&member)?;
        take(&Array::parse(&bytes, &place)?, &place).map(Some)
    }

    fn line(&mut self, name: &str) -> Result<Option<Vec<f64>>> {
        self.with(name, |array, place| match array.layout.shape[..] {
            [_] => Ok(array.values(|value| value)),
            _ => {
                Err(Error::new(format!("{place}: got the shape {:?}, expected a list of numbers", array.layout.shape)))
            }
        })
    }

    /// Matrices, which stay in a file if they are in C order.
    fn cube(&mut self, name: &str) -> Result<Option<([usize; 3], Values)>> {
        let (member, place) = (format!("{name}.npy"), format!("{}: {name}", self.source));
        if !self.archive.names()?.contains(&member) {
            return Ok(None);
        }
        let (start, bytes) = self.archive.start(&member, npy::MOST_HEADER_BYTES)?;
        let layout = npy::Layout::parse(&start, bytes, &place)?;
        let [angles, times, others] = layout.shape[..] else {
            let shape = &layout.shape;
            return Err(Error::new(format!("{place}: got the shape {shape:?}, expected [angles, times, times]")));
        };
        if times != others || times < 3 || angles == 0 {
            return Err(Error::new(format!(
                "{place}: got {angles} matrices of {times} x {others}, expected square ones of at least 3 x 3"
            )));
        }
        let shape = [angles, times, others];
        if layout.is_fortran {
            let bytes = self.archive.unpack(&member)?;
            return Ok(Some((shape, Values::Double(Array::parse(&bytes, &place)?.values(|value| value)))));
        }
        let (held, first) = match self.archive.place(&member)? {
            Some(range) if range.end > self.opened.bytes() => {
                let (got, expected) = (self.opened.bytes(), range.end);
                return Err(Error::new(format!("{place}: is cut short: got {got} bytes, expected {expected}")));
            }
            Some(range) => {
                self.archive.check(&member)?;
                (self.opened.clone(), range.start)
            }
            None => {
                let mut spool = Spool::new(&place)?;
                self.archive.unpack_to(&member, &mut spool)?;
                (Arc::new(spool.finish()?), 0)
            }
        };
        let stored = Stored::new(held, first + layout.start as u64, layout.dtype, [angles, times]);
        Ok(Some((shape, Values::Stored(stored))))
    }

    /// A number of the file or of the setup. Errors if they differ.
    fn agreed(&mut self, name: &str, known: Option<f64>) -> Result<Option<f64>> {
        let own = self.with(name, |array, place| match (array.numbers(), array.values(|value| value).first()) {
            (1, Some(value)) => Ok(*value),
            _ => Err(Error::new(format!("{place}: got the shape {:?}, expected one number", array.layout.shape))),
        })?;
        match own.zip(known) {
            Some((own, known)) if !is_near(own, known) => {
                let (source, [own, known]) = (self.source, [own, known].map(number));
                Err(Error::new(format!("{name}: got {known} in the configuration and {own} in {source}")))
            }
            _ => Ok(own.or(known)),
        }
    }

    /// The times, from arrays or from the time step.
    fn times(&mut self, count: usize, dt: Option<f64>) -> Result<Vec<f64>> {
        let t1 = self.axis("t1", count, false)?;
        let t2 = self.axis("t2", count, true)?;
        let source = self.source;
        match (t1, t2, dt) {
            (Some(t1), Some(t2), _) if t1 != t2 => {
                Err(Error::new(format!("{source}: t1 and t2 differ: expected the same times")))
            }
            (Some(t), _, _) | (None, Some(t), _) => Ok(t),
            (None, None, Some(dt)) => Ok((0..count).map(|at| dt * at as f64).collect()),
            (None, None, None) => Err(Error::new(format!(
                "{source}: the times are missing: expected the array t1 or dt, or analyzer_parameters.dt"
            ))),
        }
    }

    /// One axis of times: a list, or a grid [n, n] of which it is the rows or the columns.
    fn axis(&mut self, name: &str, count: usize, is_along_rows: bool) -> Result<Option<Vec<f64>>> {
        self.with(name, |array, place| {
            let values = array.values(|value| value);
            let wrong = |what: &str| Err(Error::new(format!("{place}: {what}")));
            let axis: Vec<f64> = match array.layout.shape[..] {
                [times] if times == count => values,
                [rows, columns] if rows == count && columns == count => {
                    let apart = if is_along_rows { 1 } else { count };
                    let axis: Vec<f64> = (0..count).map(|at| values[at * apart]).collect();
                    let is_grid = (0..count * count)
                        .all(|at| values[at] == axis[if is_along_rows { at % count } else { at / count }]);
                    if !is_grid {
                        return wrong("it is not a grid of times: expected the same times along one axis");
                    }
                    axis
                }
                _ => {
                    return wrong(&format!(
                        "got the shape {:?}, expected [{count}], the times of c2_exp",
                        array.layout.shape
                    ));
                }
            };
            if axis.iter().all(|t| t.is_finite()) { Ok(axis) } else { wrong("expected finite times") }
        })
    }
}

/// Writes an experiment that [`read_experiment`] reads.
pub fn write_experiment(path: &Path, experiment: &Experiment) -> Result<()> {
    host::write_whole(path, &experiment_bytes(experiment)?)
}

/// The bytes of such a file.
pub fn experiment_bytes(experiment: &Experiment) -> Result<Vec<u8>> {
    let Experiment { phi, t, dt, q, gap, c2, sigma } = experiment;
    let line = |values: &[f64]| npy::write(&[values.len()], false, values.iter().copied());
    let one = |value: f64| npy::write(&[], false, std::iter::once(value));
    let cube =
        |values: &(bool, Vec<f64>)| npy::write(&[phi.len(), t.len(), t.len()], values.0, values.1.iter().copied());
    let numbers = |values: &Values| values.numbers().map(|numbers| (values.is_single(), numbers));
    let (c2, sigma) = (numbers(c2)?, sigma.as_ref().map(numbers).transpose()?);
    let mut members: Vec<Member<'_>> = vec![
        ("phi_angles.npy", Box::new(|| line(phi))),
        ("c2_exp.npy", Box::new(|| cube(&c2))),
        ("t1.npy", Box::new(|| line(t))),
        ("t2.npy", Box::new(|| line(t))),
        ("dt.npy", Box::new(|| one(*dt))),
        ("q.npy", Box::new(|| one(*q))),
    ];
    if let Some(gap) = *gap {
        members.push(("stator_rotor_gap.npy", Box::new(move || one(gap))));
    }
    if let Some(sigma) = &sigma {
        members.push(("sigma.npy", Box::new(|| cube(sigma))));
    }
    host::pack(&members)
}

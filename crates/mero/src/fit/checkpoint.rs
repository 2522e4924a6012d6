//! Checkpoints of long fits: what is computed so far, written now and then, from which the same command goes on.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::log::Log;
use crate::options::outputs::keep_elsewhere;
use crate::terminal::{console, interrupt};
use crate::{Answer, Failure};
use meromorph::fit::Journal;
use meromorph::internal::host;
use meromorph::report::counted;
use meromorph::{Error, Result};

/// The first bytes of the file.
const MAGIC: &[u8; 24] = b"meromorph fit journal 1\n";
/// Bytes of a digest.
const DIGEST: usize = 32;
/// Older checkpoints that are kept unless a number is given: the newest may be torn.
const OLDER: usize = 2;
/// The end of the name of a checkpoint that is not yet the newest.
const NEW: &str = ".new";
/// A checkpoint that takes longer is worth a warning.
const SLOW: Duration = Duration::from_secs(2);

/// When a fit is saved, and how many checkpoints are kept.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// Seconds between two checkpoints, at most.
    pub(crate) every: f64,
    /// Parts of rows between two checkpoints, at most, if that is given: a part is a pass over the rows, or 8,388,608 rows of it.
    pub(crate) parts: Option<usize>,
    /// Older checkpoints that are kept besides the newest.
    pub(crate) older: usize,
    /// Whether a checkpoint that is there is gone on from.
    pub(crate) resumes: bool,
}

impl Pace {
    /// The usual one, with a checkpoint every so many seconds.
    pub(crate) fn of(every: f64) -> Self {
        Self { every, parts: None, older: OLDER, resumes: true }
    }
}

/// Where and how often a fit is saved.
pub(crate) struct Checkpoint {
    path: PathBuf,
    every: Duration,
    pace: Pace,
    /// Parts that are not saved yet.
    parts: usize,
    /// What a search that has ended computed.
    journal: Journal,
    /// Of the fit: model, options and data.
    identity: [u8; DIGEST],
    last: Instant,
    /// Where the last state of a stopped fit is if it could not be written to its place, and why; `None` if it is lost.
    failed: Option<(Option<PathBuf>, Error)>,
}

impl Checkpoint {
    /// A checkpoint of the fit that these texts and data tell from others.
    pub(crate) fn new(path: &Path, pace: Pace, identity: Sha256) -> Answer<Self> {
        let every = pace.every;
        let every = Duration::try_from_secs_f64(every).map_err(|_| {
            Failure::usage(format!("checkpoint-every: got {every}, expected a number of seconds from 0"))
        })?;
        Ok(Self {
            path: path.to_owned(),
            every,
            pace,
            parts: 0,
            journal: Journal::default(),
            identity: identity.finalize().into(),
            last: Instant::now(),
            failed: None,
        })
    }

    /// The newest whole checkpoint; an empty journal if there is none. Errors if it is of another fit.
    pub(crate) fn load(&self, is_forced: bool) -> Answer<Journal> {
        if !self.pace.resumes {
            return Ok(Journal::default());
        }
        let found =
            (0..=self.pace.older).map(|age| older(&self.path, age)).filter(|path| host::file_bytes(path).is_some());
        let mut torn = Vec::new();
        for path in found {
            match self.read(&path) {
                Ok(journal) => {
                    for (path, error) in torn {
                        console::complain(&format!("{path}: {error}; an older checkpoint is used"));
                    }
                    return Ok(journal);
                }
                Err(Damage::Torn(error)) => torn.push((path.display().to_string(), error)),
                Err(Damage::Foreign) if is_forced => return Ok(Journal::default()),
                Err(Damage::Foreign) => {
                    let path = path.display();
                    return Err(Failure::usage(format!(
                        "{path}: it is the checkpoint of another fit: expected the same model, options and data; to replace it, use --force"
                    )));
                }
            }
        }
        match torn.into_iter().next() {
            Some((path, error)) if !is_forced => {
                Err(Failure::usage(format!("{path}: {error}; to replace it, use --force")))
            }
            _ => Ok(Journal::default()),
        }
    }

    fn read(&self, path: &Path) -> std::result::Result<Journal, Damage> {
        let bytes = host::read(path).map_err(Damage::Torn)?;
        let torn = |what: &str| Damage::Torn(Error::new(what));
        let head = bytes.get(..MAGIC.len()).ok_or_else(|| torn("it is cut short"))?;
        if head != MAGIC {
            return Err(torn("it is not a checkpoint of a fit"));
        }
        let body = bytes.len().checked_sub(DIGEST).filter(|&end| end >= MAGIC.len() + DIGEST);
        let (body, digest) = bytes.split_at(body.ok_or_else(|| torn("it is cut short"))?);
        if digest != Sha256::digest(body).as_slice() {
            return Err(torn("its bytes do not match their digest: it is damaged or cut short"));
        }
        let (identity, numbers) = body[MAGIC.len()..].split_at(DIGEST);
        if identity != self.identity {
            return Err(Damage::Foreign);
        }
        let numbers: Vec<f64> = numbers.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        Journal::from_numbers(&numbers).map_err(Damage::Torn)
    }

    /// Saves the journal if it is time, or if a stop was requested. A fit whose journal cannot be saved goes on, with the checkpoints that it has.
    pub(super) fn watch(&mut self, journal: &Journal, log: &mut Log) {
        let is_stopped = interrupt::is_requested();
        self.parts += 1;
        let is_due = self.last.elapsed() >= self.every || self.pace.parts.is_some_and(|parts| self.parts >= parts);
        if is_stopped || is_due {
            self.keep(journal, log, is_stopped);
        }
    }

    /// Saves the journal now.
    pub(crate) fn keep(&mut self, journal: &Journal, log: &mut Log, is_stopped: bool) {
        self.parts = 0;
        let (started, bytes) = (Instant::now(), self.bytes(journal));
        let saved = self.save(&bytes);
        self.last = Instant::now();
        let took = self.last - started;
        match saved {
            Ok(()) => log.saved(took, bytes.len()),
            Err(error) if is_stopped => self.failed = Some((keep_elsewhere(&self.path, &bytes), error)),
            Err(error) => {
                console::complain(&format!("{}: {error}; the fit goes on, older checkpoints stay", log.command()));
            }
        }
        if took > SLOW {
            let (path, seconds) = (self.path.display(), took.as_secs_f64());
            console::complain(&format!(
                "checkpoint {path} took {seconds:.1} s: a faster disk, or a larger --checkpoint-every, loses less time"
            ));
        }
    }

    /// The bytes of the file.
    fn bytes(&self, journal: &Journal) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &self.identity].concat();
        journal.numbers().iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend_from_slice(&Sha256::digest(&bytes));
        bytes
    }

    /// Writes the newest checkpoint, and only then makes those before it older.
    fn save(&self, bytes: &[u8]) -> Result<()> {
        if host::file_bytes(&self.path).is_none() {
            return host::write_whole(&self.path, bytes);
        }
        let mut new = self.path.as_os_str().to_owned();
        new.push(NEW);
        let new = PathBuf::from(new);
        host::write_whole(&new, bytes)?;
        for age in (0..self.pace.older).rev() {
            if host::file_bytes(&older(&self.path, age)).is_some() {
                host::rename(&older(&self.path, age), &older(&self.path, age + 1))?;
            }
        }
        host::rename(&new, &self.path)
    }

    /// The checkpoint of a search that has ended.
    pub(super) fn with(self, journal: Journal) -> Self {
        Self { journal, ..self }
    }

    /// Saves what a search that has ended computed, for a fit in which another one follows.
    pub(crate) fn keep_all(&mut self, log: &mut Log) {
        let journal = std::mem::take(&mut self.journal);
        self.keep(&journal, log, false);
    }

    /// What to say of a fit that a request stopped.
    pub(super) fn stopped(&self, journal: &Journal) -> Failure {
        let (done, path) = (counted(journal.evaluations(), "evaluation"), self.path.display());
        if let Some((kept, error)) = &self.failed {
            return match kept.as_ref().map(|kept| kept.display()) {
                Some(kept) => Failure::Saved(format!(
                    "stopped after {done}; {error}; saved in {kept}: the same command with --checkpoint {kept} goes on from there"
                )),
                None => Failure::Interrupted(format!("stopped after {done}, which are not saved: {error}")),
            };
        }
        Failure::Saved(format!("stopped after {done}, saved in {path}: the same command goes on from there"))
    }

    /// Removes the checkpoints of a fit that is done.
    pub(crate) fn remove(&self) -> Result<()> {
        let paths = (0..=self.pace.older).map(|age| older(&self.path, age));
        paths.filter(|path| host::file_bytes(path).is_some()).try_for_each(|path| host::remove(&path))
    }
}

enum Damage {
    /// It cannot be read.
    Torn(Error),
    /// It is of another fit.
    Foreign,
}

/// The path of a checkpoint that is so many saves old.
fn older(path: &Path, age: usize) -> PathBuf {
    if age == 0 {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{age}"));
    PathBuf::from(name)
}

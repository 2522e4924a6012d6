//! Files that are there only while a process uses them: temporary ones, which become results, and locks. Those of processes that were killed are swept.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::files::{builder, folder_of, reason};
use crate::error::{Error, Result};

/// The start of the name of every temporary file and folder.
pub(crate) const PREFIX: &str = ".meromorph-";
/// The end of the name of a temporary file.
const ENDING: &str = ".tmp";
/// Random letters and digits of a name. So many that no name of a user's file is taken for one.
pub(crate) const RANDOM: usize = 16;
/// The end of the name of a lock.
const LOCK: &str = ".lock";

/// A new file in a folder, locked for as long as it is used; see [`sweep`].
pub(crate) fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    loop {
        let file = builder().prefix(PREFIX).rand_bytes(RANDOM).suffix(ENDING).tempfile_in(folder)?;
        // Some file systems have no locks; files on them are never swept.
        let _ = file.as_file().lock();
        // Another process may have swept it before it was locked.
        if file.path().exists() {
            return Ok(file);
        }
    }
}

/// Removes temporary files and folders of processes that were killed: those that nobody has locked. A nameless file (`O_TMPFILE`) would leave nothing behind, but
/// can only get the name of a file that does not exist.
pub(crate) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let Ok(found) = entry.metadata() else { continue };
        // The folder "old" may be the only copy of what was to be replaced.
        let is_ours = if found.is_dir() {
            rest.strip_prefix("new-").is_some_and(is_random)
        } else {
            // A lock has no bytes; a file that has some is not one.
            let is_lock = rest.ends_with(LOCK) && found.len() == 0;
            found.is_file() && (is_lock || rest.strip_suffix(ENDING).is_some_and(is_random))
        };
        let lock = if is_ours { File::open(&path).ok() } else { None };
        if lock.as_ref().is_some_and(|file| file.try_lock().is_ok()) {
            let _ = if found.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
}

fn is_random(text: &str) -> bool {
    text.len() == RANDOM && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A file that no other process writes while this is held. It is a file of its own, as the file itself is replaced with every write.
pub struct FileLock {
    path: PathBuf,
    _held: File,
}

impl FileLock {
    /// Locks the file at `path`, which need not exist. `None` if it is no regular file, or if its file system has no locks. Errors if another process
    /// has locked it.
    pub fn of(path: &Path) -> Result<Option<Self>> {
        let is_file = fs::metadata(path).map_or(true, |found| found.is_file());
        let place = super::files::place_of(path);
        let Some(name) = place.file_name().filter(|_| is_file) else { return Ok(None) };
        let lock = folder_of(&place).join(format!("{PREFIX}{}{LOCK}", name.display()));
        let refused = |what: &str| Error::usage(format!("{}: {what}", path.display()));
        loop {
            let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&lock);
            let file = file.map_err(|error| refused(&format!("cannot be written: {}", reason(&error))))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(refused("is used by another run")),
                Err(TryLockError::Error(_)) => {
                    let _ = fs::remove_file(&lock);
                    return Ok(None);
                }
            }
            // Its process may have ended, or another may have swept it, before it was locked here.
            if lock.exists() {
                return Ok(Some(Self { path: lock, _held: file }));
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // While it is still locked: whoever opened it meanwhile finds it gone and makes another.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_no_user_gives_are_swept() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(format!("{PREFIX}{name}"));
        let kept = ["notes", "config", "notes.tmp", "0123456789abcde.tmp", "0123456789abcdef", "notes.lock"];
        for name in &kept {
            fs::write(at(name), b"of a user").unwrap();
        }
        fs::create_dir(at("new-house")).unwrap();
        for name in ["0123456789abcdEF.tmp", "m.ckpt.lock"] {
            fs::write(at(name), b"").unwrap();
        }
        fs::create_dir(at("new-0123456789abcdef")).unwrap();
        sweep(place.path());
        let left = fs::read_dir(place.path()).unwrap().count();
        assert_eq!(left, kept.len() + 1);
        assert!(kept.iter().all(|name| at(name).exists()) && at("new-house").exists());
    }

    #[test]
    fn a_file_is_locked_once_and_again_when_it_is_free() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("c");
        let held = FileLock::of(&path).unwrap().expect("locks");
        let refused = FileLock::of(&path).err().expect("it is locked").to_string();
        assert!(refused.ends_with("/c: is used by another run"), "{refused}");
        sweep(place.path());
        assert!(FileLock::of(&path).is_err(), "a lock in use is not swept");
        drop(held);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        assert!(FileLock::of(&path).unwrap().is_some());
        assert!(FileLock::of(place.path()).unwrap().is_none());
    }
}

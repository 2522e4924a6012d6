//! Files of the operating system. A write is atomic: temporary name, fsync, rename.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::temporary::{sweep, temporary};
use crate::error::{Error, Result};

/// Puts `bytes` at `path` so that a reader sees the old file or the new one, never a part, also after a crash.
///
/// The temporary file is in the same folder. Symbolic links are followed; devices and pipes are written in place.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes).map_err(|e| Error::new(format!("{}: cannot be written: {}", path.display(), reason(&e))))
}

/// Puts `bytes` into a folder as a file that is not there yet: of this name, or of this name with a number. Returns its path.
pub fn write_new(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let failed = |e: io::Error| Error::new(format!("{}: cannot be written: {}", folder.display(), reason(&e)));
    let mut file = temporary(folder).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let mut path = folder.join(name);
    for number in 1.. {
        match file.persist_noclobber(&path) {
            Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => file = taken.file,
            outcome => return outcome.map(|_| path).map_err(|e| failed(e.error)),
        }
        path = folder.join(format!("{name}.{number}"));
    }
    unreachable!("a folder has no more files than numbers")
}

/// Creates a folder and its parents, if absent.
pub fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| Error::new(format!("{}: cannot be created: {}", path.display(), reason(&e))))
}

/// Errors if [`write_whole`] would, before hours of work depend on it. Leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<()> {
    let whole = place_of(path);
    let outcome = match fs::metadata(path) {
        Ok(found) if is_fifo(&found) => {
            open_fifo(&whole).map(|pipe| PIPES.lock().expect("never poisoned").push((whole, pipe)))
        }
        Ok(found) if !found.is_file() => fs::OpenOptions::new().write(true).open(path).map(drop),
        _ => temporary(&folder_of(&whole)).map(drop),
    };
    outcome.map_err(|e| Error::new(format!("{}: cannot be written: {}", path.display(), reason(&e))))
}

/// Whether two paths lead to the same regular file, which need not exist. Terminals and pipes never count: they may be read and written at once.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| Some(place_of(path)).filter(|place| fs::metadata(place).map_or(true, |at| at.is_file()));
    a == b || whole(a).is_some_and(|a| whole(b) == Some(a))
}

/// Links of a chain that are followed; Linux follows as many.
const MOST_LINKS: usize = 40;

/// Where a path leads: symbolic links are followed, also one that leads to a file that does not exist yet.
pub(crate) fn place_of(path: &Path) -> PathBuf {
    let mut place = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        // A pipe of a shell is there, though the name that its link has is not.
        if fs::metadata(&place).is_ok() {
            return fs::canonicalize(&place).unwrap_or(place);
        }
        let Ok(target) = fs::read_link(&place) else { break };
        place = folder_of(&place).join(target);
    }
    match (fs::canonicalize(folder_of(&place)), place.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => place,
    }
}

/// The length of the regular file at `path`, if there is one.
pub fn file_bytes(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|found| found.len())
}

/// Renames a file, replacing what has the new name.
pub fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|error| Error::new(format!("{}: cannot be renamed: {error}", from.display())))
}

/// Removes the regular file at `path`, if there is one. Devices and pipes, which can be written too, stay.
pub fn remove(path: &Path) -> Result<()> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(());
    }
    fs::remove_file(path).map_err(|e| Error::new(format!("{}: cannot be removed: {}", path.display(), reason(&e))))
}

/// Named pipes that [`check_writable`] opened, until [`write_whole`] writes them: if one were closed in between, its reader would see an end.
static PIPES: Mutex<Vec<(PathBuf, File)>> = Mutex::new(Vec::new());

/// How long a reader of a named pipe may take to open it: a shell starts reader and writer at the same time.
const READER_TIME: Duration = Duration::from_secs(2);
const READER_PAUSE: Duration = Duration::from_millis(10);

/// The limits of this process on its addresses and on its data, in bytes.
#[cfg(unix)]
pub(super) fn memory_limits() -> [Option<u64>; 2] {
    use rustix::process::{Resource, getrlimit};
    [Resource::As, Resource::Data].map(|resource| getrlimit(resource).current)
}

#[cfg(not(unix))]
pub(super) fn memory_limits() -> [Option<u64>; 2] {
    [None; 2]
}

#[cfg(unix)]
fn is_fifo(found: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type())
}

/// Opens a named pipe for writing. Errors if nothing reads it; opening it without `O_NONBLOCK` would wait for ever.
#[cfg(unix)]
fn open_fifo(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let start = Instant::now();
    loop {
        match fs::OpenOptions::new().write(true).custom_flags(nonblocking).open(path) {
            // Opened again, so that writes wait for a slow reader. There is one, so this does not wait.
            Ok(_held) => return fs::OpenOptions::new().write(true).open(path),
            Err(error) if error.raw_os_error() != Some(rustix::io::Errno::NXIO.raw_os_error()) => return Err(error),
            Err(_) if start.elapsed() > READER_TIME => return Err(io::Error::other("it is a pipe that nothing reads")),
            Err(_) => std::thread::sleep(READER_PAUSE),
        }
    }
}

#[cfg(not(unix))]
fn is_fifo(_found: &fs::Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn open_fifo(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new().write(true).open(path)
}

/// Reads some bytes from `at` on. Threads can share the file: each call has its own place.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

#[cfg(not(unix))]
pub(crate) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, at)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = place_of(path);
    match fs::metadata(&path) {
        Ok(found) if is_fifo(&found) => {
            let mut pipes = PIPES.lock().expect("never poisoned");
            let held = pipes.iter().position(|(known, _)| *known == path).map(|at| pipes.remove(at).1);
            held.map_or_else(|| open_fifo(&path), Ok)?.write_all(bytes)
        }
        Ok(found) if !found.is_file() => fs::OpenOptions::new().write(true).open(&path)?.write_all(bytes),
        found => replace(&path, bytes, found.ok().map(|f| f.permissions())),
    }
}

fn replace(path: &Path, bytes: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let folder = folder_of(path);
    sweep(&folder);
    let mut file = temporary(&folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    sync_folder(&folder)
}

/// The folder of a file.
pub fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Temporary files are private by default; results get the permissions of any new file.
#[cfg(unix)]
pub(crate) fn builder() -> tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    builder.permissions(fs::Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
pub(crate) fn builder() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

/// A rename is durable only once the folder is synced. Some file systems cannot sync a folder; the file is complete anyway.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let _ = File::open(folder)?.sync_all();
    }
    Ok(())
}

/// The system's message without the temporary name and without "(os error 28)".
pub fn reason(error: &io::Error) -> String {
    let error = match error.get_ref().and_then(std::error::Error::source) {
        Some(cause) => cause.to_string(),
        None => error.to_string(),
    };
    let words = error.split(" (os error").next().unwrap_or(&error);
    words.split(" at path ").next().unwrap_or(words).to_string()
}

/// Calls `act` in a thread of its own on SIGUSR1, which then does not end the process; does nothing where there are no signals.
pub fn on_user_signal(act: impl Fn() + Send + 'static) {
    #[cfg(unix)]
    // If no handler can be set, the signal ends the process as usual.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([signal_hook::consts::SIGUSR1]) {
        std::thread::spawn(move || signals.forever().for_each(|_| act()));
    }
    #[cfg(not(unix))]
    let _ = act;
}

/// Makes a write beyond the limit of the size of files an error; the signal would end the process.
pub fn outlive_file_limit() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_written_replaced_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        for bytes in [&b"first"[..], b"second, longer", b""] {
            write_whole(&path, bytes).unwrap();
            assert_eq!(read(&path).unwrap(), bytes);
        }
        assert_eq!(names(folder.path()), ["a.bin"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_ordinary_permissions_and_an_old_one_keeps_its_own() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let [plain, written] = ["plain", "written"].map(|name| folder.path().join(name));
        fs::write(&plain, b"x").unwrap();
        write_whole(&written, b"x").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&plain), mode(&written));
        fs::set_permissions(&written, fs::Permissions::from_mode(0o600)).unwrap();
        write_whole(&written, b"y").unwrap();
        assert_eq!(mode(&written) & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let other = folder.path().join("other");
        assert!(is_same_file(&link, &file) && is_same_file(&other, &other));
        assert!(!is_same_file(&link, &other) && !is_same_file(&link, folder.path()));
    }

    #[cfg(unix)]
    #[test]
    fn errors_name_the_path_and_the_reason() {
        let absent = Path::new("/nowhere/at/all.csv");
        let message = |outcome: Result<()>| outcome.unwrap_err().to_string();
        assert_eq!(message(read(absent).map(drop)), "/nowhere/at/all.csv: cannot be read: No such file or directory");
        assert_eq!(
            message(write_whole(absent, b"x")),
            "/nowhere/at/all.csv: cannot be written: No such file or directory"
        );
        // Linux has a device that is always full.
        if Path::new("/dev/full").exists() {
            assert_eq!(
                message(write_whole(Path::new("/dev/full"), b"x")),
                "/dev/full: cannot be written: No space left on device"
            );
        }
        assert_eq!(
            message(check_writable(absent)),
            "/nowhere/at/all.csv: cannot be written: No such file or directory"
        );
        assert_eq!(message(check_writable(Path::new("/tmp"))), "/tmp: cannot be written: Is a directory");
        assert_eq!(message(write_whole(Path::new("/tmp"), b"x")), "/tmp: cannot be written: Is a directory");
    }
}

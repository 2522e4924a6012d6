//! Files of the operating system. A write is atomic: temporary name, fsync, rename.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// All bytes of the file at `path`. The error names the path and the system's reason.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| Error::new(format!("{}: cannot be read: {}", path.display(), reason(&e))))
}

/// All bytes of standard input.
pub fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(e) => Err(Error::new(format!("standard input: cannot be read: {}", reason(&e)))),
    }
}

/// Puts `bytes` at `path` so that a reader sees the old file or the new one, never a part, also after a crash.
///
/// The temporary file is in the same folder. Symbolic links are followed; devices and pipes are written in place.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write(path, bytes).map_err(|e| Error::new(format!("{}: cannot be written: {}", path.display(), reason(&e))))
}

/// Creates a folder and its parents, if absent.
pub fn make_folder(path: &Path) -> Result<()> {
    fs::create_dir_all(path).map_err(|e| Error::new(format!("{}: cannot be created: {}", path.display(), reason(&e))))
}

/// Errors if [`write_whole`] would, before hours of work depend on it. Leaves nothing behind.
pub fn check_writable(path: &Path) -> Result<()> {
    let is_file = fs::metadata(path).map_or(true, |found| found.is_file());
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let outcome = if is_file {
        builder().tempfile_in(folder_of(&whole)).map(drop)
    } else {
        fs::OpenOptions::new().write(true).open(path).map(drop)
    };
    outcome.map_err(|e| Error::new(format!("{}: cannot be written: {}", path.display(), reason(&e))))
}

/// Whether two paths lead to the same regular file. Terminals and pipes never count: they may be read and written at once.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    let whole = |path: &Path| fs::canonicalize(path).ok().filter(|path| path.is_file());
    a == b || whole(a).is_some_and(|a| whole(b) == Some(a))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    match fs::metadata(&path) {
        Ok(found) if !found.is_file() => fs::OpenOptions::new().write(true).open(&path)?.write_all(bytes),
        found => replace(&path, bytes, found.ok().map(|f| f.permissions())),
    }
}

fn replace(path: &Path, bytes: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let folder = folder_of(path);
    let mut file = builder().tempfile_in(&folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist(path).map_err(|e| e.error)?;
    sync_folder(&folder)
}

pub(super) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Temporary files are private by default; results get the permissions of any new file.
#[cfg(unix)]
fn builder() -> tempfile::Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".meromorph-").permissions(fs::Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".meromorph-");
    builder
}

/// A rename is durable only once the folder is synced. Some file systems cannot sync a folder; the file is complete anyway.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        let _ = fs::File::open(folder)?.sync_all();
    }
    Ok(())
}

/// The system's message without the temporary name and without "(os error 28)".
pub(super) fn reason(error: &io::Error) -> String {
    let error = match error.get_ref().and_then(std::error::Error::source) {
        Some(cause) => cause.to_string(),
        None => error.to_string(),
    };
    let words = error.split(" (os error").next().unwrap_or(&error);
    words.split(" at path ").next().unwrap_or(words).to_string()
}

#[cfg(test)]
mod tests {
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

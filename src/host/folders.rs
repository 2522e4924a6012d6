//! Folders of the operating system. Writing a folder is atomic: all of it appears under its name, or nothing does.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::files::{folder_of, reason, sync_folder};
use super::temporary::{PREFIX, RANDOM, sweep};
use crate::error::{Error, Result};

/// All bytes of the file at `path`, which must be a file itself: a link or a pipe is refused.
pub fn read_unlinked(path: &Path) -> Result<Vec<u8>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(refused(path, "is a symbolic link; expected a regular file")),
        Ok(found) if !found.is_file() => Err(refused(path, "is not a file")),
        _ => super::read(path),
    }
}

/// The files of a folder, or those whose name matches a pattern with `*` and `?`, in the order of their names; `None` if `path` is no folder and no
/// pattern. Files whose names begin with `.` or `_` are left out: systems and programs keep notes in them. Errors if there are none.
pub fn files_at(path: &Path) -> Result<Option<Vec<PathBuf>>> {
    let (folder, pattern) = if path.is_dir() {
        (path.to_path_buf(), "*".to_owned())
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_pattern = |text: &str| text.contains(['*', '?']);
        if path.exists() {
            return Ok(None);
        }
        if path.parent().is_some_and(|folder| is_pattern(&folder.to_string_lossy())) {
            return Err(refused(
                path,
                "is a pattern of folders; expected * and ? only in the name behind the last slash",
            ));
        }
        if !is_pattern(&name) {
            return Ok(None);
        }
        (folder_of(path), name)
    };
    let unreadable = |error: io::Error| refused(path, &format!("cannot be read: {}", reason(&error)));
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(&folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?.path();
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if entry.is_file() && !name.starts_with(['.', '_']) && matches(pattern.as_bytes(), name.as_bytes()) {
            files.push(entry);
        } else if entry.is_dir() && !name.starts_with(['.', '_']) {
            folders.push(name);
        }
    }
    files.sort();
    folders.sort();
    if files.is_empty() {
        if let ([first, ..], true) = (&folders[..], path.is_dir()) {
            let what = format!(
                "holds no files, only {} folders such as \"{first}\"; name one of them, or put the files into one folder",
                folders.len()
            );
            return Err(refused(path, &what));
        }
        let what = if path.is_dir() { "is a folder without files" } else { "matches no file" };
        return Err(refused(path, what));
    }
    Ok(Some(files))
}

/// Whether a name matches a pattern, in which `*` stands for any letters and `?` for one.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|at| matches(rest, &name[at..])),
        ([b'?', rest @ ..], [_, name @ ..]) => matches(rest, name),
        ([first, rest @ ..], [byte, name @ ..]) => first == byte && matches(rest, name),
        _ => false,
    }
}

/// Whether there is a folder at `path`.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Puts `files` (plain names, contents) into a folder of their own, so that a reader sees the old folder or the new one.
///
/// The files are written into a temporary folder first, which `check` may refuse. Errors if the folder is not empty, unless `is_replacing`; even then,
/// if it contains anything but files of these names.
pub fn write_folder(
    folder: &Path,
    files: &[(&str, &[u8])],
    is_replacing: bool,
    check: &dyn Fn(&Path) -> Result<()>,
) -> Result<()> {
    let failed = |error: io::Error| refused(folder, &format!("cannot be written: {}", reason(&error)));
    let is_there = check_place(folder, files, is_replacing)?;
    let [staged, old] = ["new", "old"].map(|what| sibling(folder, what));
    sweep(&folder_of(folder));
    let held = stage(&staged, files).map_err(failed);
    let outcome = held.as_ref().map_or_else(|error| Err(error.clone()), |_| check(&staged));
    let outcome = outcome.and_then(|()| swap(&staged, folder, is_there.then_some(&old)).map_err(failed));
    if outcome.is_err() {
        let _ = fs::remove_dir_all(&staged);
    }
    outcome
}

/// Whether there is already a folder, which may be replaced.
fn check_place(folder: &Path, files: &[(&str, &[u8])], is_replacing: bool) -> Result<bool> {
    let Ok(found) = fs::symlink_metadata(folder) else { return Ok(false) };
    if !found.is_dir() {
        return Err(refused(folder, "exists and is not a folder"));
    }
    let unreadable = |error: io::Error| refused(folder, &format!("cannot be read: {}", reason(&error)));
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        if !is_replacing {
            return Err(refused(folder, "is not empty; --overwrite replaces it"));
        }
        if !files.iter().any(|(known, _)| name == *known) {
            let name = name.display();
            return Err(refused(folder, &format!("contains \"{name}\", which was not exported; nothing is replaced")));
        }
    }
    Ok(true)
}

/// A unique name in the parent folder.
fn sibling(folder: &Path, what: &str) -> PathBuf {
    folder_of(folder).join(format!("{PREFIX}{what}-{:0RANDOM$x}", super::entropy()))
}

/// Returns the folder's lock, without which a later process would sweep it away as that of a killed one.
fn stage(staged: &Path, files: &[(&str, &[u8])]) -> io::Result<Option<fs::File>> {
    fs::create_dir(staged)?;
    // Not every platform can lock a folder.
    let held = fs::File::open(staged).ok().filter(|folder| folder.try_lock().is_ok());
    for (name, bytes) in files {
        let mut file = fs::File::create_new(staged.join(name))?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    Ok(held)
}

/// Renames the staged folder to its final name. If that fails, the old folder gets its name again.
fn swap(staged: &Path, folder: &Path, old: Option<&PathBuf>) -> io::Result<()> {
    if let Some(old) = old {
        fs::rename(folder, old)?;
    }
    if let Err(error) = fs::rename(staged, folder) {
        old.map_or(Ok(()), |old| fs::rename(old, folder))?;
        return Err(error);
    }
    sync_folder(&folder_of(folder))?;
    old.map_or(Ok(()), fs::remove_dir_all)
}

fn refused(path: &Path, what: &str) -> Error {
    Error::new(format!("{}: {what}", path.display()))
}

/// The folder for what is made again if it is lost, by the conventions of the system. It may not exist yet.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME")
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("meromorph"))
}

/// The text that [`keep`] kept under a name.
pub fn kept(name: &str) -> Option<String> {
    fs::read_to_string(cache_folder()?.join(name)).ok()
}

/// Keeps a text for later runs of the program, if there is a place for it.
pub fn keep(name: &str, text: &str) {
    if let Some(folder) = cache_folder() {
        let _ = super::make_folder(&folder).and_then(|()| super::write_whole(&folder.join(name), text.as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(&str, &[u8]); 2] = [("a", b"one"), ("b", b"two")];

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Accepts a folder that contains the first of the files.
    fn fine(staged: &Path) -> Result<()> {
        super::super::read(&staged.join("a")).map(drop)
    }

    #[test]
    fn a_folder_without_files_says_what_it_holds() {
        let place = tempfile::tempdir().unwrap();
        let said = |name: &str| {
            let path = place.path().join(name);
            let error = files_at(&path).unwrap_err().to_string();
            error.replace(&path.display().to_string(), "d")
        };
        assert_eq!(said(""), "d: is a folder without files");
        assert_eq!(said("a*.csv"), "d: matches no file");
        for name in ["x=1", "x=2", ".git"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        assert_eq!(
            said(""),
            "d: holds no files, only 2 folders such as \"x=1\"; name one of them, or put the files into one folder"
        );
        let expected = "d: is a pattern of folders; expected * and ? only in the name behind the last slash";
        assert_eq!([said("x=*/*.csv"), said("x=*/a.csv")], [expected; 2]);
        fs::write(place.path().join("x=1/a.csv"), "a\n1\n").unwrap();
        let found = files_at(&place.path().join("x=1")).unwrap().unwrap();
        assert_eq!(found, [place.path().join("x=1/a.csv")]);
    }

    #[test]
    fn a_folder_is_written_and_replaced_whole() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("out");
        write_folder(&folder, &FILES, false, &fine).unwrap();
        assert_eq!(names(&folder), ["a", "b"]);
        write_folder(&folder, &[("a", b"three")], true, &fine).unwrap_err();
        write_folder(&folder, &[("a", b"three"), ("b", b"")], true, &fine).unwrap();
        assert_eq!(read_unlinked(&folder.join("a")).unwrap(), b"three");
        assert_eq!(names(place.path()), ["out"]);
    }

    #[test]
    fn a_refused_folder_leaves_nothing_behind() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("out");
        let refuse = |_: &Path| Err(Error::new("no"));
        assert_eq!(write_folder(&folder, &FILES, false, &refuse).unwrap_err().to_string(), "no");
        assert!(names(place.path()).is_empty());
        write_folder(&folder, &FILES, false, &fine).unwrap();
        assert!(write_folder(&folder, &[("a", b""), ("b", b"")], true, &refuse).is_err());
        assert_eq!(read_unlinked(&folder.join("a")).unwrap(), b"one");
        let message =
            |outcome: Result<()>| outcome.unwrap_err().to_string().replace(place.path().to_str().unwrap(), "");
        assert_eq!(message(write_folder(&folder, &FILES, false, &fine)), "/out: is not empty; --overwrite replaces it");
        fs::write(folder.join("notes"), b"").unwrap();
        let expected = "/out: contains \"notes\", which was not exported; nothing is replaced";
        assert_eq!(message(write_folder(&folder, &FILES, true, &fine)), expected);
        let file = folder.join("a");
        assert_eq!(message(write_folder(&file, &FILES, true, &fine)), "/out/a: exists and is not a folder");
        assert_eq!(message(read_unlinked(&folder).map(drop)), "/out: is not a file");
        assert_eq!(names(place.path()), ["out"]);
    }

    #[test]
    fn files_of_a_folder_and_of_a_pattern() {
        let place = tempfile::tempdir().unwrap();
        for name in ["b1.csv", "a2.csv", "a10.tsv", ".hidden.csv", "_SUCCESS"] {
            fs::write(place.path().join(name), b"").unwrap();
        }
        fs::create_dir(place.path().join("deep")).unwrap();
        let found = |name: &str| {
            let files = files_at(&place.path().join(name)).unwrap()?;
            Some(files.iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>())
        };
        assert_eq!(found("").unwrap(), ["a10.tsv", "a2.csv", "b1.csv"]);
        assert_eq!(found("*.csv").unwrap(), ["a2.csv", "b1.csv"]);
        assert_eq!(found("a?.*").unwrap(), ["a2.csv"]);
        assert_eq!((found("b1.csv"), found("none.csv")), (None, None));
        assert!(files_at(&place.path().join("x*")).unwrap_err().to_string().ends_with("matches no file"));
        assert!(files_at(&place.path().join("deep")).unwrap_err().to_string().ends_with("is a folder without files"));
    }
}

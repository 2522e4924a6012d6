//! Finds the web files of exported pages and of the served site. They are built from `web/` and must have the version of the binary, which never
//! downloads them.

use std::env;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use meromorph::error::{Error, Result};
use meromorph::internal::host;

/// The file with the version of the web files.
const NOTE: &str = "web.json";

#[derive(Deserialize)]
struct Note {
    version: String,
}

/// The folder of the web files: the given one, else `web` next to the executable, else `share/meromorph/web` next to its folder, else
/// `web/dist` in a source tree. Errors if the files have another version.
pub(super) fn find(given: Option<&Path>) -> Result<PathBuf> {
    let places = match given {
        Some(folder) => vec![folder.to_path_buf()],
        None => places(&env::current_exe().unwrap_or_default()),
    };
    if let Some(folder) = given.filter(|folder| !folder.join(NOTE).is_file()) {
        let folder = folder.display();
        return Err(Error::new(format!(
            "--web: {folder} has no {NOTE}; expected the folder that `npm run build` writes in the source's folder web, web/dist"
        )));
    }
    let Some(folder) = places.iter().find(|place| place.join(NOTE).is_file()) else {
        let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        return Err(Error::new(format!(
            "no web files in {}; build them with `npm ci && npm run build` in the source's folder web, or give their folder with --web",
            looked.join(", ")
        )));
    };
    let note = folder.join(NOTE);
    let read = serde_json::from_slice(&host::read(&note)?);
    let Note { version } = read.map_err(|error| Error::new(format!("{}: {error}", note.display())))?;
    let expected = env!("CARGO_PKG_VERSION");
    if version != expected {
        let folder = folder.display();
        return Err(Error::new(format!("the web files in {folder} have version {version}, this mero has {expected}")));
    }
    Ok(folder.clone())
}

/// The folders to search, in order, for an executable at `executable`.
fn places(executable: &Path) -> Vec<PathBuf> {
    let folder = executable.parent().unwrap_or(Path::new(""));
    let mut places = vec![folder.join("web")];
    places.extend(folder.parent().map(|above| above.join("share/meromorph/web")));
    let tree = executable.ancestors().find(|above| above.join("web/build.mjs").is_file());
    places.extend(tree.map(|tree| tree.join("web/dist")));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_the_executable() {
        let expected = ["/opt/mero/bin/web", "/opt/mero/share/meromorph/web"].map(PathBuf::from);
        assert_eq!(places(Path::new("/opt/mero/bin/mero")), expected);
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert_eq!(places(&tree.join("target/release/mero")).last(), Some(&tree.join("web/dist")));
    }
}

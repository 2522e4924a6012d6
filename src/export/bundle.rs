//! Writes a bundle: the model in two formats, its metadata, and their digest. The files are written to a folder next to the target,
//! read back and checked there, and only then moved into place.

use std::path::Path;

use super::metadata::{DIGEST_FILE, METADATA_FILE, MODEL_FILE, Metadata, ONNX_FILE, digest};
use super::onnx::write_onnx;
use super::validate::validate_bundle;
use crate::error::Result;
use crate::host;
use crate::model::Model;

/// Every file of a bundle.
const FILES: [&str; 4] = [MODEL_FILE, ONNX_FILE, METADATA_FILE, DIGEST_FILE];

/// Writes a bundle to `folder`, completely or not at all, and returns its digest. Errors if the folder is not empty, unless
/// `is_replacing` and it holds only a bundle.
pub fn write_bundle(model: &Model, folder: &Path, is_replacing: bool) -> Result<String> {
    let (safetensors, onnx) = (model.save()?, write_onnx(model)?);
    let metadata = Metadata::of(model, utc(host::unix_seconds()), [&safetensors, &onnx])?.to_bytes()?;
    let digest = digest(&metadata);
    // In the format of `sha256sum --check`.
    let line = format!("{digest}  {METADATA_FILE}\n").into_bytes();
    let files = FILES.into_iter().zip([&safetensors[..], &onnx, &metadata, &line]).collect::<Vec<_>>();
    let check = |staged: &Path| validate_bundle(staged, Some(&digest)).map(drop);
    host::write_folder(folder, &files, is_replacing, &check)?;
    Ok(digest)
}

/// Seconds since 1970 as `2026-01-31T12:00:00Z`, by the calendar arithmetic of Hinnant (2013): years start in March, so that the
/// leap day is the last of its year.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let [hour, minute, second] = [second / 3600, second / 60 % 60, second % 60];
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (1_767_225_600, "2026-01-01T00:00:00Z"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(utc(seconds), expected);
        }
    }
}

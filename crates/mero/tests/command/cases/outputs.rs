//! Reliability: what outputs may replace, disks that fill, checksums of every way of reading, files without an end, locks, signals, messages.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::fits::{TWO_DECAYS, long};
use crate::folder::Folder;
use crate::{QUICK, check, filled};

/// A folder with a table, a model of it, a decay and a fit of it.
fn worked() -> Folder {
    let folder = filled();
    folder.told(&format!("train good.csv --target y {QUICK} --out good.model"));
    let rows: String = (0..40).map(|row| format!("{},{}\n", row, 3.0 * (-0.1 * f64::from(row)).exp() + 0.5)).collect();
    folder.write("decay.csv", format!("t,y\n{rows}"));
    folder
}

const DECAY: &str = "fit decay.csv --model a*exp(-b*t)+c --y y --quiet";

/// A line of a shell in the folder, with the binary as `$mero`.
pub(super) fn shell(folder: &Folder, line: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", line]).env("mero", env!("CARGO_BIN_EXE_mero")).current_dir(folder.path(""));
    command.stdin(Stdio::null()).output().expect("a shell")
}

pub(super) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn no_output_of_any_command_replaces_a_file_of_another_kind() {
    let folder = worked();
    let notes = "measured by hand, the only copy\n";
    folder.write("notes", notes);
    folder.write("notes.csv", "a,y\n1,2\n");
    folder.write("e/dose.json", notes);
    folder.write("x/parameters.json", notes);
    folder.write("k/mero-train.1", notes);
    folder.write("rows/1/train.csv", "name,y\nred,2\n");
    folder.told(&format!("train good.csv --target a {QUICK} --out other.model"));
    let other = folder.read("other.model");
    let way = "name another file, or replace it with --force";
    let synthetic = "xpcs --angles 1 --times 4 --synthetic";
    folder.told(&format!("{synthetic} data.npz --config-out data.yaml"));
    let mut failures = Vec::new();
    for (line, file, kind) in [
        (
            format!("train good.csv --target y {QUICK} --out m --save-config notes"),
            "notes",
            "a configuration of mero train",
        ),
        (format!("train good.csv --target y {QUICK} --out m --report notes"), "notes", "a page"),
        (format!("{DECAY} --out notes"), "notes", "a fit"),
        (format!("{DECAY} --out good.model"), "good.model", "a fit"),
        (format!("{DECAY} --log notes"), "notes", "the log of a fit"),
        (format!("{DECAY} --report notes"), "notes", "a page"),
        ("fit decay.csv --model a*exp(-b*t)+c --y y --out notes.csv".into(), "notes.csv", "a table of fits"),
        ("predict good.model good.csv --device cpu -o notes.csv".into(), "notes.csv", "a table of predictions"),
        ("predict good.model good.csv --device cpu -o notes".into(), "notes", "a table of predictions"),
        ("eval good.model good.csv --device cpu --report notes".into(), "notes", "a page"),
        ("export good.model --onnx notes".into(), "notes", "an ONNX file of mero"),
        ("export good.model --onnx other.model".into(), "other.model", "an ONNX file of mero"),
        ("profile --device cpu --threads 1 --trace notes".into(), "notes", "a trace of mero profile"),
        ("profile --device cpu --threads 1 --page notes".into(), "notes", "a page"),
        ("bench predict --device cpu --threads 1 --onnx notes".into(), "notes", "an ONNX file of mero"),
        ("experiment dose --mode contract --device cpu --out e".into(), "e/dose.json", "a report of mero experiment"),
        ("experiment dose --mode contract --rows rows".into(), "rows/1/train.csv", "rows of mero experiment"),
        ("man --dir k".into(), "k/mero-train.1", "a page of the manual"),
        (format!("{synthetic} notes"), "notes", "synthetic data of mero xpcs"),
        (format!("{synthetic} new.npz --config-out notes"), "notes", "a configuration of mero xpcs"),
        ("xpcs data.yaml --out x".into(), "x/parameters.json", "parameters of mero xpcs"),
    ] {
        let command = line.split(' ').next().unwrap_or_default();
        let expected = format!("{command}: {file} exists and is not {kind}; {way}");
        check(&folder, &line, &expected, 2, &mut failures);
    }
    for narrow in ["--f16", "--int8"] {
        let expected = "export: other.model: is another model, which learns \"a\" from \"b\", \"colour\", \"y\"; choose another --out, or replace it with --force";
        check(&folder, &format!("export good.model {narrow} other.model"), expected, 2, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert_eq!((folder.text("notes"), folder.read("other.model")), (notes.to_owned(), other));
    assert_eq!(folder.text("e/dose.json"), notes);
}

#[test]
fn every_output_replaces_its_own_kind_and_anything_with_force() {
    let folder = worked();
    for line in [
        "predict good.model good.csv --device cpu --with-inputs -o",
        "export good.model --onnx",
        "export good.model --f16",
        &format!("{DECAY} --out"),
        &format!("{DECAY} --log-threshold 0 --log"),
        &format!("{DECAY} --report"),
        "xpcs --angles 1 --times 4 --synthetic",
        "eval good.model good.csv --device cpu --report",
        &format!("train good.csv --target y {QUICK} --out good.model --save-config"),
    ] {
        folder.told(&format!("{line} output"));
        folder.told(&format!("{line} output"));
        folder.write("output", "something else\n");
        let (code, message) = folder.refused(&format!("{line} output"));
        assert!(code == Some(2) && message.contains("--force"), "{line}: {message}");
        folder.told(&format!("{line} output --force"));
        folder.write("output", "");
        folder.told(&format!("{line} output"));
        fs::remove_file(folder.path("output")).expect("it was written");
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_followed_and_hidden_files_of_a_user_stay() {
    let folder = worked();
    std::os::unix::fs::symlink("far.csv", folder.path("link.csv")).expect("a link");
    std::os::unix::fs::symlink("nowhere/far.csv", folder.path("lost.csv")).expect("a link");
    folder.write(".meromorph-notes", "of a user");
    folder.told("predict good.model good.csv --device cpu -o link.csv");
    assert!(folder.text("far.csv").starts_with("prediction,") && folder.path("link.csv").is_symlink());
    let (_, message) = folder.refused("predict good.model good.csv --device cpu -o lost.csv");
    assert_eq!(message, "mero: predict: lost.csv: cannot be written: No such file or directory");
    assert!(folder.path("lost.csv").is_symlink());
    assert_eq!(folder.text(".meromorph-notes"), "of a user");
}

#[test]
fn a_model_that_cannot_be_written_to_its_place_is_kept_elsewhere() {
    let folder = filled();
    let output =
        shell(&folder, &format!("mkdir there; ulimit -f 1; $mero train good.csv --target y {QUICK} --out there/m"));
    // No file may have more than 1 KiB, anywhere.
    let message = said(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(message, "mero: train: there/m: cannot be written: File too large; the model is lost\n");
    let output = shell(&folder, &format!("$mero train good.csv --target y {QUICK} --out /dev/full --checkpoint c"));
    assert_eq!(
        said(&output),
        "mero: train: /dev/full: cannot be written: No space left on device; the model is in full instead\n"
    );
    folder.told("predict full good.csv --device cpu");
    let output = shell(&folder, &format!("$mero train good.csv --target y {QUICK} --out /dev/full --checkpoint c"));
    assert!(said(&output).ends_with("the model is in full.1 instead\n"), "{}", said(&output));
}

/// A formula of a command line for the shell.
fn escaped(line: &str) -> String {
    line.replace('(', "\\(").replace(')', "\\)").replace('*', "\\*")
}

/// A small file of its own that a fit cannot save anything in: the fit goes on.
#[test]
fn a_fit_whose_checkpoint_cannot_be_written_goes_on() {
    let folder = Folder::new();
    long(&folder, 20_000);
    let two = escaped(TWO_DECAYS);
    let line = format!("$mero fit long.npy {two} --quiet --checkpoint /dev/full --checkpoint-every 0 --out fit.json");
    let output = shell(&folder, &line);
    let message = said(&output);
    assert!(output.status.success(), "{message}");
    assert!(
        message.starts_with("mero fit: /dev/full: cannot be written: No space left on device; the fit goes on"),
        "{message}"
    );
    assert!(folder.text("fit.json").contains("meromorph fit"));
    let line = format!("$mero fit long.npy {two} --quiet --log /dev/full --log-threshold 0 --out fit.json");
    let output = shell(&folder, &line);
    let expected = "mero fit: /dev/full: cannot be written: No space left on device; the fit goes on without it\n";
    assert_eq!((output.status.code(), said(&output)), (Some(0), expected.to_owned()));
}

#[test]
fn the_checksum_of_an_archive_is_verified_in_every_strategy() {
    let folder = Folder::new();
    let numbers = |of: &dyn Fn(f64) -> f64| -> Vec<u8> {
        let header = format!("{:<117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (4000,), }");
        let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend((0..4000).flat_map(|row| of(f64::from(row) / 800.0).to_le_bytes()));
        bytes
    };
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in [("t.npy", numbers(&|t| t)), ("y.npy", numbers(&|t| 3.0 * (-1.2 * t).exp() + 0.5))] {
        zip.start_file(name, stored).expect("a member");
        zip.write_all(&bytes).expect("numbers");
    }
    let whole = zip.finish().expect("an archive").into_inner();
    let mut torn = whole.clone();
    let at = torn.len() / 4 * 3;
    torn[at] ^= 0x40;
    folder.write("whole.npz", whole);
    folder.write("torn.npz", torn);
    for strategy in ["standard", "large", "chunked", "streaming"] {
        let line = |file: &str| {
            format!("fit {file}.npz --model a*exp(-b*t)+c --y y --quiet --strategy {strategy} --memory-limit 200MB")
        };
        folder.told(&line("whole"));
        let (code, message) = folder.refused(&line("torn"));
        assert_eq!(code, Some(1));
        assert_eq!(message, "mero: fit: torn.npz: member y.npy does not unpack: Invalid checksum", "{strategy}");
    }
}

#[test]
fn a_page_of_parquet_with_another_checksum_is_refused() {
    let folder = Folder::new();
    folder.write("t.parquet", include_bytes!("../../../../../tests/cases/hostile/parquet_page_crc.parquet"));
    let (code, message) = folder.refused("train t.parquet --target y");
    assert_eq!(code, Some(1));
    assert!(message.contains("is damaged: the checksum of a page is "), "{message}");
}

#[test]
fn a_changed_bit_of_a_fit_is_refused_or_changes_nothing_and_old_fits_are_read() {
    let folder = worked();
    folder.told(&format!("{DECAY} --out fit.json"));
    let (whole, expected) = (folder.read("fit.json"), folder.told("predict fit.json decay.csv"));
    let text = folder.text("fit.json");
    let start = text.find(",\"checksum\"").expect("it has one");
    folder.write("old.json", format!("{}}}\n", &text[..start]));
    assert_eq!(folder.told("predict old.json decay.csv"), expected);
    let value = text.find("\"value\":").expect("a parameter") + 10;
    for at in [value, value + 3, text.find("\"covariance\":[[").expect("a matrix") + 17] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        folder.write("torn.json", bytes);
        let (code, message) = folder.refused("predict torn.json decay.csv");
        assert!(code == Some(1) && message.contains("torn.json: "), "{message}");
    }
}

#[test]
fn nested_configurations_are_refused() {
    let folder = filled();
    folder.write("s.yaml", format!("a:\n  {}1\n", "- ".repeat(20_000)));
    folder.write("s.toml", format!("ignore = {}{}\n", "[".repeat(20_000), "]".repeat(20_000)));
    folder.write("k.toml", format!("{}b = 1\n", "a.".repeat(20_000)));
    folder.write("s.json", format!("{}{}", "{\"a\":".repeat(20_000), "1".to_owned() + &"}".repeat(20_000)));
    let mut failures = Vec::new();
    let toml = |name: &str| {
        format!("{name}: line 1: is nested deeper than 100: expected at most 100 arrays and tables in each other")
    };
    for (line, expected) in [
        (
            "xpcs s.yaml",
            "xpcs: s.yaml: line 2: is nested deeper than 100: expected at most 100 lists and sections in each other"
                .to_owned(),
        ),
        ("train good.csv --config s.toml", format!("train: {}", toml("s.toml"))),
        ("train good.csv --config k.toml", format!("train: {}", toml("k.toml"))),
    ] {
        check(&folder, line, &expected, 1, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    let (code, message) = folder.refused("predict s.json good.csv");
    assert!(code == Some(1) && message.contains("at most 64 deep"), "{message}");
}

#[cfg(unix)]
#[test]
fn files_without_an_end_are_read_within_bounds() {
    let folder = worked();
    let most = 16 << 20;
    for (line, expected) in [
        (
            "train good.csv --config /dev/zero",
            format!("train: /dev/zero: got more bytes, expected at most {most}, as a file of options has"),
        ),
        ("xpcs /dev/zero", format!("xpcs: /dev/zero: got more bytes, expected at most {most}, as a configuration has")),
        (
            &format!("{} --against /dev/zero", escaped(DECAY)),
            "fit: /dev/zero: is not a fit: expected a file that mero fit has written".to_owned(),
        ),
    ] {
        let start = Instant::now();
        let output = shell(&folder, &format!("ulimit -v 2000000; $mero {line}"));
        assert_eq!(said(&output), format!("mero: {expected}\n"));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    // A member of 100 MB whose header needs 80 bytes.
    let mut zip = zip::ZipWriter::new(fs::File::create(folder.path("long.npz")).expect("a file"));
    let packed = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    zip.start_file("y.npy", packed).expect("a member");
    let header = format!("{:<117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (10,), }");
    zip.write_all(&[b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes()].concat()).expect("a header");
    let zeros = vec![0; 1 << 20];
    (0..100).for_each(|_| zip.write_all(&zeros).expect("zeros"));
    zip.finish().expect("an archive");
    let expected = "train: long.npz: y.npy: shape [10] needs 80 bytes of numbers, file has 104857600";
    let output = shell(&folder, "$mero train long.npz --target y");
    assert_eq!(said(&output), format!("mero: {expected}\n"));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_the_first_bytes_decide() {
    let folder = worked();
    folder.told(&format!("{DECAY} --out fit.json"));
    for (model, table) in [("good.model", "good.csv"), ("fit.json", "decay.csv")] {
        let expected = folder.told(&format!("predict {model} {table} --device cpu"));
        let output = shell(&folder, &format!("$mero predict <(cat {model}) <(cat {table}) --device cpu"));
        assert_eq!(
            (said(&output), String::from_utf8_lossy(&output.stdout).into_owned()),
            (String::new(), expected),
            "{model}"
        );
    }
    let output = shell(&folder, "$mero fit <(cat decay.csv) --model 'a*exp(-b*t)+c' --y y --out piped.json");
    assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
    let output =
        shell(&folder, "$mero predict good.model good.csv --device cpu -o >(cat > got); sleep 0.3; head -c 10 got");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "prediction", "{}", said(&output));
    // Two 1-D tensors, under the name of a text file.
    let header = r#"{"t":{"dtype":"F64","shape":[4],"data_offsets":[0,32]},"y":{"dtype":"F64","shape":[4],"data_offsets":[32,64]}}"#;
    let mut bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
    bytes.extend([0.0_f64, 1.0, 2.0, 3.0, 1.0, 3.0, 5.0, 7.0].iter().flat_map(|value| value.to_le_bytes()));
    folder.write("small.csv", bytes);
    let text = folder.told("fit small.csv --model a*t+b --y y --json");
    assert!(text.contains("\"kind\":\"meromorph fit\""), "{text}");
}

#[cfg(unix)]
#[test]
fn a_checkpoint_is_used_by_one_run_at_a_time() {
    let folder = Folder::new();
    long(&folder, 400_000);
    let line = format!("fit long.npy {TWO_DECAYS} --quiet --checkpoint k --checkpoint-every 0 --out");
    let start = |out: &str| {
        let mut command = folder.command(&format!("{line} {out}"));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let both = [start("one.json"), start("two.json")];
    let ends = both.map(|child| child.wait_with_output().expect("it ends"));
    let refused: Vec<String> = ends.iter().filter(|end| !end.status.success()).map(said).collect();
    assert_eq!(refused, ["mero: fit: k: is used by another run\n"]);
    assert_eq!(folder.names("").len(), 2, "the array and one fit: {:?}", folder.names(""));
}

#[cfg(unix)]
#[test]
fn a_signal_at_any_time_of_a_fit_or_of_folds_gives_a_message() {
    let folder = filled();
    long(&folder, 400_000);
    let fit = format!("fit long.npy {TWO_DECAYS} --quiet --checkpoint k --out f.json");
    let folds = "train good.csv --target y --folds 3 --device cpu --threads 1 --hidden 8 --epochs 100000 --patience 0 --quiet --out m";
    for (line, signal, wait) in [(&*fit, "USR1", 60), (&fit, "TERM", 120), (&fit, "INT", 250), (folds, "TERM", 700)] {
        let mut command = folder.command(line);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(wait));
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.expect("kill is there").success());
        let output = child.wait_with_output().expect("it ends");
        let message = said(&output);
        let is_told = message.contains("interrupted") || message.contains("stopped after");
        let is_done = output.status.success();
        assert!(
            is_done || matches!(output.status.code(), Some(75 | 130)) && is_told,
            "{line}: {:?} {message}",
            output.status
        );
    }
}

#[test]
fn a_long_cell_is_shortened_in_messages() {
    let folder = Folder::new();
    folder.write("t.csv", format!("a,y\n1,2\n{},3\n", "x".repeat(5_000_000)));
    let (_, message) = folder.refused("train t.csv --target y --numeric a");
    let cell = format!("{}… (5000000 characters)", "x".repeat(100));
    assert_eq!(message, format!("mero: train: t.csv: row 2, column \"a\": \"{cell}\" is not a number"));
}

#[cfg(unix)]
#[test]
fn the_command_that_resumes_quotes_names_that_look_like_options() {
    let folder = Folder::new();
    folder.write("t.csv", crate::table(200).replacen(",y", ",--out", 1));
    let line =
        "train t.csv --target=--out --device cpu --threads 1 --hidden 8 --epochs 1000000 --patience 0 --out m --quiet";
    let child = folder.command(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_millis(1500));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill is there").success());
    let message = said(&child.wait_with_output().expect("it ends"));
    let command = message.lines().last().expect("a command").trim();
    assert!(command.starts_with("mero train t.csv --target=--out --resume m.ckpt"), "{message}");
}

//! What commands do to files and pipes: full disks, damaged models, files that never end, memory that is too small, leftovers, overwriting.

use std::fs;
use std::io::Read;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use meromorph::model::Model;

use crate::{QUICK, TINY, check, filled, folder::Folder};

/// A folder with a table and a model of it.
fn trained() -> Folder {
    let folder = filled();
    folder.told(&format!("train good.csv --target y {QUICK} --out good.model"));
    folder
}

/// A line of a shell in the folder, with the binary as `$mero`.
fn shell(folder: &Folder, line: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", line]).env("mero", env!("CARGO_BIN_EXE_mero")).current_dir(folder.path(""));
    command.stdin(Stdio::null()).output().expect("a shell")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_failed_write_to_standard_output_is_an_error_of_every_command() {
    let folder = trained();
    let full = "standard output: cannot be written: No space left on device\n";
    let mut failures = Vec::new();
    for line in [
        &format!("train good.csv --target y {QUICK} --out new.model"),
        &format!("train good.csv --target y {QUICK} --out json.model --json"),
        &format!("demo --rows 300 {TINY}"),
        "predict good.model good.csv --device cpu",
        "predict good.model good.csv --device cpu --with-inputs -o -",
        "eval good.model good.csv --device cpu",
        "eval good.model good.csv --device cpu --json",
        "export good.model --onnx model.onnx",
        "export good.model --f16 half --json",
        "devices",
        "devices --json",
        "plan",
        "experiment dose --mode contract --rows rows",
        "bench mlp --device cpu --threads 1 --hidden 8 --steps 2 --windows 1",
        "bench matmul --device cpu --threads 1 --size 16 --windows 1",
        "bench contrast --device cpu --threads 1 --size small --samples 1 --only update",
        "bench scm --device cpu --threads 1 --n 64 --windows 1",
        "--help",
        "--version",
        "help train",
    ] {
        let output = shell(&folder, &format!("$mero {line} > /dev/full"));
        if output.status.code() != Some(1) || !said(&output).ends_with(full) {
            failures.push(format!("{line}: {:?} {}", output.status.code(), said(&output)));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert!(folder.path("new.model").exists(), "the training was done, so its model is kept");
    // Nowhere to report: no panic.
    assert_eq!(shell(&folder, "$mero plan > /dev/full 2> /dev/full").status.code(), Some(1));
}

#[test]
fn a_closed_pipe_is_silent_and_does_not_stop_the_work() {
    let folder = trained();
    let line =
        format!("$mero train good.csv --target y {QUICK} --json --out new.model | head -c 1; exit ${{PIPESTATUS[0]}}");
    let output = shell(&folder, &line);
    assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()));
    assert!(folder.path("new.model").exists());
}

/// Numbers of a fixed sequence (Knuth's multiplier).
fn bits(count: usize, below: usize) -> Vec<usize> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn of_600_flipped_bits_of_a_model_600_are_refused_or_without_effect() {
    let folder = trained();
    let whole = folder.read("good.model");
    let model = Model::load(&whole, "m").expect("a model");
    let mut failures = Vec::new();
    for bit in bits(600, 8 * whole.len()) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        if Model::load(&bytes, "m").is_ok_and(|loaded| loaded != model) {
            failures.push(bit);
        }
    }
    assert!(failures.is_empty(), "bits {failures:?} change the model unnoticed");
    // A weight, seen from outside.
    let mut bytes = whole.clone();
    *bytes.last_mut().expect("bytes") ^= 1;
    folder.write("flipped", &bytes);
    let (code, said) = folder.refused("predict flipped good.csv --device cpu");
    let sums = said.strip_prefix("mero: predict: flipped: is damaged: its checksum is ").expect(&said);
    assert!(
        code == Some(1) && sums.split_once(", expected ").is_some_and(|(a, b)| a != b && a.len() == b.len()),
        "{said}"
    );
}

#[test]
fn a_model_of_the_format_without_a_checksum_is_still_read() {
    let folder = trained();
    let whole = folder.read("good.model");
    let length = u64::from_le_bytes(whole[..8].try_into().expect("eight bytes")) as usize;
    let (header, numbers) = (String::from_utf8(whole[8..8 + length].to_vec()).expect("text"), &whole[8 + length..]);
    let start = header.find("\"checksum\"").expect("it has one");
    let end = header[start..].find(',').expect("another text follows") + start + 1;
    let without = header[..start].to_owned() + &header[end..];
    let old = without.replacen(r#"{\"format\":2,"#, r#"{\"format\":1,"#, 1);
    assert_ne!(old, without);
    let file = |header: &str| [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), numbers].concat();
    folder.write("old.model", file(&old));
    folder.write("torn.model", file(&without));
    let predict = |model: &str| format!("predict {model} good.csv --device cpu");
    assert_eq!(folder.told(&predict("old.model")), folder.told(&predict("good.model")));
    let mut failures = Vec::new();
    let missing = "predict: torn.model: is damaged: its checksum is missing";
    check(&folder, &predict("torn.model"), missing, 1, &mut failures);
    assert!(failures.is_empty(), "{failures:?}");
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_written_if_something_reads_it() {
    let folder = trained();
    let expected = folder.told("predict good.model good.csv --device cpu");
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().expect("mkfifo").success());
    let predict = "timeout 20 $mero predict good.model good.csv --device cpu -o pipe";
    for line in [format!("cat pipe > got & {predict}; wait"), format!("(sleep 0.5; cat pipe > got) & {predict}; wait")]
    {
        let output = shell(&folder, &line);
        assert_eq!((output.status.code(), said(&output)), (Some(0), String::new()), "{line}");
        assert_eq!(folder.text("got"), expected, "{line}");
    }
    let output = shell(&folder, predict);
    let message = "mero: predict: pipe: cannot be written: it is a pipe that nothing reads\n";
    assert_eq!((output.status.code(), said(&output)), (Some(1), message.to_owned()));
}

#[test]
fn a_table_or_model_that_is_none_is_refused_by_its_first_bytes() {
    let folder = trained();
    fs::File::create(folder.path("sparse")).and_then(|file| file.set_len(16 << 30)).expect("a file system with holes");
    folder.write("book.xlsx", archive("xl/workbook.xml"));
    folder.write("book.ods", archive("content.xml"));
    let zero = "is not text: byte 0 is 0; tables are read from CSV, JSON lines, Parquet, XLSX, NPY and NPZ";
    let foreign = "is not a safetensors file, which models and checkpoints are";
    let mut failures = Vec::new();
    for (line, expected) in [
        ("train /dev/zero --target y", format!("train: /dev/zero: {zero}")),
        ("train sparse --target y", format!("train: sparse: {zero}")),
        ("predict /dev/zero good.csv", format!("predict: /dev/zero: {foreign}")),
        ("predict sparse good.csv", format!("predict: sparse: {foreign}")),
        ("train good.csv --resume sparse", format!("train: sparse: {foreign}")),
        ("train book.xlsx --target y", "train: book.xlsx: is a workbook without sheets".into()),
        ("train book.ods --target y", "train: book.ods: is an OpenDocument file (.ods); save it as CSV or XLSX".into()),
    ] {
        let start = Instant::now();
        check(&folder, line, &expected, 1, &mut failures);
        if start.elapsed() > Duration::from_secs(5) {
            failures.push(format!("{line}: took {:?}", start.elapsed()));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// A ZIP archive with one empty member.
fn archive(name: &str) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("a member");
    zip.finish().expect("an archive").into_inner()
}

#[cfg(target_os = "linux")]
#[test]
fn what_memory_cannot_hold_is_refused_before_it_is_allocated() {
    use std::io::Write;
    let folder = filled();
    let mut zip = zip::ZipWriter::new(fs::File::create(folder.path("bomb.npz")).expect("a file"));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    zip.start_file("y.npy", options.large_file(true)).expect("a member");
    let zeros = vec![0; 1 << 20];
    for _ in 0..3000 {
        zip.write_all(&zeros).expect("zeros");
    }
    zip.finish().expect("an archive");
    fs::File::create(folder.path("sparse")).and_then(|file| file.set_len(16 << 30)).expect("a file system with holes");
    shell(
        &folder,
        "printf 'a,y\\n1,2\\n' | dd of=sparse conv=notrunc 2> /dev/null; head -c 65536 /dev/zero | tr '\\0' 1 | dd of=sparse bs=8 seek=1 conv=notrunc 2> /dev/null",
    );
    let gz = fs::File::create(folder.path("bomb.csv.gz")).expect("a file");
    let mut gz = flate2::write::GzEncoder::new(gz, flate2::Compression::fast());
    let ones = "1,2\n".repeat(1 << 18);
    (0..1500).for_each(|_| gz.write_all(ones.as_bytes()).expect("ones"));
    gz.finish().expect("a file");
    let mut failures = Vec::new();
    for (line, expected) in [
        ("$mero train bomb.csv.gz --target c0", "train: bomb.csv.gz: does not "),
        (
            "$mero train bomb.npz --target y",
            "train: bomb.npz: member y.npy does not fit in memory: its unpacked bytes take 2.9 GiB, expected at most ",
        ),
        (
            "$mero train sparse --target y",
            "train: sparse: does not fit in memory: its bytes take 16.0 GiB, expected at most ",
        ),
        ("yes 1,2 | $mero train - --target c0", "train: standard input: does not "),
        (
            "$mero train good.csv --target y --device cpu --threads 1 --bins 0 --hidden 20000,20000",
            "train: a model with layers up to 20000 wide has 400140001 parameters, which take about 47 GiB; there are at most ",
        ),
        ("$mero plan --rows 1000000000", "plan: 1,000,000,000 rows of 6 values take about 22 GiB; there are at most "),
        ("$mero demo --rows 1000000000", "demo: 1,000,000,000 rows take about 134 GiB; there are at most "),
        (
            "$mero bench matmul --size 60000 --device cpu --threads 1",
            "bench: sizes: 3600000000 numbers take about 107.3 GiB, ",
        ),
    ] {
        let start = Instant::now();
        // 2 GB of address space, whatever the machine has.
        let output = shell(&folder, &format!("ulimit -v 2000000; {line}"));
        let is_clean = matches!(output.status.code(), Some(1 | 2));
        if !is_clean
            || !said(&output).starts_with(&format!("mero: {expected}"))
            || start.elapsed() > Duration::from_secs(20)
        {
            failures.push(format!("{line}: {:?} {:?} {}", output.status, start.elapsed(), said(&output)));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn a_model_of_too_many_layers_is_refused() {
    let folder = trained();
    let whole = folder.read("good.model");
    let length = u64::from_le_bytes(whole[..8].try_into().expect("eight bytes")) as usize;
    let header = String::from_utf8(whole[8..8 + length].to_vec()).expect("text");
    let layer = r#"{\"activation\":{\"function\":\"silu\"}}"#;
    assert!(header.contains(layer), "{header}");
    let header = header.replacen(layer, &vec![layer; 200_000].join(","), 1).replacen("checksum", "check", 1);
    let header = header.replacen(r#"{\"format\":2,"#, r#"{\"format\":1,"#, 1);
    folder.write("deep", [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &whole[8 + length..]].concat());
    let mut failures = Vec::new();
    let expected = "predict: deep: model: layers.1024: too many layers: expected at most 1024";
    check(&folder, "predict deep good.csv", expected, 1, &mut failures);
    assert!(failures.is_empty(), "{failures:?}");
}

#[test]
fn temporary_files_of_killed_processes_are_swept() {
    let folder = trained();
    folder.write(".meromorph-0123456789killed.tmp", b"half");
    folder.write(".meromorph-new-0123456789abcdef/model", b"half");
    folder.write(".meromorph-0123456789locked.tmp", b"of another process");
    let locked = fs::File::open(folder.path(".meromorph-0123456789locked.tmp")).expect("a file");
    locked.lock().expect("a lock");
    folder.told("predict good.model good.csv --device cpu -o p.csv");
    assert_eq!(folder.names(""), [".meromorph-0123456789locked.tmp", "good.csv", "good.model", "p.csv"]);
    drop(locked);
    folder.told("predict good.model good.csv --device cpu -o p.csv");
    assert_eq!(folder.names(""), ["good.csv", "good.model", "p.csv"]);
}

#[test]
fn only_a_model_of_the_same_columns_is_replaced_without_force() {
    let folder = trained();
    folder.write("notes", b"not a model");
    folder.write("empty", b"");
    let way = |option: &str| format!("choose another {option}, or replace it with --force");
    let mut failures = Vec::new();
    for (flags, what, option) in [
        ("--target y --out notes", "notes: exists and is not a model", "--out"),
        (
            "--target a --out good.model",
            "good.model: is another model, which learns \"y\" from \"a\", \"b\", \"colour\"",
            "--out",
        ),
        (
            "--target y --features a --out good.model",
            "good.model: is another model, which learns \"y\" from \"a\", \"b\", \"colour\"",
            "--out",
        ),
        ("--target y --out new --checkpoint notes", "notes: exists and is not a checkpoint", "--checkpoint"),
        ("--target y --out new --checkpoint good.model", "good.model: exists and is not a checkpoint", "--checkpoint"),
    ] {
        let line = format!("train good.csv {flags} {QUICK}");
        check(&folder, &line, &format!("train: {what}; {}", way(option)), 2, &mut failures);
    }
    let line = format!("demo --rows 300 --out notes {TINY}");
    let expected = format!("demo: notes: exists and is not a model; {}", way("--out"));
    check(&folder, &line, &expected, 2, &mut failures);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert_eq!(folder.text("notes"), "not a model");
    for flags in [
        "--target y --out good.model",
        "--target y --out empty",
        "--target a --out good.model --force",
        "--target y --out notes --force",
    ] {
        folder.told(&format!("train good.csv {flags} {QUICK}"));
    }
}

#[test]
fn control_characters_of_names_are_not_printed() {
    let folder = Folder::new();
    let rows: String =
        (0..60).map(|row| format!("{},\u{1b}[31m{},{}.5\n", row * row, row / 7 % 2, row * row % 11)).collect();
    folder.write("evil.csv", format!("a,\u{1b}]0;b\u{7},y\n{rows}"));
    let is_clean = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n');
    let told = folder.told(&format!("train evil.csv --target \u{1b}]0;b\u{7} {QUICK} --out m"));
    assert!(is_clean(&told), "{told:?}");
    for line in
        ["train evil.csv --target x\u{1b}[2J", "train \u{9b}31m --target y", "\u{1b}[2J", "predict m good\r.csv"]
    {
        let (_, said) = folder.refused(line);
        assert!(is_clean(&said), "{said:?}");
    }
    let (_, said) = folder.refused("train evil.csv --target x\u{1b}[2J");
    assert!(said.starts_with("mero: train: column \"x\\u{1b}[2J\" not in evil.csv"), "{said:?}");
    // Data for a program stay as they are.
    let told = folder.told("predict m evil.csv --device cpu");
    assert!(told.contains("\u{1b}[31m"), "{told:?}");
}

#[test]
fn a_header_of_years_is_explained() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|row| format!("{},{},{}\n", row * row, row % 5, row % 7)).collect();
    folder.write("years.csv", format!("2019,2020,2021\n{rows}"));
    let mut failures = Vec::new();
    let what = |name: &str| {
        format!(
            "column \"{name}\" not in years.csv: its first record holds numbers and is read as data; --header reads it as names"
        )
    };
    check(&folder, "train years.csv --target 2021", &format!("train: {}", what("2021")), 1, &mut failures);
    folder.told(&format!("train years.csv --target 2021 --header {QUICK} --out m"));
    // The model knows that its table had a header.
    let output = folder.mero("predict m years.csv --device cpu");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("is read like the table of training: header \"yes\""), "{said}");
    let other = "train: column \"2022\" not in years.csv; it has \"c0\", \"c1\", \"c2\"";
    check(&folder, "train years.csv --target 2022", other, 1, &mut failures);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn mistyped_commands_are_guessed_and_colours_can_be_switched_off() {
    let folder = Folder::new();
    assert_eq!(folder.told("--version"), format!("mero {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(folder.told("help train"), folder.told("train --help"));
    for (line, expected) in [("trian", "'train'"), ("help trian", "'train'"), ("train x --traget y", "'--target'")] {
        let (code, said) = folder.refused(line);
        assert!(code == Some(2) && said.contains("similar") && said.contains(expected), "{line}: {said}");
    }
    // A terminal, of which the program `script` makes one: with colours, and without them under NO_COLOR.
    let run = |setting: &str| {
        let demo = "$mero demo --rows 2000 --epochs 400 --patience 0 --device cpu --threads 1 --hidden 8";
        let mut child = Command::new("script");
        child.args(["-qec", &format!("TERM=xterm-256color {setting} {demo}"), "/dev/null"]);
        child
            .env("mero", env!("CARGO_BIN_EXE_mero"))
            .current_dir(folder.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = child.spawn().ok()?;
        let mut bytes = Vec::new();
        child.stdout.take().expect("a pipe").read_to_end(&mut bytes).expect("output");
        child.wait().ok().filter(std::process::ExitStatus::success)?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    if let (Some(coloured), Some(plain)) = (run(""), run("NO_COLOR=1")) {
        assert!(coloured.contains("\u{1b}[36m"), "{coloured:?}");
        assert!(!plain.contains("\u{1b}[36m"), "{plain:?}");
    }
}

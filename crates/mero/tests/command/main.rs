//! The command line as a process: exact messages and exit codes, JSON lines only, runs that are interrupted and resumed (`runs.rs`),
//! gradients and memory (`gradients.rs`), where time goes (`profile.rs`, `bench.rs`), tables as people have them (`tables.rs`), splitting and judging (`judging.rs`), the manners of a command (`manners.rs`), curve fits (`fits.rs`),
//! also within the limit of a control group (`memory.rs`), two-time correlations (`xpcs.rs`, `xpcs_runs.rs`), memories (`contrast.rs`).

#[path = "../../../../tests/engine/devices.rs"]
mod all_devices;
mod bench;
mod cases;
mod contrast;
mod contrast_runs;
mod contrast_uses;
mod devices;
mod documents;
mod earlier;
mod encodings;
mod experiment;
mod export;
mod files;
mod fit_reports;
mod fit_starts;
mod fits;
mod folder;
mod formats;
mod gradients;
mod judging;
mod manners;
mod members;
mod memory;
#[path = "../../../../tests/engine/noise.rs"]
mod noise;
mod portable;
mod predictions;
mod profile;
mod runs;
mod tables;
mod xpcs;
mod xpcs_runs;

use folder::Folder;
use serde_json::Value;
use std::fs;

/// Rows of a table with one column of text: y = 3 a - 2 b + (1 where colour is red).
fn table(rows: usize) -> String {
    let mut text = "a,b,colour,y\n".to_owned();
    for row in 0..rows {
        let (a, b) = ((row * 37 % 101) as f64 / 50.0 - 1.0, (row * 53 % 97) as f64 / 48.0 - 1.0);
        let colour = ["red", "blue"][row % 2];
        text += &format!("{a},{b},{colour},{}\n", 3.0 * a - 2.0 * b + f64::from(u8::from(row % 2 == 0)));
    }
    text
}

/// A folder with a table.
fn filled() -> Folder {
    let folder = Folder::new();
    folder.write("good.csv", table(120));
    folder
}

fn json(folder: &Folder, line: &str) -> Vec<Value> {
    json_lines(&folder.told(line))
}

fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

const TINY: &str = "--device cpu --threads 1 --hidden 8 --epochs 3";
/// The same with one input per column of numbers, so that tests can count them.
const QUICK: &str = "--device cpu --threads 1 --hidden 8 --epochs 3 --bins 0";

/// An invalid table, flags, the expected message and exit code.
type Bad<'a> = (&'a str, &'a str, &'a str, u8);

#[test]
fn bad_tables_give_exact_messages() {
    let few = "a,y\n1,2.5\n2,3.5\n";
    let cases: &[Bad<'_>] = &[
        ("", "--target y", "train: bad.csv: is empty", 1),
        (few, "--target price", "train: column \"price\" not in bad.csv; it has \"a\", \"y\"", 1),
        (few, "--target y --features b", "train: column \"b\" not in bad.csv; it has \"a\", \"y\"", 1),
        (
            "a,y\n1,2\n3\n",
            "--target y",
            "train: bad.csv: row 2 (line 3): got 1 cells, expected 2; is it a line of text below the table? --bad-rows skip leaves such rows out",
            1,
        ),
        (
            "a,y\n,2\n,3\n",
            "--target y",
            "train: column \"a\" has no value in any row of bad.csv; expected a column with values",
            1,
        ),
        (
            "a,y\n1,2\nred,3\n",
            "--target y --numeric a",
            "train: bad.csv: row 2, column \"a\": \"red\" is not a number",
            1,
        ),
        (
            "a,y\nnan,2\n1,inf\n",
            "--target y --missing drop",
            "train: bad.csv: no row has a value in every column (2 of 2 rows dropped; a: 1 missing; y: 0 missing, 1 infinite)",
            1,
        ),
        (
            "a;y\n1,5;2\n2,5;3\n",
            "--target y",
            "train: bad.csv: row 1, column \"a\": \"1,5\" has a comma, but numbers are written with a point; the options decimal and thousands declare others; if the column holds categories, name it under categorical",
            1,
        ),
        (
            "a\ty\n1\t2,5\n2\t3,5\n",
            "--target y --head rational",
            "train: bad.csv: row 1, column \"y\": \"2,5\" is not a number; numbers are written with a point",
            1,
        ),
        (
            "1,5;2\n2,5;3\n",
            "--target c1",
            "train: bad.csv: row 1, column \"c0\": \"1,5\" has a comma, but numbers are written with a point; the options decimal and thousands declare others; if the column holds categories, name it under categorical",
            1,
        ),
        ("a,y\n", "--target y", "train: bad.csv: has no rows", 1),
        (
            "a,y\n1,2.5\n",
            "--target y",
            "train: bad.csv: 1 row, of which 1 for validation and 1 for test, leave none to train on",
            1,
        ),
        (
            few,
            "--target y",
            "train: bad.csv: 2 rows, of which 1 for validation and 1 for test, leave none to train on",
            1,
        ),
        (
            "a,y\n1,7\n2,7\n3,7\n",
            "--target y",
            "train: column \"y\" is constant (every row is 7); there is nothing to learn",
            1,
        ),
    ];
    let folder = filled();
    let mut failures = Vec::new();
    for (text, flags, expected, code) in cases {
        folder.write("bad.csv", text.as_bytes());
        check(&folder, &format!("train bad.csv {flags} {QUICK}"), expected, *code, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn check(folder: &Folder, line: &str, expected: &str, code: u8, failures: &mut Vec<String>) {
    let output = folder.mero(line);
    let said = String::from_utf8_lossy(&output.stderr);
    // "…" ends the start of a message whose rest is a list of names.
    let is_said = match expected.strip_suffix('…') {
        Some(start) => said.starts_with(&format!("mero: {start}")),
        None => said == format!("mero: {expected}\n"),
    };
    if !is_said || output.status.code() != Some(i32::from(code)) {
        failures
            .push(format!("{line}\n  expected {code} mero: {expected}\n  got    {:?} {said}", output.status.code()));
    }
}

#[test]
fn output_never_overwrites_an_input_file() {
    let folder = filled();
    folder.told(&format!("train good.csv --target y {QUICK} --out good.model"));
    let read = || ["good.csv", "good.model"].map(|name| fs::read(folder.path(name)).unwrap());
    let before = read();
    let mut failures = Vec::new();
    for (line, what) in [
        ("train good.csv --target y --out ./good.csv", "./good.csv is the table"),
        ("train good.csv --target y --checkpoint good.csv", "good.csv is the table"),
        ("train good.csv --target y --out a --checkpoint a", "a is the checkpoint"),
        ("train good.csv --resume a --out a", "a is the checkpoint"),
        ("predict good.model good.csv -o ./good.csv", "./good.csv is the table"),
        ("predict good.model good.csv -o ./good.model", "./good.model is the model"),
    ] {
        let command = line.split(' ').next().unwrap_or_default();
        check(&folder, line, &format!("{command}: {what} itself; name another file"), 2, &mut failures);
    }
    assert_eq!(read(), before, "what was refused has written");
    let refused = "train: cannot write to standard output; give a file name instead of -";
    check(&folder, "train good.csv --target y --out -", refused, 2, &mut failures);
    let predict = "predict good.model good.csv --device cpu";
    assert_eq!(folder.told(&format!("{predict} --out -")), folder.told(predict));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table of messages")]
fn bad_arguments_give_exact_messages() {
    let folder = filled();
    folder.told(&format!("train good.csv --target y {QUICK} --out good.model"));
    folder.write("short.csv", b"a,b,y\n1,2,3\n");
    folder.write("unknown.csv", b"a,b,colour\n1,2,green\n");
    folder.write("blind.csv", b"a,b,colour\n1,2,red\n");
    folder.write("file", b"");
    let cases = [
        ("train gone.csv --target y", "train: gone.csv: cannot be read: No such file or directory", 1),
        (
            "train good.csv --target y --device cuda9",
            "train: device \"cuda9\" is unknown; there are auto, webgpu, cpu",
            2,
        ),
        (
            "train good.csv --target y --device dry",
            "train: device \"dry\" counts launches, bytes and flops, runs nothing; choose one of auto, webgpu, cpu",
            2,
        ),
        (
            "train good.csv --target y --loss bce",
            "train: the loss \"bce\" does not fit the target, which is a number; use mse, mae, …",
            2,
        ),
        (
            "train good.csv --target y --epochs 0",
            "train: --epochs: got 0, expected a whole number from 1 to 4294967295",
            2,
        ),
        (
            "predict good.csv good.csv",
            "predict: good.csv: is not a safetensors file, which models and checkpoints are",
            1,
        ),
        (
            "train good.csv --target y --batch 0",
            "train: --batch: got 0, expected a whole number from 1 to 4294967295",
            2,
        ),
        ("train good.csv --target y --lr 0", "train: --lr: got 0, expected a finite number above 0", 2),
        (
            "train good.csv --target y --dropout 1",
            "train: --dropout: got 1, expected a number of at least 0 and less than 1",
            2,
        ),
        ("train good.csv --target y --threads 100000", "train: threads is 100000, expected at most 1024", 2),
        ("bench matmul --size 1000000", "bench: sizes: got 1000000000000 numbers, expected at most 4294967295", 2),
        (
            "bench contrast --only nothing",
            "bench: --only: got \"nothing\", expected a part of one of: reading figures, counted readbacks, update, composed windows, memory pool, all that is implemented, replay, host time, batch sizes, everything, rotated keys, part of the memory, retrieval in one launch, halves, speed",
            2,
        ),
        ("bench mlp --windows 10000000", "bench: windows: got 10000000, expected at most 1000000", 2),
        (
            "bench claims --out good.csv",
            "bench: good.csv: has no part for claims: expected a new file, or one with the lines <!-- written by mero bench claims --> and <!-- end of what mero bench claims writes -->",
            2,
        ),
        ("bench mlp --deep 1000000000", "bench: deep: got 1000000000, expected at most 10000", 2),
        ("experiment dose --seeds 100000000000", "experiment: seeds is 100000000000, expected at most 1000000", 2),
        ("train good.csv --target y --lr -1", "train: --lr: got -1, expected a finite number above 0", 2),
        (
            "train good.csv --target y --hidden -5,6",
            "train: --hidden[0]: got -5, expected a whole number from 1 to 4294967295",
            2,
        ),
        (
            "train good.csv --target y --threads -1",
            "invalid value '-1' for '--threads <N>': expected a whole number of at least 0\n\nFor more information, try '--help'.",
            2,
        ),
        (
            "serve --web nowhere",
            "serve: --web: nowhere has no web.json; expected the folder that `npm run build` writes in the source's folder web, web/dist",
            1,
        ),
        (
            "train good.csv --target y --hidden none --norm batch",
            "train: norm applies to hidden layers, but hidden is empty",
            2,
        ),
        (
            "train good.csv --target y --test 2",
            "train: --test: got 2, expected a number of at least 0 and less than 1",
            2,
        ),
        (
            "train good.csv --target y --device cpu --lr 1e9 --optimizer sgd --seed 1",
            "train: the loss diverged in epoch 1; try a smaller learning rate, --lr 1e-2; nothing was written",
            1,
        ),
        (
            "train good.csv --target y --out /proc/nowhere/m",
            "train: /proc/nowhere/m: cannot be written: No such file or directory",
            1,
        ),
        ("train good.csv --target y --out file/m", "train: file/m: cannot be written: Not a directory", 1),
        ("train good.csv --target y --out .", "train: .: cannot be written: Is a directory", 1),
        (
            "train good.csv --target y --device cpu --hidden 8 --epochs 1 --out /dev/full --checkpoint c",
            "train: /dev/full: cannot be written: No space left on device; the model is in full instead",
            1,
        ),
        (
            "predict good.model short.csv --device cpu",
            "predict: column \"colour\" is missing from short.csv; it has \"a\", \"b\", \"y\"",
            1,
        ),
        (
            "predict good.model unknown.csv --device cpu --unknown refuse",
            "predict: unknown.csv: row 1, column \"colour\": unknown value \"green\": expected one of \"blue\", \"red\"",
            1,
        ),
        (
            "eval good.model blind.csv --device cpu",
            "eval: column \"y\" is missing from blind.csv; it has \"a\", \"b\", \"colour\"",
            1,
        ),
        ("predict gone.model good.csv", "predict: gone.model: cannot be read: No such file or directory", 1),
        (
            "train good.csv --resume good.model",
            "train: good.model: it is a model, not a checkpoint: there is nothing to resume",
            1,
        ),
    ];
    let mut failures = Vec::new();
    for (line, expected, code) in cases {
        check(&folder, line, expected, code, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn files_that_are_not_models_are_errors_with_the_reason() {
    let folder = filled();
    folder.told(&format!("train good.csv --target y {QUICK} --out good.model"));
    let model = folder.read("good.model");
    let end = model.len();
    folder.write("torn", &model[..end - 10]);
    folder.write("foreign", b"not a model at all");
    folder.write("empty", b"");
    let cases = [
        ("torn", "tensor \"layers.2.weight\" lies at bytes 164 to 196, file has 186 (cut short?)"),
        ("foreign", "is not a safetensors file, which models and checkpoints are"),
        ("empty", "is cut short: 0 bytes hold no safetensors header"),
    ];
    let mut failures = Vec::new();
    for (name, expected) in cases {
        check(&folder, &format!("predict {name} good.csv"), &format!("predict: {name}: {expected}"), 1, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

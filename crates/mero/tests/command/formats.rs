//! Tables of every kind of file, through `train`, `predict` and `eval`, from files and standard input.

use std::io::Write;
use std::process::{Output, Stdio};

use super::{Folder, QUICK, check, table};
use meromorph::model::Model;

/// A folder with the same table as CSV, JSON lines, a list of JSON, gzip and Zstandard, and a model of it.
fn filled() -> Folder {
    let folder = Folder::new();
    let text = table(120);
    folder.write("t.csv", &text);
    let objects: Vec<String> = text.lines().skip(1).map(object).collect();
    folder.write("t.jsonl", objects.join("\n"));
    folder.write("t.json", format!("[{}]", objects.join(",\n")));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).expect("memory");
    folder.write("t.csv.gz", gz.finish().expect("memory"));
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    folder.write("t.zst", ruzstd::encoding::compress_to_vec(text.as_bytes(), level));
    let tabbed = ruzstd::encoding::compress_to_vec(text.replace(',', "\t").as_bytes(), level);
    folder.write("t.tsv.zst", tabbed);
    folder.told(&format!("train t.csv --target y {QUICK} --missing drop --out m"));
    folder
}

fn object(line: &str) -> String {
    let cells: Vec<&str> = line.split(',').collect();
    format!("{{\"a\": {}, \"b\": {}, \"colour\": \"{}\", \"y\": {}}}", cells[0], cells[1], cells[2], cells[3])
}

/// A model file without the record of its training, which names the table.
fn weights(folder: &Folder, name: &str) -> Vec<u8> {
    Model::load(&folder.read(name), name).and_then(|model| model.without_provenance().save()).expect("a model")
}

/// A command that gets a file as standard input.
fn piped(folder: &Folder, line: &str, input: &str) -> Output {
    let mut child = folder.command(line);
    let mut child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a child");
    child.stdin.take().expect("a pipe").write_all(&folder.read(input)).expect("it reads");
    child.wait_with_output().expect("it ends")
}

const KINDS: [&str; 6] = ["t.csv", "t.jsonl", "t.json", "t.csv.gz", "t.zst", "t.tsv.zst"];

#[test]
fn every_kind_trains_and_predicts_the_same_from_a_file_and_a_pipe() {
    let folder = filled();
    let expected = folder.told("predict m t.csv --device cpu");
    let model = weights(&folder, "m");
    for kind in KINDS {
        folder.told(&format!("train {kind} --target y {QUICK} --missing drop --out again"));
        assert!(weights(&folder, "again") == model, "{kind}: the same rows give the same model");
        assert_eq!(folder.told(&format!("predict m {kind} --device cpu")), expected, "{kind}");
        if kind != "t.tsv.zst" {
            let output = piped(&folder, "predict m - --device cpu", kind);
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{kind}");
            let output = piped(&folder, "eval m - --device cpu --json", kind);
            assert!(output.status.success(), "{kind}: {}", String::from_utf8_lossy(&output.stderr));
            let output = piped(&folder, &format!("train - --target y {QUICK} --missing drop --out piped"), kind);
            assert!(output.status.success() && weights(&folder, "piped") == model, "{kind}");
        }
    }
    folder.told(&format!("train t.csv.gz --target y {QUICK}"));
    assert!(folder.path("t.safetensors").exists());
}

#[test]
fn inputs_are_copied_byte_for_byte_or_written_as_csv() {
    let folder = filled();
    let text = "a,b,colour,id\n0.50,1e-1,red,007\n0.25,,\"blue\",9007199254740993\n";
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).expect("memory");
    folder.write("new.gz", gz.finish().expect("memory"));
    let lines = |file: &str| {
        let output = folder.mero(&format!("predict m {file} --with-inputs --device cpu"));
        String::from_utf8_lossy(&output.stdout).lines().map(String::from).collect::<Vec<_>>()
    };
    let got = lines("new.gz");
    assert_eq!(got[0], "a,b,colour,id,prediction,note");
    assert!(
        got[1].starts_with("0.50,1e-1,red,007,") && got[2].starts_with("0.25,,\"blue\",9007199254740993,"),
        "{got:?}"
    );
    let object = "{\"id\": 9007199254740993, \"a\": 0.50, \"b\": 1e-1, \"colour\": \"red\", \"t\": \"x, \\\"y\\\"\", \"ok\": true}\n";
    folder.write("new.jsonl", format!("{object}{{\"a\": 1, \"b\": 1, \"id\": 2}}"));
    let got = lines("new.jsonl");
    assert_eq!(got[0], "id,a,b,colour,t,ok,prediction,note");
    assert!(got[1].starts_with("9007199254740993,0.50,1e-1,red,\"x, \"\"y\"\"\",true,"), "{got:?}");
    assert!(got[2].starts_with("2,1,1,,,,,"), "{got:?}");
}

#[test]
fn tables_of_other_programs_are_read() {
    let folder = Folder::new();
    for name in ["encodings.parquet", "openpyxl.xlsx"] {
        let path = format!("{}/../../tests/data/tables/{name}", env!("CARGO_MANIFEST_DIR"));
        folder.write(name, std::fs::read(path).expect("a file of the repository"));
    }
    let output = folder.mero(&format!("train encodings.parquet --target f --features b,t,p {QUICK} --out m"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let out = folder.told("predict m encodings.parquet --device cpu --with-inputs");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.len(), lines[0]), (301, "a,b,s,t,f,g,o,p,prediction,note"));
    assert!(lines[2].starts_with("-997,1,name00000,item 1,0.125,0.25,1,false,"), "{}", lines[2]);
    let mut failures = Vec::new();
    let sheets = "train: openpyxl.xlsx: sheet \"third\" is not in it; it has \"first\", \"second\"";
    check(&folder, "train openpyxl.xlsx --target x --sheet third", sheets, 1, &mut failures);
    let second = "train: column \"x\" not in openpyxl.xlsx; it has \"c0\", \"c1\"; the sheets are \"first\", \"second\", of which sheet names one";
    check(&folder, "train openpyxl.xlsx --target x --sheet second", second, 1, &mut failures);
    let option = "train: encodings.parquet: decimal does not apply to a Parquet file, only to delimited text (CSV)";
    check(&folder, "train encodings.parquet --target f --decimal ,", option, 2, &mut failures);
    folder.write("nested.jsonl", "{\"a\": 1, \"y\": 2}\n{\"a\": [1], \"y\": 3}\n");
    let nested =
        "train: nested.jsonl: column \"a\": holds lists; expected a number, a text, true, false or null in each row";
    check(&folder, "train nested.jsonl --target y", nested, 1, &mut failures);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn warnings_about_columns_are_printed_and_counted() {
    let folder = Folder::new();
    let header: Vec<String> = (0..12).map(|j| format!("k{j}")).collect();
    let row = |i: usize| format!("{i},{},{}.{}{}\n", (i * 37) % 101, i % 7, (i * 53) % 97, ",1".repeat(12));
    folder.write("t.csv", format!("id,a,y,{}\n{}", header.join(","), (0..60).map(row).collect::<String>()));
    let output = folder.mero(&format!("train t.csv --target y {QUICK} --out m"));
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = err.lines().collect();
    assert_eq!(lines.len(), 11, "{err}");
    assert!(lines[0].starts_with("mero train: column \"id\": has another value in every row"), "{err}");
    assert!(lines[1].starts_with("mero train: column \"k0\": has the same cell in every row"), "{err}");
    assert_eq!(lines[10], "mero train: 3 more warnings; --json lists all");
    let start = &super::json(&folder, &format!("train t.csv --target y {QUICK} --json --out m"))[0];
    assert_eq!(
        (start["warnings"].as_array().map(Vec::len), &start["warnings"][1]["cells"][0]),
        (Some(13), &"1".into())
    );
}

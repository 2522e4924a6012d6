//! What is done with memories besides finding: hidden layers of a model as coordinates, ONNX files of the map, profiles of a window, arrays read as they are.

use serde_json::Value;

use super::contrast::{filled, rows};
use super::folder::Folder;
use super::json;

const CPU: &str = "--device cpu --threads 1";

/// A folder with a model whose layers are 6 and 5 wide.
fn with_model() -> Folder {
    let folder = filled();
    let train = format!("train good.csv --target kind --hidden 6,5 --bins 0 --epochs 5 {CPU} --quiet");
    folder.told(&format!("{train} -o model"));
    folder.told(&format!("{train} --seed 1 -o other"));
    folder
}

/// The layers of `mero info`: linear, activation, linear, activation, linear.
#[test]
fn a_hidden_layer_of_a_model_makes_the_coordinates() {
    let folder = with_model();
    let layers = json(&folder, "info model --json")[0]["layers"].as_array().expect("a list").len();
    let run = format!("contrast good.csv --target kind --through model --epochs 2 {CPU}");
    let done = |line: &str| json(&folder, line).pop().expect("a line");
    let last = done(&format!("{run} -o m --json"));
    assert_eq!(
        (&last["inputs"], &last["outputs"], &last["rows"]),
        (&5.into(), &5.into(), &300.into()),
        "{layers} layers"
    );
    assert_eq!(done(&format!("{run} --layer 0 -o first --json"))["inputs"], 6);
    // The raw rows are looked for, through the same model: each finds itself.
    let found = folder.told("recall m good.csv -k 1 --through model");
    for (at, line) in found.lines().skip(1).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells[0], cells[4], cells[6]), (&*at.to_string(), "0", "true"), "{line}");
    }
    let refused = [
        (
            "recall m good.csv",
            "m: it was learned through layer 3 of a model: got no --through, expected the model with digest ",
        ),
        (
            "recall m good.csv --through other",
            "--through: other is not the model that the memory was learned through: got digest ",
        ),
        (&format!("{run} --layer 9 -o x"), "model: hidden layer: got layer 9, expected 0 to 3, the layers before"),
        (
            &format!("contrast good.csv --target a --through model --epochs 2 {CPU} -o x"),
            "--target: \"a\" is a column that model reads: expected one that it does not know",
        ),
        (&format!("{run} --hidden 4 -o x"), "--through: got layers, expected a memory: leave out --hidden"),
        (&format!("{run} --columns a -o x"), "--columns"),
        ("contrast good.csv --target kind --layer 1 -o x", "--through"),
    ];
    for (line, expected) in refused {
        let (code, said) = folder.refused(line);
        assert!(code == Some(2) && said.contains(expected), "{line}: {code:?}: {said}");
    }
    let said = folder.refused("predict m good.csv").1;
    assert!(
        said.contains("m: it is a memory of mero contrast, which mero recall takes, but not a meromorph model"),
        "{said}"
    );
    folder.told(&format!("contrast good.csv --target kind --epochs 1 {CPU} -o plain.memory"));
    let said = folder.refused("recall plain.memory good.csv --through model").1;
    assert!(
        said.contains("--through: got model, expected no model: plain.memory was learned from the columns"),
        "{said}"
    );
}

/// An array is read without a table: the same memory as from the text of its numbers, which are short.
#[test]
fn an_array_gives_the_memory_of_its_text() {
    let folder = filled();
    let text = rows(300).0;
    let mut numbers = Vec::new();
    for line in text.lines().skip(1) {
        numbers.extend(line.split(',').take(4).map(|cell| cell.parse::<f32>().expect("a number")));
    }
    let write = |name: &str, numbers: &[f32]| {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, 4), }}\n", numbers.len() / 4);
        let start = [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
        folder.write(name, [start, numbers.iter().flat_map(|x| x.to_le_bytes()).collect()].concat());
    };
    write("v.npy", &numbers);
    let options = format!("--labels labels.csv --map diagonal --epochs 3 {CPU}");
    folder.told(&format!("contrast plain.csv {options} -o text --map-out text.npy"));
    folder.told(&format!("contrast v.npy {options} -o array --map-out array.npy"));
    assert_eq!(folder.read("text.npy"), folder.read("array.npy"));
    let keys = |name: &str| folder.read(name).split_off(folder.read(name).len() - 4 * 300 * 5);
    assert_eq!(keys("text"), keys("array"));
    numbers[4 * 7 + 2] = f32::INFINITY;
    write("far.npy", &numbers);
    numbers.truncate(4 * 20);
    write("few.npy", &numbers[4 * 8..]);
    for (line, expected) in [
        ("far.npy", "far.npy: row 8, column \"c2\": got inf, expected a finite number of single precision"),
        ("few.npy", "labels: got 300 labels for 12 rows, expected one for each"),
        ("v.npy --columns c9", "v.npy: column \"c9\" is not there: it has \"c0\", \"c1\", \"c2\", \"c3\""),
        ("v.npy --columns c1,c1", "--columns: \"c1\" is named twice: expected each coordinate once"),
    ] {
        let said = folder.refused(&format!("contrast {line} --labels labels.csv -o x")).1;
        assert!(said.contains(expected), "{line}: {said}");
    }
    let done =
        json(&folder, &format!("contrast v.npy --columns c1,c0 --labels labels.csv --epochs 1 {CPU} -o two --json"));
    assert_eq!(done.last().expect("a line")["inputs"], 2);
}

/// ONNX Runtime runs the file in `tests/exported.py`.
#[test]
fn the_map_of_a_memory_is_an_onnx_file() {
    let folder = filled();
    folder.told(&format!("contrast good.csv --target kind --epochs 1 {CPU} -o m"));
    let lines = json(&folder, "export m --onnx map.onnx --json");
    assert_eq!((&lines[0]["event"], &lines[0]["path"]), (&"onnx".into(), &"map.onnx".into()));
    assert_eq!(lines[0]["bytes"], folder.read("map.onnx").len());
    let (code, said) = folder.refused("export m --f16 small");
    assert!(
        code == Some(2) && said.contains("--f16: m is a memory: expected a model, or --onnx for its map"),
        "{said}"
    );
    let (code, said) = folder.refused("export m --onnx m");
    assert!(code == Some(2) && said.contains("m is the memory itself"), "{said}");
}

/// The launches of a window with their bytes; nothing is learned.
#[test]
fn a_window_is_explained_launch_by_launch() {
    let folder = filled();
    let line = format!("contrast good.csv --target kind --map diagonal --batch 32 --profile {CPU}");
    let found: Value = json(&folder, &format!("{line} --json")).remove(0);
    let text = found.to_string();
    assert!(text.contains("retrieve") && text.contains("bytes"), "{text}");
    // It writes nothing, and so nothing is in its way.
    folder.write("good.memory", "notes");
    folder.write("good.memory.ckpt", "notes");
    folder.told(&line);
    assert_eq!([folder.text("good.memory"), folder.text("good.memory.ckpt")], ["notes", "notes"]);
    let text = folder.told(&line);
    for expected in ["launches", "32 rows", "kernel", "of the step", "retrieve"] {
        assert!(text.contains(expected), "{expected} not in\n{text}");
    }
    let text = folder.told(&format!("contrast good.csv --target kind --hidden 4 --profile {CPU}"));
    assert!(text.contains("launches"), "{text}");
    assert!(!folder.path("good.safetensors").exists());
    let said = folder.refused(&format!("{line} --log a.log")).1;
    assert!(said.contains("--profile"), "{said}");
}

/// Of fewer rows than `mero recall` gives by default it gives all; classes that are numbers are marked as such in the file.
#[test]
fn a_memory_of_few_rows_gives_them_all() {
    let folder = filled();
    folder.write("four.csv", "x,n\n0,1\n0.1,1\n5,2\n5.2,2\n");
    folder.told(&format!("contrast four.csv --target n --map diagonal --epochs 1 --test 0 {CPU} -o four"));
    assert_eq!(folder.told("recall four four.csv").lines().count(), 1 + 4 * 4);
    let file = String::from_utf8_lossy(&folder.read("four")).into_owned();
    assert!(file.contains(r#"\"is_numeric\":true"#), "{}", &file[..400]);
}

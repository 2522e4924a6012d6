//! Memories: learned from labelled rows, judged and saved; neighbours and strangers; and what is refused.

use super::folder::Folder;
use super::json;

/// Three classes at (0, 0), (2, 0) and (0, 2) within 0.2, and two columns within 30 that say nothing: a table, and its labels alone.
pub(crate) fn rows(count: usize) -> (String, String) {
    let mut state = 1_u64;
    let mut drawn = |size: f64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        size * ((state >> 40) as f64 / f64::from(1 << 23) - 1.0)
    };
    let mut table = "a,b,c,d,kind\n".to_owned();
    let mut labels = "label\n".to_owned();
    for row in 0..count {
        let (x, y, name) = [(0.0, 0.0, "red"), (2.0, 0.0, "green"), (0.0, 2.0, "blue")][row % 3];
        let [a, b, c, d] = [x + drawn(0.2), y + drawn(0.2), drawn(30.0), drawn(30.0)];
        table += &format!("{a:.4},{b:.4},{c:.4},{d:.4},{name}\n");
        labels += &format!("{name}\n");
    }
    (table, labels)
}

const QUICK: &str = "--device cpu --threads 1";

pub(crate) fn filled() -> Folder {
    let folder = Folder::new();
    let (table, labels) = rows(300);
    folder.write("good.csv", &table);
    folder.write("labels.csv", labels);
    let without = table.lines().map(|line| line.rsplit_once(',').expect("five columns").0.to_owned() + "\n");
    folder.write("plain.csv", without.collect::<String>());
    folder
}

/// Without a map the two long columns decide; the map leaves them out. Labels in a file of their own give the same memory.
#[test]
fn a_memory_learns_which_columns_matter() {
    let folder = filled();
    let options = "--map diagonal --batch 16 --lr 0.05 --device cpu --threads 1";
    let lines = json(&folder, &format!("contrast good.csv --target kind {options} --json"));
    let (epochs, done) = lines.split_at(lines.len() - 1);
    assert_eq!(epochs.len(), 30);
    let losses = [&epochs[0], &epochs[29]].map(|line| line["loss"].as_f64().expect("a loss"));
    assert!(losses[1] < 0.5 * losses[0], "{losses:?}");
    let judged = &done[0]["judged"];
    let recall = |which: &str| judged[which]["recall"]["1"].as_f64().expect("a share");
    assert!(recall("learned") == 1.0 && recall("plain") < 0.8, "{judged}");
    assert_eq!((&judged["learned"]["rows"], &done[0]["rows"]), (&60.into(), &300.into()));
    assert_eq!(done[0]["classes"], serde_json::json!(["blue", "green", "red"]));
    folder.told(&format!("contrast plain.csv --labels labels.csv {options} --map-out map.npy"));
    let [a, b] = ["good.memory", "plain.memory"].map(|name| folder.read(name));
    let numbers = |bytes: &[u8]| bytes[bytes.len() - 4 * 300..].to_vec();
    assert_eq!(numbers(&a), numbers(&b));
    assert!(folder.read("map.npy").starts_with(b"\x93NUMPY"));
    let text = folder.told(&format!("contrast good.csv --target kind {options} --epochs 2"));
    for expected in ["240 rows of 3 classes in 2 epochs", "recall@1", "without the map", "good.memory, 300 rows"] {
        assert!(text.contains(expected), "{expected} not in\n{text}");
    }
}

#[test]
fn neighbours_are_found_and_strangers_are_said_to_be() {
    let folder = filled();
    folder.told("contrast good.csv --target kind --map diagonal --batch 16 --lr 0.05 --device cpu --threads 1 -o m");
    folder.write("new.csv", "d,c,b,a\n0,0,0.01,1.98\n5,-3,400,400\n");
    let output = folder.mero("recall m new.csv -k 2");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        said,
        "mero recall: nothing in memory is like 1 row of 2, where known is false; --reject gives no neighbours there\n"
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines[0], ["query", "rank", "row", "class", "distance", "weight", "known"]);
    let of = |line: &[&str]| [line[0], line[1], line[3], line[6]].map(str::to_owned);
    let found: Vec<_> = lines[1..].iter().map(|line| of(line)).collect();
    // Columns are found by name. The second row is far from all.
    let expected = [["0", "1", "green", "true"], ["0", "2", "green", "true"]];
    assert_eq!(found[..2], expected.map(|line| line.map(str::to_owned)));
    assert_eq!((found.len(), &found[2][3][..], &found[3][3][..]), (4, "false", "false"));
    let distances: Vec<f64> = lines[1..].iter().map(|line| line[4].parse().expect("a number")).collect();
    assert!(distances[0] <= distances[1] && distances[2] > 10.0 * distances[0], "{distances:?}");
    let output = folder.mero("recall m new.csv -k 2 --reject");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = text.lines().last().expect("a line").split(',').collect::<Vec<_>>();
    assert_eq!((last.len(), last[0], &last[1..4], last[5], last[6]), (7, "1", &["", "", ""][..], "", "false"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("mero recall: nothing in memory is like 1 row of 2: no neighbours are given for it"),
        "{said}"
    );
    // A row of the memory finds itself first.
    let first = folder.told("recall m good.csv -k 1").lines().nth(8).expect("a line").to_owned();
    assert!(first.starts_with("7,1,7,green,0,1,true"), "{first}");
}

/// With layers the file is a model like any other.
#[test]
fn layers_that_settle_make_a_model_that_predicts() {
    let folder = filled();
    let options = "--hidden 12,6 --epochs 60 --batch 16 --lr 0.01 --device cpu --threads 1";
    let lines = json(&folder, &format!("contrast good.csv --target kind --columns a,b {options} --json"));
    let done = lines.last().expect("a line");
    assert_eq!((lines.len(), &done["rows"]["test"], &done["model"]), (61, &60.into(), &"good.safetensors".into()));
    assert!(done["test"]["accuracy"].as_f64().expect("a share") > 0.95, "{done}");
    let predicted = folder.told("predict good.safetensors good.csv --device cpu");
    let right = predicted.lines().skip(1).zip(rows(300).1.lines().skip(1)).filter(|(a, b)| a.starts_with(b)).count();
    assert!(right > 285, "{right} of 300");
    let text = folder.told(&format!("contrast plain.csv --labels labels.csv --hidden 4 --epochs 2 -o m {QUICK}"));
    assert!(text.contains("240 rows in 2 epochs") && text.contains("of 60 rows that it has not seen"), "{text}");
    let refused = [
        ("--memory 9", "--memory has no effect without a memory: no --hidden"),
        ("--map diagonal", "--map has no effect without a memory: no --hidden"),
        ("--map-out x", "--map-out: got layers, expected a memory, which has a map: leave out --hidden"),
        ("--nudge 0", "nudge: got 0"),
    ];
    for (option, expected) in refused {
        let (code, said) = folder.refused(&format!("contrast good.csv --target kind --hidden 4 {option}"));
        assert!(code == Some(2) && said.contains(expected), "{option}: {said}");
    }
}

#[test]
fn bad_input_says_what_is_wrong() {
    let folder = filled();
    let quick = "--device cpu --threads 1 --epochs 1";
    folder.told(&format!("contrast good.csv --target kind {quick} -o m"));
    folder.write("gap.csv", "a,kind\n1,x\n,y\n2,x\n3,y\n");
    folder.write("one.csv", "a,kind\n1,x\n2,x\n");
    folder.write("alone.csv", "a,kind\n1,x\n2,y\n");
    folder.write("few.csv", "label\nred\n");
    folder.write("two.csv", "x,y\n1,2\n");
    folder.write("other.csv", "a,b\n1,2\n");
    folder.write("text.csv", "a,b,c,d\n1,2,3,x\n4,5,6,y\n");
    folder.told("train good.csv --target kind --device cpu --epochs 1 --hidden 4 -o model");
    let cases = [
        ("contrast gap.csv --target kind", 1, "gap.csv: row 2, column \"a\": got nothing, expected a finite number"),
        ("contrast one.csv --target kind", 1, "contrast: got rows of 1 class, expected at least 2 classes"),
        (
            "contrast alone.csv --target kind",
            1,
            "contrast: every row to learn from has a class of its own: expected classes with at least 2 of them",
        ),
        ("contrast good.csv --labels few.csv", 2, "labels: got 1 label for 300 rows, expected one for each"),
        ("contrast good.csv --labels two.csv", 2, "two.csv: got 2 columns, expected one, with the labels"),
        ("contrast good.csv --target colour", 1, "column \"colour\""),
        ("contrast good.csv --target kind --rank 2", 2, "--rank"),
        ("contrast good.csv --target kind --map rotors --columns a,b,c --angles 0", 2, "angles"),
        (
            "contrast good.csv --target kind --map block --columns a,b,c",
            2,
            "contrast: metric: got blocks of 2, expected 2 to 8, a divisor of 3 coordinates",
        ),
        ("contrast good.csv --target kind --sharpness -1", 2, "sharpness: got -1"),
        ("contrast good.csv --target kind --steps 0", 2, "steps: got 0"),
        ("contrast good.csv --target kind --test 0.95", 2, "test: got 0.95, expected at most 0.9 of the rows"),
        ("contrast good.csv", 2, "--target"),
        (
            "contrast good.csv --target kind --columns a,a",
            2,
            "--columns: \"a\" is named twice: expected each coordinate once",
        ),
        ("contrast gap.csv --target kind --columns kind", 2, "--columns: \"kind\" is the target"),
        ("contrast good.csv --target kind --outputs 5", 2, "outputs: got 5, expected at most 4, the number of columns"),
        (
            "contrast good.csv --target kind --map rotors --angles 99",
            2,
            "angles: got 99, expected at most 16 for 4 columns",
        ),
        ("contrast good.csv --target kind --nudge 1e-50", 2, "nudge"),
        (
            "contrast good.csv --target kind --hidden 3 --test 0.95",
            2,
            "test: got 0.95, expected at most 0.9 of the rows",
        ),
        ("contrast good.csv --target kind --lr 1e38", 1, "not finite"),
        ("recall m good.csv -k 0", 2, "--k: got 0, expected 1 to 300, the rows in memory"),
        ("recall m good.csv -k 301", 2, "--k: got 301, expected 1 to 300, the rows in memory"),
        (
            "recall m other.csv",
            2,
            "other.csv: column \"c\" is missing: got 2 columns, expected the 4 that the memory was learned from",
        ),
        ("recall m text.csv", 1, "column \"d\""),
        ("recall model good.csv", 1, "model: it holds no memory: expected a file that mero contrast has written"),
        ("recall good.csv good.csv", 1, "good.csv"),
    ];
    for (line, code, expected) in cases {
        let line = if line.starts_with("contrast") { format!("{line} {quick} -o x") } else { line.to_owned() };
        let (got, said) = folder.refused(&line);
        assert!(got == Some(code) && said.contains(expected), "{line}: {got:?}: {said}");
        assert!(!folder.path("x").exists(), "{line} wrote a file");
    }
    // A damaged file is refused, and a file of another kind is not replaced.
    let mut bytes = folder.read("m");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    folder.write("m", bytes);
    assert!(folder.refused("recall m good.csv").1.contains("m: "));
    let (code, said) = folder.refused(&format!("contrast good.csv --target kind {quick} -o labels.csv"));
    assert!(code == Some(2) && said.contains("labels.csv"), "{said}");
}

/// Rows of two tokens, the second of which follows from the first.
fn token_rows() -> String {
    let row = |at: usize| format!("{},{}\n", at % 8, (at % 8 * 5 + 3) % 8);
    "a,b\n".to_owned() + &(0..64).map(row).collect::<String>()
}

const TRAINER2: &str = r#"{"beta_nudge": 0.05, "retrieval_beta": 2, "eta_update": 0.1, "field_grid": [2, 2], "field_dim": 2, "batch_size": 16,
    "max_epochs": 30, "log_every_windows": 50, "save_every_windows": 60, "run_dir": "runs", "run_name": "one", "seed": 7,
    "run_smoke_tests": true, "cudnn_benchmark": true}"#;

/// The telemetry has a record of the run and means of each period; checkpoints are written; what has no effect is said.
#[test]
fn trainer2_learns_tokens_and_reports() {
    let folder = Folder::new();
    folder.write("tokens.csv", token_rows());
    folder.write("config.json", TRAINER2);
    let line = "contrast tokens.csv --trainer2 config.json --device cpu --threads 1";
    let output = folder.mero(line);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("mero contrast: cudnn_benchmark has no effect: kernels are this engine's own"), "{said}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("120 windows") && text.contains("telemetry.jsonl"), "{text}");
    let telemetry = String::from_utf8(folder.read("runs/one/telemetry.jsonl")).expect("text");
    let records: Vec<serde_json::Value> =
        telemetry.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(records.len(), 4);
    let meta = &records[0];
    assert_eq!((&meta["type"], &meta["run_name"], &meta["vocabulary"]), (&"run_meta".into(), &"one".into(), &8.into()));
    assert_eq!(meta["checks"].as_array().map(Vec::len), Some(3));
    let hash = meta["config_hash"].as_str().expect("a hash");
    assert!(hash.len() == 12 && hash.chars().all(|digit| digit.is_ascii_hexdigit()), "{hash}");
    assert!(meta["ts_utc"].as_str().is_some_and(|time| time.ends_with('Z') && time.len() == 20), "{meta}");
    let of = |at: usize, name: &str| records[at][name].as_f64().unwrap_or_else(|| panic!("{name} of {}", records[at]));
    let windows: Vec<f64> = (1..4).map(|at| of(at, "window")).collect();
    assert_eq!(windows, [49.0, 99.0, 119.0]);
    // The last period is shorter; its means are over its own windows.
    assert_eq!((of(3, "windows"), of(1, "S"), of(1, "epoch"), of(1, "batch")), (20.0, 64.0, 12.0, 1.0));
    for name in ["total_loss", "lior_mean", "R_mean", "spd_mean", "window_ms", "mem_norm"] {
        assert!((1..4).all(|at| of(at, name) > 0.0), "{name}");
    }
    assert!(of(3, "total_loss") < 0.5 * of(1, "total_loss"), "{telemetry}");
    for name in ["checkpoint_000060", "checkpoint_000120", "checkpoint_last"] {
        assert!(folder.path(&format!("runs/one/{name}.safetensors")).exists(), "{name}");
    }
    // The same fields have the same hash in any order, and a run with another one has another.
    let (code, said) = folder.refused(line);
    let expected = "is of another run: choose another run_name, or replace it with --force";
    assert!(code == Some(2) && said.contains(expected), "{said}");
    let lines = json(&folder, &format!("{line} --json --force"));
    assert_eq!((lines.len(), &lines[0]["windows"]), (1, &120.into()));
    let again = String::from_utf8(folder.read("runs/one/telemetry.jsonl")).expect("text");
    assert!(again.contains(hash));
    // A run whose figures are not finite any more ends with an error, not with a checkpoint of nothing.
    folder.write(
        "far.json",
        TRAINER2.replace("\"one\"", "\"far\"").replace("\"seed\"", "\"eta_embedding\": 1e30, \"seed\""),
    );
    let (code, said) = folder.refused(&line.replace("config.json", "far.json"));
    assert!(
        code == Some(1) && said.contains("are not finite any more in window 50: use a smaller eta_update"),
        "{said}"
    );
    assert!(!folder.path("runs/far/checkpoint_last.safetensors").exists());
}

#[test]
fn trainer2_says_what_is_wrong() {
    let folder = Folder::new();
    folder.write("tokens.csv", token_rows());
    folder.write("wrong.json", "{\"eps\": -1}");
    folder.write("broken.json", "{");
    folder.write("outside.json", "{\"run_name\": \"../x\"}");
    folder.write("same.json", "{\"telemetry_jsonl_filename\": \"checkpoint_last\"}");
    folder.write("steep.json", "{\"eta_update\": 1e30, \"beta_nudge\": 1e-30}");
    folder.write("wide.json", "{\"coord_dim_n\": 1100}");
    folder.write("half.csv", "a,b\n0.5,1\n");
    folder.write("one.csv", "a\n0\n1\n");
    folder.write("padded.csv", "a,b\n0,1\n1,-1\n");
    folder.write("good.json", "{\"run_dir\": \"r\", \"field_grid\": [2, 2], \"field_dim\": 1}");
    let cases = [
        ("tokens.csv --trainer2 wrong.json", 2, "wrong.json: eps: got -1, expected a finite number above 0"),
        ("tokens.csv --trainer2 broken.json", 1, "broken.json: "),
        (
            "tokens.csv --trainer2 missing.json",
            2,
            "--trainer2: got missing.json, expected a file or one of development",
        ),
        ("tokens.csv --trainer2 outside.json", 2, "outside.json: run_name: got \"../x\", expected the name of a file"),
        ("tokens.csv --trainer2 same.json", 2, "same.json: telemetry_jsonl_filename: got \"checkpoint_last\""),
        ("tokens.csv --trainer2 steep.json", 2, "steep.json: eta_update: got 1e30 with beta_nudge 1e-30"),
        (
            "tokens.csv --trainer2 wide.json",
            2,
            "wide.json: coord_dim_n: got 1100, expected a whole number from 1 to 1024",
        ),
        ("half.csv --trainer2 good.json", 1, "half.csv: row 1, column \"a\": got 0.5, expected the number of a token"),
        ("one.csv --trainer2 good.json", 1, "contrast: tokens: got rows of 1 token, expected at least 2"),
        ("padded.csv --trainer2 good.json", 1, "contrast: tokens: row 1: got padding as the last token"),
        ("tokens.csv --trainer2 good.json --sharpness 2", 2, "--sharpness has no effect with --trainer2"),
        ("tokens.csv --trainer2 good.json --target a", 2, "--target has no effect with --trainer2"),
        ("tokens.csv --trainer2 good.json --labels a", 2, "--labels has no effect with --trainer2"),
        ("tokens.csv --trainer2 good.json -o x", 2, "--out has no effect with --trainer2"),
    ];
    for (line, code, expected) in cases {
        let (got, said) = folder.refused(&format!("contrast {line} --device cpu --threads 1"));
        assert!(got == Some(code) && said.contains(expected), "{line}: {got:?}: {said}");
        assert!(!folder.path("r").exists(), "{line} made a folder");
    }
    // The rule of Trainer2, from a preset with another folder for the run.
    folder.write("rule.json", "{\"rule\": \"lior_scalar\", \"run_dir\": \"r\", \"field_grid\": [2, 2], \"field_dim\": 1, \"save_every_windows\": 0}");
    let lines = json(&folder, "contrast tokens.csv --trainer2 rule.json --json --device cpu --threads 1");
    assert!(lines[0]["figures"]["free"].as_f64().is_some_and(|cost| cost > 0.0), "{lines:?}");
}

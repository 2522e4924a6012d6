//! The binary from outside: exact messages and exit codes, JSON lines and nothing else, runs that are cut and taken up again.

mod folder;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use folder::Folder;
use serde_json::Value;

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

const QUICK: &str = "--device cpu --threads 1 --hidden 8 --epochs 3";

/// A table that cannot be trained on, flags, and what is said of it.
type Bad<'a> = (&'a str, &'a str, &'a str, u8);

#[test]
fn bad_tables_are_refused_in_the_users_words() {
    let few = "a,y\n1,2.5\n2,3.5\n";
    let cases: &[Bad<'_>] = &[
        ("", "--target y", "train: bad.csv: is empty", 1),
        (few, "--target price", "train: column \"price\" not in bad.csv; it has \"a\", \"y\"", 1),
        (few, "--target y --features b", "train: column \"b\" not in bad.csv; it has \"a\", \"y\"", 1),
        ("a,y\n1,2\n3\n", "--target y", "train: bad.csv: row 2 (line 3) has 1 cells, wanted 2", 1),
        ("a,y\n,2\n,3\n", "--target y", "train: column \"a\" has no value in any row of bad.csv; leave it out", 1),
        (
            "a,y\n1,2\nred,3\n",
            "--target y --numeric a",
            "train: bad.csv: row 2, column \"a\": \"red\" is not a number",
            1,
        ),
        (
            "a,y\n1,2\ninf,3\n4,5\n",
            "--target y --missing impute",
            "train: bad.csv: row 2, column \"a\": is infinite; only missing cells are filled in",
            1,
        ),
        (
            "a,y\nnan,2\n1,inf\n",
            "--target y",
            "train: bad.csv: no row has a value in every column (2 of 2 rows dropped; a: 1 missing; y: 0 missing, 1 infinite)",
            1,
        ),
        (
            "a;y\n1,5;2\n2,5;3\n",
            "--target y",
            "train: bad.csv: row 1, column \"a\": \"1,5\" has a comma, but numbers are written with a point; if the column holds categories, name it under categorical",
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
            "train: bad.csv: row 1, column \"c0\": \"1,5\" has a comma, but numbers are written with a point; if the column holds categories, name it under categorical",
            1,
        ),
        ("a,y\n", "--target y", "train: bad.csv: has no rows", 1),
        (
            "a,y\n1,2.5\n",
            "--target y",
            "train: bad.csv: 1 rows, of which 1 for validation and 1 for test, leave none to train on",
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
    for (text, flags, wanted, code) in cases {
        folder.write("bad.csv", text.as_bytes());
        check(&folder, &format!("train bad.csv {flags} {QUICK}"), wanted, *code, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

fn check(folder: &Folder, line: &str, wanted: &str, code: u8, failures: &mut Vec<String>) {
    let output = folder.mero(line);
    let said = String::from_utf8_lossy(&output.stderr);
    if said != format!("mero: {wanted}\n") || output.status.code() != Some(i32::from(code)) {
        failures.push(format!("{line}\n  wanted {code} mero: {wanted}\n  got    {:?} {said}", output.status.code()));
    }
}

#[test]
fn nothing_is_written_over_what_is_read() {
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
    let refused = "train: standard output takes no file; name one instead of -";
    check(&folder, "train good.csv --target y --out -", refused, 2, &mut failures);
    let predict = "predict good.model good.csv --device cpu";
    assert_eq!(folder.told(&format!("{predict} --out -")), folder.told(predict));
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn bad_questions_are_refused_in_the_users_words() {
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
            "train: the loss \"bce\" does not fit the target, which is a number; use mse, mae, huber or a formula",
            2,
        ),
        ("train good.csv --target y --epochs 0", "train: epochs is 0; training needs at least 1", 2),
        (
            "predict good.csv good.csv",
            "predict: good.csv: is not a safetensors file, which models and checkpoints are",
            1,
        ),
        ("train good.csv --target y --batch 0", "train: batch is 0; a step needs at least 1 row", 2),
        ("train good.csv --target y --lr 0", "train: lr is 0; a learning rate is a finite number above 0", 2),
        ("train good.csv --target y --dropout 1", "train: dropout is 1, wanted at least 0 and less than 1", 2),
        (
            "train good.csv --target y --hidden 1000000,1000000",
            "train: a model with layers up to 1000000 wide has 1000007000001 parameters, which take about 119210 GiB; there are at most 64 GiB",
            1,
        ),
        ("train good.csv --target y --threads 100000", "train: threads is 100000, wanted at most 1024", 2),
        ("bench matmul --size 1000000", "bench: these are 1000000000000 numbers, wanted at most 4294967295", 2),
        (
            "plan --inputs 1000000000 --rows 1000000000",
            "plan: 1000000000 rows of 1000000001 values take about 3725290302 GiB; there are at most 64 GiB",
            2,
        ),
        (
            "train good.csv --target y --hidden none --norm batch",
            "train: a norm stands between hidden layers, of which there are none",
            2,
        ),
        ("train good.csv --target y --test 2", "train: good.csv: test part is 2, wanted at least 0 and less than 1", 1),
        (
            "train good.csv --target y --device cpu --lr 1e9 --optimizer sgd --seed 1",
            "train: the loss diverged in epoch 1; try a smaller learning rate, --lr 1e8; nothing was written",
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
            "train: /dev/full: cannot be written: No space left on device",
            1,
        ),
        (
            "predict good.model short.csv --device cpu",
            "predict: column \"colour\" is missing from short.csv; it has \"a\", \"b\", \"y\"",
            1,
        ),
        (
            "predict good.model unknown.csv --device cpu",
            "predict: unknown.csv: row 1, column \"colour\": \"green\" is unknown; the model knows \"blue\", \"red\"",
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
    for (line, wanted, code) in cases {
        check(&folder, line, wanted, code, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn files_that_are_no_models_are_refused_with_the_reason() {
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
    for (name, wanted) in cases {
        check(&folder, &format!("predict {name} good.csv"), &format!("predict: {name}: {wanted}"), 1, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn a_table_with_poles_is_learnt_and_predicted_with_bottom_and_gap() {
    let folder = filled();
    let row = |i: i32| {
        let x = (f64::from(i) - 400.0) / 200.0;
        let y = 1.0 / (x - 0.25);
        if y.abs() > 20.0 { format!("{x},{}inf\n", if y < 0.0 { "-" } else { "" }) } else { format!("{x},{y}\n") }
    };
    let table: String = (0..800).map(row).collect();
    folder.write("poles.csv", format!("x,y\n{table}").as_bytes());
    // After 120 epochs the last bits of exp chose between 0.84 and 1.10 for the 1 asked below; after 400 two builds are within 0.02.
    let train =
        "train poles.csv --target y --head rational --epochs 400 --hidden 16,16 --lr 3e-3 --weight-decay 0 --seed 1";
    let told = folder.told(&format!("{train} --device cpu --json --out poles.model"));
    let report: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    let (test, coverage) = (&report["test"], report["test"]["coverage"].as_f64().unwrap());
    assert!((0.9..1.0).contains(&coverage) && test["found"].as_f64().unwrap() > 0.7, "{test}");
    folder.write("ask.csv", b"x\n-1\n0.25\n1.25\n");
    let told = folder.told("predict poles.model ask.csv");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!((lines[0], lines[2]), ("value,bottom,gap,fault", ",1,0,0"));
    for (line, wanted) in [(lines[1], -0.8), (lines[3], 1.0)] {
        let (value, flags) = line.split_once(',').unwrap();
        assert!((value.parse::<f64>().unwrap() - wanted).abs() < 0.1 && flags == "0,0,0", "{line}");
    }
    let told = folder.told("eval poles.model poles.csv --device cpu --profile");
    assert!(told.contains("coverage") && told.contains("rows ⊥"), "{told}");
    assert!(told.lines().any(|line| line.contains("layers.5") && line.contains("projective")), "{told}");
    // ⊥ by the pole, and where a column of the user's own is near 0; a row without that number is at fault.
    folder.write("ask.csv", b"x,v\n-1,1\n0.25,1\n1.25,0.01\n1.25,\n");
    let told = folder.told("predict poles.model ask.csv --valid v:0.1 --range");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "value,bottom,gap,fault,range");
    assert!(lines[1].ends_with(",0,0,0,within") && lines[3] == ",1,0,0,above" && lines[4] == ",1,0,1,within", "{told}");
    assert!(lines[2].starts_with(",1,0,0,") && !lines[2].ends_with("within"), "{told}");
    let mut failures = Vec::new();
    let wanted = "predict: valid: column \"w\" not in ask.csv; it has \"x\", \"v\"";
    check(&folder, "predict poles.model ask.csv --valid w:0.1", wanted, 1, &mut failures);
    let wanted =
        "predict: precision: f16 is for plain perceptrons of up to 16 layers, 128 wide; this model predicts in f32";
    check(&folder, "predict poles.model ask.csv --precision f16", wanted, 1, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(folder.mero("predict poles.model ask.csv --valid v").status.code(), Some(2));
}

#[test]
fn rational_activations_are_trained_with_poles_where_the_head_can_say_so() {
    let folder = filled();
    let flags = "--device cpu --threads 1 --hidden 16,16 --lr 1e-2 --weight-decay 0 --json";
    let lines = json(
        &folder,
        &format!(
            "train good.csv --target y {flags} --activation rational --policy scm_rational=clamp(-2..2) --out safe"
        ),
    );
    let report = &lines[lines.len() - 1];
    assert_eq!(report["step"].as_str(), Some("recorded"));
    assert!(report["test"]["r2"].as_f64().is_some_and(|r2| r2 > 0.98), "{report}");
    let poles = "--activation rational-poles --head rational --epochs 20";
    json(&folder, &format!("train good.csv --target y {flags} {poles} --out open"));
    let curriculum = "--head rational --term chordal=1 --term decoded=0.5..0@0..6 --hold-coverage 0.99 --sample-poles --accumulate 2";
    let lines = json(&folder, &format!("train good.csv --target y {flags} --epochs 8 {curriculum} --out curriculum"));
    assert_eq!(lines[lines.len() - 1]["step"].as_str(), Some("recorded"));
    let report: Value = serde_json::from_str(&folder.told("eval open good.csv --device cpu --profile --json")).unwrap();
    let kinds: Vec<_> = report["profile"].as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["linear", "rational", "linear", "rational", "linear", "projective"]);
    let mut failures = Vec::new();
    let wanted = "train: policy: \"layers.0\" is no layer with one; there are \"scm_rational\", \"layers.1\", \"layers.3\", \"layers.5\"";
    check(&folder, "train good.csv --target y --activation rational --policy layers.0=clamp", wanted, 2, &mut failures);
    let flagged = format!("train good.csv --target y {flags} --norm batch --policy scm_norm=project --out standard");
    let lines = json(&folder, &flagged);
    let report = &lines[lines.len() - 1];
    assert!(report["test"]["r2"].as_f64().is_some_and(|r2| r2 > 0.98), "{report}");
    json(&folder, &format!("train good.csv --target y {flags} --norm layer --epochs 2 --out rows"));
    let wanted = "train: policy: \"scm_rational\" is no layer with one; there are \"scm_norm\", \"layers.2\", \"layers.5\", \"layers.8\"";
    let line = "train good.csv --target y --norm batch --policy scm_rational=clamp";
    check(&folder, line, wanted, 2, &mut failures);
    let wanted = "train: policy: only rational and masked layers have one; try activation rational";
    check(&folder, "train good.csv --target y --policy scm_rational=reject", wanted, 2, &mut failures);
    let wanted = "train: rational layers with poles say ⊥; give the model a head that can, such as rational";
    check(&folder, "train good.csv --target y --activation rational-poles", wanted, 2, &mut failures);
    let wanted = "eval: profile: the model has no poles, so no row is ⊥ after any layer";
    check(&folder, "eval safe good.csv --profile", wanted, 2, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn usage_is_told_by_name_and_with_code_2() {
    let folder = filled();
    for line in ["", "train", "train good.csv", "fly", "train good.csv --target y --lr fast", "plan good.csv"] {
        let output = folder.mero(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(output.stdout.is_empty(), "{line}");
    }
    let mut failures = Vec::new();
    for (flags, wanted) in [
        ("--momentum 0.5", "train: momentum applies only to optimizer \"sgd\""),
        ("--delta 0.5", "train: delta applies only to loss \"huber\""),
        ("--class-weights balanced", "train: class weights applies only to loss \"cross-entropy\""),
        ("--loss mae --smoothing 0.1", "train: smoothing applies only to loss \"cross-entropy\""),
        ("--tau-infer 0.1", "train: tau-infer: only a model with poles has a use for it; try --head rational"),
        ("--head rational --tau-train 0.1", "train: tau-train: it goes with --tau-infer"),
        ("--head angular --degrees 3,2", "train: degrees: two whole numbers, like 3,2, for the rational head alone"),
        ("--head rational --tau-infer 0", "train: tau_infer is 0, wanted a finite number above 0"),
        ("--sample-poles", "train: sample-poles: only a model with poles has a use for it; try --head rational"),
        ("--term sign=1", "train: term: only a model with poles has a use for it; try --head rational"),
        ("--head rational --loss mse", "train: a head with poles has a loss of its own; leave the loss out"),
    ] {
        check(&folder, &format!("train good.csv --target y --device cpu {flags}"), wanted, 2, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let said = folder.mero("train good.csv --resume x --lr 1").stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.starts_with("mero: the argument '--resume <CKPT>' cannot be used with"), "{said}");
    assert!(folder.told("--help").contains("Train on a table"));
}

#[test]
fn a_model_is_trained_evaluated_and_asked() {
    let folder = filled();
    let flags = "--device cpu --threads 1 --hidden 16,16 --lr 1e-2 --weight-decay 0";
    let lines = json(&folder, &format!("train good.csv --target y {flags} --out m --json"));
    let (report, epochs) = (&lines[lines.len() - 1], lines.iter().filter(|line| line["event"] == "epoch").count());
    assert_eq!((&lines[0]["event"], &report["event"]), (&"start".into(), &"report".into()));
    assert_eq!((report["task"].as_str(), report["step"].as_str()), (Some("regression"), Some("fused")));
    assert_eq!((report["rows"]["train"].as_u64(), report["epochs"].as_u64()), (Some(84), Some(epochs as u64)));
    assert!(report["test"]["r2"].as_f64().is_some_and(|r2| r2 > 0.99), "{report}");
    let measured = json(&folder, "eval m good.csv --device cpu --json");
    assert_eq!((measured.len(), measured[0]["test"]["rows"].as_u64()), (1, Some(120)));
    assert!(measured[0]["test"]["r2"].as_f64().is_some_and(|r2| r2 > 0.99), "{measured:?}");
    folder.told("predict m good.csv -o p.csv --device cpu --with-inputs");
    let text = folder.text("p.csv");
    assert_eq!((text.lines().next(), text.lines().count()), (Some("a,b,colour,y,prediction"), 121));
    let last = |line: &str| line.rsplit(',').next().and_then(|cell| cell.parse::<f64>().ok());
    assert!(text.lines().skip(1).all(|line| last(line).is_some_and(f64::is_finite)));
    assert_eq!(folder.told("predict m good.csv --device cpu").lines().next(), Some("prediction"));
}

#[test]
fn classes_have_a_probability_and_a_confusion_table() {
    let folder = filled();
    for loss in ["cross-entropy", "bce"] {
        let flags = "--device cpu --threads 1 --hidden 8 --epochs 8 --lr 1e-2";
        let flags = if loss == "bce" { flags.to_owned() } else { format!("{flags} --class-weights balanced") };
        let text = folder.told(&format!("train good.csv --target colour {flags} --out m --loss {loss}"));
        assert!(text.contains("classification: the target is text") && text.contains("predicted (right)"), "{text}");
        assert!(!text.contains('\u{1b}'), "no control codes in a pipe: {text:?}");
        let text = folder.told("predict m good.csv --device cpu");
        assert_eq!(text.lines().next(), Some("prediction,probability"));
        let (name, probability) = text.lines().nth(1).and_then(|line| line.split_once(',')).expect("two cells");
        let probability: f64 = probability.parse().expect("a number");
        assert!(["red", "blue"].contains(&name) && probability > 0.0 && probability <= 1.0, "{name} {probability}");
        assert!(folder.told("eval m good.csv --device cpu").contains("accuracy"));
    }
}

#[test]
fn a_dash_is_standard_input() {
    let folder = filled();
    let mut child = folder
        .command(&format!("train - --target y {QUICK} --out m --json"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    child.stdin.take().expect("a pipe").write_all(table(60).as_bytes()).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    let lines = json_lines(&String::from_utf8_lossy(&output.stdout));
    assert_eq!(lines[0]["source"], "standard input");
    assert_eq!(lines.len(), 5);
}

#[test]
fn a_run_cut_by_a_signal_is_taken_up_exactly() {
    let folder = filled();
    let flags = "--device cpu --threads 1 --hidden 16,16 --epochs 3000 --patience 0 --batch 4 --json";
    let line = format!("train good.csv --target y {flags}");
    let whole = json(&folder, &format!("{line} --out whole"));
    let mut child = folder.command(&format!("{line} --out cut")).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.as_mut().expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for _ in 0..4 {
        lines.next().expect("an event").expect("a line");
    }
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(signal.success());
    let last = lines.last().expect("an event").expect("a line");
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    let event: Value = serde_json::from_str(&last).expect("JSON");
    assert_eq!((&event["event"], &event["path"]), (&"checkpoint".into(), &"cut.ckpt".into()), "{said}");
    let epochs = event["epochs"].as_u64().expect("a count");
    assert!(epochs < 3000, "the run was over before the signal came");
    let command = "mero train good.csv --target y --resume cut.ckpt --out cut --device cpu --threads 1";
    let wanted = format!("mero: train: interrupted after {epochs} epochs; saved cut.ckpt; go on with\n  {command}\n");
    assert_eq!(said, wanted);
    let resumed = json(&folder, &format!("{} --json", command.trim_start_matches("mero ")));
    assert_eq!(resumed[1]["epoch"].as_u64(), Some(epochs + 1));
    assert_eq!(folder.read("whole"), folder.read("cut"), "weights and words of the uninterrupted run");
    let figures = |lines: &[Value]| lines[lines.len() - 1]["test"].clone();
    assert_eq!(figures(&whole), figures(&resumed));
    other_rows_are_refused(&folder);
}

fn other_rows_are_refused(folder: &Folder) {
    folder.write("other.csv", table(110).as_bytes());
    let mut failures = Vec::new();
    let rows = "train: other.csv: these are not the rows that cut.ckpt was trained on";
    check(folder, "train other.csv --resume cut.ckpt --device cpu", rows, 1, &mut failures);
    let target = "train: cut.ckpt: it learns \"y\", not \"a\"";
    check(folder, "train good.csv --target a --resume cut.ckpt --device cpu", target, 1, &mut failures);
    assert!(failures.is_empty(), "{failures:?}");
}

#[test]
fn the_last_good_weights_survive_divergence() {
    let folder = filled();
    // A warm-up of 300 steps reaches the disastrous rate only after some good epochs.
    let line =
        "train good.csv --target y --device cpu --threads 1 --hidden 8 --optimizer sgd --lr 1e6 --warmup 100000000";
    let output = folder.mero(&format!("{line} --schedule constant --momentum 0.99 --patience 0 --epochs 2000 --out m"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the loss diverged in epoch") && said.contains("are in m"), "{said}");
    folder.told("predict m good.csv --device cpu");
}

#[test]
fn the_other_commands_speak_json_too() {
    let folder = filled();
    let demo = json(&folder, &format!("demo --rows 300 --json {QUICK}"));
    assert_eq!((demo.len(), demo[4]["model"].is_null()), (5, true));
    let names: Vec<_> = fs::read_dir(folder.path("")).expect("a folder").collect();
    assert_eq!(names.len(), 1, "the demo writes nothing");
    let plan = json(&folder, "plan --json");
    assert_eq!((plan.len(), plan[2]["launches"].as_u64(), plan[2]["step"].as_str()), (3, Some(2), Some("fused")));
    assert_eq!(plan[2]["parameters"].as_u64(), Some(8769));
    let sized = json(&folder, "plan good.csv --target y --hidden 8 --json");
    assert_eq!(sized[2]["parameters"].as_u64(), Some(4 * 8 + 8 + 8 + 1));
    let flags = "--device cpu --threads 1 --windows 1 --json";
    let mlp = json(&folder, &format!("bench mlp --batch 16 --steps 2 --hidden 8 {flags}"));
    assert!(mlp[0]["us_per_step"].as_f64().is_some_and(|us| us > 0.0), "{mlp:?}");
    let head = json(&folder, &format!("bench mlp --head rational --decoded --batch 16 --steps 2 --hidden 8 {flags}"));
    assert_eq!((head[0]["head"].as_str(), head[0]["step"].as_str()), (Some("rational"), Some("fused")));
    let matmul = json(&folder, &format!("bench matmul --size 16 {flags}"));
    assert!(matmul[0]["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{matmul:?}");
}

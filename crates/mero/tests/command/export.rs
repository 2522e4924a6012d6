//! `mero export` as a process: bundles are complete, and a modified one gives an exact error; weights of fewer bits are read back and
//! compared. ONNX files are checked with another runtime (`exported.py`).

use std::fs;

use super::folder::Folder;
use meromorph::export::{canonical, digest, validate_bundle};
use serde_json::{Value, json};

/// Two numbers and y = tan(1.5 b), with ±∞ near its poles at b = ±1.05.
fn table() -> String {
    let mut text = "a,b,y\n".to_owned();
    for row in 0..160 {
        let (a, b) = ((row * 37 % 101) as f64 / 50.0 - 1.0, (row * 53 % 97) as f64 / 40.0 - 1.2);
        let y = (1.5 * b).tan();
        let y = if y.abs() > 15.0 { y.signum() * f64::INFINITY } else { y };
        text += &format!("{a},{b},{y}\n");
    }
    text
}

/// A folder with a table, a model with poles and its bundle.
fn filled() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", table());
    let quick = "--device cpu --threads 1 --hidden 16,16 --epochs 100 --lr 1e-2 --seed 1";
    folder.told(&format!("train t.csv --target y --head rational --tau-infer 0.25 --tau-train 0.4 {quick} --out m"));
    folder.told("export m --bundle out");
    folder
}

/// The error message of a command that must fail.
fn refused(folder: &Folder, line: &str) -> String {
    let (code, said) = folder.refused(line);
    assert_eq!(code, Some(1), "{line}: {said}");
    said.trim_start_matches("mero: export: ").into()
}

fn json_of(folder: &Folder, line: &str) -> Value {
    serde_json::from_str(&folder.told(line)).unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn metadata(folder: &Folder) -> Value {
    serde_json::from_slice(&folder.read("out/metadata.json")).expect("JSON")
}

/// Replaces the metadata by a text, together with its digest.
fn forge(folder: &Folder, text: &str) {
    folder.write("out/metadata.json", text);
    let digest = serde_json::from_str(text).map_or_else(|_| "x".into(), |value: Value| digest(&canonical(&value)));
    folder.write("out/metadata.sha256", digest);
}

#[test]
fn a_bundle_is_complete_and_predicts_like_its_model() {
    let folder = filled();
    assert_eq!(folder.names("out"), ["metadata.json", "metadata.sha256", "model.onnx", "model.safetensors"]);
    assert_eq!(folder.names(""), ["m", "out", "t.csv"], "nothing lies about");
    let metadata = metadata(&folder);
    let decoding = &metadata["decoding"];
    assert_eq!((&decoding["mode"], &metadata["opset"]), (&json!("strict"), &json!(18)));
    let fields = "decoded bottom_mask gap_mask fault_mask semantic_bottom_mask bottom_provenance";
    assert_eq!(decoding["fields"], json!(fields.split(' ').collect::<Vec<_>>()));
    assert_eq!(metadata["inputs"][0]["shape"], json!(["batch", 2]));
    let predicted = ["m", "out"].map(|model| folder.told(&format!("predict {model} t.csv --device cpu")));
    assert_eq!(predicted[0], predicted[1]);
    for flags in ["0,0,0,", "0,1,0,near a pole: the value is uncertain", "1,0,0,no value: at a pole"] {
        assert!(
            predicted[0].contains(&format!(",{flags}\n")),
            "no row has bottom, gap and fault {flags}: {}",
            predicted[0]
        );
    }
    assert_eq!(refused(&folder, "export m --bundle out"), "out: is not empty; --overwrite replaces it");
    folder.told("export m --bundle out --overwrite");
    folder.told("export out --bundle again");
    let onnx = |name: &str| fs::read(folder.path(name).join("model.onnx")).expect("it is there");
    assert_eq!(onnx("out"), onnx("again"), "the same model gives the same graph");
}

#[test]
fn the_digest_ignores_key_order_and_whitespace_and_can_be_pinned() {
    let folder = filled();
    let digest = json_of(&folder, "export --check out --json")["digest"].as_str().expect("a text").to_owned();
    folder.told(&format!("export --check out --expect-digest {digest}"));
    let Value::Object(fields) = metadata(&folder) else { panic!("an object") };
    let reversed: Vec<String> = fields.iter().rev().map(|(key, value)| format!("\n  \"{key}\" :  {value:#}")).collect();
    folder.write("out/metadata.json", format!("{{{}\n}}\n", reversed.join(",")));
    folder.told(&format!("export --check out --expect-digest {}", digest.to_uppercase()));
    let other = "0".repeat(64);
    let expected = format!("out: its digest is {digest}, expected {other}");
    assert_eq!(refused(&folder, &format!("export --check out --expect-digest {other}")), expected);
    assert_eq!(validate_bundle(&folder.path("out"), None).expect("valid").digest, digest);
}

/// A change of the metadata and the expected message.
type Forgery = (fn(&mut Value), &'static str);

#[test]
fn wrong_metadata_are_errors() {
    let cases: [Forgery; 17] = [
        (|it| drop(it.as_object_mut().unwrap().remove("opset")), "key \"opset\" is missing"),
        (|it| drop(it.as_object_mut().unwrap().remove("format")), "key \"format\" is missing"),
        (|it| it["format"] = json!("other"), "format is \"other\", this engine reads \"meromorph_bundle\""),
        (|it| it["schema_version"] = json!(2), "schema_version is 2, this engine reads 1"),
        (|it| it["opset"] = json!(17), "opset is 17 and batch_axis 0, expected 18 and 0"),
        (|it| it["decoding"]["mode"] = json!("loose"), "decoding is \"loose\", expected \"strict\""),
        (|it| it["decoding"]["tau_infer"] = json!(0), "tau_infer is 0, expected a finite number above 0"),
        (|it| it["decoding"]["tau_infer"] = json!(-0.5), "tau_infer is -0.5, expected a finite number above 0"),
        (|it| it["decoding"]["tau_train"] = json!(1e-6), "tau_train is 0.000001, expected at least tau_infer = 0.25"),
        (
            |it| it["decoding"]["tau_infer"] = json!(1e-5),
            "decoding is not that of model.safetensors: one of them was changed",
        ),
        (|it| it["decoding"] = Value::Null, "decoding is not that of model.safetensors: one of them was changed"),
        (
            |it| it["preparation"]["target"]["regression"]["mean"] = json!(7),
            "preparation is not that of model.safetensors: one of them was changed",
        ),
        (
            |it| it["onnx"]["file"] = json!("../model.onnx"),
            "onnx is in \"../model.onnx\", which leads out of the bundle; expected \"model.onnx\"",
        ),
        (
            |it| it["model"]["file"] = json!("/etc/passwd"),
            "model is in \"/etc/passwd\", which leads out of the bundle; expected \"model.safetensors\"",
        ),
        (|it| it["model"]["file"] = json!("m"), "model is in \"m\", expected \"model.safetensors\""),
        (
            |it| it["outputs"].as_array_mut().unwrap().swap(0, 1),
            "outputs are bottom_mask, decoded, gap_mask, fault_mask, semantic_bottom_mask, bottom_provenance; expected decoded, \
             bottom_mask, gap_mask, fault_mask, semantic_bottom_mask, bottom_provenance, in this order",
        ),
        (
            |it| it["decoding"]["fields"].as_array_mut().unwrap().swap(1, 2),
            "decoding.fields are decoded, gap_mask, bottom_mask, fault_mask, semantic_bottom_mask, bottom_provenance; expected \
             decoded, bottom_mask, gap_mask, fault_mask, semantic_bottom_mask, bottom_provenance, in this order",
        ),
    ];
    let folder = filled();
    let sound = metadata(&folder);
    let mut wrong = Vec::new();
    for (change, expected) in cases {
        let mut forged = sound.clone();
        change(&mut forged);
        forge(&folder, &forged.to_string());
        let expected = format!("out/metadata.json: {expected}");
        let said = refused(&folder, "export --check out");
        if said != expected {
            wrong.push(format!("expected {expected}\ngot    {said}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn texts_that_are_not_strict_json_are_errors() {
    let folder = filled();
    let sound = metadata(&folder).to_string();
    let not_json = "is not valid JSON";
    let cases = [
        (sound.replacen("\"opset\":18", "\"opset\":NaN", 1), format!("{not_json} (expected value at line 1 column ")),
        (
            sound.replacen("\"opset\":18", "\"opset\":Infinity", 1),
            format!("{not_json} (expected value at line 1 column "),
        ),
        (
            sound.replacen("\"opset\":18", "\"opset\":1e999", 1),
            format!("{not_json} (number out of range at line 1 column "),
        ),
        (
            sound.replacen("\"opset\":18", "\"opset\":17,\"opset\":18", 1),
            "is damaged: duplicate field `opset` at ".into(),
        ),
        (
            sound.replacen("\"opset\":18", "\"opset\":18,\"extra\":1", 1),
            "is damaged: unknown field `extra`, expected ".into(),
        ),
    ];
    for (text, expected) in cases {
        assert_ne!(text, sound);
        forge(&folder, &text);
        let said = refused(&folder, "export --check out");
        assert!(said.starts_with(&format!("out/metadata.json: {expected}")), "{said}");
    }
}

#[test]
fn modified_files_are_errors() {
    let folder = filled();
    let metadata = metadata(&folder);
    let whole = folder.read("out/model.onnx");
    let mut bent = whole.clone();
    bent[whole.len() / 2] ^= 1;
    folder.write("out/model.onnx", &bent);
    let (got, told) = (digest(&bent), metadata["onnx"]["sha256"].as_str().expect("a text"));
    let expected = format!("out/model.onnx: has SHA-256 {got}, metadata.json says {told}");
    assert_eq!(refused(&folder, "export --check out"), expected);
    folder.write("out/model.onnx", &whole[1..]);
    let expected = format!("out/model.onnx: has {} bytes, metadata.json says {}", whole.len() - 1, whole.len());
    assert_eq!(refused(&folder, "export --check out"), expected);
    fs::remove_file(folder.path("out/model.onnx")).expect("removed");
    let expected = "out/model.onnx: cannot be read: No such file or directory";
    assert_eq!(refused(&folder, "export --check out"), expected);
    folder.write("elsewhere", &whole);
    std::os::unix::fs::symlink(folder.path("elsewhere"), folder.path("out/model.onnx")).expect("linked");
    assert_eq!(refused(&folder, "export --check out"), "out/model.onnx: is a symbolic link; expected a regular file");
    fs::remove_file(folder.path("out/model.onnx")).expect("removed");
    folder.write("out/model.onnx", &whole);
    folder.told("export --check out");
    folder.write("out/metadata.sha256", "abc");
    let has = digest(&canonical(&metadata));
    let expected = format!("out/metadata.sha256: says abc, metadata.json has {has}: one of them was changed");
    assert_eq!(refused(&folder, "export --check out"), expected);
    let output = folder.mero("predict out t.csv --device cpu");
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("mero: predict: {expected}\n"));
}

#[test]
fn weights_of_fewer_bits_are_read_back_and_compared() {
    let folder = filled();
    let line = "export m --int8 small --data t.csv --device cpu --json";
    let told = json_of(&folder, line);
    let comparison = &told["comparison"];
    assert_eq!((&told["storage"], &comparison["rows"]), (&json!("int8"), &json!(160)));
    let predicted = ["m", "small"].map(|model| folder.told(&format!("predict {model} t.csv --device cpu")));
    assert_ne!(predicted[0], predicted[1]);
    // The report, recomputed from the output of the command line.
    let flags =
        |text: &str| text.lines().skip(1).map(|line| line.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>();
    let [before, after] = [flags(&predicted[0]), flags(&predicted[1])];
    let equal = before.iter().zip(&after).filter(|(before, after)| before == after).count();
    assert_eq!(comparison["equal_masks"], json!(equal));
    let half = json_of(&folder, "export m --f16 half --data t.csv --device cpu --json");
    let largest = |told: &Value| told["comparison"]["largest_change"].as_f64().expect("a number");
    let median = |told: &Value| told["comparison"]["median_change"].as_f64().expect("a number");
    assert!(median(&half) < median(&told) && largest(&half) > 0.0, "{half} {told}");
    let sizes = ["m", "half", "small"].map(|name| fs::metadata(folder.path(name)).expect("it is there").len());
    assert!(told["bytes"] == json!(sizes[2]) && told["f32_bytes"] == json!(sizes[0]), "{sizes:?} {told}");
    let text = folder.told("export m --int8 small --data t.csv --device cpu");
    assert!(text.contains("equal masks") && text.contains("of 160 rows"), "{text}");
    let found = folder.told("eval small t.csv --device cpu");
    assert!(found.contains("small, int8 weights, regression of \"y\""), "{found}");
}

#[test]
fn rates_and_sweeps_are_reported() {
    let folder = filled();
    let told = json_of(&folder, "eval m t.csv --device cpu --json --sweep");
    let (seen, swept) = (&told["decoding"], told["sweep"].as_array().expect("rows"));
    let number = |value: &Value| value.as_f64().expect("a number");
    let rates = &seen["rates"];
    assert_eq!((rates["values"].as_u64(), &seen["stretches"]), (Some(160), &json!(1)));
    assert_eq!(number(&rates["given"]), 1.0 - number(&rates["bottom"]));
    assert_eq!(number(&rates["given"]), number(&told["test"]["coverage"]));
    let own = swept.iter().find(|row| number(&row["tau"]) == 0.25).expect("the model's own threshold");
    assert_eq!((&own["bottom"], &own["refused"]), (&rates["bottom"], &told["test"]["refused"]));
    assert_eq!(number(&own["missed"]), 1.0 - number(&told["test"]["found"]));
    let (mse, rmse) = (number(&told["test"]["mse"]), number(&own["rmse"]));
    assert!((rmse * rmse - mse).abs() < 1e-5 * mse, "{rmse} {mse}");
    let bottoms: Vec<f64> = swept.iter().map(|row| number(&row["bottom"])).collect();
    assert!(bottoms.is_sorted() && bottoms[0] < bottoms[bottoms.len() - 1], "{bottoms:?}");
    let text = folder.told("eval m t.csv --device cpu --sweep=0.1,0.3");
    assert!(
        text.contains("numbers refused") && text.contains("  0.3000  ") && text.contains("too near a pole"),
        "{text}"
    );
    let zero = folder.mero("eval m t.csv --device cpu --sweep=0");
    let said = String::from_utf8_lossy(&zero.stderr);
    assert_eq!(said, "mero: eval: sweep: tau is 0, expected a finite number above 0\n");
    folder.told("train t.csv --target b --device cpu --threads 1 --hidden 8 --epochs 1 --out plain");
    let said = folder.mero("eval plain t.csv --device cpu --sweep").stderr;
    assert_eq!(String::from_utf8_lossy(&said), "mero: eval: sweep: the model has no poles, so no threshold\n");
}

#[test]
fn contradictory_arguments_are_errors() {
    let folder = filled();
    for (line, expected) in [
        ("export m --onnx o --data t.csv", "export: data: it is what --f16 and --int8 are compared on"),
        ("export m --int8 m", "export: m is the model itself; name another file"),
        ("export m --onnx ./m", "export: ./m is the model itself; name another file"),
        ("export m --onnx o --device cuda9", "export: device \"cuda9\" is unknown; there are auto, webgpu, cpu"),
    ] {
        let output = folder.mero(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("mero: {expected}\n"));
    }
    for line in ["export m", "export --bundle out", "export m --check out", "export m --onnx o --overwrite"] {
        assert_eq!(folder.mero(line).status.code(), Some(2), "{line}");
    }
    assert_eq!(refused(&folder, "export m --onnx no/o"), "no/o: cannot be written: No such file or directory");
    assert_eq!(refused(&folder, "export m --bundle m"), "m: exists and is not a folder");
}

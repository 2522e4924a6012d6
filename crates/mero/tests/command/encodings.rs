//! Encodings of columns that an option names, in every face of the command.

use std::fmt::Write as _;

use super::{Folder, json_lines};

/// Values that depend on one of 200 identifiers, each in six rows, of which some are missing.
fn table() -> String {
    let mut text = "id,a,y\n".to_owned();
    for row in 0..1200_u32 {
        let id = row % 200;
        let (a, own) = (f64::from(row * 37 % 100) / 50.0 - 1.0, f64::from(id * 7919 % 100) / 25.0 - 2.0);
        let name = if id == 13 { String::new() } else { format!("unit-{id}") };
        writeln!(text, "{name},{a},{}", own + 0.5 * a).expect("a text");
    }
    text
}

const FLAGS: &str =
    "--target y --device cpu --threads 1 --hidden 32 --bins 0 --lr 1e-2 --epochs 60 --patience 0 --weight-decay 0";

#[test]
fn hashed_texts_are_learnt_and_new_ones_are_taken() {
    let folder = Folder::new();
    folder.write("t.csv", table());
    let report = json_lines(&folder.told(&format!("train t.csv {FLAGS} --encode id=hashed --out m --json")));
    let r2 = report.last().expect("a report")["test"]["r2"].as_f64().expect("R²");
    assert!(r2 > 0.9, "{r2}");
    let told = folder.told("info m");
    assert!(told.contains("texts by their hashes, such as unit-") && told.contains("a level of its own"), "{told}");
    // 199 texts, so 512 inputs and the number.
    let info = json_lines(&folder.told("info m --json")).remove(0);
    assert_eq!((info["inputs"].as_u64(), info["columns"][0]["kind"].as_str()), (Some(513), Some("category")));
    folder.write("new.csv", "id,a\nunit-7,0\nunit-777,0\n,0\n");
    let told = folder.told("predict m new.csv --device cpu");
    let rows: Vec<&str> = told.lines().skip(1).collect();
    // Nothing is said of a text that training did not see.
    assert!(rows.len() == 3 && rows.iter().all(|row| row.ends_with(',')), "{told}");
    let value = |row: &str| row.split(',').next().expect("a value").parse::<f64>().expect("a number");
    let [own, missing] = [7 * 7919 % 100, 13 * 7919 % 100].map(|own| f64::from(own) / 25.0 - 2.0);
    assert!((value(rows[0]) - own).abs() < 0.5 && (value(rows[2]) - missing).abs() < 0.5, "{told} {own} {missing}");
    let eval = json_lines(&folder.told("eval m t.csv --device cpu --partial id --json")).remove(0);
    let (levels, means) = (&eval["partial"][0]["levels"], &eval["partial"][0]["curves"][0]["means"]);
    let sizes = [levels, means].map(|list| list.as_array().map(Vec::len));
    assert!(sizes[0] == sizes[1] && sizes[0].is_some_and(|size| size > 10), "{levels} {means}");
    // Without rows of missing cells, one that comes is an error or has no prediction.
    let trained = folder.mero(&format!("train t.csv {FLAGS} --encode id=hashed --missing drop --out d"));
    assert!(trained.status.success(), "{trained:?}");
    let (_, said) = folder.refused("predict d new.csv --device cpu --unknown refuse");
    assert!(said.contains("row 3, column \"id\": is missing"), "{said}");
}

#[test]
fn what_cannot_be_encoded_so_is_an_error() {
    let folder = Folder::new();
    folder.write("t.csv", table());
    let cases = [
        ("--encode id=hash", "encode: unknown name \"hash\": did you mean \"hashed\"?", 1),
        ("--encode y=hashed", "encode: column \"y\" is the target; expected a feature", 2),
        ("--encode id=levels --encode id=hashed", "encode: got column \"id\" twice, expected it once", 2),
        ("--encode id=hashed --ignore id", "encode: column \"id\" is not used; expected a feature", 2),
        ("--encode idd=hashed", "column \"idd\" not in t.csv; it has \"id\", \"a\", \"y\"; did you mean \"id\"?", 1),
        ("--encode id", "--encode: got \"id\", expected zip=levels", 2),
    ];
    let mut failures = Vec::new();
    for (flags, expected, code) in cases {
        let line = format!("train t.csv --target y {flags}");
        super::check(&folder, &line, &format!("train: {expected}"), code, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

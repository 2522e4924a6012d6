//! What is learnt: targets, rare classes, few rows, time; and that a model knows how its table was written.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::super::{Folder, json, json_lines};
use serde_json::Value;

const TINY: &str = "--device cpu --threads 1 --hidden 8 --epochs 3 --bins 0";

/// A folder with a file of `tests/cases/targets`.
fn with(name: &str) -> Folder {
    let folder = Folder::new();
    let path = format!("{}/../../tests/cases/targets/{name}", env!("CARGO_MANIFEST_DIR"));
    folder.write(name, std::fs::read(path).expect("a case"));
    folder
}

/// Standard output and standard error of a command that must succeed.
fn ran(folder: &Folder, line: &str) -> (String, String) {
    let output = folder.mero(line);
    let [out, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(output.status.success(), "{line}: {said}");
    (out, said)
}

/// The warnings of a run.
fn warnings(folder: &Folder, line: &str) -> String {
    ran(folder, &format!("{line} {TINY} --out m")).1
}

fn numbers(out: &str) -> Vec<f64> {
    out.lines().skip(1).map(|line| line.split(',').next().expect("a cell").parse().expect("a number")).collect()
}

/// x from 1 to 7 digits, y = 2 x.
fn values() -> Vec<f64> {
    (0..200).map(|i| f64::from(i * 37 % 200) * 41.25 + 3.5).collect()
}

#[test]
fn a_model_knows_the_words_for_missing_cells() {
    let folder = Folder::new();
    let mut text = "x,z,y\n".to_owned();
    for (i, x) in values().iter().enumerate() {
        let cell = if i % 7 == 0 { "-999".into() } else { x.to_string() };
        writeln!(text, "{cell},{},{}", i % 5, 2.0 * x).expect("text");
    }
    folder.write("na.csv", text);
    ran(&folder, &format!("train na.csv --target y --na=-999 {TINY} --out m"));
    folder.write("n.csv", "x,z\n-999,1\n500,1\n");
    let (given, said) = ran(&folder, "predict m n.csv --na=-999 --device cpu");
    assert_eq!(said, "");
    let (own, said) = ran(&folder, "predict m n.csv --device cpu");
    assert_eq!(own, given);
    assert_eq!(said, "mero predict: n.csv is read like the table of training: na \"-999\"\n");
    // A file that has no words at all.
    folder.write("n.jsonl", "{\"x\": -999, \"z\": 1}\n{\"x\": 500, \"z\": 1}\n");
    assert_eq!(ran(&folder, "predict m n.jsonl --device cpu").0, given);
    let (other, said) = ran(&folder, "predict m n.csv --na none --device cpu");
    assert_ne!(other, given);
    assert_eq!(
        said.lines().next(),
        Some("mero predict: n.csv is read with na \"none\", the table of training was read with na \"-999\"")
    );
    // The rows of a file of their own, and a bundled model.
    folder.write("t.csv", "x,z,y\n-999,1,5\n500,1,1000\n600,2,1200\n700,2,1400\n");
    let report = json(&folder, &format!("train na.csv --target y --na=-999 --test-file t.csv {TINY} --out k --json"));
    let of_file = report.last().expect("a report")["test"].clone();
    assert_eq!(json_lines(&ran(&folder, "eval k t.csv --json --device cpu").0)[0]["test"]["mse"], of_file["mse"]);
}

#[test]
fn a_model_knows_the_marks_of_its_numbers() {
    let folder = Folder::new();
    let german = |x: f64| {
        let text = format!("{x:.2}").replace('.', ",");
        let (whole, rest) = text.split_once(',').expect("a comma");
        let cut = whole.len().saturating_sub(3);
        if cut == 0 { text.clone() } else { format!("{}.{},{rest}", &whole[..cut], &whole[cut..]) }
    };
    let mut text = "x;y\n".to_owned();
    for x in values() {
        writeln!(text, "{};{}", german(x), german(2.0 * x)).expect("text");
    }
    folder.write("eu.csv", text);
    ran(&folder, &format!("train eu.csv --target y --decimal , --thousands . {TINY} --out m"));
    folder.write("e.csv", "x\n1.234\n5.678\n");
    let (given, _) = ran(&folder, "predict m e.csv --decimal , --thousands . --device cpu");
    let (own, said) = ran(&folder, "predict m e.csv --device cpu");
    assert_eq!(own, given);
    assert!(said.contains("is read like the table of training: decimal \",\", thousands \".\""), "{said}");
    // A file that is written otherwise: what is said counts, and a column of texts is named.
    folder.write("us.csv", "x\n1234.5\n5678.5\n");
    let (_, said) = ran(&folder, "predict m us.csv --device cpu");
    assert!(
        said.contains("column \"x\" held numbers in the table of training and holds texts here, such as \"1234.5\""),
        "{said}"
    );
    let (out, said) = ran(&folder, "predict m us.csv --decimal . --thousands , --device cpu");
    assert_eq!(numbers(&out).len(), 2);
    assert!(said.contains("is read with decimal \".\", the table of training was read with decimal \",\""), "{said}");
    // Marks do not apply to numbers that are stored as such.
    folder.write("e.jsonl", "{\"x\": 1234}\n{\"x\": 5678}\n");
    assert_eq!(numbers(&ran(&folder, "predict m e.jsonl --device cpu").0), numbers(&given));
}

#[test]
fn a_percentage_is_the_same_number_in_a_workbook_and_in_its_csv() {
    let folder = with("x6_percent.xlsx");
    let (out, _) = ran(&folder, &format!("train x6_percent.xlsx --target y {TINY} --out m"));
    assert!(out.contains("300") || !out.is_empty());
    let (from_sheet, _) = ran(&folder, "predict m x6_percent.xlsx --with-inputs --device cpu");
    let mut lines = from_sheet.lines();
    let names: Vec<&str> = lines.next().expect("names").split(',').collect();
    let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(cells.iter().all(|row| row[0].ends_with('%')), "the text that is shown: {:?}", cells[0]);
    let mut text = names[..3].join(",") + "\n";
    for row in &cells {
        writeln!(text, "{}", row[..3].join(",")).expect("text");
    }
    folder.write("same.csv", text);
    let (from_text, said) = ran(&folder, "predict m same.csv --device cpu");
    assert_eq!(said, "");
    let of_sheet: Vec<&str> = cells.iter().map(|row| row[3]).collect();
    let of_text: Vec<&str> = from_text.lines().skip(1).map(|line| line.split(',').next().expect("a cell")).collect();
    assert_eq!(of_sheet, of_text);
    // Fractions instead of percentages are said.
    folder.write("plain.csv", format!("{}\n0.5,0.1,0.2\n0.25,0.3,0.1\n", names[..3].join(",")));
    let said = ran(&folder, "predict m plain.csv --device cpu").1;
    assert!(
        said.contains("held percentages in the table of training, of which 50% is 50, and holds plain numbers here"),
        "{said}"
    );
}

#[test]
fn rows_that_differ_are_no_copies() {
    let folder = Folder::new();
    let rows: String = (0..300).map(|i| format!("{i}.5,{},{}\n", ["a", "b"][i % 2], 2 * i + 1)).collect();
    folder.write("t.csv", format!("size,city,price\n{rows}"));
    let said = warnings(&folder, "train t.csv --target price");
    assert!(!said.contains("copies"), "{said}");
    // Sixty rows that are there twice.
    let twice: String =
        (0..300).map(|i| format!("{}.5,{},{}\n", i % 240, i % 240 * 7 % 67, i % 240 * 3 % 101)).collect();
    folder.write("t.csv", format!("size,k,price\n{twice}"));
    assert!(warnings(&folder, "train t.csv --target price --force").contains("60 of 300 rows are copies of another"));
}

#[test]
fn a_run_resumes_on_its_own_validation_rows_only() {
    let folder = Folder::new();
    let rows = |count: usize, plus: f64| -> String {
        let row = |i: usize| {
            let (a, b) = ((i * 37 % 101) as f64 / 101.0, (i * 53 % 97) as f64 / 97.0);
            format!("{a},{b},{}\n", a * b + plus)
        };
        format!("a,b,y\n{}", (0..count).map(row).collect::<String>())
    };
    folder.write("t.csv", rows(400, 0.0));
    folder.write("v.csv", rows(60, 0.0));
    let line = "train t.csv --target y --validation-file v.csv --epochs 1000000 --patience 0 --hidden 4 --device cpu --threads 1 --out m --quiet";
    let mut run = folder.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    std::thread::sleep(Duration::from_millis(1500));
    let stopped = std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status().expect("kill");
    assert!(stopped.success());
    run.wait().expect("it ends");
    folder.write("v.csv", rows(60, 50.0));
    let (code, said) = folder.refused("train t.csv --resume m.ckpt --out m --device cpu");
    assert_eq!((code, said.as_str()), (Some(1), "mero: train: v.csv: these are not the validation rows of m.ckpt"));
}

#[test]
fn a_schedule_without_any_term_is_refused_at_the_start() {
    let folder = Folder::new();
    let rows: String =
        (0..100).map(|i| format!("{},{}\n", f64::from(i) / 50.0 - 1.0, 1.0 / (f64::from(i) / 50.0 - 1.003))).collect();
    folder.write("p.csv", format!("x,y\n{rows}"));
    let line = "train p.csv --target y --head rational --epochs 50 --patience 0 --device cpu --hidden 4 --out m --json";
    for term in ["decoded=0.5..0@0..6", "decoded=0..0.5@6..9", "decoded=0.5..0@3..6 --term chordal=1..0@0..3"] {
        let output = folder.mero(&format!("{line} --term {term}"));
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(!output.status.success() && !text.contains("\"epoch\""), "{term}: {text}");
        assert!(text.contains("every weight is 0"), "{term}: {text}");
    }
}

#[test]
fn many_names_in_a_configuration_take_no_longer_than_on_the_command_line() {
    let folder = Folder::new();
    let names: Vec<String> = (0..20_000).map(|i| format!("c{i}")).collect();
    folder.write("t.csv", "a,y\n1,2\n2,3\n");
    folder.write("c.toml", format!("ignore = [\"{}\"]\n", names.join("\", \"")));
    let start = Instant::now();
    let (code, said) = folder.refused("train t.csv --target y --config c.toml");
    assert!(code == Some(1) && said.contains("column \"c0\" not in t.csv"), "{said}");
    // It was 40 s.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn inputs_are_written_as_their_file_has_them() {
    let folder = Folder::new();
    let row = |i: usize| {
        let amount = ["123456789012345678.25", "0.10"][i % 2];
        format!(
            "{{\"a\": {i}, \"country\": \"{}\", \"amount\": {amount}, \"pad\": \"\\ttab \", \"y\": {i}.5}}\n",
            ["NA", "DE"][i % 2]
        )
    };
    folder.write("t.jsonl", (0..40).map(row).collect::<String>());
    ran(&folder, &format!("train t.jsonl --target y --features a {TINY} --out m"));
    let (out, _) = ran(&folder, "predict m t.jsonl --with-inputs --device cpu");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[1].starts_with("0,NA,123456789012345678.25,\"\ttab \",0.5,"), "{}", lines[1]);
    assert!(lines[2].starts_with("1,DE,0.10,\"\ttab \",1.5,"), "{}", lines[2]);
}

#[test]
fn a_date_is_no_class() {
    let folder = with("t17_date_target.csv");
    let (code, said) = folder.refused(&format!("train t17_date_target.csv --target due {TINY}"));
    assert_eq!(code, Some(1));
    assert!(
        said.contains("target \"due\" holds dates, such as 2024-01-12, which are not predicted yet")
            && said.contains("the days since a fixed day"),
        "{said}"
    );
    ran(&folder, &format!("train t17_date_target.csv --target due --categorical due {TINY} --out m"));
}

#[test]
fn a_name_of_each_row_is_no_target() {
    let folder = Folder::new();
    let rows: String = (0..80).map(|i| format!("{},id{i},k{},{}\n", i * 37 % 80, i % 30, i + 1000)).collect();
    folder.write("t.csv", format!("a,id,k,row_nr\n{rows}"));
    let (_, said) = folder.refused(&format!("train t.csv --target id {TINY}"));
    assert!(said.contains("target \"id\" has another text in every row, so no class can be learnt"), "{said}");
    assert!(
        warnings(&folder, "train t.csv --target k").contains("column \"k\": has 30 classes in 80 rows, 2.7 of each")
    );
    let said = warnings(&folder, "train t.csv --target row_nr --force");
    assert!(said.contains("column \"row_nr\": has another whole number in every row"), "{said}");
}

#[test]
fn a_class_that_is_never_found_is_said() {
    let folder = with("t05b_noisy_imbalance.csv");
    let line = "train t05b_noisy_imbalance.csv --target fraud --device cpu --threads 1 --hidden 8 --bins 0";
    let (_, said) = ran(&folder, &format!("{line} --epochs 3 --out m"));
    let expected = "column \"fraud\": of 41 test rows that are \"1\" the model finds none; class_weights balanced";
    assert!(said.contains(expected), "{said}");
    let report = json(&folder, &format!("{line} --epochs 3 --out k --json"));
    let message = report.last().expect("a report")["warnings"][0]["message"].as_str().expect("text").to_owned();
    assert!(expected.contains(&message[..20]), "{message}");
    let (_, said) = ran(&folder, &format!("{line} --epochs 20 --class-weights balanced --out b"));
    assert!(!said.contains("finds none"), "{said}");
}

#[test]
fn too_few_rows_are_refused_with_the_number_needed() {
    let folder = with("t21_rows3.csv");
    let (code, said) = folder.refused(&format!("train t21_rows3.csv --target y {TINY}"));
    assert_eq!(
        (code, said.as_str()),
        (
            Some(1),
            "mero: train: t21_rows3.csv: 3 usable rows, of which 1 for validation and 1 for test, leave 1 to train on: expected at least 5, 7 in all"
        )
    );
    folder.write("seven.csv", "a,y\n1,2.5\n2,3.5\n3,4.5\n4,5.5\n5,6.5\n6,7.5\n7,8.5\n");
    ran(&folder, &format!("train seven.csv --target y {TINY} --out m"));
}

#[test]
fn a_row_of_totals_is_named() {
    let folder = with("r34_footer.csv");
    let said = warnings(&folder, "train r34_footer.csv --target y");
    assert!(
        said.contains("column \"c\": row 301 seems to sum up the rows above") && said.contains("\"Total\""),
        "{said}"
    );
    // What it advises works.
    let report =
        json(&folder, &format!("train r34_footer.csv --target y --na Total --missing drop {TINY} --out k --json"));
    assert_eq!(report[0]["dropped"], 1);
}

#[test]
fn a_day_is_in_one_part() {
    let folder = with("w43_time_ties.csv");
    let report = json(&folder, &format!("train w43_time_ties.csv --target y --time day {TINY} --out m --json"));
    let rows: Vec<u64> =
        ["train", "validation", "test"].map(|part| report[0]["rows"][part].as_u64().expect("a number")).to_vec();
    // 203 rows of 29 days: 15 % are 30 rows, and the nearest days begin after 140 and 175 rows.
    assert_eq!(rows, [140, 35, 28]);
    let folds =
        json(&folder, &format!("train w43_time_ties.csv --target y --time day --folds 3 {TINY} --out k --json"));
    let held: Vec<&Value> = folds.iter().filter(|event| event["event"] == "fold").collect();
    assert_eq!(held.len(), 3, "{folds:?}");
    for fold in held {
        assert!(fold["rows"]["test"].as_u64().is_none_or(|rows| rows % 7 == 0), "{fold}");
    }
}

#[test]
fn unknown_labels_are_left_out_of_an_evaluation() {
    let folder = with("t19_space_labels.csv");
    ran(&folder, &format!("train t19_space_labels.csv --target income {TINY} --out m"));
    folder.write("one.csv", "a,b,income\n0.9,0.1, >50K\n-0.9,-0.4, <=50K\n0.5,0.1, >50K.\n");
    let (out, _) = ran(&folder, "eval m one.csv --device cpu");
    assert!(
        out.contains(
            "1 of 3 rows dropped; income: 0 missing, 1 not seen in training, such as \">50K.\"; did you mean \">50K\"?"
        ),
        "{out}"
    );
    let report = json(&folder, "eval m one.csv --device cpu --json");
    assert_eq!((&report[0]["rows"]["test"], &report[0]["dropped"]), (&2.into(), &1.into()));
    folder.write("all.csv", "a,b,income\n0.9,0.1, >50K.\n-0.9,-0.4, <=50K.\n");
    let (code, said) = folder.refused("eval m all.csv --device cpu");
    assert_eq!(
        (code, said.as_str()),
        (
            Some(1),
            "mero: eval: all.csv: column \"income\": training saw none of the labels of 2 rows, such as \">50K.\"; did you mean \">50K\"?; it saw \"<=50K\", \">50K\""
        )
    );
}

#[test]
fn what_is_not_possible_yet_says_what_is() {
    let folder = with("t13_text.csv");
    let said = warnings(&folder, "train t13_text.csv --target label");
    assert!(
        said.contains("column \"review\": holds free text, which is not learnt from yet, and is left out"),
        "{said}"
    );
    let folder = with("t14_multi.csv");
    let (code, said) = folder.refused("train t14_multi.csv --target y1,y2");
    assert_eq!(
        (code, said.as_str()),
        (
            Some(2),
            "mero: train: target: got 2 columns, which are not learnt at once yet: train a model for each, such as target y1 with ignore y2"
        )
    );
    let folder = with("t15_weights.csv");
    let (code, said) = folder.refused("train t15_weights.csv --target y --weight w");
    assert!(
        code == Some(2) && said.starts_with("mero: --weight: weights of rows are not possible yet: repeat rows"),
        "{said}"
    );
}

//! Tables as people have them: odd cells, codes, categories that training never saw, rows without a target.

use super::{Folder, QUICK, check, filled, json, json_lines, table};

/// Exit code 0, standard output and standard error.
fn both(folder: &Folder, line: &str) -> (String, String) {
    let output = folder.mero(line);
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{line}: {err}");
    (out, err)
}

#[test]
fn an_odd_cell_leaves_a_column_of_numbers_and_is_listed() {
    let folder = filled();
    for odd in ["-", "None", "abc", "12.5%"] {
        let good = table(120);
        let row = good.lines().nth(5).unwrap();
        let (_, rest) = row.split_once(',').unwrap();
        folder.write("odd.csv", good.replace(row, &format!("{odd},{rest}")));
        let (out, err) = both(&folder, &format!("train odd.csv --target y {QUICK} --json --out {}.m", odd.len()));
        let start = &json_lines(&out)[0];
        // Two numbers, one of them with a gap, and two categories.
        assert_eq!((&start["inputs"], &start["dropped"]), (&5.into(), &0.into()), "{odd}: {start}");
        let warning = &start["warnings"][0];
        assert_eq!((&warning["column"], &warning["cells"][0]), (&"a".into(), &odd.into()), "{warning}");
        assert!(err.is_empty(), "warnings are in the JSON: {err}");
    }
    let (_, err) = both(&folder, &format!("train odd.csv --target y {QUICK} --out m"));
    assert!(err.starts_with("mero train: column \"a\": 1 cell is no number and counts as missing;"), "{err}");
}

#[test]
fn numbers_in_the_file_s_own_notation_are_read_as_declared() {
    let folder = Folder::new();
    let row = |i: usize| format!("{},{}|1.{:03},5|{}\n", i % 7, i % 10, i % 100, ["-9", "4"][i % 2]);
    let text: String = (0..60).map(row).collect();
    folder.write("t.csv", format!("a|y|z\n{text}1,5|2,5|3\n"));
    let line =
        format!("train t.csv --target y --delimiter | --decimal , --thousands . --na -9,NV {QUICK} --json --out m");
    let start = &json(&folder, &line)[0];
    assert_eq!((&start["task"], &start["inputs"]), (&"regression".into(), &3.into()), "{start}");
    let refused = folder.mero(&format!("train t.csv --target y --decimal x {QUICK}"));
    let err = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(err.contains("decimal: got \"x\", expected a point or a comma"), "{err}");
}

#[test]
fn cells_are_echoed_byte_for_byte() {
    let folder = filled();
    folder.told(&format!("train good.csv --target y {QUICK} --out m"));
    folder.write("new.csv", "id,a,b,colour,blank\r\n00501,0.50,1e-1,red,NA\r\n9007199254740993,.5,\"1\",\"blue\",\r\n");
    let (out, _) = both(&folder, "predict m new.csv --with-inputs --device cpu");
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("id,a,b,colour,blank,prediction,note"));
    assert!(lines.next().unwrap().starts_with("00501,0.50,1e-1,red,NA,"), "{out}");
    assert!(lines.next().unwrap().starts_with("9007199254740993,.5,\"1\",\"blue\",,"), "{out}");
}

#[test]
fn a_category_or_a_missing_cell_does_not_refuse_the_file() {
    let folder = filled();
    folder.told(&format!("train good.csv --target y {QUICK} --missing drop --out m"));
    folder.write("new.csv", "a,b,colour\n0.5,0.5,red\n0.5,0.5,green\n,0.5,red\n9,0.5,blue\n");
    let (out, err) = both(&folder, "predict m new.csv --device cpu");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[1].ends_with(',') && !lines[1].starts_with(','), "{out}");
    assert!(lines[2].ends_with(",colour: not seen in training") && !lines[2].starts_with(','), "{out}");
    assert!(lines[3].starts_with(",\"a: is missing"), "{out}");
    assert!(lines[4].ends_with(",a: outside the training range") && !lines[4].starts_with(','), "{out}");
    let expected = "mero predict: of 4 rows, 1 without a prediction (\"a\"), 1 with a value that training did not see (\"colour\"), \
                  1 outside the training range (\"a\"); see the column note\n";
    assert_eq!(err, expected);
    let (out, _) = both(&folder, "predict m new.csv --device cpu --unknown skip");
    assert!(out.lines().nth(2).unwrap().starts_with(','), "{out}");
    let refused = folder.mero("predict m new.csv --device cpu --unknown refuse");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("row 3, column \"a\": is missing"));
    folder.told(&format!("train good.csv --target y {QUICK} --out m --force"));
    let (out, err) = both(&folder, "predict m new.csv --device cpu");
    let filled = out.lines().nth(3).unwrap();
    assert!(filled.ends_with(",\"a: missing, a usual value filled in\"") && !filled.starts_with(','), "{out}");
    assert!(err.contains("1 with a missing cell filled in (\"a\")"), "{err}");
}

#[test]
fn levels_come_from_the_training_rows_only() {
    let folder = Folder::new();
    let rows: String =
        (0..40).map(|i| format!("{i},{},{}.5\n", if i == 0 { "rare" } else { "common" }, i * 2)).collect();
    folder.write("t.csv", format!("a,c,y\n{rows}"));
    let starts = (0..12).map(|seed| {
        let line =
            format!("train t.csv --target y {QUICK} --json --seed {seed} --out m{seed} --validation 0.3 --test 0.3");
        json(&folder, &line)[0]["inputs"].as_u64().unwrap()
    });
    let inputs: Vec<u64> = starts.collect();
    assert!(
        inputs.contains(&2) && inputs.contains(&3),
        "the rare level is in the training rows of some seeds only: {inputs:?}"
    );
}

#[test]
fn eval_takes_the_table_that_train_took() {
    let folder = Folder::new();
    folder.write("t.csv", table(120) + "1,1,red,\n1,1,red,inf\n,1,blue,2\n");
    folder.told(&format!("train t.csv --target y {QUICK} --missing drop --out m"));
    let report = &json(&folder, "eval m t.csv --device cpu --json")[0];
    assert_eq!((&report["rows"]["test"], &report["dropped"]), (&120.into(), &3.into()), "{report}");
    let text = folder.told("eval m t.csv --device cpu");
    assert!(text.contains("3 of 123 rows dropped; a: 1 missing; y: 1 missing, 1 infinite"), "{text}");
}

#[test]
fn text_stays_text() {
    let folder = Folder::new();
    let zips = ["02139", "2139", "10001"];
    let rows: String = (0..90).map(|i| format!("{},{}\n", i % 3, zips[i % 3])).collect();
    folder.write("t.csv", format!("a,zip\n{rows}"));
    folder.told("train t.csv --target zip --device cpu --hidden 8 --epochs 60 --lr 1e-2 --out m");
    let (out, _) = both(&folder, "predict m t.csv --device cpu --proba");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "prediction,probability,p(02139),p(2139),p(10001),note");
    assert!(lines[1].starts_with("02139,") && lines[2].starts_with("2139,"), "{out}");
    for line in &lines[1..4] {
        let sum: f64 = line.split(',').skip(2).take(3).map(|cell| cell.parse::<f64>().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{line}");
    }
}

#[test]
fn names_with_commas_can_be_given() {
    let folder = Folder::new();
    folder.write("t.csv", table(120).replacen("a,b,colour", "\"price,net\",b,colour", 1));
    let start = &json(&folder, &format!("train t.csv --target y --features \"price,net\",b {QUICK} --json --out m"))[0];
    assert_eq!(start["inputs"], 2, "{start}");
}

#[test]
fn a_table_with_twenty_thousand_columns_is_read() {
    let folder = Folder::new();
    let width = 20_000;
    let header: Vec<String> = (0..width).map(|j| format!("column{j}")).collect();
    let row = |i: usize| (0..width).map(|j| ((i * j) % 10).to_string()).collect::<Vec<_>>().join(",");
    let rows: String = (0..12).map(|i| format!("{}.5,{}\n", i, row(i))).collect();
    folder.write("t.csv", format!("y,{}\n{rows}", header.join(",")));
    let line = format!("train t.csv --target y --ignore {} {QUICK} --json --out m", header[..5_000].join(","));
    let start = &json(&folder, &line)[0];
    let rows = &start["rows"];
    assert_eq!((&start["inputs"], &start["dropped"]), (&15_000.into(), &0.into()));
    assert_eq!([&rows["train"], &rows["validation"], &rows["test"]], [10, 1, 1], "{rows}");
    let last = format!("{}\n{}\n", header[5_000..].join(","), vec!["1"; 15_000].join(","));
    folder.write("new.csv", last);
    let (out, _) = both(&folder, "predict m new.csv --device cpu");
    assert_eq!(out.lines().count(), 2, "the ignored columns are not needed: {out}");
}

#[test]
fn categories_with_very_many_values_are_encoded_by_their_mean_targets() {
    let folder = Folder::new();
    let rows: String = (0..11_000).map(|i| format!("k{},{}.5,{}\n", i % 1100, i % 7, i % 1100 * 7 % 100)).collect();
    folder.write("t.csv", format!("id,x,y\n{rows}"));
    let lines = json(&folder, "train t.csv --target y --task regression --hidden 16 --epochs 20 --json --out m");
    assert!(lines[0]["inputs"].as_u64().is_some_and(|inputs| inputs < 150), "{}", lines[0]);
    let end = lines.last().unwrap();
    assert!(end["test"]["r2"].as_f64().is_some_and(|r2| r2 > 0.9), "{end}");
    let refused = folder.mero(&format!("train t.csv --target id {QUICK}"));
    let err = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(err, "mero: train: target \"id\" of t.csv has 1100 classes, expected at most 1000\n");
}

#[test]
fn odd_cells_can_be_kept_as_a_category_and_a_format_holds_for_every_table() {
    let folder = Folder::new();
    let rows: String =
        (0..100).map(|i| format!("{},{}.5\n", if i % 20 == 0 { "A".into() } else { (i % 3).to_string() }, i)).collect();
    folder.write("t.csv", format!("c,y\n{rows}"));
    let start = &json(&folder, &format!("train t.csv --target y --categorical c {QUICK} --json --out m"))[0];
    assert_eq!((&start["inputs"], &start["dropped"]), (&4.into(), &0.into()), "{start}");
    assert_eq!(start["warnings"], serde_json::json!([]));
    let rows: String = (0..100).map(|i| format!("1.{i:03},{}\n", 1000 + i)).collect();
    folder.write("g.csv", format!("x;y\n{}", rows.replace(',', ";")));
    folder.told(&format!("train g.csv --target y --decimal , --thousands . {QUICK} --out g"));
    folder.write("new.csv", "x\n1.050\nabc\n");
    let (out, _) = both(&folder, "predict g new.csv --decimal , --thousands . --device cpu");
    assert!(out.lines().nth(1).is_some_and(|line| line.ends_with(',')), "1050 is within the training range: {out}");
}

#[test]
fn outputs_that_are_not_finite_are_no_predictions_and_an_error_of_eval() {
    let folder = Folder::new();
    let names: Vec<String> = (0..40).map(|j| format!("x{j}")).collect();
    let row = |i: usize, size: &str| {
        let cells: Vec<String> = (0..40).map(|j| format!("{}{size}", ["-", ""][(i * 7 + j * 3 + i * j) % 2])).collect();
        format!("{},{}\n", cells.join(","), ["a", "b"][i % 2])
    };
    let table = |size: &str| format!("{},y\n{}", names.join(","), (0..60).map(|i| row(i, size)).collect::<String>());
    folder.write("t.csv", table("1"));
    // A 32-bit float can hold it, but not the sums over 40 inputs.
    folder.write("huge.csv", table("3e38"));
    both(&folder, "train t.csv --target y --device cpu --threads 1 --hidden 64,64,64 --epochs 3 --out m");
    let (out, _) = both(&folder, "predict m huge.csv --device cpu");
    let mut failures = Vec::new();
    let expected = "eval: huge.csv: row 1: the model's output is not finite; leave the row out";
    check(&folder, "eval m huge.csv --device cpu", expected, 1, &mut failures);
    assert!(failures.is_empty(), "{failures:?}");
    assert_eq!(out.lines().skip(1).filter(|line| line.starts_with(",,")).count(), 60, "{out}");
}

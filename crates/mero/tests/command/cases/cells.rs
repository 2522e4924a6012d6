//! How cells are written: numbers with units, limits, groups of digits and signs of accountants, dates with names and short years, words for
//! missing cells, spellings of one value. The least and the greatest value of each column are worked out by hand from its file.

use std::fmt::Write as _;

use super::super::{Folder, json_lines};
use meromorph::model::Model;
use meromorph::table::{Feature, NumberFeature, Target};
use serde_json::Value;

/// Every row trains, so that the model keeps the least and the greatest value of the table.
const WHOLE: &str = "--target y --device cpu --threads 1 --hidden 4 --epochs 2 --bins 0 --validation 0 --test 0";

/// A folder with a file of `tests/cases/cells`.
fn with(name: &str) -> Folder {
    let folder = Folder::new();
    let path = format!("{}/../../tests/cases/cells/{name}", env!("CARGO_MANIFEST_DIR"));
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

/// What training on a file says, with its model.
fn trained(folder: &Folder, file: &str, more: &str) -> (String, Model) {
    let (_, said) = ran(folder, &format!("train {file} {WHOLE} {more} --out m --force"));
    (said, Model::load(&folder.read("m"), "m").expect("a model"))
}

/// The features of a model.
fn features(model: &Model) -> &[Feature] {
    &model.preparation.as_ref().expect("a preparation").features
}

/// The numbers of the first feature, or the days of its dates.
fn first_number(model: &Model) -> &NumberFeature {
    match &features(model)[0] {
        Feature::Numeric(number) => number,
        Feature::Date(date) => &date.elapsed,
        other => panic!("no number: {other:?}"),
    }
}

/// The start of a run, with its warnings.
fn start(folder: &Folder, line: &str) -> Value {
    json_lines(&ran(folder, &format!("{line} --json --out m --force")).0).remove(0)
}

/// The predictions for the rows of a table.
fn predicted(folder: &Folder, text: &str) -> Vec<String> {
    folder.write("new.csv", text);
    let (out, _) = ran(folder, "predict m new.csv --device cpu");
    out.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn numbers_are_read_however_they_are_written() {
    // A file, the least and the greatest number of its first column, how many cells are missing, and words of the warnings.
    let cases = [
        ("r26_accounting.csv", "", -4985.21, 8961.66, false, "read as numbers"),
        ("r26b_few_negative.csv", "", -8968.54, 8944.83, false, "read as numbers"),
        (
            "r48_censored.csv",
            "",
            0.1,
            0.598,
            false,
            "58 cells are limits and are read as the number itself; the option na",
        ),
        ("r50_units_in_cells.csv", "", -9.79, 29.75, false, "numbers with the unit mm are read without it"),
        ("r47_excel_errors.csv", "", -1.0, 0.9608, true, "59 cells count as missing"),
        ("w18_0.csv", "", -0.9951, 0.9859, true, "42 cells count as missing"),
        ("w14_nbsp.csv", "", -0.9968, 0.9963, false, ""),
        ("w40_german_counts.csv", "", 10.0, 14_732_311.0, false, "the option thousands declares it"),
        ("w41_sentinel_decimals.csv", "--na=-9999", -9.85, 29.94, true, ""),
        ("w48_k_suffix.csv", "", 9200.0, 9e6, false, "letters behind numbers are read as thousands and more"),
    ];
    for (file, more, least, greatest, has_gaps, words) in cases {
        let folder = with(file);
        let (said, model) = trained(&folder, file, more);
        let number = first_number(&model);
        assert_eq!((number.min, number.max, number.has_gaps), (least, greatest, has_gaps), "{file}: {said}");
        assert!(said.contains(words) && !said.contains("category;"), "{file}: {said}");
    }
}

#[test]
fn colours_with_a_space_of_web_pages_behind_them_are_the_same() {
    let folder = with("w14_nbsp.csv");
    let (said, model) = trained(&folder, "w14_nbsp.csv", "");
    assert_eq!(said, "");
    let Feature::Categorical(colour) = &features(&model)[2] else { panic!("no category") };
    assert_eq!(colour.levels, ["blue", "green", "red"]);
}

#[test]
fn a_new_table_is_read_as_that_of_training() {
    // A file, a header, and pairs of cells that must mean the same; the last cell of each list must not be read.
    type Known = (&'static str, &'static str, &'static [(&'static str, &'static str)], &'static str);
    let cases: [Known; 7] = [
        ("w40_german_counts.csv", "people;a", &[("2.726", "2726"), ("12.000", "12000")], "2.7.2"),
        ("r50_units_in_cells.csv", "len,a", &[("5.25 mm", "5.25"), ("7mm", "7")], "5.25 cm"),
        ("w48_k_suffix.csv", "views,a", &[("4.3M", "4300000"), ("812.0K", "812000")], "4.3 km"),
        ("r48_censored.csv", "conc,a", &[("<0.2", "0.2")], "low"),
        ("r26_accounting.csv", "profit,a", &[("(580.16)", "-580.16")], "(a)"),
        ("r15_month_names.csv", "when,a", &[("23-Apr-2022", "2022-04-23")], "23-Foo-2022"),
        ("r14_mdy_two_digits.csv", "when,a", &[("4/3/22", "2022-04-03")], "23/4/22"),
    ];
    for (file, header, pairs, wrong) in cases {
        let folder = with(file);
        trained(&folder, file, "");
        let mark = if header.contains(';') { ';' } else { ',' };
        for (written, plain) in pairs {
            // In tables of their own, so that other cells do not show how they are written.
            let [one, other] = [written, plain].map(|cell| predicted(&folder, &format!("{header}\n{cell}{mark}0.5\n")));
            assert_eq!(one, other, "{file}: {written}");
            assert!(!one[0].starts_with(','), "{file}: {one:?}");
        }
        let refused = predicted(&folder, &format!("{header}\n{wrong}{mark}0.5\n"));
        assert!(refused[0].starts_with(','), "{file}: {wrong} is read as {refused:?}");
    }
}

#[test]
fn eval_reads_a_target_with_a_unit_as_training_did() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{},{}.5 kg\n", i % 7, i * 2)).collect();
    folder.write("t.csv", format!("a,y\n{rows}"));
    let (said, model) = trained(&folder, "t.csv", "");
    assert!(said.contains("the unit kg"), "{said}");
    let preparation = model.preparation.as_ref().expect("a preparation");
    assert!(matches!(preparation.target, Target::Regression { min, max, .. } if (min, max) == (0.5, 118.5)));
    ran(&folder, "eval m t.csv --device cpu");
    folder.write("other.csv", format!("a,y\n{rows}").replace("kg", "lb"));
    let (_, said) = folder.refused("eval m other.csv --device cpu");
    assert!(said.contains("row 1, column \"y\": \"0.5 lb\" is not a number in kg"), "{said}");
}

#[test]
fn dates_are_read_however_they_are_written() {
    // A file, the first and the last day since 1970, and words of the warnings.
    let day = 24.0;
    let cases = [
        ("r14_mdy_two_digits.csv", "", 18_994.0, 19_690.0, "in the order mdy with years of two digits"),
        ("r15_month_names.csv", "", 18_994.0, 19_690.0, ""),
        ("r15c_month_year.csv", "", 18_993.0, 19_662.0, ""),
        ("r15e_week.csv", "", 18_988.0, 19_688.0, ""),
        // From midnight to 01:52:30 of 2024-04-01 in universal time.
        ("r16b_tz_names.csv", "", 19_812.0, 19_814.0 + 1.875 / day, ""),
        ("w45_two_digit_unique.csv", "", 18_262.0, 20_081.0, "in the order mdy with years of two digits"),
        ("r13b_open_order.csv", "--date-order dmy", 18_994.0, 19_673.0, ""),
        ("r13b_open_order.csv", "--date-order mdy", 18_994.0, 19_702.0, ""),
    ];
    for (file, more, first, last, words) in cases {
        let folder = with(file);
        let (said, model) = trained(&folder, file, more);
        assert!(matches!(features(&model)[0], Feature::Date(_)), "{file}: {said}");
        let days = first_number(&model);
        assert!((days.min - first).abs() < 1e-9 && (days.max - last).abs() < 1e-9, "{file}: {} {}", days.min, days.max);
        assert!(said.contains(words) && (!words.is_empty() || said.is_empty()), "{file}: {said}");
    }
    let folder = with("r13b_open_order.csv");
    let (said, model) = trained(&folder, "r13b_open_order.csv", "");
    assert!(matches!(features(&model)[0], Feature::Categorical(_)));
    assert!(said.contains("the option --date-order says it (dmy, mdy or ymd)"), "{said}");
}

#[test]
fn durations_are_hours() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{:02}:30:00,{}\n", i, i * 2)).collect();
    folder.write("t.csv", format!("took,y\n{rows}"));
    let (said, model) = trained(&folder, "t.csv", "");
    let took = first_number(&model);
    assert_eq!((took.min, took.max), (0.5, 59.5));
    assert!(said.contains("durations are read as hours: \"24:30:00\" is 24.5"), "{said}");
    let [clock, hours] = ["06:00:00", "6"].map(|cell| predicted(&folder, &format!("took\n{cell}\n")));
    assert_eq!(clock, hours, "a number is one of hours");
}

#[test]
fn every_word_for_a_missing_cell_counts_among_numbers() {
    let words = [
        "\\N",
        "#N/A N/A",
        "-1.#IND",
        "1.#QNAN",
        "<NA>",
        "NaT",
        "(null)",
        "(blank)",
        "#NULL!",
        "#NAME?",
        "#NUM!",
        "#DIV/0!",
        "#VALUE!",
        "#REF!",
        "ND",
        "n/d",
        "unknown",
        "not available",
        "TBD",
        "*",
        "x",
        "NA",
        "null",
        "-",
    ];
    let folder = Folder::new();
    let mut text: String = (0..words.len()).map(|at| format!("c{at}x,")).collect::<String>() + "y\n";
    for row in 0..100 {
        for (at, word) in words.iter().enumerate() {
            let cell = if (row + at) % 7 == 0 { (*word).to_owned() } else { format!("0.{row:03}") };
            write!(text, "{cell},").expect("text");
        }
        writeln!(text, "{row}.5").expect("text");
    }
    folder.write("t.csv", text);
    let start = start(&folder, &format!("train t.csv {WHOLE}"));
    assert_eq!(start["inputs"], 2 * words.len(), "a number and a gap of each column: {start}");
}

#[test]
fn errors_of_formulas_are_missing() {
    let folder = with("x4_error_cells.xlsx");
    let (said, model) = trained(&folder, "x4_error_cells.xlsx", "");
    let Feature::Numeric(number) = &features(&model)[1] else { panic!("a category: {said}") };
    assert_eq!((number.min, number.max, number.has_gaps), (-0.982_777_289_656_871_6, 0.987_583_347_430_479_6, true));
    assert!(said.contains("60 cells count as missing"), "{said}");
}

#[test]
fn namibia_is_a_country_and_an_empty_cell_is_none() {
    let folder = with("r21_namibia.csv");
    let levels = |more: &str| {
        let (said, model) = trained(&folder, "r21_namibia.csv", more);
        let Feature::Categorical(country) = &features(&model)[0] else { panic!("no category") };
        (said, country.levels.join(" "), country.has_gaps())
    };
    let (said, all, has_gaps) = levels("");
    assert_eq!((all.as_str(), has_gaps), ("BW DE FR NA ZA", true));
    assert!(said.contains("apart from empty cells; na NA makes it missing"), "{said}");
    assert_eq!(levels("--na NA").1, "BW DE FR ZA");
    let (said, all, _) = levels("--keep-na");
    assert!(!said.contains("na NA") && all == "BW DE FR NA ZA", "{said}");
    // With --keep-na the word is a text among numbers, too.
    folder.write("n.csv", format!("n,y\n{}NA,1\n", "1,2\n3,4\n5,6\n".repeat(10)));
    let (said, _) = trained(&folder, "n.csv", "--keep-na");
    assert!(said.contains("1 cell is no number and counts as missing"), "{said}");
    assert_eq!(trained(&folder, "n.csv", "").0, "");
}

#[test]
fn a_class_called_na_stays() {
    let folder = with("w1_class_na.csv");
    let line = "train w1_class_na.csv --target region --device cpu --threads 1 --hidden 4 --epochs 2 --bins 0 --json --force --out m";
    let classes = |more: &str| {
        let run = json_lines(&ran(&folder, &format!("{line} {more}")).0).remove(0);
        let model = Model::load(&folder.read("m"), "m").expect("a model");
        let target = &model.preparation.as_ref().expect("a preparation").target;
        (run["dropped"].clone(), target.levels().join(" "), run["warnings"].to_string())
    };
    let (dropped, all, said) = classes("");
    assert_eq!((dropped, all.as_str()), (0.into(), "AS EU NA"));
    assert!(said.contains("na NA makes it missing"), "{said}");
    let (dropped, all, _) = classes("--na NA");
    assert_eq!((dropped, all.as_str()), (100.into(), "AS EU"));
}

#[test]
fn words_for_true_and_false_are_two_values() {
    let folder = with("r25_bools.csv");
    let (said, model) = trained(&folder, "r25_bools.csv", "");
    let Feature::Categorical(flag) = &features(&model)[0] else { panic!("no category") };
    // Of 60 rows 31 are no in six spellings; "no" and "YES" are the most frequent ones.
    assert_eq!((flag.levels.clone(), flag.counts.clone()), (["YES", "no"].map(String::from).to_vec(), vec![29, 31]));
    assert!(said.contains("words for true and false are read as two values"), "{said}");
    let [upper, letter] = ["TRUE", "t"].map(|cell| predicted(&folder, &format!("flag,a\n{cell},0.5\n")));
    assert_eq!(upper, letter);
    assert!(upper[0].ends_with(','), "{upper:?}");
}

#[test]
fn what_stays_unread_is_named_with_the_option_that_reads_it() {
    let cases: [(&dyn Fn(usize) -> String, &str); 4] = [
        (&|i| format!("{i} {}", ["mm", "cm"][i % 2]), "its numbers have different units (mm, cm)"),
        (&|i| format!("{}{i}", ["$", "€"][i % 2]), "its numbers have different units"),
        (
            &|i| if i % 3 == 0 { format!("soon {i}") } else { format!("2024-01-{:02}", i % 28 + 1) },
            "of its different texts are dates, others are not",
        ),
        (&|i| format!("{}{i}", ["<", ">"][i % 2]), "60 of 60 numbers are limits"),
    ];
    for (cell, words) in cases {
        let folder = Folder::new();
        let rows: String = (0..60).map(|i| format!("{},{},{}\n", cell(i), i % 7, i * 2)).collect();
        folder.write("t.csv", format!("c,a,y\n{rows}"));
        let (said, _) = trained(&folder, "t.csv", "");
        assert!(said.contains(words) && !said.contains("nothing can be learnt"), "{words}: {said}");
    }
}

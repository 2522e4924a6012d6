//! Splitting and judging: files of held-out rows, folds, intervals, importance, partial dependence, `info` and pages.

use meromorph::prelude::*;

use super::{Folder, QUICK, check, filled, json, noise::noise, table};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

const CPU: &str = "--device cpu --threads 1";

/// y = 3 a - 2 b + noise of standard deviation 0.5, a column that says nothing, and a column of six users.
fn noisy(rows: usize, seed: u32) -> String {
    let values = noise(rows * 7, seed);
    let mut text = "a,b,idle,user,y\n".to_owned();
    for (row, v) in values.chunks_exact(7).enumerate() {
        let y = 3.0 * v[0] - 2.0 * v[1] + 0.5 * (v[3] + v[4] + v[5]);
        text += &format!("{},{},{},u{},{y}\n", v[0], v[1], v[2], row % 6);
    }
    text
}

fn last(lines: &[Value]) -> &Value {
    &lines[lines.len() - 1]
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Columns of a CSV text without quotes, by name.
fn column(text: &str, name: &str) -> Vec<f64> {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|known| known == name).unwrap_or_else(|| panic!("no {name}"));
    lines.map(|line| line.split(',').nth(at).unwrap().parse().unwrap_or_else(|_| panic!("{name}: {line}"))).collect()
}

#[test]
fn info_says_what_a_model_is_and_how_it_did() {
    let folder = filled();
    let report = json(&folder, &format!("train good.csv --target y {QUICK} --json --out m --seed 7"));
    let info = json(&folder, "info m --json").remove(0);
    assert_eq!(
        (&info["task"], &info["format"], &info["target"]["name"]),
        (&"regression".into(), &2.into(), &"y".into())
    );
    assert_eq!(info["parameters"], 4 * 8 + 8 + 8 + 1);
    let kinds: Vec<&str> = info["columns"].as_array().unwrap().iter().map(|c| c["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["number", "number", "category"]);
    assert!(number(&info["columns"][0]["min"]) >= -1.0 && number(&info["columns"][0]["max"]) <= 1.0, "{info}");
    assert_eq!(info["columns"][2]["levels"], serde_json::json!(["blue", "red"]));
    let training = &info["training"];
    assert_eq!((&training["source"], &training["settings"]["seed"]), (&"good.csv".into(), &7.into()));
    assert_eq!(training["rows"], last(&report)["rows"]);
    assert_eq!(
        (&training["test"]["mae"], &training["val"]["mse"]),
        (&last(&report)["test"]["mae"], &last(&report)["val"]["mse"])
    );
    assert_eq!(training["best_epoch"], last(&report)["best_epoch"]);
    assert_eq!((&info["interval"]["calibration"], &info["interval"]["rows"]), (&"test".into(), &18.into()));
    let text = folder.told("info m");
    for expected in [
        "\"y\", a number",
        "49 parameters",
        "colour  category",
        "red (",
        "84 for training, 18 for validation",
        "without inputs",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    // A bundle carries the record too; a page and a package only predict.
    folder.told("export m --bundle b --device cpu");
    assert_eq!(json(&folder, "info b --json")[0]["training"], *training);
}

#[test]
fn the_library_and_the_command_give_the_same_figures() {
    let folder = Folder::new();
    let text = noisy(300, 5);
    folder.write("t.csv", &text);
    let report = json(&folder, &format!("train t.csv --target y --seed 9 --json {CPU}"));
    let source = read_table(text.as_bytes(), "t.csv", Header::Auto).unwrap();
    let choice = Choice { target: "y".into(), ..Choice::default() };
    let run = TrainOptions { choice, seed: 9, ..TrainOptions::default() }.prepare(&source).unwrap();
    let test = source.take(&run.split.test).unwrap();
    let device = Device::cpu(1);
    let mut trainer = Trainer::new(&device, run.spec.clone(), run.settings.clone(), run.data).unwrap();
    pollster::block_on(trainer.run(&mut |_| Flow::Continue)).unwrap();
    let model = pollster::block_on(trainer.model(Some(run.preparation))).unwrap();
    let judged = pollster::block_on(model.evaluate(&device, &test)).unwrap();
    let figures = serde_json::to_value(judged.metrics).unwrap();
    assert_eq!((&figures, judged.rows.len()), (&last(&report)["test"], 45));
}

#[test]
fn validation_and_test_rows_come_from_files_of_their_own() {
    let folder = filled();
    let rows = |from: usize, to: usize| {
        let all = table(200);
        let lines: Vec<&str> = all.lines().collect();
        format!("{}\n{}\n", lines[0], lines[1 + from..=to].join("\n"))
    };
    folder.write("v.csv", format!("{}0.5,,red,1\n0.5,0.5,green,1\n", rows(120, 150)));
    // The same columns in another order, with one more.
    folder.write(
        "t.csv",
        rows(150, 190)
            .lines()
            .map(|line| {
                let cells: Vec<&str> = line.split(',').collect();
                format!("{},x,{},{},{}\n", cells[3], cells[2], cells[1], cells[0])
            })
            .collect::<String>(),
    );
    let line = format!(
        "train good.csv --target y {QUICK} --missing drop --validation-file v.csv --test-file t.csv --json --out m"
    );
    let lines = json(&folder, &line);
    let expected = serde_json::json!({ "train": 120, "validation": 31, "test": 40 });
    assert_eq!((&lines[0]["rows"], &last(&lines)["rows"]), (&expected, &expected));
    let files = serde_json::json!([
        { "part": "validation", "source": "v.csv", "rows": 31, "dropped": 1, "unseen": 1 },
        { "part": "test", "source": "t.csv", "rows": 40, "dropped": 0, "unseen": 0 },
    ]);
    assert_eq!(lines[0]["files"], files);
    let judged = json(&folder, "eval m t.csv --json --device cpu").remove(0);
    assert_eq!(judged["test"], last(&lines)["test"], "as `eval` measures the same file");
    let one = json(&folder, &format!("train good.csv --target y {QUICK} --test-file t.csv --json --out m"));
    assert_eq!(one[0]["rows"], serde_json::json!({ "train": 102, "validation": 18, "test": 40 }));
    let text =
        folder.told(&format!("train good.csv --target y {QUICK} --missing drop --validation-file v.csv --out m"));
    assert!(text.contains("v.csv; 1 of 32 rows dropped; b: 1 missing; 1 cell with a category"), "{text}");
}

#[test]
fn contradictions_about_held_out_rows_are_errors() {
    let folder = filled();
    folder.write("users.csv", noisy(60, 1));
    folder.write("more.csv", noisy(60, 2));
    folder.write("blind.csv", "a,y\n1,2\n");
    let cases = [
        ("good.csv --target y --test-file good.csv", "good.csv is the test file and the table itself"),
        (
            "good.csv --target y --test 0.2 --test-file t.csv",
            "--test-file holds the test rows, so --test has no rows to take; leave one of them out",
        ),
        (
            "good.csv --target y --validation 0 --validation-file t.csv",
            "--validation-file holds the validation rows, so --validation has no rows to take; leave one of them out",
        ),
        (
            "users.csv --target y --group user --validation-file more.csv --test-file more.csv",
            "--group splits the table, but the validation and test rows are in files of their own",
        ),
        (
            "users.csv --target y --group user --test-file more.csv",
            "group \"u0\" is in both users.csv and more.csv; groups are kept apart",
        ),
        ("good.csv --target y --test-file t.csv --out t.csv", "t.csv is the test file itself; name another file"),
        ("good.csv --target y --report good.csv", "good.csv is the table itself; name another file"),
        ("good.csv --target y --folds 1", "folds: got 1, expected at least 2"),
        (
            "good.csv --target y --test 0 --validation 0 --report r.html",
            "--report needs test or validation rows to judge the model by",
        ),
    ];
    let mut failures = Vec::new();
    for (line, expected) in cases {
        check(&folder, &format!("train {line} {QUICK}"), &format!("train: {expected}"), 2, &mut failures);
    }
    let missing = "train: column \"b\" is missing from blind.csv; it has \"a\", \"y\"";
    check(&folder, &format!("train good.csv --target y --test-file blind.csv {QUICK}"), missing, 1, &mut failures);
    let few = "train: users.csv: 6 groups are too few for 7 folds";
    check(&folder, &format!("train users.csv --target y --group user --folds 7 {QUICK}"), few, 1, &mut failures);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert_eq!(folder.mero("train good.csv --resume c --folds 3").status.code(), Some(2));
    assert_eq!(folder.names(""), ["blind.csv", "good.csv", "more.csv", "users.csv"], "nothing was written");
}

#[test]
fn folds_hold_out_every_row_once_and_the_model_learns_from_all() {
    let folder = filled();
    let lines = json(&folder, &format!("train good.csv --target y {QUICK} --folds 4 --json --out m"));
    let folds: Vec<&Value> = lines.iter().filter(|line| line["event"] == "fold").collect();
    assert_eq!(folds.len(), 4);
    assert!(
        folds.iter().all(|fold| fold["rows"] == serde_json::json!({ "train": 77, "validation": 13, "test": 30 })),
        "{folds:?}"
    );
    let summary = lines.iter().find(|line| line["event"] == "folds").unwrap();
    let mae: Vec<f64> = folds.iter().map(|fold| number(&fold["test"]["mae"])).collect();
    let mean = mae.iter().sum::<f64>() / 4.0;
    let spread = (mae.iter().map(|mae| (mae - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
    assert!((number(&summary["mean"]["mae"]) - mean).abs() < 1e-12 && spread > 0.0, "{summary}");
    assert!((number(&summary["spread"]["mae"]) - spread).abs() < 1e-12, "{summary}");
    assert!(
        number(&summary["baseline"]["mae"]) > 0.0 && (1..=3).contains(&summary["median_best_epoch"].as_u64().unwrap())
    );
    let report = last(&lines);
    assert_eq!(report["rows"], serde_json::json!({ "train": 102, "validation": 18, "test": 0 }));
    let info = json(&folder, "info m --json").remove(0);
    assert_eq!(info["training"]["folds"].as_array().map(Vec::len), Some(4));
    assert_eq!(info["training"]["folds"][2]["mae"], folds[2]["test"]["mae"]);
    assert_eq!((&info["interval"]["calibration"], &info["interval"]["rows"]), (&"folds".into(), &120.into()));
    let held = json(&folder, &format!("train good.csv --target y {QUICK} --folds 4 --test 0.25 --json --out m"));
    let fold = held.iter().find(|line| line["event"] == "fold").unwrap();
    assert_eq!((&fold["rows"]["test"], &last(&held)["rows"]["test"]), (&23.into(), &30.into()), "{fold}");
    let text = folder.told(&format!("train good.csv --target colour {QUICK} --folds 3 --out c"));
    for expected in
        ["fold 3 ", "mean ", "± spread", "without inputs", "AUC", "3 folds, the median of their best epochs is"]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn intervals_cover_new_rows_as_often_as_they_say() {
    let folder = filled();
    folder.write("known.csv", noisy(3000, 1));
    folder.write("new.csv", noisy(2000, 2));
    let train = format!("train known.csv --target y --ignore user {CPU} --hidden 16 --epochs 60 --lr 1e-2");
    let truth = column(&noisy(2000, 2), "y");
    let mut half = Vec::new();
    for folds in ["", "--folds 5"] {
        folder.told(&format!("{train} {folds} --out m"));
        for level in [0.5, 0.9] {
            let text = folder.told(&format!("predict m new.csv --interval {level} {CPU}"));
            let [lower, upper, middle] = ["lower", "upper", "prediction"].map(|name| column(&text, name));
            let inside = (0..2000).filter(|&row| lower[row] <= truth[row] && truth[row] <= upper[row]).count();
            let coverage = inside as f64 / 2000.0;
            assert!((coverage - level).abs() < 0.06, "{folds} {level}: {coverage}");
            half.push(upper[0] - lower[0]);
            let is_around = (0..2000).filter(|&row| lower[row] < middle[row] && middle[row] < upper[row]).count();
            assert!(is_around > 1990, "{folds} {level}: {is_around}");
        }
    }
    assert!(half[0] < 0.6 * half[1] && half[2] < 0.6 * half[3], "{half:?}");
    let mut failures = Vec::new();
    let expected = "predict: interval: a level of 0.9999 needs at least 9999 rows that were held out of training, but the model has 3000";
    check(&folder, "predict m new.csv --interval 0.9999", expected, 1, &mut failures);
    let expected = "predict: --interval: got 90, expected a probability between 0 and 1";
    check(&folder, "predict m new.csv --interval 90", expected, 2, &mut failures);
    folder.told(&format!("train good.csv --target colour {QUICK} --out c"));
    let expected = "predict: interval: only predictions of numbers, by models without poles, have intervals";
    check(&folder, "predict c good.csv --interval 0.9", expected, 2, &mut failures);
    folder.told(&format!("train good.csv --target y {QUICK} --test 0 --validation 0 --patience 0 --out n"));
    let expected =
        "predict: interval: the model file holds no errors of held-out rows; train it again, with test rows or folds";
    check(&folder, "predict n good.csv --interval 0.9", expected, 1, &mut failures);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn importance_and_partial_dependence_find_what_a_target_is_made_of() {
    let folder = Folder::new();
    folder.write("known.csv", noisy(900, 1));
    folder.write("new.csv", noisy(600, 2));
    folder.told(&format!("train known.csv --target y {CPU} --hidden 16 --epochs 60 --lr 1e-2 --out m"));
    let report = json(&folder, &format!("eval m new.csv {CPU} --json --importance --partial a,user")).remove(0);
    let importance = &report["importance"];
    assert_eq!(
        (&importance["metric"], &importance["rows"], &importance["repeats"]),
        (&"r2".into(), &600.into(), &5.into())
    );
    assert_eq!(importance["value"], report["test"]["r2"]);
    let columns = importance["columns"].as_array().unwrap();
    let names: Vec<&str> = columns.iter().map(|column| column["column"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["a", "b"], "{importance}");
    assert!(columns.windows(2).all(|pair| number(&pair[0]["mean"]) >= number(&pair[1]["mean"])), "{importance}");
    assert!(number(&columns[0]["mean"]) > 0.5 && number(&columns[3]["mean"]).abs() < 0.05, "{importance}");
    let [a, user] = [&report["partial"][0], &report["partial"][1]];
    let means: Vec<f64> = a["curves"][0]["means"].as_array().unwrap().iter().map(number).collect();
    assert!(means.len() == 20 && means.windows(2).all(|pair| pair[0] < pair[1]), "{a}");
    assert!((means[19] - means[0] - 3.0 * 1.8).abs() < 0.6, "a rises from -0.9 to 0.9, y by 3 a: {means:?}");
    assert_eq!(user["levels"].as_array().map(Vec::len), Some(6));
    let text = folder.told(&format!("eval m new.csv {CPU} --importance=2 --partial a"));
    let line =
        |name: &str| text.lines().find(|line| line.starts_with(&format!("  {name} ")) && line.contains('±')).unwrap();
    assert!(line("a").contains("██████") && !line("idle").contains('█'), "{text}");
    assert!(text.contains("Mean y by a") && text.contains("2 times"), "{text}");
    let mut failures = Vec::new();
    let expected = "eval: partial: the model does not read column \"z\"; it reads \"a\", \"b\", \"idle\", \"user\"";
    check(&folder, &format!("eval m new.csv {CPU} --partial z"), expected, 2, &mut failures);
    let expected = "eval: importance: got 0 repeats, expected at least 1";
    check(&folder, &format!("eval m new.csv {CPU} --importance=0"), expected, 2, &mut failures);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn a_report_is_one_page_about_the_rows_that_judge_the_model() {
    let folder = filled();
    folder.told(&format!("train good.csv --target y {QUICK} --out m --report y.html"));
    let page = folder.text("y.html");
    for expected in [
        "Predicting &quot;y&quot;",
        "On 18 test rows",
        "Predicted against actual",
        "Importance of the columns",
        "Loss over the epochs",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(
        page.contains("<code>mero train good.csv --target y") && page.contains("--report y.html</code>"),
        "the command"
    );
    assert!(page.matches("<svg class=\"chart\"").count() >= 7, "three columns have their charts, besides four others");
    let outside = ["http", "<script", "<link", "url(", "NaN"].into_iter().filter(|outside| page.contains(outside));
    assert_eq!(outside.count(), 0);
    folder.told(&format!("train good.csv --target colour {QUICK} --folds 3 --out c --report c.html"));
    let page = folder.text("c.html");
    for expected in [
        "Cross-validation over 3 folds: AUC",
        "ROC curve",
        "Calibration",
        "<th scope=\"row\">± spread</th>",
        "validation rows",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    folder.told("eval c good.csv --device cpu --report e.html");
    let page = folder.text("e.html");
    assert!(page.contains("of 120 rows") && !page.contains("Loss over the epochs"));
    assert!(page.contains("most frequent class would be right for 50.0 %"));
    folder.told(&format!("train good.csv --target y {QUICK} --head rational --out p --report p.html"));
    assert!(folder.text("p.html").contains("half of the values that the model gives"));
}

#[test]
fn a_resumed_run_finds_its_files_of_held_out_rows_again() {
    let folder = filled();
    folder.write("v.csv", table(40));
    let flags = format!("{CPU} --hidden 16,16 --epochs 3000 --patience 0 --batch 4 --validation-file v.csv --json");
    let line = format!("train good.csv --target y {flags}");
    json(&folder, &format!("{line} --out whole"));
    let mut child = folder.command(&format!("{line} --out cut")).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    (0..4).for_each(|_| _ = lines.next().expect("an event").expect("a line"));
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(signal.success());
    lines.for_each(drop);
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    json(&folder, &format!("train good.csv --resume cut.ckpt --out cut {CPU} --json"));
    assert_eq!(folder.read("whole"), folder.read("cut"), "the model of the uninterrupted run");
    assert_eq!(json(&folder, "info cut --json")[0]["training"]["rows"]["validation"], 40);
}

#[test]
fn other_seeds_say_how_much_is_luck() {
    let folder = filled();
    let flags = "train good.csv --target y --device cpu --threads 1 --hidden 8 --epochs 5 --json";
    let lines = json(&folder, &format!("{flags} --seed 4 --repeats 3 --out model"));
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    let (each, all) = (of("seed"), of("seeds"));
    assert_eq!((each.len(), all.len()), (3, 1));
    let losses: Vec<f64> = each.iter().map(|line| line["test"]["loss"].as_f64().unwrap()).collect();
    assert!(losses[0] != losses[1] && losses[1] != losses[2], "{losses:?}");
    let mean = all[0]["mean"]["loss"].as_f64().unwrap();
    assert!((mean - losses.iter().sum::<f64>() / 3.0).abs() < 1e-9 * mean, "{mean} {losses:?}");
    assert!(all[0]["interval"].as_f64().is_some_and(|half| half > 0.0), "{}", all[0]);
    // The second of them is a run of its own with that seed on the same rows.
    let alone = json(&folder, &format!("{flags} --seed 6 --split-seed 4 --out alone"));
    assert_eq!(alone[alone.len() - 1]["test"]["loss"].as_f64(), Some(losses[1]));
    // Nothing of them is in the model.
    let plain = json(&folder, &format!("{flags} --seed 4 --out plain"));
    assert_eq!(plain[plain.len() - 1]["test"], lines[lines.len() - 1]["test"]);
}

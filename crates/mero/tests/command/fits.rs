//! `mero fit`, and `mero predict` with a fit.

use super::{Folder, json};

/// A decay with a ripple: x, y and a column of texts. `gaps.csv` has two rows more, without y.
fn folder() -> Folder {
    let folder = Folder::new();
    let row = |at: u32| {
        let x = f64::from(at) / 8.0;
        format!("{x},{},a\n", 3.0 * (-1.2 * x).exp() + 0.5 + 0.02 * (20.0 * x).sin())
    };
    let rows: String = (0..40).map(row).collect();
    folder.write("data.csv", format!("x,y,group\n{rows}"));
    folder.write("gaps.csv", format!("x,y,group\n{rows}6,,a\n7,,b\n"));
    folder
}

const DECAY: &str = "--model a*exp(-b*x)+c --y y";

#[test]
fn a_fit_is_shown_saved_and_predicts() {
    let folder = folder();
    let text = folder.told(&format!("fit data.csv {DECAY} --out fit.json"));
    for part in ["y = a*exp(-b*x)+c\n40 rows of data.csv\n", "parameter", "95 % interval", "converged in", "o data"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let [report] = &json(&folder, &format!("fit data.csv {DECAY} --json --report fit.html"))[..] else {
        panic!("one line")
    };
    let b = report["parameters"]["b"]["value"].as_f64().unwrap();
    assert!((b - 1.2).abs() < 0.1, "{report}");
    assert_eq!((&report["precision"], &report["strategy"]), (&"f64".into(), &"standard".into()));
    let page = folder.text("fit.html");
    for part in ["Data and model", "Residuals", "Correlations", "Converged in", "mero fit data.csv --model"] {
        assert!(page.contains(part), "{part} is not on the page");
    }
    let csv = folder.told("predict fit.json data.csv");
    assert!(csv.starts_with("prediction,confidence_lower,confidence_upper,lower,upper\n"), "{csv}");
    assert_eq!(csv.lines().count(), 41);
    let gaps = folder.told(&format!("fit gaps.csv {DECAY} --missing drop"));
    assert!(gaps.contains("40 rows of gaps.csv, 2 rows left out"), "{gaps}");
}

#[test]
fn a_mistake_is_explained() {
    let folder = folder();
    folder.told(&format!("fit data.csv {DECAY} --out fit.json"));
    let columns = "\"x\", \"y\", \"group\"";
    let decay = |rest: &str| format!("fit data.csv {DECAY} {rest}");
    let cases = [
        ("fit data.csv --model a*exp(-b*X)".to_owned(), format!("fit: model: it uses no column: expected at least one of {columns}; did you mean \"x\"?")),
        ("fit data.csv --model a*expp(-b*x) --y y".into(), format!("fit: model: formula, character 3: unknown function \"expp\": did you mean \"exp\"? (in \"a*expp(-b*x)\"); columns are {columns}")),
        (
            "fit data.csv --model gausian(x)+line(x) --y y".into(),
            "fit: model: unknown function or model \"gausian\"; did you mean \"gaussian\"?".into(),
        ),
        ("fit data.csv --model a+b --y y".into(), format!("fit: model: it uses no column: expected at least one of {columns}")),
        ("fit data.csv --model a*x --y z".into(), format!("fit: y: got \"z\", expected a column, one of {columns}")),
        (decay("--p0 a"), "fit: --p0: got \"a\", expected name=value, such as a=1,b=0.1".into()),
        (decay("--p0 a=one"), "fit: --p0: a: got \"one\", expected a number".into()),
        (decay("--p0 a=1,a=2"), "fit: --p0: \"a\" is given twice".into()),
        (decay("--p0 a=1,b=2 --fix b=1"), "fit: p0: b is fixed: expected p0 or fix for it, not both".into()),
        (decay("--out fit.json --report fit.json"), "fit: fit.json is the fit itself; name another file".into()),
        (decay("--report data.csv"), "fit: data.csv is the table itself; name another file".into()),
        (decay("--report gaps.csv"), "fit: gaps.csv exists and is not a page; name another file, or replace it with --force".into()),
        (decay("--bounds a=1"), "fit: --bounds: a: got \"1\", expected low:high, such as 0:10, 0: or :10".into()),
        (decay("--tie c=x"), "fit: tie: \"c\" uses the column \"x\": expected parameters only".into()),
        (decay("--tie c=y"), "fit: tie: \"c\" uses the column \"y\": expected parameters only".into()),
        (decay("--loss hubert"), "invalid value 'hubert' for '--loss <NAME>'\n  [possible values: linear, soft_l1, huber, cauchy, arctan, poisson]\n\n  tip: a similar value exists: 'huber'\n\nFor more information, try '--help'.".into()),
        (decay("--loss-scale 2"), "fit: --loss-scale has no effect without a robust loss: --loss soft_l1, huber, cauchy or arctan".into()),
        (decay("--method lm --bounds a=0:9"), "fit: method: lm takes no bounds: expected trf, or no bounds".into()),
        (decay("--level 95"), "fit: --level: got 95, expected a probability between 0 and 1".into()),
        (format!("fit gaps.csv {DECAY}"), "fit: gaps.csv, row 41: column \"y\" has a missing cell (and 1 row more): expected numbers; --missing drop leaves such rows out".into()),
        ("predict fit.json data.csv --proba".into(), "predict: proba: it applies to trained models; the file is a fit".into()),
        ("predict fit.json data.csv --precision f16".into(), "predict: precision: it applies to trained models; the file is a fit".into()),
    ];
    for (line, message) in cases {
        let output = folder.mero(&line);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{line}");
        assert_eq!(text.trim_end(), format!("mero: {message}"), "{line}");
    }
    let text = String::from_utf8(folder.mero("fit data.csv --model a*group+b --y y").stderr).unwrap();
    assert!(text.contains("\"group\"") && text.contains("row 1"), "{text}");
}

#[test]
fn a_file_of_options_holds_starts_bounds_and_ties() {
    let folder = folder();
    let file =
        "y = \"y\"\nno-recovery = true\ntie = { c = \"a/2\" }\nbounds = { b = [0, 2.5] }\np0 = [\"a=2\", \"b=1\"]\n";
    folder.write("fit.toml", file);
    let by_file = folder.told("fit data.csv --model a*exp(-b*x)+c --config fit.toml --json");
    let line = "--y y --no-recovery --tie c=a/2 --bounds b=0:2.5 --p0 a=2 --p0 b=1";
    let by_line = folder.told(&format!("fit data.csv --model a*exp(-b*x)+c {line} --json"));
    let parts = |text: &str| {
        let report: serde_json::Value = serde_json::from_str(text).expect("one object");
        (report["parameters"].clone(), report["history"].clone(), report["ties"].clone())
    };
    assert_eq!(parts(&by_file), parts(&by_line));
    folder.write("fit.toml", "bounds = { b = [0] }\n");
    let (_, message) = folder.refused("fit data.csv --model a*exp(-b*x)+c --config fit.toml");
    assert_eq!(
        message,
        "mero: fit: fit.toml: bounds: b: got an array, expected [low, high], such as [0, 10] or [0, inf]"
    );
}

/// Decays of three sets with their own amplitudes: set, t, y.
fn sets(folder: &Folder) {
    let row = |(set, amplitude): (&str, f64), at: u32| {
        let t = f64::from(at) / 5.0;
        format!("{set},{t},{}\n", amplitude * (-1.3 * t).exp() + 0.2 + 0.02 * (19.0 * t).sin())
    };
    let of_set = |set| (0..20).map(move |at| row(set, at)).collect::<String>();
    let rows: String = [("red", 3.0), ("blue", 1.5), ("green", 5.0)].into_iter().map(of_set).collect();
    folder.write("sets.csv", format!("set,t,y\n{rows}"));
}

#[test]
fn parameters_have_values_for_levels() {
    let folder = Folder::new();
    sets(&folder);
    let model = "--model a[set]*exp(-b*t)+c --y y";
    let text = folder.told(&format!("fit sets.csv {model} --out fit.json --report fit.html"));
    for part in ["a[blue]", "a[green]", "a[red]", "o blue", "model, red"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    folder.write("new.csv", "set,t\nred,0\nblue,0\n");
    let csv = folder.told("predict fit.json new.csv");
    let values: Vec<f64> = csv.lines().skip(1).map(|line| line.split(',').next().unwrap().parse().unwrap()).collect();
    assert!((values[0] - 3.2).abs() < 0.05 && (values[1] - 1.7).abs() < 0.05, "{csv}");
    folder.write("other.csv", "set,t\npink,0\n");
    let (_, message) = folder.refused("predict fit.json other.csv");
    assert_eq!(message, "mero: predict: set: got pink, which the fit did not have");
    let smaller = folder.told("fit sets.csv --model a*exp(-b*t)+c --y y --out small.json --json");
    assert!(smaller.contains("\"stop\":\"shift\""), "{smaller}");
    let tested = folder.told(&format!("fit sets.csv {model} --against small.json --profile"));
    assert!(tested.contains("against the smaller model: F(2, 55)") && tested.contains("from the profile"), "{tested}");
}

#[test]
fn many_fits_are_a_table() {
    let folder = Folder::new();
    sets(&folder);
    let model = "--model a[set]*exp(-b[set]*t)+c[set] --y y";
    let text = folder.told(&format!("fit sets.csv {model} --out fits.csv"));
    assert!(text.contains("3 fits of sets.csv, one for each set") && text.contains("3 of 3 fits converged"), "{text}");
    let table = folder.text("fits.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "set,a,a_stderr,b,b_stderr,c,c_stderr,rms_residual,rows,stop");
    assert!(lines[1].starts_with("blue,1.498") && lines[1].ends_with(",20,converged"), "{}", lines[1]);
    let [report] = &json(&folder, &format!("fit sets.csv {model} --json"))[..] else { panic!("one line") };
    assert_eq!((&report["fits"], &report["converged"], &report["failed"]), (&3.into(), &3.into(), &0.into()));
    let (code, message) = folder.refused(&format!("fit sets.csv {model} --out fits.json"));
    assert_eq!(code, Some(2));
    assert!(message.contains("expected a name ending in .csv: many fits are written as a table"), "{message}");
}

/// In s0, y = 2 t + 0.5 + (1, -1, 1, -1): with c fixed at 0.5, b = (0 - 1 + 2 - 3) / 14 more than 2. In s1, y = 3 t + 5 + (1, -1, -1, 1) is a
/// line with c = 5, b = 3 and a variance of 4/2, where the mean of t is 1.5 and Σ (t - 1.5)² = 5.
#[test]
fn a_parameter_that_is_fixed_in_one_of_many_fits_has_no_error_there() {
    let folder = Folder::new();
    let rows = "s0,0,1.5\ns0,1,1.5\ns0,2,5.5\ns0,3,5.5\ns1,0,6\ns1,1,7\ns1,2,10\ns1,3,15\n";
    folder.write("lines.csv", format!("set,t,y\n{rows}"));
    let line = "fit lines.csv --model c[set]+b[set]*t --y y --fix c[s0]=0.5";
    let text = folder.told(&format!("{line} --out fits.csv"));
    assert!(text.contains("2 of 2 fits converged"), "{text}");
    let table = folder.text("fits.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["set", "c", "c_stderr", "b", "b_stderr", "rms_residual", "rows", "stop"]);
    assert_eq!(rows[1][..3], ["s0", "0.5", ""]);
    let close = |got: &str, expected: f64| (got.parse::<f64>().unwrap() - expected).abs() < 1e-12;
    // Σ r² = 4 - 2² / 14 with three degrees of freedom, and Σ t² = 14.
    let square = 4.0 - 4.0 / 14.0;
    assert!(close(rows[1][3], 2.0 - 2.0 / 14.0) && close(rows[1][4], (square / 3.0 / 14.0_f64).sqrt()), "{table}");
    let [c, b] = [(2.0 * (0.25 + 2.25 / 5.0_f64)).sqrt(), (2.0 / 5.0_f64).sqrt()];
    assert!(close(rows[2][1], 5.0) && close(rows[2][2], c) && close(rows[2][3], 3.0), "{table}");
    assert!(close(rows[2][4], b), "{table}");
    let [report] = &json(&folder, &format!("{line} --json"))[..] else { panic!("one line") };
    // The only error of c that is known.
    let median = report["parameters"]["c"]["median_stderr"].as_f64().unwrap();
    assert!((median - c).abs() < 1e-12, "{report}");
}

/// Numbers from -1 to 1 that look random.
fn ripple(row: u64) -> f64 {
    ((row * 2_654_435_761) % 1_000) as f64 / 500.0 - 1.0
}

/// An array of numpy with rows of t and a noisy decay.
pub(super) fn long(folder: &Folder, rows: u64) {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 2), }}");
    let header = format!("{header:<117}\n");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend_from_slice(header.as_bytes());
    for row in 0..rows {
        let t = 10.0 * row as f64 / rows as f64;
        let y = 3.0 * (-0.7 * t).exp() + 2.0 * (-0.2 * t).exp() + 0.5 + 0.05 * ripple(row);
        bytes.extend([t, y].iter().flat_map(|value| value.to_le_bytes()));
    }
    folder.write("long.npy", bytes);
}

pub(super) const TWO_DECAYS: &str = "--model a*exp(-b*c0)+c*exp(-d*c0)+f --p0 a=1,b=1,c=1,d=0.1,f=0";

/// The report without its time, and without the checksum, which covers it.
fn untimed(mut report: serde_json::Value) -> serde_json::Value {
    report.as_object_mut().unwrap().remove("seconds");
    report.as_object_mut().unwrap().remove("checksum");
    report
}

#[test]
fn every_strategy_has_the_same_answer() {
    let folder = Folder::new();
    long(&folder, 200_000);
    let with = |rest: &str| {
        let [report] = &json(&folder, &format!("fit long.npy {TWO_DECAYS} --json {rest}"))[..] else { panic!("one") };
        untimed(report.clone())
    };
    let standard = with("");
    for (strategy, limit) in [("large", "1GB"), ("chunked", "9MB"), ("streaming", "9MB")] {
        let mut other = with(&format!("--strategy {strategy} --memory-limit {limit}"));
        assert_eq!(other["strategy"], strategy);
        other["strategy"] = "standard".into();
        assert_eq!(other, standard, "{strategy}");
    }
    let text = folder.told(&format!("fit long.npy {TWO_DECAYS} --plan --memory-limit 9MB --threads 2"));
    assert!(text.contains("200,000 rows of 2 columns, 2 threads") && text.contains("chosen"), "{text}");
    let [plan] = &json(&folder, &format!("fit long.npy {TWO_DECAYS} --plan --memory-limit 9MB --json"))[..] else {
        panic!("one")
    };
    assert_eq!((&plan["event"], &plan["limited_by"]), (&"plan".into(), &"--memory-limit".into()));
    let (_, message) = folder.refused(&format!("fit long.npy {TWO_DECAYS} --memory-limit 1MB"));
    assert!(message.contains("expected a higher limit or fewer --threads"), "{message}");
    let (_, message) = folder.refused(&format!("fit long.npy {TWO_DECAYS} --memory-limit lots"));
    assert!(message.ends_with("memory-limit: got \"lots\", expected a size such as 500MB, 8GB or 2GiB"), "{message}");
}

#[test]
fn times_are_those_of_the_passes() {
    let folder = Folder::new();
    long(&folder, 200_000);
    for (strategy, is_read) in [("standard", false), ("streaming", true)] {
        let line = format!("fit long.npy {TWO_DECAYS} --strategy {strategy} --timings --json --out fit.json");
        let report = json(&folder, &line).remove(0);
        let timings = &report["timings"];
        let count = |name: &str| timings[name].as_u64().unwrap();
        assert_eq!((count("rows"), count("pass_bytes")), (200_000, 2 * 8 * 200_000));
        assert!(count("passes") >= report["evaluations"].as_u64().unwrap(), "{timings}");
        // The rows of a table are read once, before.
        let least = if is_read { (count("passes") + 2) * count("pass_bytes") } else { 0 };
        assert!(count("bytes_read") >= least && (is_read || count("bytes_read") == 0), "{timings}");
        let seconds = |name: &str| timings["seconds"][name].as_f64().unwrap();
        assert_eq!(seconds("table") > 0.0, !is_read);
        let parts = ["table", "before_the_search", "sums", "search", "standard_errors"].map(seconds);
        assert!(parts.iter().all(|part| *part >= 0.0) && parts.iter().sum::<f64>() <= seconds("total"), "{timings}");
    }
    folder.write("new.csv", "c0\n1\n");
    folder.told("predict fit.json new.csv");
    let text = folder.told(&format!("fit long.npy {TWO_DECAYS} --timings"));
    assert!(text.contains("timings: ") && text.contains(" passes over 200,000 rows, "), "{text}");
    assert!(!folder.told(&format!("fit long.npy {TWO_DECAYS}")).contains("timings: "));
    folder.write("many.csv", "set,t,y\na,0,1\na,1,2\na,2,3\nb,0,1\nb,1,2\nb,2,4\n");
    let (code, message) = folder.refused("fit many.csv --model a[set]*t+b[set] --y y --timings");
    assert_eq!(code, Some(2));
    assert!(message.contains("timings: many fits are solved in one pass over their rows"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_fit_that_is_ended_goes_on_with_the_same_bits() {
    use std::process::Command;
    let folder = Folder::new();
    long(&folder, 1_000_000);
    let line = format!("fit long.npy {TWO_DECAYS} --json");
    let started = std::time::Instant::now();
    let [whole] = &json(&folder, &line)[..] else { panic!("one line") };
    let time = started.elapsed();
    let line = format!("{line} --checkpoint fit.ckpt --checkpoint-every 0");
    // Killed later and later, until it ends before it is killed.
    let mut kills = 0_u32;
    let end = loop {
        let mut child = folder.command(&line).stdout(std::process::Stdio::piped()).spawn().unwrap();
        std::thread::sleep(time.mul_f64(0.3 + 0.06 * f64::from(kills)));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            break child.wait_with_output().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    };
    let [resumed] = &super::json_lines(&String::from_utf8(end.stdout).unwrap())[..] else { panic!("one line") };
    assert_eq!(untimed(resumed.clone()), untimed(whole.clone()), "after {kills} kills");
    assert_eq!(folder.names(""), ["long.npy"], "a fit that is done leaves no checkpoint");
    // SIGUSR1 saves and ends with a code of its own. A signal before the fit has begun ends the process.
    let mut saved = false;
    for wait in 1..40 {
        let mut command = folder.command(&line);
        let child = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        std::thread::sleep(time.mul_f64(0.05 * f64::from(wait)));
        Command::new("kill").args(["-USR1", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        if output.status.code() == Some(75) {
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(message.contains("saved in fit.ckpt: the same command goes on from there"), "{message}");
            saved = true;
            break;
        }
    }
    assert!(saved, "no signal came during the fit");
    // Another model's checkpoint is not used, and a damaged one is named.
    let other = "fit long.npy --model a*exp(-b*c0)+c --checkpoint fit.ckpt --json";
    let (code, message) = folder.refused(other);
    assert_eq!(code, Some(2));
    assert!(
        message.contains("it is the checkpoint of another fit: expected the same model, options and data"),
        "{message}"
    );
    for name in folder.names("").iter().filter(|name| name.starts_with("fit.ckpt")) {
        let mut bytes = folder.read(name);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        folder.write(name, bytes);
    }
    let (_, message) = folder.refused(&line);
    assert!(message.contains("its bytes do not match their digest"), "{message}");
    folder.told(&format!("{other} --force"));
}

#[test]
fn names_and_formulas_of_ties_may_have_blanks_and_words_for_missing_cells_dashes() {
    let folder = folder();
    let fitted = |tie: &str| {
        let line = format!("fit data.csv {DECAY} --json --tie");
        let output = folder.command(&line).arg(tie).output().expect("the binary starts");
        assert!(output.status.success(), "{tie}: {}", String::from_utf8_lossy(&output.stderr));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one object");
        report["parameters"].clone()
    };
    assert_eq!(fitted("c = a / 6"), fitted("c=a / 6"));
    folder.write("dashes.csv", String::from_utf8(folder.read("gaps.csv")).expect("text").replace(",,", ",--,"));
    let text = folder.told(&format!("fit dashes.csv {DECAY} --missing drop --na --,NA"));
    assert!(text.contains("40 rows of dashes.csv, 2 rows left out"), "{text}");
}

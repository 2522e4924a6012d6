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
        ("fit data.csv --model a+b --y y".into(), format!("fit: model: it uses no column: expected at least one of {columns}")),
        ("fit data.csv --model a*x --y z".into(), format!("fit: y: got \"z\", expected a column, one of {columns}")),
        (decay("--p0 a"), "fit: p0: got \"a\", expected name=value, such as a=1,b=0.1".into()),
        (decay("--p0 a=one"), "fit: p0: a: got \"one\", expected a number".into()),
        (decay("--p0 a=1,a=2"), "fit: p0: \"a\" is given twice".into()),
        (decay("--bounds a=1"), "fit: bounds: a: got \"1\", expected low:high, such as 0:10, 0: or :10".into()),
        (decay("--tie c=x"), "fit: tie: \"c\" uses the column \"x\": expected parameters only".into()),
        (decay("--tie c=y"), "fit: tie: \"c\" uses the column \"y\": expected parameters only".into()),
        (decay("--loss hubert"), "fit: loss: got \"hubert\", expected one of \"linear\", \"soft_l1\", \"huber\", \"cauchy\", \"arctan\"; did you mean \"huber\"?".into()),
        (decay("--loss-scale 2"), "fit: loss-scale: it applies to robust losses only: expected --loss soft_l1, huber, cauchy or arctan".into()),
        (decay("--method lm --bounds a=0:9"), "fit: method: lm takes no bounds: expected trf, or no bounds".into()),
        (decay("--level 95"), "fit: level: got 95, expected a probability between 0 and 1".into()),
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

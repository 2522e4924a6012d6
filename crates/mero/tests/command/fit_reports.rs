//! Fits as people reported them: names of columns, files, figures besides the parameters, and options that they asked for. The right values are those of
//! SciPy and statsmodels, unless they are worked out in place.

use std::path::Path;

use serde_json::Value;

use super::Folder;

/// A folder with some of the tables.
fn with(names: &[&str]) -> Folder {
    let folder = Folder::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fits");
    for name in names {
        folder.write(name, std::fs::read(data.join(name)).expect("a table"));
    }
    folder
}

/// Standard output and standard error of a command with these arguments, which succeeds.
fn run(folder: &Folder, arguments: &[&str]) -> (String, String) {
    let output = folder.command("").args(arguments).output().expect("the binary starts");
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(output.status.success(), "{arguments:?}: {error}");
    (out, error)
}

/// The error of a command, which fails.
fn error(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.command("").args(arguments).output().expect("the binary starts");
    assert!(!output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).expect("text").trim_end().to_owned()
}

/// The report of a fit.
fn fit(folder: &Folder, arguments: &[&str]) -> Value {
    let (out, _) = run(folder, &[&["fit"], arguments, &["--json"]].concat());
    serde_json::from_str(out.lines().last().expect("a line")).expect("JSON")
}

fn number(report: &Value, path: &[&str]) -> f64 {
    path.iter().fold(report, |value, name| &value[*name]).as_f64().unwrap_or_else(|| panic!("{path:?}: {report}"))
}

fn value(report: &Value, name: &str) -> f64 {
    number(report, &["parameters", name, "value"])
}

fn stderr(report: &Value, name: &str) -> f64 {
    number(report, &["parameters", name, "stderr"])
}

#[track_caller]
fn near(got: f64, expected: f64, relative: f64) {
    assert!((got - expected).abs() <= relative * expected.abs(), "{got}, expected {expected}");
}

#[test]
fn a_column_never_takes_the_place_of_a_parameter_of_a_named_model() {
    let folder = with(&["x_y_sigma.csv"]);
    let message = error(&folder, &["fit", "x_y_sigma.csv", "--model", "gaussian(x)", "--y", "y", "--sigma", "sigma"]);
    let start = "mero: fit: model: gaussian has a parameter \"sigma\", and the table a column of that name: rename the column, or write";
    assert!(message.starts_with(start), "{message}");
    let (_, written) = message.rsplit_once("such as ").expect("a formula");
    let report = fit(&folder, &["x_y_sigma.csv", "--model", written, "--y", "y", "--sigma", "sigma"]);
    near(value(&report, "height"), 4.609, 1e-3);
    near(value(&report, "center"), 4.120, 1e-3);
}

#[test]
fn standard_errors_are_no_observed_values() {
    let folder = with(&["x_y_yerr.csv"]);
    let (out, note) = run(&folder, &["fit", "x_y_yerr.csv", "--model", "a+b*x"]);
    assert!(out.starts_with("y = a+b*x\n"), "{out}");
    assert_eq!(
        note,
        "mero fit: y is \"y\"; \"yerr\" looks like its standard deviations: --sigma \"yerr\" weights the rows by them\n"
    );
    let report = fit(&folder, &["x_y_yerr.csv", "--model", "a+b*x", "--sigma", "yerr"]);
    near(value(&report, "a"), 1.016_853_93, 1e-8);
    near(value(&report, "b"), 1.043_820_22, 1e-8);
}

#[test]
fn every_header_can_be_named() {
    let folder = with(&["units_in_header.csv"]);
    for (model, y) in [
        ("line", "I [mA]"),
        ("offset+slope*[Time (s)]", "[I [mA]]"),
        ("offset + slope*\"Time (s)\"", "\"I [mA]\""),
        ("offset + slope·`Time (s)`", "1*[I [mA]]"),
    ] {
        let report = fit(&folder, &["units_in_header.csv", "--model", model, "--y", y]);
        near(value(&report, "slope"), 0.98, 1e-12);
        near(value(&report, "offset"), 1.03, 1e-12);
    }
    let message = error(&folder, &["fit", "units_in_header.csv", "--model", "a*Time+b", "--y", "I [mA]"]);
    assert!(
        message.contains("it uses no column: expected at least one of \"Time (s)\", \"I [mA]\", \"note\""),
        "{message}"
    );
    let message = error(&folder, &["fit", "units_in_header.csv", "--model", "a*[Time]+b", "--y", "I [mA]"]);
    assert!(message.contains("model: [Time]: expected a column, one of \"Time (s)\""), "{message}");
    run(&folder, &["fit", "units_in_header.csv", "--model", "a*[Time (s)]+b", "--y", "I [mA]", "--out", "fit.json"]);
    let (predicted, _) = run(&folder, &["predict", "fit.json", "units_in_header.csv"]);
    assert_eq!(predicted.lines().count(), 5);
}

#[test]
fn signs_of_printed_formulas_are_understood() {
    let folder = with(&["parabola.csv"]);
    let plain = fit(&folder, &["parabola.csv", "--model", "a*x^2 + b*x + c"]);
    for model in ["a*x² + b*x + c", "a·x² + b×x − (−c)", "x·x·a + b·x + c"] {
        let report = fit(&folder, &["parabola.csv", "--model", model]);
        for name in ["a", "b", "c"] {
            near(value(&report, name), value(&plain, name), 1e-9);
        }
    }
}

#[test]
fn parameters_of_a_dose_keep_their_roles() {
    let report = fit(&with(&["dose_roles.csv"]), &["dose_roles.csv", "--model", "dose(x)"]);
    near(value(&report, "low"), 0.126, 2e-3);
    near(value(&report, "high"), 3.012, 1e-3);
    near(value(&report, "hill"), 1.359, 1e-3);
}

#[test]
fn wrong_formulas_are_explained() {
    let folder = with(&["sigma_sign.csv", "negative_base.csv"]);
    let message = error(&folder, &["fit", "sigma_sign.csv", "--model", "gaussian(x,h,c,s)"]);
    assert!(message.contains("gaussian takes one argument: got 4"), "{message}");
    assert!(message.ends_with("with names of your own write h*exp(-0.5*((x-c)/s)^2)"), "{message}");
    let message = error(&folder, &["fit", "negative_base.csv", "--model", "a*x^b"]);
    assert!(message.starts_with("mero: fit: x < 0 in row 1 (x = -2): a power with a real exponent"), "{message}");
    run(&folder, &["fit", "negative_base.csv", "--model", "a*x^2"]);
}

#[test]
fn profiles_end_where_the_cost_has_risen() {
    let folder = with(&["profile_dose.csv"]);
    let model = "bottom+(top-bottom)/(1+10^((logec50-logx)*hill))";
    let report = fit(&folder, &["profile_dose.csv", "--model", model, "--bounds", "hill=0:", "--profile"]);
    let ends = |name: &str| report["parameters"][name]["profile_interval"].as_array().expect("an interval").clone();
    near(ends("top")[0].as_f64().unwrap(), 65.112, 1e-3);
    assert!(ends("top")[1].is_null(), "{report}");
    near(ends("hill")[0].as_f64().unwrap(), 0.353_24, 1e-3);
    near(ends("hill")[1].as_f64().unwrap(), 2.252_95, 1e-3);
}

#[test]
fn only_nested_models_have_an_f_test() {
    let folder = with(&["saturating.csv", "parabola.csv"]);
    run(&folder, &["fit", "saturating.csv", "--model", "p*x^q", "--out", "power.json"]);
    let against = ["--against", "power.json"];
    let (out, _) = run(&folder, &[&["fit", "saturating.csv", "--model", "a*exp(-b*x)+c"], &against[..]].concat());
    let told =
        "against the other model, which is no special case of this one, so that there is no F test: AIC falls by 53.79";
    assert!(out.contains(told), "{out}");
    let (out, _) =
        run(&folder, &[&["fit", "saturating.csv", "--model", "a*exp(-b*x)+c", "--json"], &against[..]].concat());
    let test: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!((&test["is_nested"], &test["f"]), (&false.into(), &Value::Null));
    // Nested models, by the names of their parameters or not.
    for [small, large] in [
        ["a*exp(-b*x)", "a*exp(-b*x)+c"],
        ["line", "polynomial(x, 3)"],
        ["c+d*x", "c+d*x+h*exp(-0.5*((x-50)/s)^2)"],
        ["gaussian(x)", "gaussian(x)+gaussian(x)"],
    ] {
        run(&folder, &["fit", "saturating.csv", "--model", small, "--out", "small.json", "--force"]);
        let (out, _) = run(&folder, &["fit", "saturating.csv", "--model", large, "--against", "small.json"]);
        assert!(out.contains("against the smaller model: F("), "{small}, {large}: {out}");
    }
}

/// The errors of Huber's loss are those of `statsmodels.RLM(…, HuberT(1)).fit(cov="H1")` with the scale 0.3, the others are by its formula.
#[test]
fn robust_errors_are_those_of_an_m_estimator() {
    let folder = Folder::new();
    let ripple = |row: u64| ((row * 2_654_435_761) % 1_000) as f64 / 500.0 - 1.0;
    let outlier = |row: u64| match row % 16 {
        0 => -7.0,
        8 => 10.0,
        _ => 0.0,
    };
    let y = |row: u64| 1.0 + 2.0 * row as f64 / 10.0 + 0.3 * ripple(row) + outlier(row);
    let rows: String = (0..60).map(|row| format!("{},{}\n", row as f64 / 10.0, y(row))).collect();
    folder.write("line.csv", format!("x,y\n{rows}"));
    for (loss, a, errors) in [
        ("soft_l1", 1.013_972_9, [0.074_224_41, 0.021_698_16]),
        ("huber", 1.014_933_49, [0.059_385_28, 0.017_360_21]),
        ("cauchy", 1.045_588_84, [0.067_022_87, 0.019_592_93]),
        ("arctan", 1.052_515_07, [0.078_565_42, 0.022_967_17]),
    ] {
        let report = fit(&folder, &["line.csv", "--model", "a+b*x", "--loss", loss, "--loss-scale", "0.3"]);
        near(value(&report, "a"), a, 1e-6);
        near(stderr(&report, "a"), errors[0], 1e-5);
        near(stderr(&report, "b"), errors[1], 1e-5);
    }
    // The same in each of two fits.
    let two: String = ["p", "q"].iter().flat_map(|set| rows.lines().map(move |row| format!("{set},{row}\n"))).collect();
    folder.write("two.csv", format!("set,x,y\n{two}"));
    let model = ["--model", "a[set]+b[set]*x", "--loss", "huber", "--loss-scale", "0.3", "--out", "fits.csv"];
    run(&folder, &[&["fit", "two.csv"], &model[..]].concat());
    let table = folder.text("fits.csv");
    let cells: Vec<&str> = table.lines().nth(1).unwrap().split(',').collect();
    near(cells[2].parse().unwrap(), 0.059_385_28, 1e-5);
}

#[test]
fn tables_of_instruments_are_read() {
    let folder = with(&["plain.dat", "no_header_spaces.txt", "xy.npz", "cube.npz"]);
    near(value(&fit(&folder, &["plain.dat", "--model", "a*exp(-b*t)"]), "b"), 0.489_44, 1e-4);
    near(value(&fit(&folder, &["no_header_spaces.txt", "--model", "a+b*c0"]), "b"), 0.98, 1e-9);
    assert!(fit(&folder, &["xy.npz", "--model", "a*exp(-b*x)+c"])["columns"][0] == "x");
    let (out, _) = run(&folder, &["fit", "cube.npz", "--model", "a[pixel]*exp(-b[pixel]*t)", "--out", "map.csv"]);
    assert!(out.contains("20 fits of cube.npz, one for each pixel"), "{out}");
    let (out, _) =
        run(&folder, &["fit", "cube.npz", "--model", "a[row,column]*exp(-b[row,column]*t)", "--out", "rows.csv"]);
    assert!(out.contains("20 fits of cube.npz, one for each row, column"), "{out}");
    let [map, rows] = ["map.csv", "rows.csv"].map(|name| folder.text(name));
    let first = |text: &str, skip: usize| text.lines().nth(1).unwrap().split(',').nth(skip).unwrap().to_owned();
    assert_eq!(first(&map, 1), first(&rows, 2));
}

#[test]
fn weights_may_be_a_formula() {
    let folder = with(&["counts.csv"]);
    let model = ["counts.csv", "--model", "a*exp(-b*t)+c", "--y", "n", "--sigma"];
    let by_formula = fit(&folder, &[&model[..], &["max(1,sqrt(n))"]].concat());
    let rows: String = folder
        .text("counts.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            format!("{},{},{}\n", cells[0], cells[1], cells[1].sqrt().max(1.0))
        })
        .collect();
    folder.write("weighted.csv", format!("t,n,w\n{rows}"));
    let by_column = fit(&folder, &["weighted.csv", "--model", "a*exp(-b*t)+c", "--y", "n", "--sigma", "w"]);
    assert_eq!(by_formula["parameters"], by_column["parameters"]);
}

#[test]
fn a_condition_chooses_rows_also_of_a_stream() {
    let folder = Folder::new();
    let y = |row: u32| if row == 7 { String::new() } else { f64::from(3 * row + 1 + row % 3).to_string() };
    let rows = |range: std::ops::Range<u32>| range.map(|row| format!("{row},{}\n", y(row))).collect::<String>();
    folder.write("all.csv", format!("x,y\n{}", rows(0..40)));
    folder.write("some.csv", format!("x,y\n{}{}", rows(10..20), rows(31..40)));
    let model = ["--model", "a+b*x", "--y", "y"];
    let condition = ["--where", "9 < x && x < 20 || x > 30"];
    let some = fit(&folder, &[&["some.csv"], &model[..]].concat());
    let chosen = fit(&folder, &[&["all.csv"], &model[..], &condition].concat());
    assert_eq!((&some["parameters"], &some["rows"]), (&chosen["parameters"], &19.into()));
    let streamed = fit(&folder, &[&["all.csv", "--strategy", "streaming"], &model[..], &condition].concat());
    assert_eq!(some["parameters"], streamed["parameters"]);
    let (out, _) = run(&folder, &[&["fit", "all.csv"], &model[..], &condition].concat());
    assert!(out.contains("19 rows of all.csv, 21 rows left out by --where"), "{out}");
    // A missing cell in a row that is used is an error, whatever the condition is.
    for strategy in ["standard", "streaming"] {
        let arguments = [&["fit", "all.csv", "--where", "x < 20", "--strategy", strategy], &model[..]].concat();
        let message = error(&folder, &arguments);
        assert!(message.contains("\"y\"") && message.contains("row 8"), "{message}");
    }
    let message = error(&folder, &[&["fit", "all.csv", "--where", "x > 99"], &model[..]].concat());
    assert_eq!(message, "mero: fit: where: \"x > 99\" holds in no row of all.csv: expected at least one");
}

/// y = a + b x through (0, 1), (1, 2), (2, 2), (3, 4): b = 0.9, a = 0.9, Σ r² = 0.7 with 2 degrees of freedom, Σ (x - x̄)² = 5. So var b = 0.35 / 5, var a =
/// 0.35 (1/4 + 2.25 / 5), cov = -0.35 · 1.5 / 5, and the value at 2, a + 2 b, has the variance 0.35 (1/4 + 0.25 / 5).
#[test]
fn derived_values_have_errors() {
    let folder = Folder::new();
    folder.write("line.csv", "x,y\n0,1\n1,2\n2,2\n3,4\n");
    let model = ["--model", "a+b*x", "--derive", "at2=a+2*b", "--derive", "ratio = a/b"];
    let report = fit(&folder, &[&["line.csv"], &model[..]].concat());
    near(number(&report, &["derived", "at2", "value"]), 2.7, 1e-12);
    near(number(&report, &["derived", "at2", "stderr"]), (0.35_f64 * 0.3).sqrt(), 1e-9);
    let [a, b, cross] = [0.35 * 0.7, 0.35 / 5.0, -0.35 * 0.3];
    let ratio = (a / 0.81 + b * 0.81 / 0.9_f64.powi(4) - 2.0 * cross * 0.9 / 0.9_f64.powi(3)).sqrt();
    near(number(&report, &["derived", "ratio", "stderr"]), ratio, 1e-9);
    let (out, _) = run(&folder, &[&["fit", "line.csv"], &model[..]].concat());
    assert!(out.contains("computed") && out.contains("at2") && out.contains("reduced χ² 0.3500"), "{out}");
    let message = error(&folder, &["fit", "line.csv", "--model", "a+b*x", "--derive", "z=2*q"]);
    assert_eq!(message, "mero: fit: derive: z: got \"q\", expected a parameter, one of \"a\", \"b\"");
    folder.write("sets.csv", "set,x,y\np,0,1\np,1,2\np,2,2\np,3,4\nq,0,2\nq,1,4\nq,2,4\nq,3,8\n");
    run(&folder, &["fit", "sets.csv", "--model", "a[set]+b[set]*x", "--derive", "at2=a+2*b", "--out", "fits.csv"]);
    let table = folder.text("fits.csv");
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0][5..7], ["at2", "at2_stderr"]);
    near(rows[1][6].parse().unwrap(), (0.35_f64 * 0.3).sqrt(), 1e-9);
    near(rows[2][5].parse().unwrap(), 5.4, 1e-12);
}

#[test]
fn a_fit_is_printed_as_a_table_or_as_code() {
    let folder = Folder::new();
    folder.write("line.csv", "x,y\n0,1\n1,2\n2,2\n3,4\n");
    let print = |form: &str| run(&folder, &["fit", "line.csv", "--model", "a+b*x", "--print", form]).0;
    let table = print("table");
    assert!(table.starts_with("parameter,value,stderr,lower,upper\na,0.9") && table.lines().count() == 3, "{table}");
    assert!(print("latex").contains("y &= a + b \\, x"), "{}", print("latex"));
    assert!(print("python").contains("def model(x, a=0.9") && print("rust").contains("fn model(x: f64) -> f64"));
}

#[test]
fn a_page_shows_summands_and_logarithmic_axes() {
    let folder = with(&["counts.csv"]);
    let model = ["--model", "a*exp(-b*t) + c", "--y", "n", "--report", "fit.html", "--log-y"];
    let (out, _) = run(&folder, &[&["fit", "counts.csv"], &model[..]].concat());
    assert!(out.contains("10 ┤"), "{out}");
    let page = folder.text("fit.html");
    assert!(page.contains("a*exp(-b*t)</") && page.contains(">c</"), "no summands");
}

/// By minimising the negative logarithm of the likelihood, and by `statsmodels.GLM(…, Poisson())` for the exponential alone.
#[test]
fn counts_are_fitted_by_their_likelihood() {
    let folder = with(&["counts.csv"]);
    let report = fit(&folder, &["counts.csv", "--model", "a*exp(-b*t)", "--y", "n", "--loss", "poisson"]);
    near(value(&report, "a"), 60.187_242_870_5, 1e-8);
    near(value(&report, "b"), 0.250_831_453_628, 1e-8);
    near(stderr(&report, "a"), 5.177_223_581, 1e-6);
    near(stderr(&report, "b"), 0.019_109_55, 1e-5);
    near(number(&report, &["aic"]), 73.450_504_840_2, 1e-9);
    near(2.0 * number(&report, &["cost"]), 9.673_269_227_677, 1e-8);
    near(number(&report, &["reduced_chi_square"]) * 13.0, 7.263_775_017_5, 1e-7);
    let report =
        fit(&folder, &["counts.csv", "--model", "a*exp(-b*t)+c", "--y", "n", "--loss", "poisson", "--bounds", "b=0:1"]);
    near(value(&report, "c"), -3.164_824_76, 1e-5);
    near(stderr(&report, "b"), 0.031_955_59, 1e-5);
    let message = error(&folder, &["fit", "counts.csv", "--model", "a+b*t", "--y", "n-5", "--loss", "poisson"]);
    assert!(message.contains("loss: poisson: y in row 12 is -3, expected counts of at least 0"), "{message}");
    let message =
        error(&folder, &["fit", "counts.csv", "--model", "a+b*t", "--y", "n", "--sigma", "1+0*n", "--loss", "poisson"]);
    assert!(message.contains("counts have their own standard deviations"), "{message}");
}

#[test]
fn rows_with_unknown_levels_have_a_note() {
    let folder = Folder::new();
    folder.write("sets.csv", "set,x,y\np,0,1\np,1,2\np,2,2\nq,0,2\nq,1,4\nq,2,5\n");
    run(&folder, &["fit", "sets.csv", "--model", "a[set]+b*x", "--out", "fit.json"]);
    folder.write("new.csv", "set,x\np,0\nz,1\nq,2\n");
    let (out, note) = run(&folder, &["predict", "fit.json", "new.csv"]);
    let rows: Vec<&str> = out.lines().collect();
    assert_eq!(rows[0], "prediction,confidence_lower,confidence_upper,lower,upper,note");
    assert!(
        !rows[1].starts_with(',') && rows[2] == ",,,,,set = z: the fit did not have it" && rows[3].ends_with(','),
        "{out}"
    );
    assert_eq!(
        note,
        "mero predict: 1 of 3 rows without a prediction, the first in row 2: the fit did not have \"set = z\"; see the column note\n"
    );
}

#[test]
fn seconds_since_1970_have_a_hint_and_large_numbers_an_exponent() {
    let folder = with(&["unix_seconds.csv", "sigma_sign.csv"]);
    // It does not converge, and the exit code says so.
    let output = folder.command("").args(["fit", "unix_seconds.csv", "--model", "a*exp(-b*t)+c"]).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let hint = "t lies around 1700000000 and spans only 85800: subtract its first value, writing (t - 1700000000) for t in the model";
    assert!(out.contains(hint), "{out}");
    let report = fit(&folder, &["unix_seconds.csv", "--model", "a*exp(-b*(t - 1700000000))+c"]);
    near(value(&report, "b"), 5.0e-5, 0.2);
    let (out, _) = run(&folder, &["fit", "sigma_sign.csv", "--model", "h*exp(-0.5*((x-c)/s)^2)", "--json"]);
    let cost = out.split("\"cost\":").nth(1).unwrap().split(',').next().unwrap();
    assert!(cost.contains("e24") && cost.len() < 25, "{cost}");
}

/// A line through 40 rows with errors of one size: the quantiles of fits of drawn data are about the intervals of least squares, 7 % narrower at most
/// and 20 % wider.
#[test]
fn drawn_data_have_the_intervals_of_a_line() {
    let folder = Folder::new();
    let ripple = |row: u64| ((row * 2_654_435_761) % 1_000) as f64 / 500.0 - 1.0;
    let rows: String = (0..40).map(|row| format!("{row},{}\n", 1.0 + 2.0 * row as f64 + ripple(row))).collect();
    folder.write("line.csv", format!("x,y\n{rows}"));
    let model = ["line.csv", "--model", "a+b*x", "--bootstrap", "2000"];
    let width = |ends: &Value| ends[1].as_f64().unwrap() - ends[0].as_f64().unwrap();
    for resample in ["residuals", "rows"] {
        let report = fit(&folder, &[&model[..], &["--resample", resample]].concat());
        for name in ["a", "b"] {
            let one = &report["parameters"][name];
            let ratio = width(&one["bootstrap_interval"]) / width(&one["interval"]);
            assert!((0.8..1.1).contains(&ratio), "{resample}, {name}: {ratio}");
        }
        assert_eq!(report["bootstrap"]["failed"], 0);
    }
    let report = |threads: &str| fit(&folder, &[&model[..], &["--seed", "3", "--threads", threads]].concat());
    assert_eq!(report("1")["parameters"], report("2")["parameters"]);
    let (out, _) = run(&folder, &[&["fit"], &model[..]].concat());
    assert!(out.contains("from drawn data"), "{out}");
    let message = error(&folder, &["fit", "line.csv", "--model", "a+b*x", "--bootstrap", "5"]);
    assert_eq!(message, "mero: fit: bootstrap: got 5 fits, expected at least 20");
}

/// With a flat prior and 1 / σ for the size of errors, the posterior of a linear model is Student's t with the degrees of freedom of the fit: its 2.5 % and
/// 97.5 % quantiles are the ends of the 95 % interval, here within a tenth of its half width.
#[test]
fn the_posterior_of_a_line_is_that_of_student() {
    let folder = Folder::new();
    folder.write("line.csv", "x,y\n0,1\n1,2\n2,2\n3,4\n4,4.5\n5,6.5\n6,6.2\n7,8.1\n");
    let model = ["line.csv", "--model", "a+b*x", "--sample", "40000"];
    let report = fit(&folder, &[&model[..], &["--samples-out", "draws.csv"]].concat());
    for name in ["a", "b"] {
        let ends = &report["parameters"][name]["interval"];
        let [low, high] = [0, 1].map(|at| ends[at].as_f64().unwrap());
        let drawn = &report["posterior"]["parameters"][name];
        let half = 0.5 * (high - low);
        for (at, end) in [(0, low), (4, high)] {
            assert!((drawn["quantiles"][at].as_f64().unwrap() - end).abs() < 0.1 * half, "{name}: {report}");
        }
        assert!(drawn["r_hat"].as_f64().unwrap() < 1.05 && drawn["effective"].as_f64().unwrap() > 500.0, "{report}");
    }
    let draws = folder.text("draws.csv");
    assert!(draws.starts_with("draw,a,b\n1,") && draws.lines().count() > 40_000, "{}", draws.lines().count());
    let bounded = fit(&folder, &[&model[..], &["--bounds", "b=1:"]].concat());
    assert!(number(&bounded, &["posterior", "parameters", "b", "mean"]) > 1.0);
    let (out, _) = run(&folder, &[&["fit"], &model[..]].concat());
    assert!(out.contains("posterior") && out.contains("R-hat"), "{out}");
    let message = error(&folder, &["fit", "line.csv", "--model", "a+b*x", "--sample", "99", "--loss", "huber"]);
    assert!(message.contains("sample: expected more rows than parameters and the linear loss"), "{message}");
    let message = error(&folder, &["fit", "line.csv", "--model", "a+b*x", "--samples-out", "x.csv"]);
    assert!(message.contains("samples-out: there are no draws: expected --sample"), "{message}");
}

/// Pearson's data with York's weights: values and errors of `scipy.odr`, whose errors are scaled by the residuals.
#[test]
fn errors_in_x_count_as_in_orthogonal_regression() {
    let folder = Folder::new();
    let rows = [
        [0.0, 5.9, 1000.0, 1.0],
        [0.9, 5.4, 1000.0, 1.8],
        [1.8, 4.4, 500.0, 4.0],
        [2.6, 4.6, 800.0, 8.0],
        [3.3, 3.5, 200.0, 20.0],
        [4.4, 3.7, 80.0, 20.0],
        [5.2, 2.8, 60.0, 70.0],
        [6.1, 2.8, 20.0, 70.0],
        [6.5, 2.4, 1.8, 100.0],
        [7.4, 1.5, 1.0, 500.0],
    ];
    let rows: String = rows.iter().map(|[x, y, wx, wy]| format!("{x},{y},{wx},{wy}\n")).collect();
    folder.write("york.csv", format!("x,y,wx,wy\n{rows}"));
    let model = ["york.csv", "--model", "a+b*x", "--y", "y", "--sigma", "1/sqrt(wy)", "--sigma-x", "1/sqrt(wx)"];
    let report = fit(&folder, &model);
    near(value(&report, "a"), 5.479_910_1, 1e-7);
    near(value(&report, "b"), -0.480_533_4, 1e-7);
    near(stderr(&report, "a"), 0.359_246_6, 1e-5);
    near(stderr(&report, "b"), 0.070_620_3, 1e-5);
    near(number(&report, &["reduced_chi_square"]), 1.483_294_149, 1e-7);
    let absolute = fit(&folder, &[&model[..], &["--absolute-sigma", "--derive", "zero=-a/b"]].concat());
    near(stderr(&absolute, "b"), 0.057_985_0, 1e-5);
    near(number(&absolute, &["derived", "zero", "value"]), 5.479_910_1 / 0.480_533_4, 1e-6);
    let (out, _) = run(&folder, &[&["fit"], &model[..]].concat());
    assert!(out.contains("y = a+b*x\n10 rows"), "{out}");
    let message = error(&folder, &["fit", "york.csv", "--model", "a+b*x", "--y", "y", "--sigma-x", "wx"]);
    assert!(message.contains("--sigma-x has no effect without --sigma"), "{message}");
}

/// A peak on a slope: without its background the line that is left is 0 within the bias of the method.
#[test]
fn a_background_is_subtracted_before_the_fit() {
    let folder = Folder::new();
    let y = |x: f64| 2.0 + 0.01 * x + 5.0 * (-0.5 * ((x - 60.0) / 3.0).powi(2)).exp();
    let rows: String = (0..120).map(|x| format!("{x},{}\n", y(f64::from(x)))).collect();
    folder.write("peak.csv", format!("x,y\n{rows}"));
    let model = ["peak.csv", "--model", "gaussian(x)", "--background"];
    let report = fit(&folder, &[&model[..], &["als"]].concat());
    near(value(&report, "height"), 5.0, 0.02);
    near(value(&report, "sigma"), 3.0, 0.02);
    assert_eq!(report["target"], "y less its smooth background");
    // That of Shirley is a step below the peak, from 2 to 3.2.
    near(value(&fit(&folder, &[&model[..], &["shirley"]].concat()), "center"), 60.0, 0.01);
    let message = error(&folder, &["fit", "peak.csv", "--model", "gaussian(x)", "--smoothness", "5"]);
    assert!(message.contains("--smoothness has no effect without --background als"), "{message}");
}

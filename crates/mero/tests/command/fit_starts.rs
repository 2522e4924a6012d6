//! Fits without starts of tables that people asked about in public, with the answers of SciPy, lmfit or the generator of the data
//! (`crates/mero/tests/data/fits`).

use std::path::Path;

use serde_json::Value;

use super::{Folder, json, json_lines};

/// A folder with one of the tables.
fn with(names: &[&str]) -> Folder {
    let folder = Folder::new();
    for name in names {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fits").join(name);
        folder.write(name, std::fs::read_to_string(path).unwrap());
    }
    folder
}

/// Parameters, their values and how far off they may be.
type Values<'a> = &'a [(&'a str, f64, f64)];

#[test]
fn places_frequencies_and_sizes_are_found() {
    let two = "gaussian(x)+gaussian(x)+line(x)";
    let three = format!("gaussian(x)+{two}");
    let four = format!("gaussian(x)+{three}");
    let planck = "1.5e13*8*pi*6.63e-34/(3e8)^3*10^(3*x)/(exp(6.63e-34*10^x/(1.38e-23*T))-1)";
    let shared = "A[set]*exp(-0.5*((x-c[set])/s)^2)+b --y y";
    let cases: [(&str, &str, Values<'_>); 12] = [
        ("cosine.csv", "a*cos(b*x+c)", &[("b", 0.50056, 2e-5)]),
        ("daily_temperature.csv", "a*cos(2*pi*hour/P+phi)+c", &[("P", 25.091, 1e-3)]),
        ("daily_temperature.csv", "oscillation(hour)+c", &[("frequency", 0.25048, 1e-4)]),
        ("two_peaks.csv", two, &[("center1", 19.563, 1e-3), ("center2", 101.107, 1e-3)]),
        (
            "three_peaks.csv",
            &three,
            &[("center1", 20.343, 1e-3), ("center2", 142.588, 1e-3), ("center3", 179.602, 1e-3)],
        ),
        (
            "four_peaks.csv",
            &four,
            &[
                ("center1", 22.295, 1e-3),
                ("center2", 64.105, 1e-3),
                ("center3", 116.422, 1e-3),
                ("center4", 180.51, 1e-3),
            ],
        ),
        (
            "global_peaks.csv",
            shared,
            &[
                ("c[s0]", 60.96, 0.01),
                ("c[s1]", 31.55, 0.1),
                ("c[s2]", 13.25, 0.1),
                ("c[s5]", 83.13, 0.2),
                ("s", 4.0, 0.01),
            ],
        ),
        ("sigma_sign.csv", "h*exp(-0.5*((x-c)/s)^2)", &[("s", 12.07, 1e-3)]),
        ("blackbody.csv", planck, &[("T", 10017.0, 1.0)]),
        ("many_periods.csv", "a*cos(2*pi*f*t+p)+o", &[("f", 0.027_021_9, 1e-7)]),
        ("two_lines.csv", "where(x<x0,k1*(x-x0)+y0,k2*(x-x0)+y0)", &[("x0", 9321.0, 0.5)]),
        ("poly_unix_2.csv", "polynomial(x,2)", &[]),
    ];
    for (file, model, expected) in cases {
        let folder = with(&[file]);
        let [report] = &json(&folder, &format!("fit {file} --json --model {model}"))[..] else { panic!("one line") };
        assert_eq!(report["is_converged"], true, "{file}: {report}");
        for (name, value, tolerance) in expected {
            let found = report["parameters"][name]["value"].as_f64().unwrap();
            assert!((found - value).abs() <= *tolerance, "{file}, {model}: {name} is {found}, expected {value}");
        }
    }
}

/// numpy.polyfit over x - x[0] has this cost; a search that loses digits ends at 1.55 times it.
#[test]
fn a_polynomial_over_seconds_has_the_least_cost() {
    let folder = with(&["poly_unix_2.csv"]);
    let [report] = &json(&folder, "fit poly_unix_2.csv --json --model polynomial(x,2)")[..] else { panic!("one line") };
    let [shifted] = &json(&folder, "fit poly_unix_2.csv --json --model polynomial(x-1700000000,2)")[..] else {
        panic!("one line")
    };
    let cost = |report: &Value| report["cost"].as_f64().unwrap();
    assert!(cost(report) <= cost(shifted) * (1.0 + 1e-6), "{} and {}", cost(report), cost(shifted));
}

#[test]
fn a_peak_elsewhere_in_each_pixel_is_found_in_each() {
    let folder = with(&["map_peaks.csv", "map_peaks_truth.csv"]);
    folder.told(
        "fit map_peaks.csv --model h[pixel]*exp(-0.5*((x-c[pixel])/s[pixel])^2)+o[pixel] --y signal --out fits.csv",
    );
    let rows = |name: &str| -> Vec<Vec<String>> {
        folder.text(name).lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let (fits, truth) = (rows("fits.csv"), rows("map_peaks_truth.csv"));
    let column = |name: &str| fits[0].iter().position(|known| known == name).unwrap();
    let (c, s) = (column("c"), column("s"));
    assert_eq!(fits.len(), 61);
    for (fit, truth) in fits.iter().zip(&truth).skip(1) {
        let [c, s, expected] = [&fit[c], &fit[s], &truth[2]].map(|text| text.parse::<f64>().unwrap());
        assert!((c - expected).abs() < 0.5 && s > 0.0, "pixel {}: {c}, expected {expected}; width {s}", fit[0]);
    }
}

/// What is said besides the values.
#[test]
fn doubts_are_named() {
    let cases = [
        (
            "cosine.csv",
            "a*cos(b*x+c)",
            "b: the rows are evenly spaced, by 0.5051 of x, so that 11.94 and 12.94 fit as well",
        ),
        (
            "unix_seconds.csv",
            "a*exp(-b*t)+c",
            "t lies around 1700000000 and spans only 85800: subtract its first value, writing (t - 1700000000) for t in the model",
        ),
        (
            "exactly_determined.csv",
            "c*((x-a)/(d-x))^(1/b)",
            "there are as many rows as free parameters, so that no errors are known",
        ),
        // The search starts where it cannot leave, and says so.
        ("cosine.csv", "a*cos(b*x+c) --p0 a=1,b=5,c=0", "another start leads to a cost that is"),
    ];
    for (file, model, caution) in cases {
        let folder = with(&[file]);
        let output = folder.mero(&format!("fit {file} --json --model {model}"));
        let lines = json_lines(&String::from_utf8(output.stdout).unwrap());
        let cautions = lines[0]["cautions"].as_array().unwrap();
        let has = cautions.iter().any(|text| text.as_str().unwrap().starts_with(caution));
        assert!(has, "{file}, {model}: {cautions:?}");
    }
}

#[test]
fn sizes_whose_squares_are_lost_are_refused() {
    let cases = [
        (
            "huge_value.csv",
            "line",
            "fit: y, row 3: got 1e300, whose square is too large for double precision: expected values below 1e150",
        ),
        ("tiny_flux.csv", "gaussian(w)", "expected larger ones, such as y * 1e200"),
    ];
    for (file, model, message) in cases {
        let folder = with(&[file]);
        let output = folder.mero(&format!("fit {file} --model {model}"));
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(message), "{text}");
    }
}

/// A fit that did not converge is shown, and the exit code says so.
#[test]
fn the_exit_code_says_whether_the_search_converged() {
    let folder = with(&["cosine.csv"]);
    let output =
        folder.mero("fit cosine.csv --model a*cos(b*x+c) --p0 a=1,b=0.6,c=0 --max-evaluations 2 --no-recovery");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stdout).unwrap().contains("not converged in"));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the fit did not converge"));
}

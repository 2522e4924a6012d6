//! `mero profile`: tables, JSON, a trace, a page, and what it refuses.

use crate::{check, filled, json};

const LINE: &str = "profile --rows 300 --inputs 2 --batch 32 --hidden 8,8 --step recorded --device cpu --threads 1 --steps 5 --windows 3";

#[test]
fn a_profile_is_told_in_tables_and_in_json() {
    let folder = filled();
    let told = folder.told(&format!("{LINE} --memory"));
    for expected in
        ["explained", "of the roofline", "layers.0", "optimise", "between launches", "direction", "optimizer", "leaks"]
    {
        assert!(told.contains(expected), "{expected} not in\n{told}");
    }
    let [report] = &json(&folder, &format!("{LINE} --memory --json"))[..] else { panic!("one line") };
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("{name}: {report}"));
    assert!(number("step_ms") > 0.0 && number("plain_step_ms") > 0.0 && number("explained") > 0.0);
    for by in ["by_kernel", "by_layer", "by_op", "by_direction"] {
        let groups = report[by].as_array().expect("an array");
        let sum: f64 = groups.iter().filter_map(|group| group["share"].as_f64()).sum();
        assert!((sum - 1.0).abs() < 1e-6, "{by}: {sum}");
    }
    assert_eq!((&report["memory"]["leaks"], &report["batch"]), (&serde_json::json!([]), &32.into()));
    assert!(report["memory"]["peak_tags"]["parameters"].as_f64().is_some_and(|bytes| bytes > 0.0), "{report}");
}

#[test]
fn a_profile_of_a_table_writes_a_trace_and_a_page() {
    let folder = filled();
    let line = "profile good.csv --target y --hidden 8 --head rational --device cpu --threads 1 --steps 3 --windows 1";
    folder.told(&format!("{line} --trace trace.json --report page.html"));
    let trace: serde_json::Value = serde_json::from_str(&folder.text("trace.json")).unwrap();
    assert!(trace["traceEvents"].as_array().is_some_and(|events| events.len() > 6), "{trace}");
    let page = folder.text("page.html");
    for expected in ["<svg", "Roofline", "Time by layer", "mero profile good.csv"] {
        assert!(page.contains(expected), "{expected}");
    }
    assert!(!page.contains("NaN") && !page.contains("<script"));
}

#[test]
fn a_fused_step_shows_its_layers_and_the_table_its_reading() {
    let folder = filled();
    let line = "profile good.csv --target y --hidden 8,8 --step fused --device cpu --threads 1 --steps 5 --windows 1";
    let [report] = &json(&folder, &format!("{line} --json"))[..] else { panic!("one line") };
    let parts = report["inside_fused"].as_array().expect("an array");
    for layer in ["layers.0", "layers.2", "layers.4", "loss"] {
        assert!(parts.iter().any(|part| part["layer"] == layer), "{layer}: {parts:?}");
    }
    let number = |value: &serde_json::Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let sum: f64 = parts.iter().map(|part| number(&part["ms"])).sum();
    let launches = report["launches"].as_array().expect("an array");
    let fused: f64 = launches.iter().filter(|one| one["layer"] == "model").map(|one| number(&one["ms"])).sum();
    assert!((sum / fused - 1.0).abs() < 1e-6, "{sum} of {fused}");
    assert!(number(&report["loading"]["read_ms"]) > 0.0 && number(&report["loading"]["encode_ms"]) > 0.0);
    assert!(report["flops_by_op"].as_object().is_some_and(|ops| ops.values().all(|flops| number(flops) > 0.0)));
    assert!(launches.iter().all(|one| one["sizes"].is_object() && one["live_bytes"].is_number()), "{launches:?}");
    assert!(report["bottlenecks"].as_array().is_some_and(|all| all.iter().all(|one| one["advice"].is_string())));
    let told = folder.told(&format!("{line} --report page.html"));
    for expected in ["inside the fused launch", "Estimated: ", "read in ", "bottleneck", "what to do", "flops", "sizes"]
    {
        assert!(told.contains(expected), "{expected} not in\n{told}");
    }
    let page = folder.text("page.html");
    for expected in ["The whole step", "Arithmetic by op", "Bottlenecks", "Inside the fused launch"] {
        assert!(page.contains(expected), "{expected}");
    }
}

#[test]
fn what_cannot_be_profiled_is_refused() {
    let folder = filled();
    let mut failures = Vec::new();
    let cases = [
        ("--windows 0", "profile: --windows: got 0, expected a whole number from 1 to 1000000"),
        ("--steps 0", "profile: --steps: got 0, expected a whole number from 1 to 1000000"),
        ("--rows 0", "profile: rows: got 0, expected at least 1"),
        (
            "--device dry",
            "profile: device \"dry\" counts launches, bytes and flops, runs nothing; choose one of auto, webgpu, cpu",
        ),
        ("--trace -", "profile: cannot write to standard output; give a file name instead of -"),
        ("good.csv --target y --page good.csv", "profile: good.csv is the table itself; name another file"),
    ];
    for (flags, expected) in cases {
        check(&folder, &format!("profile {flags}"), expected, 2, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
    assert_eq!(folder.refused("profile --hidden 0").0, Some(2));
    assert_eq!(folder.refused("profile good.csv").0, Some(2), "without a target");
}

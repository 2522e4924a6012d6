//! `mero xpcs`: synthetic data, fits of them, result files, and what is wrong with configurations and data.

use super::{Folder, check, json};

/// A folder with data of a flow and their configuration.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.told("xpcs --synthetic data.npz --config-out run.yaml --angles 6 --times 30 --noise 0.003");
    folder
}

#[test]
fn synthetic_data_are_fitted_and_written() {
    let folder = folder();
    let text = folder.told("xpcs run.yaml --out results");
    for part in ["laminar_flow: 6 angles and 30 times of data.npz", "gamma_dot_0", "converged in", "wrote results/"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let files = ["analysis_results.json", "convergence.json", "fitted_data.npz", "parameters.json"];
    assert_eq!(folder.names("results"), files);
    let [report] = &json(&folder, "xpcs run.yaml --out results --no-arrays --json")[..] else { panic!("one line") };
    assert_eq!(folder.names("results").len(), 3, "arrays of another fit are removed");
    let [made] = &json(&folder, "xpcs --synthetic same.npz --angles 6 --times 30 --noise 0.003 --json")[..] else {
        panic!("one line")
    };
    assert_eq!(folder.read("same.npz"), folder.read("data.npz"));
    let (parameters, truth) = (&report["parameters"], made["truth"].as_object().unwrap());
    assert_eq!(truth.len(), 9);
    for (name, truth) in truth {
        let [value, stderr] = ["value", "stderr"].map(|field| parameters[name][field].as_f64().unwrap());
        assert!((value - truth.as_f64().unwrap()).abs() < 4.0 * stderr, "{name}: {value} {stderr} {truth}");
    }
    // The report predicts c2 where there are columns t1, t2 and phi.
    folder.write("pairs.csv", "t1,t2,phi\n0,0.1,30\n");
    let text = folder.told("predict results/analysis_results.json pairs.csv");
    let value = text.lines().nth(1).and_then(|line| line.split(',').next()?.parse::<f64>().ok());
    assert!(value.is_some_and(|value| (value - 1.3).abs() < 0.01), "{text}");
}

#[test]
fn options_win_over_the_configuration() {
    let folder = folder();
    let one = |line: &str| json(&folder, &format!("xpcs run.yaml --json --no-arrays {line}")).remove(0);
    let report = one("--static-mode --phi-angles 0,80..160 --fix D_offset=500,alpha=0.5");
    assert_eq!(
        (report["analysis_mode"].as_str(), report["phi_angles"].to_string()),
        (Some("static"), "[0,90,120,150]".into())
    );
    assert_eq!(report["free"].to_string(), "[\"offset\",\"contrast\",\"D0\"]");
    let report = one("--scaling individual --preset theory --sinc-power 2 --bounds gamma_dot_0=1e-6:1");
    assert_eq!((report["preset"].as_str(), report["sinc_arg"].as_str()), (Some("own"), Some("half")));
    assert!(report["parameters"]["contrast[150]"]["value"].is_number());
    // With an argument that is π times as large the shear rate is so much smaller.
    let [code, half] =
        ["", "--sinc-arg half"].map(|line| one(line)["parameters"]["gamma_dot_0"]["value"].as_f64().unwrap());
    assert!((code / half / std::f64::consts::PI - 1.0).abs() < 1e-6, "{code} {half}");
}

#[test]
fn what_is_not_used_is_said() {
    let folder = folder();
    folder.write("more.yaml", folder.text("run.yaml") + "performance: {memory_limit_gb: 4}\nlogging: {level: INFO}\n");
    let output = folder.mero("xpcs more.yaml --no-arrays");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success());
    assert_eq!(said, "xpcs: note: not used: logging: level\n");
}

#[test]
fn wrong_input_gives_exact_messages() {
    let folder = folder();
    let config = folder.text("run.yaml");
    let write = |name: &str, from: &str, to: &str| folder.write(name, config.replace(from, to));
    write("typo.yaml", "wavevector_q", "wavevector");
    write("mode.yaml", "laminar_flow", "turbulent");
    write("step.yaml", "dt: 0.1", "dt: 0.2");
    write("nothing.yaml", "  file_path: \"data.npz\"\n", "  file_path:\n");
    write("cut.yaml", "  dt: 0.1\n", "  dt: 0.1\n  start_frame: 2\n  end_frame: 40\n");
    folder.write("data.hdf", b"\x89HDF\r\n\x1a\n");
    folder.write("table.csv", b"a,b\n1,2\n");
    let cases = [
        (
            "xpcs typo.yaml",
            "xpcs: typo.yaml: line 5: analyzer_parameters.scattering.wavevector: unknown key: expected one of \"wavevector_q\"; did you mean \"wavevector_q\"?",
            1,
        ),
        (
            "xpcs mode.yaml",
            "xpcs: mode.yaml: line 1: analysis_mode: got \"turbulent\", expected one of \"static\", \"static_isotropic\", \"static_anisotropic\", \"laminar_flow\", \"laminar\", \"heterodyne\", \"two_component\"",
            1,
        ),
        ("xpcs step.yaml", "xpcs: dt: got 0.2 in the configuration and 0.1 in data.npz", 1),
        (
            "xpcs nothing.yaml",
            "xpcs: data: nothing.yaml has no experimental_data.file_path: expected one, or --data",
            2,
        ),
        ("xpcs cut.yaml", "xpcs: data.npz: frames: got 2 to 40, expected at most 30, the times of c2_exp", 1),
        (
            "xpcs run.yaml --data data.hdf",
            "xpcs: data.hdf: is an HDF5 file, which is not read: expected an archive of numpy (NPZ) with phi_angles, c2_exp and t1 or dt, as numpy.savez writes",
            1,
        ),
        (
            "xpcs run.yaml --data table.csv",
            "xpcs: table.csv: is not an archive: expected an archive of numpy (NPZ) with phi_angles, c2_exp and t1 or dt, as numpy.savez writes",
            1,
        ),
        ("xpcs run.yaml --phi-angles 10", "xpcs: angles: none of 0, 30, 60, 90, 120, 150 is within 9.5..10.5", 1),
        (
            "xpcs run.yaml --phi-angles a",
            "xpcs: angles: got \"a\", expected degrees such as 45, or a range such as -10..10",
            2,
        ),
        (
            "xpcs run.yaml --p0 D1=3",
            "xpcs: parameter: got \"D1\", expected one of \"contrast\", \"offset\", \"D0\", \"alpha\", \"D_offset\", \"gamma_dot_0\", \"D0_ref\", \"alpha_ref\", \"D_offset_ref\", \"D0_sample\", \"alpha_sample\", …, \"phi0\"; did you mean \"D0\"?",
            2,
        ),
        ("xpcs run.yaml --p0 D0=3", "xpcs: D0: got the start 3, expected 100 to 100000", 2),
        (
            "xpcs run.yaml --int-rule cumsum",
            "xpcs: int-rule: got \"cumsum\", expected \"trapezoid\"; the plain cumulative sum (cumsum) of early versions is not supported",
            2,
        ),
        ("xpcs --synthetic x.npz --times 2", "xpcs: times: got 2, expected 3 to 100000", 2),
        ("xpcs --synthetic x.npz --config-out x.npz", "xpcs: x.npz is the data itself; name another file", 2),
        (
            "xpcs --synthetic x.npz --static-mode --truth beta=1",
            "xpcs: parameter: \"beta\" is not one of the model static",
            2,
        ),
    ];
    let mut failures = Vec::new();
    for (line, expected, code) in cases {
        check(&folder, line, expected, code, &mut failures);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

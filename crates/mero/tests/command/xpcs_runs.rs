//! `mero xpcs` with the files, keys and command lines of homodyne: checkpoints, strategies, logs and times.

use super::{Folder, json};

/// A folder with a configuration that has every key of homodyne 2.23, and its data.
fn homodyne() -> Folder {
    let folder = Folder::new();
    folder.write("homodyne_keys.yaml", include_str!("data/homodyne_keys.yaml"));
    folder.write("c2.npz", include_bytes!("data/c2.npz"));
    folder
}

/// A folder with data of a flow and their configuration.
fn flow() -> Folder {
    let folder = Folder::new();
    folder.told("xpcs --synthetic data.npz --config-out run.yaml --angles 6 --times 60 --noise 0.003");
    folder
}

fn untimed(mut report: serde_json::Value) -> String {
    for name in ["seconds", "checksum", "strategy", "notes", "timings", "data"] {
        report.as_object_mut().unwrap().remove(name);
    }
    report.to_string()
}

#[test]
fn a_configuration_with_the_keys_of_homodyne_is_fitted() {
    let folder = homodyne();
    let output = folder.mero("xpcs homodyne_keys.yaml --json --no-arrays");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((report["analysis_mode"].as_str(), report["loss"].as_str()), (Some("laminar_flow"), Some("soft_l1")));
    assert!(report["is_converged"].as_bool() == Some(true), "{report}");
    for angle in report["phi_angles"].as_array().unwrap() {
        let angle = angle.as_f64().unwrap().rem_euclid(360.0);
        assert!(angle <= 20.0 || angle >= 340.0 || (170.0..=190.0).contains(&angle), "{angle}");
    }
    let notes = report["notes"].as_array().unwrap();
    let starting = |text: &str| notes.iter().filter(|note| note.as_str().unwrap().starts_with(text)).count();
    assert_eq!((starting("not used: "), starting("nothing to switch: ")), (1, 1), "{notes:?}");
    assert_eq!(starting("end_frame: 2000 is beyond the "), 1, "{notes:?}");
}

#[test]
fn the_command_line_of_the_guide_runs() {
    let folder = flow();
    let mut line = folder.command("xpcs --config run.yaml --output-dir a/results --checkpoint-dir a/checkpoints");
    let output = line.env("HOMODYNE_MEMORY_LIMIT", "25.6").env("JAX_NUM_THREADS", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(folder.names("a"), ["results"], "a fit that is done leaves no checkpoint");
    // With little memory, the last rows are read in each pass.
    let little = json(&folder, "xpcs run.yaml --memory-limit 2.9MB --threads 1 --json --no-arrays").remove(0);
    assert_eq!(little["strategy"].as_str(), Some("chunked"));
    let plan = |line: &str, memory: &str| {
        let line = format!("{line} --plan --json");
        let output = folder.command(&line).env("HOMODYNE_MEMORY_LIMIT", memory).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str::<serde_json::Value>(text.lines().last().unwrap()).unwrap()
    };
    let small = plan("xpcs run.yaml --threads 1", "0.005");
    assert_eq!(small["limited_by"].as_str(), Some("HOMODYNE_MEMORY_LIMIT"));
    assert_eq!(small["limit"].as_f64(), Some((0.005 * f64::from(1 << 30)).floor()));
    assert_eq!(small["rows"].as_u64(), Some(6 * 60 * 59 / 2));
    let wrong = plan("xpcs run.yaml", "much");
    let expected = "HOMODYNE_MEMORY_LIMIT: got \"much\", expected a number above 0";
    assert_eq!(wrong["message"].as_str(), Some(expected));
    // Options of homodyne without a meaning here are named, another method is an error.
    let output = folder.mero("xpcs --config=run.yaml --method nlsq --force-cpu --tolerance 1e-8 --no-arrays");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "xpcs: note: not used: --tolerance, --force-cpu\n");
    let (code, message) = folder.refused("xpcs run.yaml --method mcmc");
    assert_eq!(code, Some(2));
    assert!(message.contains("method: got \"mcmc\", expected \"nlsq\": only least squares is supported"), "{message}");
}

#[test]
fn every_strategy_has_the_same_bits() {
    let folder = flow();
    let with = |rest: &str| {
        let report = json(&folder, &format!("xpcs run.yaml --json --no-arrays {rest}")).remove(0);
        (report["strategy"].as_str().unwrap().to_owned(), untimed(report))
    };
    let (name, standard) = with("");
    assert_eq!(name, "standard");
    for strategy in ["large", "chunked", "streaming"] {
        let (name, report) = with(&format!("--strategy {strategy} --threads 1"));
        assert_eq!((name.as_str(), report == standard), (strategy, true));
    }
    let text = folder.text("run.yaml") + "performance: {strategy_override: streaming, computation: {cpu_threads: 1}}\n";
    folder.write("run.yaml", text);
    assert_eq!(with("").0, "streaming");
    assert_eq!(with("--strategy large").0, "large");
}

#[test]
fn logs_and_times_are_those_that_the_configuration_says() {
    let folder = flow();
    let logging = "logging: {performance: {enabled: true, filename: slow.log, threshold_seconds: 0}}\n";
    folder.write("run.yaml", folder.text("run.yaml") + logging);
    let text = folder.told("xpcs run.yaml --out out --no-arrays");
    for part in ["timings: ", " over 10,620 rows, ", " rows a second", "sums ", "total ", " GB/s of copies in memory"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let log = folder.text("out/slow.log");
    let first: serde_json::Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!((first["event"].as_str(), first["rows"].as_u64()), (Some("evaluation"), Some(10_620)));
    let report: serde_json::Value = serde_json::from_str(&folder.text("out/analysis_results.json")).unwrap();
    let timings = &report["timings"];
    let passes = timings["passes"].as_u64().unwrap();
    assert!(passes >= report["evaluations"].as_u64().unwrap(), "{timings}");
    assert_eq!(timings["pass_bytes"].as_u64(), Some(8 * 10_620 * 4));
    // Each pass, the first look at the rows and the standard errors read them.
    assert!(timings["bytes_read"].as_u64().unwrap() >= (passes + 2) * 8 * 10_620 * 4, "{timings}");
    let seconds = |name: &str| timings["seconds"][name].as_f64().unwrap();
    assert!(seconds("sums") + seconds("search") + seconds("standard_errors") <= seconds("total"), "{timings}");
    assert!(timings["resident"].as_array().unwrap().iter().all(|sample| sample[1].as_u64() > Some(0)), "{timings}");
    // The report is still a fit that predicts.
    folder.write("pairs.csv", "t1,t2,phi\n0,0.1,30\n");
    folder.told("predict out/analysis_results.json pairs.csv");
}

#[test]
fn two_components_are_fitted_from_starts() {
    let folder = Folder::new();
    let made =
        "xpcs --heterodyne --synthetic data.npz --config-out run.yaml --angles 4 --times 40 --noise 0.002 --json";
    let truth = json(&folder, made).remove(0)["truth"].clone();
    let starts = "D0_ref=4500,alpha_ref=0.25,D0_sample=8500,alpha_sample=0.25,v0=1470,f0=0.32,f1=0.14,beta=0.3";
    let fixed = "f3=0.1,D_offset_ref=300,D_offset_sample=500";
    let report = json(&folder, &format!("xpcs run.yaml --json --no-arrays --p0 {starts} --fix {fixed}")).remove(0);
    assert_eq!((report["analysis_mode"].as_str(), report["free"].as_array().unwrap().len()), (Some("heterodyne"), 12));
    for (name, one) in report["parameters"].as_object().unwrap() {
        let (value, truth) = (one["value"].as_f64().unwrap(), truth[name].as_f64().unwrap());
        let stderr = one["stderr"].as_f64().unwrap_or(1e-12);
        assert!((value - truth).abs() <= 4.5 * stderr, "{name}: {value} {stderr} {truth}");
    }
}

#[cfg(unix)]
#[test]
fn a_fit_that_is_ended_goes_on_with_the_same_bits() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    folder.told("xpcs --synthetic data.npz --config-out run.yaml --angles 12 --times 400 --noise 0.003");
    // From a start, so that nearly all of the time goes into the fit that is saved.
    let line = "xpcs run.yaml --json --no-arrays --p0 D0=3500,alpha=0.4,gamma_dot_0=3e-4 --strategy streaming";
    let started = std::time::Instant::now();
    let whole = json(&folder, line).remove(0);
    let time = started.elapsed();
    let streaming = "optimization: {streaming: {checkpoint_dir: saved, checkpoint_frequency: 1}}\n";
    folder.write("run.yaml", folder.text("run.yaml") + streaming);
    let mut kills = 0_u32;
    let end = loop {
        let mut child = folder.command(line).stdout(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(time.mul_f64(0.5 + 0.1 * f64::from(kills)));
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            break child.wait_with_output().unwrap();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    };
    let resumed: serde_json::Value = serde_json::from_slice(&end.stdout).unwrap();
    assert_eq!(untimed(resumed), untimed(whole), "after {kills} kills");
    assert!(!folder.names("").contains(&"saved".to_owned()), "a fit that is done leaves no checkpoint");
    let mut saved = false;
    for wait in 1..40 {
        let child = folder.command(line).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(time.mul_f64(0.05 * f64::from(wait)));
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        if output.status.code() == Some(75) {
            let message = String::from_utf8(output.stderr).unwrap();
            assert!(message.contains("saved in saved/xpcs-"), "{message}");
            assert!(message.contains(".ckpt: the same command goes on from there"), "{message}");
            saved = true;
            break;
        }
    }
    assert!(saved, "no signal came during the fit");
    // Another fit has a checkpoint of its own; a configuration may say to begin again.
    folder.told(&format!("{line} --loss huber"));
    assert!(folder.names("saved").iter().any(|name| name.starts_with("xpcs-")));
    let again =
        folder.text("run.yaml").replace("checkpoint_frequency", "resume_from_checkpoint: false, checkpoint_frequency");
    folder.write("again.yaml", again);
    folder.told(&line.replace("run.yaml", "again.yaml"));
    assert!(!folder.names("").contains(&"saved".to_owned()));
}

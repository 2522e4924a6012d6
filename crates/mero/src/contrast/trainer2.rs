//! `mero contrast --trainer2`: a run of Trainer2 on rows of tokens, with its telemetry and checkpoints.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use pollster::block_on;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::Args;
use super::rows::coordinates;
use crate::options::contents::TELEMETRY;
use crate::options::outputs::check_outs;
use crate::terminal::console::{complain, say, say_json};
use crate::terminal::interrupt;
use crate::terminal::progress::Progress;
use crate::{Answer, Failure};
use meromorph::Error;
use meromorph::contrast::trainer2::{Trainer2, Trainer2Run};
use meromorph::contrast::{TokenRows, self_checks};
use meromorph::device::Device;
use meromorph::internal::host;
use meromorph::report::{count, counted, facts, figure};
use meromorph::train::Trainer;

pub(super) fn run(args: &Args, config: &str) -> Answer {
    refuse_others(args)?;
    let (config, hash) = configuration(config)?;
    let folder = Path::new(&config.run_dir).join(&config.run_name);
    let telemetry = config.is_on("telemetry_jsonl").then(|| folder.join(&config.telemetry_jsonl_filename));
    interrupt::watch_until_work();
    let rows = tokens(args)?;
    let vocabulary = rows.ids.iter().max().map_or(0, |id| *id as usize + 1);
    let Trainer2Run { network, data, settings, memory_norm } = config.run(&rows, vocabulary, None)?;
    refuse_used(&folder, telemetry.as_deref(), args.force)?;
    let notes = config.notes();
    if !args.json {
        for note in &notes {
            complain(&format!("mero contrast: {note}"));
        }
    }
    let device = args.hardware.open()?;
    let checks = if config.is_on("run_smoke_tests") { checked(&device, &config)? } else { Vec::new() };
    let mut trainer = Trainer::new(&device, network, settings, data)?;
    std::fs::create_dir_all(&folder)
        .map_err(|error| Error::new(format!("{}: cannot be created: {}", folder.display(), host::reason(&error))))?;
    check_outs(&[("telemetry", telemetry.as_deref(), Some(&TELEMETRY))], &args.source.inputs(), args.force)?;
    let mut log = Log::open(telemetry, &config, hash, memory_norm)?;
    let name = device.info().name.clone();
    log.meta(
        &json!({ "device": name, "rows": rows.rows(), "vocabulary": vocabulary, "notes": notes, "checks": checks }),
    )?;
    let windows = config.windows(rows.rows());
    let started = host::now_ms();
    let done = follow(&mut trainer, &config, windows, &mut log, &folder)?;
    let seconds = (host::now_ms() - started) / 1e3;
    let last = checkpoint(&trainer, &folder, "last")?;
    let figures = block_on(trainer.source_report())?.unwrap_or_default();
    if args.json {
        let figures: Map<String, Value> = figures.into_iter().map(|(name, value)| (name, json!(value))).collect();
        say_json(&json!({
            "event": "done", "windows": done, "seconds": seconds, "telemetry": log.path, "checkpoint": last,
            "figures": figures, "notes": notes,
        }));
    } else {
        let mut lines = vec![("ran", format!("{}, {} s", counted(done, "window"), figure(seconds)))];
        let figures: Vec<String> = figures.iter().map(|(name, value)| format!("{name} {}", figure(*value))).collect();
        lines.push(("last window", figures.join(", ")));
        lines.extend(log.path.as_ref().map(|path| ("telemetry", path.display().to_string())));
        lines.push(("checkpoint", last.display().to_string()));
        say(&facts(&lines));
    }
    if done < windows {
        let (done, windows, last) = (count(done as u64), count(windows as u64), last.display());
        return Err(Failure::Interrupted(format!(
            "stopped after {done} of {windows} windows; {last} is written, from which a program can continue"
        )));
    }
    Ok(())
}

/// Errors if the folder has files of another run, unless they may be replaced.
fn refuse_used(folder: &Path, telemetry: Option<&Path>, is_forced: bool) -> Answer {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let is_of_run = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(Trainer2::CHECKPOINT) || Some(path) == telemetry
    };
    match entries.flatten().map(|entry| entry.path()).find(|path| is_of_run(path)) {
        Some(path) if !is_forced => Err(Failure::usage(format!(
            "{}: is of another run: choose another run_name, or replace it with --force",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Options of memories have no effect on Trainer2.
fn refuse_others(args: &Args) -> Answer {
    let classes = args.source.classes_option();
    let outs = [("out", args.out.is_some()), ("map_out", args.map_out.is_some())];
    let outs = outs.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name);
    match args.flags.names().next().or(classes).or(outs) {
        Some(name) => {
            let name = name.replace('_', "-");
            Err(Failure::usage(format!("--{name} has no effect with --trainer2: its options are in the configuration")))
        }
        None => Ok(()),
    }
}

/// A preset, or the configuration in a file; and the first 12 digits of the SHA-256 of its fields, which are sorted.
fn configuration(name: &str) -> Answer<(Trainer2, String)> {
    let (config, fields) = if Trainer2::PRESETS.contains(&name) {
        (Trainer2::preset(name)?, json!({ "preset": name }))
    } else {
        if !Path::new(name).exists() {
            let presets = Trainer2::PRESETS.join(", ");
            return Err(Failure::usage(format!("--trainer2: got {name}, expected a file or one of {presets}")));
        }
        let bytes = host::read(Path::new(name))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::usage(format!("{name}: got bytes that are no text, expected JSON")))?;
        let config = Trainer2::parse(&text, name)?;
        // Objects of serde_json are sorted.
        (config, serde_json::from_str(&text).map_err(|error| Error::usage(format!("{name}: {error}")))?)
    };
    let digest = Sha256::digest(fields.to_string());
    Ok((config, digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect()))
}

/// The rows of the table as tokens; a negative number is padding.
fn tokens(args: &Args) -> Answer<TokenRows> {
    let table = args.source.table("contrast")?;
    let (names, x) = coordinates(&table, &args.source.columns, None)?;
    let tokens = names.len();
    // Indices are floats on the way to the device.
    let is_id = |x: &f32| x.fract() == 0.0 && *x < 16_777_216.0;
    if let Some(at) = x.iter().position(|x| !is_id(x)) {
        let (source, row, name) = (table.source(), at / tokens + 1, &names[at % tokens]);
        let got = x[at];
        return Err(Error::new(format!(
            "{source}: row {row}, column \"{name}\": got {got}, expected the number of a token"
        ))
        .into());
    }
    let mask = x.iter().map(|&x| f32::from(u8::from(x >= 0.0))).collect();
    Ok(TokenRows { tokens, ids: x.iter().map(|&x| x.max(0.0) as u32).collect(), mask })
}

/// The checks of the device. Errors if one fails.
fn checked(device: &Device, config: &Trainer2) -> Answer<Vec<Value>> {
    let checks = block_on(self_checks(device, config.rotors()?))?;
    if let Some(failed) = checks.iter().find(|check| !check.is_passed()) {
        let (name, error, bound) = (&failed.name, failed.error, failed.bound);
        return Err(Error::device(format!(
            "contrast: check \"{name}\": got an error of {error:e}, expected at most {bound:e}"
        ))
        .into());
    }
    Ok(checks.iter().map(|check| json!(check)).collect())
}

/// Runs the windows, and returns how many were run.
fn follow(trainer: &mut Trainer, config: &Trainer2, windows: usize, log: &mut Log, folder: &Path) -> Answer<usize> {
    interrupt::watch();
    let progress = Progress::of(windows as u64, "learning").ticking();
    let is_due = |period: i64, window: usize| period > 0 && (window + 1).is_multiple_of(period as usize);
    for window in 0..windows {
        if interrupt::is_requested() {
            interrupt::work_is_done();
            return Ok(window);
        }
        let start = host::now_ms();
        trainer.advance(1)?;
        let figures = block_on(trainer.source_report())?.unwrap_or_default();
        log.add(&figures, host::now_ms() - start);
        if is_due(config.log_every_windows, window) || window + 1 == windows {
            check_finite(trainer, &figures, window)?;
            if config.log_every_windows > 0 {
                log.line(window, trainer.steps_per_epoch())?;
            }
        }
        if is_due(config.save_every_windows, window) {
            checkpoint(trainer, folder, &format!("{:06}", window + 1))?;
        }
        progress.set(window as u64 + 1);
    }
    interrupt::work_is_done();
    Ok(windows)
}

/// Errors if the run has diverged. What was saved before stays.
fn check_finite(trainer: &Trainer, figures: &[(String, f64)], window: usize) -> Answer {
    let is_finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
    // A distance is above 0, if any key is near enough to have a weight.
    let is_sound = |(name, figure): &(String, f64)| figure.is_finite() && (name != "distance" || *figure > 0.0);
    if figures.iter().all(is_sound) && is_finite(&block_on(trainer.parameters())?) {
        return Ok(());
    }
    let window = count(window as u64 + 1);
    Err(Error::new(format!(
        "contrast: distances or parameters are not finite any more in window {window}: use a smaller eta_update or eta_embedding"
    ))
    .into())
}

fn checkpoint(trainer: &Trainer, folder: &Path, name: &str) -> Answer<PathBuf> {
    let path = folder.join(format!("{}{name}.safetensors", Trainer2::CHECKPOINT));
    host::write_whole(&path, &block_on(trainer.checkpoint())?.save(None)?)?;
    Ok(path)
}

/// The telemetry: a record of the run, then one for each period with means over its windows.
struct Log {
    path: Option<PathBuf>,
    file: Option<File>,
    common: [Value; 2],
    steps: usize,
    memory_norm: f64,
    /// Sums over the windows of the period, their time and their number.
    sums: Vec<(String, f64)>,
    window_ms: f64,
    windows: usize,
}

impl Log {
    fn open(path: Option<PathBuf>, config: &Trainer2, hash: String, memory_norm: f64) -> Answer<Self> {
        let open =
            |path: &PathBuf| File::create(path).map_err(|error| Error::new(format!("{}: {error}", path.display())));
        let file = path.as_ref().map(open).transpose()?;
        let common = [json!(config.run_name), json!(hash)];
        let steps = config.tbptt_window_steps;
        Ok(Self { path, file, common, steps, memory_norm, sums: Vec::new(), window_ms: 0.0, windows: 0 })
    }

    fn meta(&mut self, what: &Value) -> Answer {
        let mut record = json!({ "S": self.steps, "mem_norm": self.memory_norm });
        merge(&mut record, what);
        self.write("run_meta", record)
    }

    fn add(&mut self, figures: &[(String, f64)], ms: f64) {
        if self.windows == 0 {
            self.sums = figures.iter().map(|(name, _)| (name.clone(), 0.0)).collect();
            self.window_ms = 0.0;
        }
        self.sums.iter_mut().zip(figures).for_each(|(sum, (_, figure))| sum.1 += figure);
        self.window_ms += ms;
        self.windows += 1;
    }

    fn line(&mut self, window: usize, per_epoch: usize) -> Answer {
        let count = self.windows.max(1) as f64;
        let mean = |names: [&str; 2]| {
            let found = self.sums.iter().find(|(name, _)| names.contains(&&**name));
            json!(found.map(|(_, sum)| sum / count))
        };
        let mut record = json!({
            "epoch": window / per_epoch, "window": window, "batch": window % per_epoch, "windows": self.windows,
            "total_loss": mean(["loss", "free"]), "lior_mean": mean(["cost", "free"]), "R_mean": mean(["curvature", "curvature"]),
            "spd_mean": mean(["distance", "speed"]), "window_ms": self.window_ms / count, "mem_norm": self.memory_norm, "S": self.steps,
        });
        let others = self
            .sums
            .iter()
            .filter(|(name, _)| name.starts_with("energy_") || name == "entropy" || name == "difference");
        let others: Map<String, Value> = others.map(|(name, sum)| (name.clone(), json!(sum / count))).collect();
        merge(&mut record, &Value::Object(others));
        self.windows = 0;
        self.write("window", record)
    }

    fn write(&mut self, kind: &str, mut record: Value) -> Answer {
        let [run_name, hash] = &self.common;
        let time = host::utc(host::unix_seconds());
        merge(&mut record, &json!({ "ts_utc": time, "run_name": run_name, "config_hash": hash }));
        // The type comes first, by which a file of telemetry is known.
        let rest = record.to_string();
        let line = format!("{{\"type\":\"{kind}\",{}\n", rest.trim_start_matches('{'));
        if let (Some(file), Some(path)) = (&mut self.file, &self.path) {
            file.write_all(line.as_bytes()).map_err(|error| Error::new(format!("{}: {error}", path.display())))?;
        }
        Ok(())
    }
}

/// The fields of one object into another.
fn merge(into: &mut Value, from: &Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
}

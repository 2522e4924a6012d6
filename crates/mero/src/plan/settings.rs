//! `mero plan --settings`: what other settings of the same training take. Memory is counted on the dry device; the time of a step is what its launches take
//! at the rates of this machine, so that it is a lower bound.

use pollster::block_on;
use serde_json::json;

use crate::Answer;
use crate::terminal::console::{say, say_json};
use crate::terminal::progress::Progress;
use meromorph::device::{AUTO, Launch, Recompute, Request};
use meromorph::internal::host;
use meromorph::model::Network;
use meromorph::nn::Spec;
use meromorph::profile::Ceilings;
use meromorph::report::{Table, bytes, duration};
use meromorph::train::{Data, Half, MixedPrecision, Trainer, TrainerConfig};
use meromorph::{Device, Result};

/// What a setting takes.
struct Row {
    name: String,
    flags: String,
    /// For the whole run: parameters, moments, rows, results in between.
    peak_bytes: u64,
    transient_bytes: u64,
    step_ms: f64,
}

/// Prints a table of settings, and the fastest of those that fit into memory.
pub(super) fn compare(data: &Data, spec: &Spec, settings: &TrainerConfig, is_json: bool) -> Answer {
    let (device, ceilings) = {
        let _progress = Progress::open("measuring the device");
        let measured = |device: &str| -> Result<(Device, Ceilings)> {
            let request = Request { device: device.into(), timestamps: true, ..Request::default() };
            let device = block_on(Device::open(&request))?;
            let ceilings = block_on(Ceilings::measure(&device))?;
            Ok((device, ceilings))
        };
        // A GPU may have no clock for launches.
        measured(AUTO).or_else(|_| measured("cpu"))?
    };
    let mut rows = vec![Row::of(("as given", String::new()), (data, spec, settings.clone()), &ceilings)?];
    for (name, flags, settings) in alternatives(settings, settings.has_independent_rows(&Network::from(spec.clone()))) {
        // Some do not go with the model, such as halves with an optimiser that cannot leave out updates.
        rows.extend(Row::of((&name, flags), (data, spec, settings), &ceilings).ok());
    }
    // What a GPU has is not known.
    let most = if device.info().runs_cpu_path() { host::memory_bytes() } else { u64::MAX };
    let fits = rows.iter().filter(|row| row.peak_bytes <= most);
    let best = fits.min_by(|a, b| a.step_ms.total_cmp(&b.step_ms).then(a.peak_bytes.cmp(&b.peak_bytes)));
    if is_json {
        for row in &rows {
            say_json(&json!({
                "event": "settings", "name": row.name, "flags": row.flags, "peak_bytes": row.peak_bytes,
                "transient_bytes": row.transient_bytes, "step_ms": row.step_ms,
                "is_chosen": best.is_some_and(|best| best.name == row.name),
            }));
        }
        return Ok(());
    }
    let line = |row: &Row| {
        let time = duration(row.step_ms / 1e3);
        [row.name.clone(), row.flags.clone(), bytes(row.transient_bytes), bytes(row.peak_bytes), time]
    };
    let header = ["settings", "flags", "between passes", "memory in all", "update, at least"];
    say(&Table::new(header).rows(rows.iter().map(line)).text());
    let memory = if most == u64::MAX { "memory".to_owned() } else { bytes(most) };
    let name = &device.info().name;
    say(&match best {
        Some(best) if best.flags.is_empty() => {
            format!("\nOn {name} the settings as given are the fastest that fit into {memory}.")
        }
        Some(best) => format!("\nOn {name} the fastest that fit into {memory}: {}", best.flags),
        None => format!("\nNone of them fit into {memory}: choose a smaller --hidden or --batch."),
    });
    Ok(())
}

/// Other settings for the same updates: a name, the flags that choose them, the configuration.
fn alternatives(given: &TrainerConfig, has_independent_rows: bool) -> Vec<(String, String, TrainerConfig)> {
    let halves = || Some(MixedPrecision::new(Half::F16));
    let mut all = vec![
        (
            "layers of 3 computed again".to_owned(),
            "--recompute 3".to_owned(),
            TrainerConfig { recompute: Recompute::Every(3), ..given.clone() },
        ),
        (
            "as many as take least memory".to_owned(),
            "--recompute sqrt".to_owned(),
            TrainerConfig { recompute: Recompute::Root, ..given.clone() },
        ),
        ("halves".to_owned(), "--precision f16".to_owned(), TrainerConfig { precision: halves(), ..given.clone() }),
        (
            "halves, computed again".to_owned(),
            "--precision f16 --recompute sqrt".to_owned(),
            TrainerConfig { precision: halves(), recompute: Recompute::Root, ..given.clone() },
        ),
    ];
    for parts in [2, 4, 16] {
        if has_independent_rows && given.batch.is_multiple_of(parts) && given.batch > parts {
            let (batch, accumulate) = (given.batch / parts, given.accumulate * parts);
            let flags = format!("--batch {batch} --accumulate {accumulate}");
            all.push((
                format!("{parts} steps for an update"),
                flags,
                TrainerConfig { batch, accumulate, ..given.clone() },
            ));
        }
    }
    all
}

impl Row {
    fn of(
        (name, flags): (&str, String),
        (data, spec, settings): (&Data, &Spec, TrainerConfig),
        ceilings: &Ceilings,
    ) -> Result<Self> {
        let device = Device::dry();
        let mut trainer = Trainer::new(&device, spec.clone(), settings, data.clone())?;
        trainer.prepare()?;
        let summary = trainer.step_summary();
        let least = |launch: &Launch| {
            let [flops, bytes] = ceilings.least_ms(launch.cost);
            flops.max(bytes)
        };
        Ok(Self {
            name: name.to_owned(),
            flags,
            peak_bytes: device.counters().peak_bytes,
            transient_bytes: summary.transient_bytes,
            // Of as many steps as make an update.
            step_ms: trainer.settings().accumulate as f64 * summary.launches.iter().map(least).sum::<f64>(),
        })
    }
}

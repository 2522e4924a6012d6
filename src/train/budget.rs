//! A memory budget for the intermediate results of a step: as many as needed are computed again, and if that is not enough, a step takes fewer rows and
//! more steps make an update, so that the updates stay the same.

use super::config::TrainerConfig;
use super::data::Data;
use super::groups::Groups;
use super::step::recorded::outline;
use super::step::setup::Setup;
use super::step::state::State;
use crate::device::{Device, Recompute};
use crate::error::{Error, Result};
use crate::host::number;
use crate::model::Network;

/// The settings with as many rows in a step as a budget allows. Errors if it is too small for one row, or for the batch of a model whose rows depend on
/// each other.
pub(crate) fn fitted(
    device: &Device,
    network: &Network,
    settings: TrainerConfig,
    data: &Data,
    parameters: &[f32],
) -> Result<TrainerConfig> {
    let Recompute::Within(most) = settings.recompute else { return Ok(settings) };
    let all = data.train.rows(data.targets);
    let whole = settings.batch.min(all);
    let is_whole = !settings.has_independent_rows(network);
    let sizes = (1..=whole).rev().filter(|rows| whole.is_multiple_of(*rows) && (*rows == whole || !is_whole));
    let groups = Groups::of(network.layout(), &settings)?;
    let mut least = None;
    for batch in sizes {
        let accumulate = settings.accumulate * (whole / batch);
        let tried = TrainerConfig { batch, accumulate, ..settings.clone() };
        let steps = all.div_ceil(batch);
        let setup = Setup {
            device,
            network,
            settings: &tried,
            data,
            groups: &groups,
            steps,
            seed: settings.seed,
            has_hook: false,
        };
        let bytes = outline(&setup, &State::of_each(&setup, parameters)?[0])?.least_bytes;
        if bytes <= most {
            return Ok(tried);
        }
        least = Some((bytes, batch));
    }
    let (bytes, rows) = least.unwrap_or((0, whole));
    let rows = if rows == 1 { "one row".to_owned() } else { format!("a step of {rows} rows, which cannot be split") };
    let mib = |bytes: u64| number(bytes as f64 / f64::from(1 << 20)).to_string();
    Err(Error::usage(format!(
        "train: memory_budget: got {} MiB for the intermediate results of a step, expected at least {} MiB for {rows}",
        mib(most),
        mib(bytes.div_ceil(1 << 20) << 20)
    )))
}

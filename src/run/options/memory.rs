//! The options of how much memory a step takes.

use super::TrainOptions;
use crate::device::Recompute;
use crate::error::{Error, Result};
use crate::host::parse_number;
use crate::options::{Entry, Kind, Value};

pub(crate) const MEMORY: &[Entry<TrainOptions>] = &[
    Entry::new(
        "recompute",
        Kind::Text("a number of layers, or sqrt"),
        "Layers of which only the last keeps its result for the backward pass, which computes the others again; sqrt takes least memory",
    )
    .default("none")
    .try_set(recompute),
    Entry::new(
        "recompute_layers",
        Kind::Texts,
        "Layers such as layers.2, kinds of layers or ops whose results are computed again for the backward pass",
    )
    .set(|o, v| o.recompute_layers = v.texts()),
    Entry::new(
        "memory_budget",
        Kind::whole(1),
        "Most MiB of memory for the intermediate results of a step; they are computed again, and then a step takes fewer rows and more steps make an update",
    )
    .try_set(|o, v| {
        if o.recompute != Recompute::Nothing {
            return Err(Error::usage("memory_budget: got recompute as well, expected one of them"));
        }
        o.recompute = Recompute::Within((v.whole() as u64) << 20);
        Ok(())
    }),
];

fn recompute(options: &mut TrainOptions, value: &Value) -> Result<()> {
    let count = parse_number(value.text()).filter(|count| *count >= 2.0 && count.fract() == 0.0 && *count < 1e6);
    options.recompute = match (value.text(), count) {
        ("none", _) => Recompute::Nothing,
        ("sqrt", _) => Recompute::Root,
        (_, Some(count)) => Recompute::Every(count as usize),
        (got, None) => {
            return Err(Error::usage(format!(
                "recompute: got \"{got}\", expected a whole number of at least 2, sqrt or none"
            )));
        }
    };
    Ok(())
}

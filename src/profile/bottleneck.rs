//! What holds a step up, and what to do about it: launches of a kernel that take more than a tenth of it, time without any launch, and a table that takes
//! long to read.

use super::ceilings::Ceilings;
use super::step::{Grouping, LaunchProfile, StepProfile};

/// A larger share of a step is a bottleneck.
pub const LIMIT: f64 = 0.1;
/// The same for reading and encoding a table, of all that a run does.
const LIMIT_OF_READING: f64 = 0.2;
/// Launches that reach this share of the roofline are as fast as the device.
const NEAR_ROOF: f64 = 0.8;

/// Something that takes a large share of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Bottleneck {
    /// The kernel, or another name.
    pub name: String,
    /// Its share.
    pub share: f64,
    /// What to do, in a sentence without a full stop.
    pub advice: String,
}

/// The bottlenecks of a step, longest first, and then that of reading, if reading and encoding the table take `read_ms` before `steps` steps.
pub fn bottlenecks(profile: &StepProfile, ceilings: &Ceilings, [read_ms, steps]: [f64; 2]) -> Vec<Bottleneck> {
    let mut all = Vec::new();
    for group in profile.grouped(Grouping::Kernel) {
        if group.share <= LIMIT {
            continue;
        }
        let advice = if group.launches == 0 { WAITING.to_owned() } else { advice(profile, ceilings, &group.name) };
        all.push(Bottleneck { name: group.name, share: group.share, advice });
    }
    let share = read_ms / (read_ms + steps * profile.plain_ms);
    if share > LIMIT_OF_READING {
        let advice = "save the table as .npy or .parquet, which is read without parsing text".to_owned();
        all.push(Bottleneck { name: "reading and encoding the table".to_owned(), share, advice });
    }
    all
}

/// What to do about the time without launches.
const WAITING: &str = "the device waits for the host: choose a larger --batch, so that launches are longer";

fn advice(profile: &StepProfile, ceilings: &Ceilings, kernel: &str) -> String {
    let own = || profile.launches.iter().filter(|one| one.launch.kernel == kernel);
    let ms: f64 = own().map(|one| one.ms).sum();
    let roof: f64 = own().map(|one| one.ms * one.roofline_share(ceilings)).sum::<f64>() / ms.max(f64::MIN_POSITIVE);
    let arithmetic: f64 = own().filter(|one| one.is_arithmetic(ceilings)).map(|one| one.ms).sum();
    let is_update = own().all(is_update);
    let what = match (is_update, roof >= NEAR_ROOF, 2.0 * arithmetic > ms) {
        (true, ..) => "a larger --batch makes fewer updates of an epoch",
        (_, false, _) => "too short to fill the device: a larger --batch, or --threads 1 for a small network",
        (_, _, true) => "near what the device can do: a narrower --hidden, or a device with more arithmetic",
        (_, _, false) => "as fast as the memory: --precision f16, or a larger --batch that reads weights less often",
    };
    format!("{:.0} % of the roofline; {what}", 100.0 * roof.min(1.0))
}

fn is_update(one: &LaunchProfile) -> bool {
    &*one.launch.label.layer == "update"
}

#[cfg(test)]
mod tests {
    use super::super::ceilings::CopyRate;
    use super::*;
    use crate::device::{Cost, Label, Launch, Timings};

    #[test]
    fn more_than_a_tenth_is_a_bottleneck() {
        let launch = |place, kernel, layer: &str, cost| Launch {
            kernel,
            code: None,
            label: Label::part(layer),
            cost,
            place,
            live_bytes: 0,
        };
        // 1 GFLOP/s and 1 GB/s: arithmetic of 6 ms in 6, traffic of 0.5 ms in 2; 0.5 ms are small, 1.5 ms are without a launch.
        let launches = vec![
            launch(0, "matmul", "layers.0", Cost { flops: 6_000_000, bytes: 1000 }),
            launch(1, "optimise", "update", Cost { flops: 10, bytes: 500_000 }),
            launch(2, "small", "layers.0", Cost::default()),
        ];
        let timings = Timings { commands: 3, spans: vec![[0.0, 6.0], [6.0, 8.0], [8.0, 8.5]], wall: [0.0, 10.0] };
        let profile = StepProfile::from_timings(launches, timings, [10.0, 0.0]);
        let ceilings = Ceilings { gflops: 1.0, matmul_size: 8, copies: vec![CopyRate { bytes: 8, gbytes_s: 1.0 }] };
        // 30 ms of reading before 10 steps of 10 ms are 3 / 13.
        let found = bottlenecks(&profile, &ceilings, [30.0, 10.0]);
        let shares: Vec<(&str, f64)> = found.iter().map(|one| (one.name.as_str(), (1e3 * one.share).round())).collect();
        let expected = [
            ("matmul", 600.0),
            ("optimise", 200.0),
            ("between launches", 150.0),
            ("reading and encoding the table", 231.0),
        ];
        assert_eq!(shares, expected);
        assert!(
            found[0].advice.starts_with("100 % of the roofline; near what the device can do"),
            "{}",
            found[0].advice
        );
        assert!(found[1].advice.starts_with("25 % of the roofline; "), "{}", found[1].advice);
        assert!(found[1].advice.ends_with("fewer updates of an epoch") && found[2].advice == WAITING);
        assert_eq!(bottlenecks(&profile, &ceilings, [10.0, 10.0]).len(), 3);
    }
}

//! Measurements of one machine as text, and their comparison with earlier ones.

use super::measurement::Measurement;
use super::ratio::{Ratio, Verdict};
use meromorph::error::{Error, Result, hint};
use meromorph::internal::host;
use meromorph::internal::json::{Json, Record};

/// Measurements of one machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The machine; times of different machines are not compared.
    pub machine: String,
    /// The measurements, with different names.
    pub measurements: Vec<Measurement>,
}

meromorph::record!(Report { machine, measurements });

/// How a measurement changed since a baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The name of the benchmark.
    pub name: String,
    /// Its time over that of the baseline.
    pub ratio: Ratio,
    /// What the ratio shows.
    pub verdict: Verdict,
}

impl Report {
    /// Of this machine: its processor and number of threads. Set `machine` if another device did the work.
    pub fn of(measurements: Vec<Measurement>) -> Self {
        Self { machine: format!("{}, {} threads", host::processor(), host::threads()), measurements }
    }

    /// Reads what [`Report::to_json`] wrote.
    pub fn parse(text: &str) -> Result<Self> {
        let read = || Self::from_json(&Json::parse(text)?);
        read().map_err(|error: Error| error.within("benchmark: report"))
    }

    /// One JSON object, with all samples.
    pub fn to_json(&self) -> String {
        Record::to_json(self).to_string()
    }

    /// A line of names and a line for each measurement. Figures that a measurement does not have are empty.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        if let Some(first) = self.measurements.first() {
            let names = first.figures().into_iter().map(|(name, _)| name);
            out += &["name", "samples"].into_iter().chain(names).collect::<Vec<_>>().join(",");
            out.push('\n');
        }
        for measurement in &self.measurements {
            let figures = measurement.figures().into_iter();
            let figures = figures.map(|(_, figure)| figure.map_or_else(String::new, |figure| figure.to_string()));
            let name = format!("\"{}\"", measurement.name.replace('"', "\"\""));
            let cells = [name, measurement.samples_ms.len().to_string()];
            out += &cells.into_iter().chain(figures).collect::<Vec<_>>().join(",");
            out.push('\n');
        }
        out
    }

    /// A table for people: four digits, times in milliseconds.
    pub fn to_markdown(&self) -> String {
        let mut out = format!("Times in ms on {}; intervals of the mean.\n\n", self.machine);
        out += "| benchmark | median | mean | interval | deviation | 99 % below | elements/s | GB/s | GFLOP/s |\n";
        out += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
        let or_none = |figure: Option<f64>| figure.map_or_else(|| "–".to_owned(), digits);
        for measurement in &self.measurements {
            let interval = measurement.interval_ms.map(|interval| interval.map(digits).join(" to "));
            let cells = [
                measurement.name.replace('|', "\\|"),
                digits(measurement.median_ms()),
                digits(measurement.mean_ms),
                interval.unwrap_or_else(|| "–".to_owned()),
                or_none(measurement.std_ms),
                digits(measurement.percentiles_ms[3]),
                or_none(measurement.elements_per_s()),
                or_none(measurement.gb_per_s()),
                or_none(measurement.gflop_per_s()),
            ];
            out += &format!("| {} |\n", cells.join(" | "));
        }
        out
    }

    /// How each measurement of `baseline` has changed. Measurements that are only here are new, and left out. Errors if one is missing here, if the
    /// machine is another, or if the work of a run is.
    pub fn against(&self, baseline: &Self) -> Result<Vec<Change>> {
        baseline
            .measurements
            .iter()
            .map(|old| self.change(baseline, old))
            .collect::<Result<_>>()
            .map_err(|error| error.within("benchmark: baseline"))
    }

    fn change(&self, baseline: &Self, old: &Measurement) -> Result<Change> {
        let name = &old.name;
        if self.machine != baseline.machine {
            let (got, expected) = (&baseline.machine, &self.machine);
            return Err(Error::new(format!("machine: got \"{got}\", expected \"{expected}\"")));
        }
        let new = self.measurements.iter().find(|new| new.name == *name).ok_or_else(|| {
            let names = self.measurements.iter().map(|new| new.name.as_str());
            Error::new(format!("\"{name}\" was not measured{}", hint(name, names)))
        })?;
        if new.work != old.work {
            return Err(Error::new(format!("\"{name}\": work: got {:?}, expected {:?}", old.work, new.work)));
        }
        let ratio = Ratio::of_samples(&old.samples_ms, &new.samples_ms, new.level);
        Ok(Change { name: name.clone(), ratio, verdict: ratio.verdict() })
    }
}

/// Four significant digits.
fn digits(value: f64) -> String {
    let places = 3 - value.abs().max(1e-9).log10().floor() as i32;
    format!("{value:.0$}", places.clamp(0, 9) as usize)
}

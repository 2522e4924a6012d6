//! Starts, bounds and fixed values of parameters.

use super::yaml::Section;
use super::{Config, at};
use crate::model::Scaling;
use crate::parameter::canonical;
use meromorph::error::{Error, Result};

impl Config {
    pub(super) fn read_starts(&mut self, mut section: Section<'_>) -> Result<()> {
        let names = section.texts("parameter_names")?.unwrap_or_default();
        let values = section.numbers("values")?;
        let known = names.iter().map(|name| canonical(name)).collect::<Result<Vec<_>>>();
        let known = known.map_err(|error| at(&section, "parameter_names", &error))?;
        if let Some(twice) = (1..known.len()).find(|&at| known[..at].contains(&known[at])) {
            return Err(section.wrong("parameter_names", &format!("\"{}\" is there twice", names[twice])));
        }
        if let Some(values) = &values {
            if values.len() != names.len() {
                let (got, expected) = (values.len(), names.len());
                return Err(
                    section.wrong("values", &format!("got {got} values, expected {expected} as parameter_names"))
                );
            }
            let starts = known.iter().zip(values).map(|(known, value)| (known.name, *value));
            self.fitting.starts = starts.collect();
        }
        if let Some(names) = section.texts("active_parameters")? {
            let active = names.iter().map(|name| canonical(name).map(|known| known.name)).collect::<Result<_>>();
            self.active = Some(active.map_err(|error| at(&section, "active_parameters", &error))?);
        }
        for (name, value) in section.named_numbers("fixed_parameters")? {
            let known = canonical(name).map_err(|error| at(&section, "fixed_parameters", &error))?;
            self.fitting.fixed.push((known.name, value));
        }
        if let Some(mut scaling) = section.section("per_angle_scaling")? {
            for name in ["contrast", "offset"] {
                if let Some(values) = scaling.numbers(name)? {
                    (self.fitting.model.scaling, self.has_scaling) = (Scaling::Individual, true);
                    self.fitting.angle_starts.push((name, values));
                }
            }
            scaling.finish();
        }
        // Units are those of the parameters, see `PARAMETERS`.
        section.unused(&["units"]);
        section.finish();
        Ok(())
    }

    pub(super) fn read_bounds(&mut self, mut section: Section<'_>) -> Result<()> {
        for mut one in section.sections("bounds")? {
            let name = one.text("name")?.ok_or_else(|| one.wrong("name", "the name of the parameter is missing"))?;
            let known = canonical(name).map_err(|error| at(&one, "name", &error))?;
            let low = one.number("min")?.unwrap_or(known.bounds[0]);
            let high = one.number("max")?.unwrap_or(known.bounds[1]);
            let is_range = low < high;
            if !is_range {
                return Err(one.wrong("min", &format!("got {low} to {high}, expected min below max")));
            }
            if self.fitting.bounds.iter().any(|(other, _)| *other == known.name) {
                return Err(one.wrong("name", &format!("the bounds of \"{name}\" are there twice")));
            }
            self.fitting.bounds.push((known.name, [low, high]));
            one.unused(&["type", "prior_mu", "prior_sigma", "unit", "description", "log_space"]);
            one.finish();
        }
        section.unused(&["model", "priors"]);
        section.finish();
        Ok(())
    }

    /// Fixes what is not active at its start, and leaves out what the model does not have.
    pub(super) fn fix_inactive(&mut self) -> Result<()> {
        let fitting = &mut self.fitting;
        let has = |name: &str| fitting.model.parameters().any(|known| known.name == name);
        let flow = fitting.model.flow.name();
        let mut foreign: Vec<&str> = Vec::new();
        let given = fitting.starts.iter().chain(&fitting.fixed).map(|(name, _)| *name);
        for name in given.chain(fitting.bounds.iter().map(|(name, _)| *name)) {
            if !has(name) && !foreign.contains(&name) {
                foreign.push(name);
            }
        }
        for name in foreign {
            self.notes.push(format!("\"{name}\" is not used: it is not a parameter of the model {flow}"));
        }
        fitting.starts.retain(|(name, _)| has(name));
        fitting.fixed.retain(|(name, _)| has(name));
        fitting.bounds.retain(|(name, _)| has(name));
        let Some(active) = &self.active else { return Ok(()) };
        for known in fitting.model.parameters() {
            // Contrast and offset are always fitted, unless they are fixed by name.
            let is_scaling = ["contrast", "offset"].contains(&known.name);
            if is_scaling || active.contains(&known.name) || fitting.fixed.iter().any(|(name, _)| *name == known.name) {
                continue;
            }
            let start = fitting.starts.iter().find(|(name, _)| *name == known.name).ok_or_else(|| {
                Error::usage(format!(
                    "initial_parameters.active_parameters: \"{}\" is not active and has no value to keep: expected one in values",
                    known.name
                ))
            })?;
            fitting.fixed.push(*start);
        }
        Ok(())
    }
}

//! The parameters: names, units, bounds and starts, those of homodyne 2.23 and of heterodyne 2.0.

use super::model::Flow;
use meromorph::error::{Error, Result, hint, listed};

/// What is known of a parameter before the fit.
#[derive(Debug, PartialEq)]
pub struct ParameterInfo {
    /// Its name.
    pub name: &'static str,
    /// Other names that mean the same.
    pub aliases: &'static [&'static str],
    /// Its unit; empty for a number without one.
    pub unit: &'static str,
    /// Its smallest and its largest value.
    pub bounds: [f64; 2],
    /// Where the search starts.
    pub start: f64,
    /// The models that have it.
    pub flows: &'static [Flow],
}

const ALL: &[Flow] = &[Flow::Static, Flow::Laminar, Flow::TwoComponent];
const ONE_COMPONENT: &[Flow] = &[Flow::Static, Flow::Laminar];
const MOVING: &[Flow] = &[Flow::Laminar, Flow::TwoComponent];
const LAMINAR: &[Flow] = &[Flow::Laminar];
const TWO: &[Flow] = &[Flow::TwoComponent];

/// Contrast and offset, three parameters of diffusion and four of flow; then those of two components, which have the exponent `beta` and the angle
/// `phi0` in common with the flow.
pub static PARAMETERS: [ParameterInfo; 21] = [
    one("contrast", &[], "", [0.0, 1.0], 0.5, ALL),
    one("offset", &[], "", [0.5, 1.5], 1.0, ALL),
    one("D0", &[], "Å²/s", [100.0, 1e5], 1000.0, ONE_COMPONENT),
    one("alpha", &[], "", [-2.0, 2.0], 0.5, ONE_COMPONENT),
    one("D_offset", &[], "Å²/s", [-1e5, 1e5], 10.0, ONE_COMPONENT),
    one("gamma_dot_0", &["gamma_dot_t0"], "1/s", [1e-6, 0.5], 0.01, LAMINAR),
    one("D0_ref", &[], "Å²/s", [100.0, 1e6], 1e4, TWO),
    one("alpha_ref", &[], "", [-2.0, 2.0], 0.0, TWO),
    one("D_offset_ref", &[], "Å²/s", [-1e5, 1e5], 0.0, TWO),
    one("D0_sample", &[], "Å²/s", [100.0, 1e6], 1e4, TWO),
    one("alpha_sample", &[], "", [-2.0, 2.0], 0.0, TWO),
    one("D_offset_sample", &[], "Å²/s", [-1e5, 1e5], 0.0, TWO),
    one("v0", &[], "Å/s", [1e-6, 1e4], 1e3, TWO),
    one("beta", &[], "", [-2.0, 2.0], 0.5, MOVING),
    one("v_offset", &[], "Å/s", [-100.0, 100.0], 0.0, TWO),
    one("gamma_dot_offset", &["gamma_dot_t_offset"], "1/s", [-0.1, 0.1], 0.0, LAMINAR),
    one("f0", &[], "", [0.0, 1.0], 0.5, TWO),
    one("f1", &[], "1/s", [-10.0, 10.0], 0.0, TWO),
    one("f2", &[], "s", [-1e4, 1e4], 0.0, TWO),
    one("f3", &[], "", [0.0, 1.0], 0.0, TWO),
    one("phi0", &["phi_0", "phi0_het"], "degrees", [-10.0, 10.0], 0.0, MOVING),
];

const fn one(
    name: &'static str,
    aliases: &'static [&'static str],
    unit: &'static str,
    bounds: [f64; 2],
    start: f64,
    flows: &'static [Flow],
) -> ParameterInfo {
    ParameterInfo { name, aliases, unit, bounds, start, flows }
}

/// The parameter of this name or alias. Errors if there is none.
pub fn canonical(name: &str) -> Result<&'static ParameterInfo> {
    let found = PARAMETERS.iter().find(|known| known.name == name || known.aliases.contains(&name));
    found.ok_or_else(|| {
        let names = PARAMETERS.iter().map(|known| known.name);
        let near = hint(name, names.clone().chain(PARAMETERS.iter().flat_map(|known| known.aliases.iter().copied())));
        let all = listed(&names.collect::<Vec<_>>());
        Error::usage(format!("parameter: got \"{name}\", expected one of {all}{near}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases() {
        assert_eq!(canonical("gamma_dot_t_offset").unwrap().name, "gamma_dot_offset");
        let error = canonical("aplha").unwrap_err().to_string();
        assert!(error.ends_with("; did you mean \"alpha\"?"), "{error}");
        assert!(PARAMETERS.iter().all(|one| one.bounds[0] <= one.start && one.start <= one.bounds[1]));
    }
}

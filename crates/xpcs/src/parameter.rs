//! The parameters: names, units, bounds and starts, those of homodyne 2.23.

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
    /// Whether only the model of laminar flow has it.
    pub is_of_flow: bool,
}

/// Contrast and offset, then the three parameters of diffusion, then the four of flow.
pub static PARAMETERS: [ParameterInfo; 9] = [
    diffusion("contrast", &[], "", [0.0, 1.0], 0.5),
    diffusion("offset", &[], "", [0.5, 1.5], 1.0),
    diffusion("D0", &[], "Å²/s", [100.0, 1e5], 1000.0),
    diffusion("alpha", &[], "", [-2.0, 2.0], 0.5),
    diffusion("D_offset", &[], "Å²/s", [-1e5, 1e5], 10.0),
    flow("gamma_dot_0", &["gamma_dot_t0"], "1/s", [1e-6, 0.5], 0.01),
    flow("beta", &[], "", [-2.0, 2.0], 0.5),
    flow("gamma_dot_offset", &["gamma_dot_t_offset"], "1/s", [-0.1, 0.1], 0.0),
    flow("phi0", &[], "degrees", [-10.0, 10.0], 0.0),
];

const fn diffusion(
    name: &'static str,
    aliases: &'static [&'static str],
    unit: &'static str,
    bounds: [f64; 2],
    start: f64,
) -> ParameterInfo {
    ParameterInfo { name, aliases, unit, bounds, start, is_of_flow: false }
}

const fn flow(
    name: &'static str,
    aliases: &'static [&'static str],
    unit: &'static str,
    bounds: [f64; 2],
    start: f64,
) -> ParameterInfo {
    ParameterInfo { name, aliases, unit, bounds, start, is_of_flow: true }
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

//! The options of a curve fit, from a JavaScript object.

use js_sys::{Array, Object};
use wasm_bindgen::{JsCast, JsValue};

use meromorph::error::{Error, Result, hint, listed};
use meromorph::fit::{Formula, Global, Method, Problem, RobustLoss, SolveOptions};
use meromorph_web_values::{get, show};

/// The options of a fit; unset fields have their defaults.
pub(crate) struct FitOptions {
    pub(crate) y: Option<String>,
    pub(crate) sigma: Option<String>,
    pub(crate) is_absolute: bool,
    /// Names of parameters with their formulas.
    pub(crate) ties: Vec<(String, String)>,
    pub(crate) loss: RobustLoss,
    pub(crate) loss_scale: f64,
    /// Whether intervals from profiles are computed.
    pub(crate) profiles: bool,
    /// Whether rows with missing cells are left out.
    pub(crate) drops_missing: bool,
    pub(crate) solve: SolveOptions,
    starts: Vec<(String, f64)>,
    bounds: Vec<(String, [f64; 2])>,
    /// Parameters with the values that they keep.
    pub(crate) fixed: Vec<(String, f64)>,
}

/// The largest whole number that every smaller one is told apart from in an f64.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

impl FitOptions {
    pub(crate) fn read(options: &JsValue) -> Result<Self> {
        let text = |name| option(options, name, "a text", JsValue::as_string);
        let truth = |name| option(options, name, "true or false", JsValue::as_bool);
        let whole = |name| {
            let read = |value: &JsValue| value.as_f64().filter(|x| x.fract() == 0.0 && (0.0..=MOST_WHOLE).contains(x));
            option(options, name, "a whole number from 0 on", read)
        };
        let loss = RobustLoss::named(text("loss")?.as_deref().unwrap_or("linear"))?;
        let loss_scale = option(options, "lossScale", "a number", JsValue::as_f64)?;
        if let (RobustLoss::Linear, Some(_)) = (loss, loss_scale) {
            return Err(Error::usage(
                "lossScale: it applies to robust losses only: expected loss \"soft_l1\", \"huber\", \"cauchy\" or \"arctan\"",
            ));
        }
        let sigma = text("sigma")?;
        let is_absolute = truth("absoluteSigma")?.unwrap_or(false);
        if is_absolute && sigma.is_none() {
            return Err(Error::usage("absoluteSigma: it needs sigma: expected the column of standard deviations"));
        }
        let missing = text("missing")?;
        let drops_missing = match missing.as_deref() {
            None | Some("error") => false,
            Some("drop") => true,
            Some(other) => {
                return Err(Error::usage(format!("missing: got \"{other}\", expected \"error\" or \"drop\"")));
            }
        };
        let level = option(options, "level", "a number", JsValue::as_f64)?.unwrap_or(0.95);
        check_level(level)?;
        let solve = SolveOptions {
            method: one_of("method", text("method")?, &Method::ALL)?,
            level,
            evaluations: whole("maxEvaluations")?.unwrap_or(0.0) as usize,
            global: one_of("global", text("global")?, &Global::ALL)?,
            recovers: truth("recovery")?.unwrap_or(true),
            threads: 1,
            seed: whole("seed")?.unwrap_or(0.0) as u64,
        };
        Ok(Self {
            y: text("y")?,
            sigma,
            is_absolute,
            ties: entries(options, "tie", "a formula such as \"2*a\"", JsValue::as_string)?,
            loss,
            loss_scale: loss_scale.unwrap_or(1.0),
            drops_missing,
            profiles: truth("profile")?.unwrap_or(false),
            solve,
            starts: entries(options, "p0", "a number", JsValue::as_f64)?,
            bounds: entries(options, "bounds", "[low, high], such as [0, 10] or [0, null]", range)?,
            fixed: entries(options, "fix", "a number", JsValue::as_f64)?,
        })
    }

    /// The observed values: those of the option y, or the last column that the model does not use.
    pub(crate) fn target(&self, names: &[&str], formula: &Formula) -> Result<String> {
        if let Some(y) = &self.y {
            return Ok(y.clone());
        }
        let is_used =
            |name: &str| formula.columns().iter().any(|known| known == name) || self.sigma.as_deref() == Some(name);
        let unused = names.iter().rfind(|name| !is_used(name));
        let error = || {
            Error::usage("y: the model uses every column: expected the option y with the column of the observed values")
        };
        unused.map(|name| (*name).to_owned()).ok_or_else(error)
    }

    /// The problem with starts, bounds and fixed parameters.
    pub(crate) fn known<'a>(&self, mut problem: Problem<'a>) -> Result<Problem<'a>> {
        if self.solve.method == Method::TrustRegion {
            problem = problem.usual_bounds();
        }
        for (name, [low, high]) in &self.bounds {
            problem = problem.bounds(name, *low, *high)?;
        }
        for (name, value) in &self.starts {
            problem = problem.start(name, *value)?;
        }
        for (name, value) in &self.fixed {
            problem = problem.fix(name, *value)?;
        }
        Ok(problem)
    }
}

/// Errors unless a level is a probability.
pub(crate) fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    let level = meromorph::internal::host::number(level);
    Err(Error::usage(format!("level: got {level}, expected a probability between 0 and 1")))
}

/// The value that an option names, by default the first.
fn one_of<T: Copy>(option: &str, got: Option<String>, all: &[(&str, T)]) -> Result<T> {
    let Some(got) = got else { return Ok(all[0].1) };
    let found = all.iter().find(|(name, _)| *name == got);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        let (all, near) = (listed(&names), hint(&got, names.iter().copied()));
        Error::usage(format!("{option}: got \"{got}\", expected one of {all}{near}"))
    })
}

/// An option, if it is given.
fn option<T>(options: &JsValue, name: &str, wanted: &str, read: impl Fn(&JsValue) -> Option<T>) -> Result<Option<T>> {
    let value = get(options, name);
    if value.is_undefined() || value.is_null() {
        return Ok(None);
    }
    let wrong = || Error::usage(format!("{name}: got {}, expected {wanted}", show(&value)));
    read(&value).map(Some).ok_or_else(wrong)
}

/// An option that is an object of values by the names of parameters.
fn entries<T>(
    options: &JsValue,
    name: &str,
    wanted: &str,
    read: impl Fn(&JsValue) -> Option<T>,
) -> Result<Vec<(String, T)>> {
    let object = |value: &JsValue| value.dyn_ref::<Object>().filter(|_| !Array::is_array(value)).cloned();
    let Some(object) = option(options, name, "an object of values by the names of parameters", object)? else {
        return Ok(Vec::new());
    };
    let entry = |entry: JsValue| {
        let [key, value] = [0, 1].map(|at| Array::from(&entry).get(at));
        let key = key.as_string().unwrap_or_default();
        let wrong = || Error::usage(format!("{name}: {key}: got {}, expected {wanted}", show(&value)));
        read(&value).map(|value| (key.clone(), value)).ok_or_else(wrong)
    };
    Object::entries(&object).iter().map(entry).collect()
}

/// `[low, high]`; an end that is null or undefined is open.
fn range(value: &JsValue) -> Option<[f64; 2]> {
    let ends = Array::is_array(value).then(|| Array::from(value)).filter(|ends| ends.length() == 2)?;
    let end = |at: u32, open: f64| {
        let end = ends.get(at);
        if end.is_undefined() || end.is_null() { Some(open) } else { end.as_f64() }
    };
    Some([end(0, f64::NEG_INFINITY)?, end(1, f64::INFINITY)?])
}

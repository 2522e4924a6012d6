//! Parameters as the command line gives them: starts and fixed values such as `a=1,b=0.1`, bounds such as `a=0:10`.

use crate::{Answer, Failure};
use meromorph::internal::host;

/// `a=1,b=2` of all given texts as names and texts.
pub(crate) fn pairs<'a>(given: &'a [String], option: &str, example: &str) -> Answer<Vec<(&'a str, &'a str)>> {
    let pairs: Vec<(&str, &str)> = given
        .iter()
        .flat_map(|text| text.split(','))
        .map(|pair| split(pair, option, example))
        .collect::<Answer<_>>()?;
    let twice = (1..pairs.len()).find(|&at| pairs[..at].iter().any(|(name, _)| *name == pairs[at].0));
    match twice {
        Some(at) => Err(Failure::usage(format!("{option}: \"{}\" is given twice", pairs[at].0))),
        None => Ok(pairs),
    }
}

pub(crate) fn split<'a>(pair: &'a str, option: &str, example: &str) -> Answer<(&'a str, &'a str)> {
    let parts = pair.split_once('=').map(|(name, text)| (name.trim(), text.trim()));
    let parts = parts.filter(|(name, text)| !name.is_empty() && !text.is_empty());
    parts.ok_or_else(|| Failure::usage(format!("{option}: got \"{pair}\", expected name=value, such as {example}")))
}

/// Bounds such as `0:10`, `0:` or `:10`.
pub(crate) fn range(name: &str, text: &str) -> Answer<[f64; 2]> {
    let wrong =
        || Failure::usage(format!("bounds: {name}: got \"{text}\", expected low:high, such as 0:10, 0: or :10"));
    let (low, high) = text.split_once(':').ok_or_else(wrong)?;
    let end = |text: &str, open: f64| if text.is_empty() { Some(open) } else { host::parse_number(text) };
    let (low, high) = end(low, f64::NEG_INFINITY).zip(end(high, f64::INFINITY)).ok_or_else(wrong)?;
    Ok([low, high])
}

pub(crate) fn value(option: &str, name: &str, text: &str) -> Answer<f64> {
    let wrong = || Failure::usage(format!("{option}: {name}: got \"{text}\", expected a number"));
    host::parse_number(text).ok_or_else(wrong)
}

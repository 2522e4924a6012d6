//! Which columns look like standard errors of others: they are no observed values.

/// Words that mean a standard error, or another measure of spread.
const WORDS: [&str; 20] = [
    "err",
    "error",
    "errors",
    "errs",
    "errorbar",
    "sigma",
    "sig",
    "std",
    "stdev",
    "stddev",
    "stderr",
    "sd",
    "se",
    "sem",
    "unc",
    "uncert",
    "uncertainty",
    "uncertainties",
    "σ",
    "rms",
];

/// Whether the name of a column is one of standard errors, such as `yerr`, `signal_error`, `σ` or `dy`.
pub(crate) fn looks_like_errors(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_word = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = word.strip_suffix("err").or_else(|| word.strip_suffix("error"));
        WORDS.contains(&word)
            || matches!(word, "dx" | "dy" | "delta")
            || (stem.is_some_and(|stem| stem.len() == 1) && word != "terror")
    };
    // A column such as sigma_max or se_target is another quantity; err_y is not.
    words.clone().next_back().is_some_and(is_word)
        || words.next().is_some_and(|word| word.starts_with("err") && is_word(word))
}

/// Of some columns the one that looks like the standard errors of another, the nearest by name.
pub(crate) fn error_column<'a>(names: impl Iterator<Item = &'a str>, target: &str) -> Option<&'a str> {
    let all: Vec<&str> = names.filter(|name| looks_like_errors(name)).collect();
    all.iter().find(|name| name.contains(target)).or(all.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_errors_are_known() {
        for name in [
            "yerr",
            "y_err",
            "Signal error",
            "sigma",
            "σ",
            "dy",
            "stderr",
            "flux_unc",
            "err_y",
            "SD",
            "y (std)",
            "sigma1",
            "error",
        ] {
            assert!(looks_like_errors(name), "{name}");
        }
        for name in ["y", "terror", "sigma_max", "series", "rate", "dye", "signal", "case", "mirror", "x", "std_y_fit"]
        {
            assert!(!looks_like_errors(name), "{name}");
        }
        assert_eq!(error_column(["x_err", "y_err", "z_err"].into_iter(), "y"), Some("y_err"));
    }
}

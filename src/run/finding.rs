//! What a check-up of a model finds.

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is well.
    Pass,
    /// It works, and could work better.
    Advise,
    /// Something is wrong.
    Fail,
}

impl Verdict {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Advise => "advise",
            Self::Fail => "fail",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What was checked, in a few words.
    pub check: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// What was seen, with numbers.
    pub seen: String,
    /// What to do; empty if there is nothing.
    pub advice: String,
}

/// A finding; what passes needs no advice.
pub(super) fn finding(check: &'static str, verdict: Verdict, seen: String, advice: &str) -> Finding {
    let advice = if verdict == Verdict::Pass { String::new() } else { advice.to_owned() };
    Finding { check, verdict, seen, advice }
}

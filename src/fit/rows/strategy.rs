//! Where the rows of a fit are while it runs. The sums are the same wherever they are, and so is the answer.

use super::pieces::PIECE;
use crate::error::{Error, Result, hint, listed};

/// Where rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// The whole table is in memory.
    #[default]
    Standard,
    /// The columns that are used are in memory.
    Large,
    /// The first rows are in memory; the others are read in each pass.
    Chunked,
    /// All rows are read in each pass.
    Streaming,
}

impl Strategy {
    /// Every strategy with its name, from most memory to least.
    pub const ALL: [(&'static str, Self); 4] = [
        ("standard", Self::Standard),
        ("large", Self::Large),
        ("chunked", Self::Chunked),
        ("streaming", Self::Streaming),
    ];

    /// The strategy of this name.
    pub fn named(name: &str) -> Result<Self> {
        let names = Self::ALL.map(|(name, _)| name);
        let found = Self::ALL.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, strategy)| strategy).ok_or_else(|| {
            let (all, near) = (listed(&names), hint(name, names.into_iter()));
            Error::usage(format!("strategy: got \"{name}\", expected auto or one of {all}{near}"))
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, strategy)| *strategy == self).map_or("", |(name, _)| name)
    }
}

/// What is known of data before a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Number of rows.
    pub rows: u64,
    /// Columns that the fit uses, with y, sigma and levels.
    pub columns: u64,
    /// Bytes of the whole table in memory.
    pub table_bytes: u64,
    /// Threads of the fit.
    pub threads: u64,
    /// Bytes that may be used.
    pub limit: u64,
}

/// Bytes that each strategy takes, and the choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// For each strategy of [`Strategy::ALL`] its bytes.
    pub bytes: [u64; 4],
    /// The choice.
    pub strategy: Strategy,
    /// Rows in memory, if the choice is chunked.
    pub held: u64,
    /// Bytes that the choice is compared with: three quarters of the limit.
    pub budget: u64,
}

impl Plan {
    /// The first strategy that fits into three quarters of the limit, or the wanted one. Chunked is chosen if at least a tenth of the rows is in
    /// memory. Errors if not even streaming fits.
    pub fn of(facts: &Facts, expected: Option<Strategy>) -> Result<Self> {
        let budget = facts.limit / 4 * 3;
        let row = 8 * facts.columns;
        // Each thread has the rows of a piece, twice while they are replaced.
        let streaming = 2 * facts.threads * PIECE as u64 * row;
        let large = streaming.saturating_add(row.saturating_mul(facts.rows));
        let standard = facts.table_bytes.saturating_add(row.saturating_mul(facts.rows));
        if streaming > budget {
            return Err(Error::new(format!(
                "memory: {} threads need {streaming} bytes for their rows, more than three quarters of {}: expected a higher limit or fewer --threads",
                facts.threads, facts.limit
            )));
        }
        let held = ((budget - streaming) / row.max(1)).min(facts.rows);
        let fitting = if standard <= budget {
            Strategy::Standard
        } else if large <= budget {
            Strategy::Large
        } else if held >= facts.rows / 10 {
            Strategy::Chunked
        } else {
            Strategy::Streaming
        };
        let strategy = expected.unwrap_or(fitting);
        let chunked = streaming + row * held;
        let held = if strategy == Strategy::Chunked { held } else { 0 };
        Ok(Self { bytes: [standard, large, chunked, streaming], strategy, held, budget })
    }

    /// The inequality that decided, in bytes.
    pub fn reason(&self) -> String {
        let budget = self.budget;
        let place = Strategy::ALL.iter().position(|(_, strategy)| *strategy == self.strategy).unwrap_or(0);
        let of = |at: usize| format!("{} {}", Strategy::ALL[at].0, self.bytes[at]);
        match place {
            0 => format!("{} <= {budget}", of(0)),
            1 => format!("{} > {budget} >= {}", of(0), of(1)),
            at => format!("{} > {budget} >= {}", of(1), of(at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(rows: u64, limit: u64) -> Facts {
        Facts { rows, columns: 2, table_bytes: 24 * rows, threads: 2, limit }
    }

    #[test]
    fn less_memory_means_a_later_strategy() {
        let place = |strategy| Strategy::ALL.iter().position(|(_, known)| *known == strategy).unwrap();
        let mut before = 0;
        for limit in (25..40).rev().map(|power| 1_u64 << power) {
            let plan = Plan::of(&facts(100_000_000, limit), None).unwrap();
            assert!(place(plan.strategy) >= before, "{limit}: {plan:?}");
            assert!(plan.bytes[place(plan.strategy)] <= plan.budget, "{limit}: {plan:?}");
            before = place(plan.strategy);
        }
        assert_eq!(before, 3);
        assert!(Plan::of(&facts(100_000_000, 1 << 20), None).is_err());
    }

    #[test]
    fn the_wanted_strategy_wins() {
        let plan = Plan::of(&facts(1_000, 1 << 34), Some(Strategy::Streaming)).unwrap();
        assert_eq!((plan.strategy, plan.held), (Strategy::Streaming, 0));
        let plan = Plan::of(&facts(100_000_000, 1 << 30), Some(Strategy::Chunked)).unwrap();
        assert_eq!(plan.held, (plan.budget - plan.bytes[3]) / 16);
        assert_eq!(Strategy::named("Large").unwrap(), Strategy::Large);
        let wrong = Strategy::named("chunk").unwrap_err().to_string();
        assert!(wrong.starts_with("strategy: got \"chunk\", expected auto or one of"), "{wrong}");
    }
}

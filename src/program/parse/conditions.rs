//! Comparisons, and how they are joined.

use super::Parser;
use crate::error::Result;
use crate::program::Expr;
use crate::program::op::{self, ScalarOp};

impl Parser<'_> {
    pub(super) fn either(&mut self) -> Result<Expr> {
        let mut left = self.both()?;
        while self.takes_any(&["||", "|"]) {
            let right = self.both()?;
            let [one, other] = [self.truth(left)?, self.truth(right)?];
            left = self.apply(self.at, &op::MAX, &[one, other])?;
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Expr> {
        let mut left = self.comparison()?;
        while self.takes_any(&["&&", "&"]) {
            let right = self.comparison()?;
            let [one, other] = [self.truth(left)?, self.truth(right)?];
            left = self.apply(self.at, &op::MUL, &[one, other])?;
        }
        Ok(left)
    }

    /// 1 where a value is not 0, else 0.
    fn truth(&self, value: Expr) -> Result<Expr> {
        self.apply(self.at, &op::NE, &[value, Expr::from(0.0)])
    }

    fn comparison(&mut self) -> Result<Expr> {
        self.skip_lines();
        let mut left = self.sum()?;
        let signs: [(&[&str], &'static ScalarOp); 6] = [
            (&["<=", "≤"], &op::LE),
            (&[">=", "≥"], &op::GE),
            (&["=="], &op::EQ),
            (&["!=", "≠"], &op::NE),
            (&["<"], &op::LT),
            (&[">"], &op::GT),
        ];
        let mut holds: Option<Expr> = None;
        while let Some((_, op)) = signs.into_iter().find(|(signs, _)| self.takes_any(signs)) {
            let right = self.sum()?;
            let one = self.apply(self.at, op, &[left, right])?;
            holds = Some(match holds {
                Some(before) => self.apply(self.at, &op::MUL, &[before, one])?,
                None => one,
            });
            left = right;
        }
        Ok(holds.unwrap_or(left))
    }
}

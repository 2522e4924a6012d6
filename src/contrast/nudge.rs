//! Where a nudge points: the coordinates to which the queries of the scalar rule are nudged, from tokens and their frozen embedding.

use super::tokens::TokenRows;
use crate::error::{Error, Result};
use crate::record;

/// Where a nudge points.
#[derive(Clone, Debug, PartialEq)]
pub enum Nudge {
    /// Nowhere: both phases are the same.
    Off,
    /// Along these coordinates, the same for all rows.
    Template(Vec<f32>),
    /// To the mean embedding of the tokens, or with `is_shifted` of those that follow them: ids shifted left by one, the last one repeated.
    TargetEmbedding {
        /// Whether the tokens that follow are meant.
        is_shifted: bool,
    },
}

record! { enum Nudge { Off, Template(_), TargetEmbedding { is_shifted } } }

impl Nudge {
    /// The coordinates to nudge to, [rows, n], for queries [rows, n] and an embedding [tokens, n]: query + share · (this - query) is the nudged query.
    ///
    /// Errors if a template has not n numbers.
    pub fn targets(&self, rows: &TokenRows, embedding: &[f32], queries: &[f32], n: usize) -> Result<Vec<f32>> {
        match self {
            Self::Off => Ok(queries.to_vec()),
            Self::Template(template) if template.len() != n => {
                let got = template.len();
                Err(Error::usage(format!("contrast: nudge: got a template of {got} numbers, expected {n}")))
            }
            Self::Template(template) => {
                Ok(queries.iter().zip(template.iter().cycle()).map(|(query, step)| query + step).collect())
            }
            Self::TargetEmbedding { is_shifted: false } => Ok(rows.pooled(embedding, n)),
            Self::TargetEmbedding { is_shifted: true } => Ok(rows.shifted().pooled(embedding, n)),
        }
    }
}

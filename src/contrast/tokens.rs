//! Tokens as queries: q is the masked mean of the embeddings of a row's tokens, and the embedding is learned from the gradient of the loss by q, each
//! token by its share in the mean. The memory holds keys in the same coordinates, and the target of a row is what its tokens are followed by.

use super::map::{Map, stepped};
use super::source::{Contrast, Update, Window, scalar, through_map, total};
use super::spsa::Windowed;
use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::model::{Direction, GradientSource, Initial, Network, SourceStep, Sourced, StateBlock};
use crate::ops;
use crate::program::expr::{abs, le, max, select};
use crate::tensor::DType;

/// Rows of tokens.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenRows {
    /// Tokens of a row.
    pub tokens: usize,
    /// Their numbers, [rows, tokens].
    pub ids: Vec<u32>,
    /// 1 for a token that counts, 0 for one that only fills its row, [rows, tokens].
    pub mask: Vec<f32>,
}

impl TokenRows {
    /// Rows in which every token counts.
    pub fn full(tokens: usize, ids: Vec<u32>) -> Self {
        Self { tokens, mask: vec![1.0; ids.len()], ids }
    }

    /// Errors if sizes do not fit, a token is not below `vocabulary`, or a mask is no share.
    pub fn check(&self, vocabulary: usize) -> Result<()> {
        let wrong = |what: String| Err(Error::new(format!("contrast: tokens: {what}")));
        let Self { tokens, ids, mask } = self;
        if *tokens == 0 || ids.is_empty() || !ids.len().is_multiple_of(*tokens) || mask.len() != ids.len() {
            let (got, marks) = (ids.len(), mask.len());
            return wrong(format!("got {got} ids and {marks} marks, expected as many of both, in rows of {tokens}"));
        }
        if let Some(at) = ids.iter().position(|id| *id as usize >= vocabulary) {
            let (row, place, id) = (at / tokens, at % tokens, ids[at]);
            return wrong(format!("row {row}, place {place}: got {id}, expected below {vocabulary}"));
        }
        match mask.iter().position(|mark| !(0.0..=1.0).contains(mark)) {
            Some(at) => wrong(format!("mask: got {}, expected 0 to 1", mask[at])),
            None => Ok(()),
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.ids.len() / self.tokens.max(1)
    }

    /// The inputs of a [`TokenContrast`], [rows, 2 tokens]: ids, then their marks.
    pub fn inputs(&self) -> Vec<f32> {
        let rows = self.ids.chunks_exact(self.tokens).zip(self.mask.chunks_exact(self.tokens));
        rows.flat_map(|(ids, mask)| ids.iter().map(|&id| id as f32).chain(mask.iter().copied())).collect()
    }

    /// The masked mean of an embedding [vocabulary, n] over each row, [rows, n].
    pub fn pooled(&self, embedding: &[f32], n: usize) -> Vec<f32> {
        let mut all = Vec::with_capacity(self.rows() * n);
        for (ids, mask) in self.ids.chunks_exact(self.tokens).zip(self.mask.chunks_exact(self.tokens)) {
            let count = mask.iter().sum::<f32>().max(1.0);
            let sum =
                |i: usize| ids.iter().zip(mask).map(|(&id, mark)| mark * embedding[id as usize * n + i]).sum::<f32>();
            all.extend((0..n).map(|i| sum(i) / count));
        }
        all
    }

    /// Each row shifted left by one token; the last one that counts is there twice.
    #[must_use]
    pub fn shifted(&self) -> Self {
        let follows = |at: usize| !(at + 1).is_multiple_of(self.tokens) && self.mask[at + 1] > 0.0;
        let ids = (0..self.ids.len()).map(|at| self.ids[if follows(at) { at + 1 } else { at }]);
        Self { ids: ids.collect(), ..self.clone() }
    }

    /// The same rows without their last token, which follows the others.
    ///
    /// Errors for rows of a single token, and a last token that does not count.
    pub fn split_last(&self) -> Result<(Self, Vec<u32>)> {
        let kept = self.tokens.saturating_sub(1);
        if kept == 0 {
            return Err(Error::new(
                "contrast: tokens: got rows of 1 token, expected at least 2, of which the last follows",
            ));
        }
        if let Some(row) = self.mask.iter().skip(kept).step_by(self.tokens).position(|mark| *mark == 0.0) {
            return Err(Error::new(format!(
                "contrast: tokens: row {row}: got padding as the last token, expected it before the others"
            )));
        }
        let last = self.ids.iter().skip(kept).step_by(self.tokens).copied().collect();
        let without = |at: &usize| at % self.tokens < kept;
        let places: Vec<usize> = (0..self.ids.len()).filter(without).collect();
        let ids = places.iter().map(|&at| self.ids[at]).collect();
        let mask = places.iter().map(|&at| self.mask[at]).collect();
        Ok((Self { tokens: kept, ids, mask }, last))
    }
}

/// The contrastive rule for rows of tokens, whose embedding it learns. Its update must be by plain steps.
pub struct TokenContrast {
    /// The rule; its coordinates are those of the embedding.
    pub contrast: Contrast,
    /// Tokens that there are.
    pub vocabulary: usize,
    /// Tokens of a row.
    pub tokens: usize,
    /// Learning rate of the embedding.
    pub rate: f32,
}

impl TokenContrast {
    /// The parameters of the map, then `embedding` [vocabulary, n] with these values.
    pub fn parameters(&self, embedding: Vec<f32>) -> Vec<(String, Initial)> {
        let own = ("embedding".to_owned(), Initial::values([self.vocabulary, self.contrast.map.inputs], embedding));
        self.contrast.map.parameters(None).into_iter().chain([own]).collect()
    }

    /// The model whose outputs are the mapped queries, trained by this rule, from an embedding [vocabulary, n].
    ///
    /// Errors if sizes do not fit, or the update is not by plain steps.
    pub fn network(self, embedding: Vec<f32>) -> Result<Network> {
        let parameters = self.parameters(embedding);
        Ok(self.model(parameters)?.with_source(self))
    }

    /// The same model without a rule.
    pub(super) fn model(&self, parameters: Vec<(String, Initial)>) -> Result<Network> {
        let (map, tokens) = (self.contrast.map, self.tokens);
        if !matches!(self.contrast.update, Update::Steps { .. }) {
            return Err(Error::usage("contrast: tokens: got an update by the optimiser, expected plain steps"));
        }
        if self.vocabulary == 0 || self.tokens == 0 {
            return Err(Error::usage("contrast: tokens: got none, expected at least 1 token, and 1 a row"));
        }
        Ok(Network::function(2 * tokens, parameters, move |parameters, x| {
            let (embedding, own) = parameters.values().split_last().expect("a map and an embedding");
            ops::product(&pooled(embedding, x, tokens), &map.matrix(own), false, true)
        }))
    }
}

/// The masked mean of an embedding [vocabulary, n] over rows of ids and marks, [rows, 2 tokens]: [rows, n].
fn pooled(embedding: &Var, x: &Var, tokens: usize) -> Var {
    let (rows, n) = (x.shape().sizes()[0], embedding.shape().sizes()[1]);
    let ids = ops::cast(&ops::reshape(&ops::slice(x, 1, 0..tokens), [rows * tokens]), DType::U32);
    let mask = ops::slice(x, 1, tokens..2 * tokens);
    let shares = ops::fused(&[&mask, &ops::sum(&mask, 1..2)], |v| v[0] / max(1.0, v[1]));
    let taken = ops::reshape(&ops::take_rows(embedding, ids.value()), [rows, tokens, n]);
    let weighted = ops::mul(&taken, &ops::reshape(&shares, [rows, tokens, 1]));
    ops::reshape(&ops::sum(&weighted, 1..2), [rows, n])
}

impl GradientSource for TokenContrast {
    fn name(&self) -> &'static str {
        "contrast of tokens"
    }

    fn state(&self) -> Vec<StateBlock> {
        self.contrast.state()
    }

    fn step(&self, step: &SourceStep<'_>) -> Result<Sourced> {
        let [keys, states, control, _] = step.state else { unreachable!("the blocks of `state`") };
        let contrast = &self.contrast;
        let keys = ops::reshape(keys, [contrast.bank.slots, contrast.map.inputs]);
        let leaves: Vec<Var> = step.parameters.values().iter().map(|value| Var::leaf(value.value().clone())).collect();
        let (embedding, own) = leaves.split_last().expect("a map and an embedding");
        let matrix = contrast.map.matrix(own);
        let queries = pooled(embedding, &step.batch.x, self.tokens);
        let weight = &step.batch.weight;
        let window = Window { source: contrast, x: &queries.detach(), y: &step.batch.y, weight };
        let local = window.local(&matrix.detach(), &keys, states, control)?;
        let by_row = ops::matmul(&local.queries, &matrix.detach());
        let by_token = through_map(std::slice::from_ref(embedding), &queries, &by_row)?.swap_remove(0);
        let gradients = through_map(own, &matrix, &local.matrix)?;
        let weight = total(weight);
        let Update::Steps { metric, angles } = contrast.update else {
            return Err(Error::internal("the update of tokens was checked"));
        };
        let Direction::Parameters { mut values, is_accepted } =
            contrast.stepped(step, &gradients, &weight, [metric, angles])
        else {
            unreachable!("plain steps")
        };
        let mean = ops::fused(&[&by_token, &scalar(&weight, &by_token)], |v| v[0] / v[1]);
        values.push(stepped("embedding", &embedding.detach(), &mean, self.rate));
        let size = ops::reshape(&ops::sum(&ops::abs(&mean), 0..2), [1]);
        let is_accepted =
            is_accepted.map(|own| ops::fused(&[&own, &size], |v| select(le(abs(v[1]), f32::MAX), v[0], 0.0)));
        let [keys, states, control] = contrast.remembered(&window, [&keys, states, control]);
        let figures = ops::fused(&[&local.figures, &weight], |v| v[0] / v[1]);
        Ok(Sourced {
            direction: Direction::Parameters { values, is_accepted },
            loss: ops::slice(&local.figures, 0, 0..1),
            weight,
            state: vec![keys, states, control, figures],
        })
    }

    fn reported(&self) -> &'static [&'static str] {
        self.contrast.reported()
    }

    fn report(&self, state: &[StateBlock]) -> Vec<(String, f64)> {
        self.contrast.report(state)
    }
}

impl Windowed for TokenContrast {
    fn map(&self) -> Map {
        self.contrast.map
    }

    fn loss_at(&self, step: &SourceStep<'_>, parameters: &[Var]) -> Result<Var> {
        let (embedding, own) = parameters.split_last().expect("a map and an embedding");
        let queries = pooled(embedding, &step.batch.x, self.tokens);
        self.contrast.loss_of(&queries, step, &self.contrast.map.matrix(own))
    }
}

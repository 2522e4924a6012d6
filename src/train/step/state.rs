//! What a run keeps on its device: parameters, moments, counters, the report of an epoch, and the rows.

use super::order::order_words;
use super::setup::Setup;
use crate::autograd::Var;
use crate::device::{Buffer, Tag, View};
use crate::error::{Error, Result};
use crate::kernels::fold;
use crate::kernels::optimise::{SCALE_AT, STATE, TAIL, UpdateState};
use crate::model::{Examples, GradientSource};

/// A run's state on the device.
pub(crate) struct State {
    /// Flat parameters.
    pub parameters: Buffer,
    /// First and second moments, perhaps how far a mean of the weights is from them, and the state of limits, one after the other.
    pub moments: Buffer,
    /// The sums of gradients and their norms, if `fold` makes them.
    pub sums: Option<Buffer>,
    /// Step and cursor, twice: each launch reads one pair and writes the other.
    pub control: Buffer,
    /// The epoch's upload: the optimiser's table, then the order of the rows, then what groups of parameters need.
    pub order: Buffer,
    /// Batch losses, then (at the next multiple of 64) the figures of the validation rows.
    pub report: Buffer,
    /// The best parameters so far.
    pub best: Buffer,
    /// The blocks that a source of gradients keeps.
    pub source: Vec<Buffer>,
    /// The sums of a step's gradients with their tail, for a hook.
    pub gathered: Option<Buffer>,
}

impl State {
    pub(crate) fn new(setup: &Setup<'_>, parameters: &[f32]) -> Result<Self> {
        let device = setup.device;
        let total = setup.network.layout().total;
        if parameters.len() != total {
            let got = parameters.len();
            return Err(Error::new(format!("train: wrong number of flat parameters: got {got}, expected {total}")));
        }
        let rows = setup.data.train.rows(setup.data.targets);
        let words = order_words(setup.groups, setup.steps, rows);
        let order = device.tagged(Tag::Data, || device.buffer(words));
        let words: &[u32] = bytemuck::cast_slice(parameters);
        let bounds = setup.settings.bounds();
        // Every step of SAM needs norms.
        let layout = setup.network.layout();
        let mut moments = vec![0.0_f32; setup.settings.moment_words(layout)];
        let remembered = &mut moments[setup.settings.update_state_at(layout)..];
        let memory = UpdateState::initial(bounds.scale);
        for copy in [0, STATE] {
            memory.write(&mut remembered[copy..]);
        }
        remembered[SCALE_AT] = memory.scale;
        let is_folded = bounds.needs_fold() || setup.settings.gradients.sharpness.is_some();
        let zeros = || device.tagged(Tag::Gradients, || device.upload(&vec![0; fold::words_of(total)]));
        let sums = is_folded.then(zeros).transpose()?;
        let blocks = setup.network.source().map(GradientSource::state).unwrap_or_default();
        let upload = |tag: Tag, words: &[u32]| device.tagged(tag, || device.upload(words));
        Ok(Self {
            parameters: upload(Tag::Parameters, words)?,
            moments: upload(Tag::Optimizer, bytemuck::cast_slice(&moments))?,
            sums,
            control: device.upload(&[0; 4])?,
            order,
            report: device.upload(&vec![0; figure_offset(setup.steps, FIGURES)])?,
            best: upload(Tag::Parameters, words)?,
            source: blocks
                .iter()
                .map(|block| upload(Tag::Optimizer, bytemuck::cast_slice(&block.values)))
                .collect::<Result<_>>()?,
            gathered: None,
        })
    }
}

/// Figures of the validation rows in the report: loss sum and weight sum; of pairs also the share decoded to a number and the least and
/// the mean |Q|.
pub(crate) const FIGURES: usize = 5;

/// The offset of a figure of the validation rows in the report; `FIGURES` gives the report's length.
pub(crate) fn figure_offset(steps: usize, figure: usize) -> usize {
    steps.next_multiple_of(TAIL) + figure * TAIL
}

/// Rows on the device.
pub(crate) struct Rows {
    pub x: Buffer,
    pub y: Buffer,
    pub count: usize,
}

impl Rows {
    pub(crate) fn upload(setup: &Setup<'_>, examples: &Examples) -> Result<Self> {
        let upload = |values| setup.device.tagged(Tag::Data, || setup.device.upload(bytemuck::cast_slice(values)));
        Ok(Self { x: upload(&examples.x)?, y: upload(&examples.y)?, count: examples.rows(setup.data.targets) })
    }
}

/// Writes a tensor into a buffer from `offset`.
pub(crate) fn copy(from: &Var, to: &Buffer, offset: usize) {
    let target = View { buffer: to.clone(), offset, words: from.value().view().words };
    from.value().copy_into(&target);
}

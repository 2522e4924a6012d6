//! What a run keeps on its device: parameters, moments, counters, the report of an epoch, and the rows.

use super::order::order_words;
use super::setup::Setup;
use crate::autograd::Var;
use crate::device::{Buffer, Device, Tag, VIEW_WORDS, View};
use crate::error::{Error, Result};
use crate::kernels::fold;
use crate::kernels::optimise::{SCALE_AT, STATE, TAIL, UpdateState};
use crate::model::{Examples, GradientSource, StateBlock};

/// What a run keeps of one of its models on the device. Of several models each view is a part of one buffer.
pub(crate) struct State {
    /// Flat parameters.
    pub parameters: View,
    /// First and second moments, perhaps how far a mean of the weights is from them, and the state of limits, one after the other.
    pub moments: View,
    /// The sums of gradients and their norms, if `fold` makes them.
    pub sums: Option<View>,
    /// Step and cursor, twice: each launch reads one pair and writes the other.
    pub control: View,
    /// The epoch's upload: the optimiser's table, then the order of the rows, then what groups of parameters need.
    pub order: View,
    /// Batch losses, then (at the next multiple of 64) the figures of the validation rows.
    pub report: View,
    /// The best parameters so far.
    pub best: View,
    /// The blocks that a source of gradients keeps, by name.
    pub source: Vec<(String, View)>,
    /// The sums of a step's gradients with their tail, for a hook.
    pub gathered: Option<Buffer>,
}

impl State {
    /// That of each model, which start from these parameters, one model's after another's.
    pub(crate) fn of_each(setup: &Setup<'_>, parameters: &[f32]) -> Result<Vec<Self>> {
        let (device, members) = (setup.device, setup.settings.members);
        let total = setup.network.layout().total;
        if parameters.len() != members * total {
            let (got, expected) = (parameters.len(), members * total);
            return Err(Error::new(format!("train: wrong number of flat parameters: got {got}, expected {expected}")));
        }
        let rows = setup.data.train.rows(setup.data.targets);
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
        let start: Vec<&[u32]> = parameters.chunks_exact(total.max(1)).map(bytemuck::cast_slice).collect();
        let start = if start.is_empty() { vec![&[][..]; members] } else { start };
        let alike = |tag: Tag, words: &[u32]| stacked(device, tag, &vec![words; members]);
        let zeros = |tag: Tag, words: usize| alike(tag, &vec![0; words]);
        let mut sums = vec![None; members];
        if is_folded {
            sums = zeros(Tag::Gradients, fold::words_of(total))?.into_iter().map(Some).collect();
        }
        let words = order_words(setup.groups, setup.steps, rows);
        let order = device.tagged(Tag::Data, || device.buffer(members * apart(members, words)));
        let order = parts(&order, members, words);
        let blocks = setup.network.source().map(GradientSource::state).unwrap_or_default();
        let block = |block: &StateBlock| alike(Tag::Optimizer, bytemuck::cast_slice(&block.values));
        let names: Vec<String> = blocks.iter().map(|block| block.name.clone()).collect();
        let blocks: Vec<Vec<View>> = blocks.iter().map(block).collect::<Result<_>>()?;
        let kept = [
            stacked(device, Tag::Parameters, &start)?,
            alike(Tag::Optimizer, bytemuck::cast_slice(&moments))?,
            zeros(Tag::Workspace, 4)?,
            order,
            zeros(Tag::Workspace, figure_offset(setup.steps, FIGURES))?,
            stacked(device, Tag::Parameters, &start)?,
        ];
        let one = |member: usize| {
            let [parameters, moments, control, order, report, best] =
                kept.each_ref().map(|views| views[member].clone());
            let views = blocks.iter().map(|views| views[member].clone());
            let source = names.iter().cloned().zip(views).collect();
            let sums = sums[member].take();
            Self { parameters, moments, sums, control, order, report, best, source, gathered: None }
        };
        Ok((0..members).map(one).collect())
    }
}

/// How many words apart the models lie in a buffer with so many words of each.
fn apart(members: usize, words: usize) -> usize {
    if members > 1 { words.next_multiple_of(VIEW_WORDS) } else { words }
}

/// The part of each model.
fn parts(all: &Buffer, members: usize, words: usize) -> Vec<View> {
    let apart = apart(members, words);
    (0..members).map(|member| all.part(member * apart, words)).collect()
}

/// Uploads the words of each model to one buffer.
fn stacked(device: &Device, tag: Tag, each: &[&[u32]]) -> Result<Vec<View>> {
    let (members, words) = (each.len(), each[0].len());
    let apart = apart(members, words);
    let mut all = vec![0; members * apart];
    for (place, one) in all.chunks_exact_mut(apart.max(1)).zip(each) {
        place[..words].copy_from_slice(one);
    }
    Ok(parts(&device.tagged(tag, || device.upload(&all))?, members, words))
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

/// Writes a tensor into a view from `offset`.
pub(crate) fn copy(from: &Var, to: &View, offset: usize) {
    from.value().copy_into(&to.part(offset, from.value().view().words));
}

//! What a run leaves in files: the model with the preparation of its table, and checkpoints. A checkpoint is a model file, as named tensors, plus
//! the state of the run.

use super::blend::blended;
use super::origin::Origin;
use crate::error::{Error, Result};
use crate::files::tensors::{self, Array, Data};
use crate::json::{Json, Record};
use crate::kernels::fold;
use crate::model::{Model, SourceState, StateBlock, Storage};
use crate::nn::Layout;
use crate::optim::Motion;
use crate::record;
use crate::table::Preparation;
use crate::train::{Checkpoint, Progress, Trainer, TrainerConfig};

impl Trainer {
    /// The model with the current weights; after the end of the run those of the best epoch. With [`TrainerConfig::blends`] and a preparation, the
    /// blend of the network and a linear model. A function model is traced; errors if it cannot be ([`Network::traced`](crate::model::Network::traced)).
    pub async fn model(&self, preparation: Option<Preparation>) -> Result<Model> {
        Ok(blended(self, preparation).await?.0)
    }
}

/// The metadata key of everything that is not a tensor.
const KEY: &str = "meromorph.checkpoint";

struct Words {
    settings: TrainerConfig,
    progress: Progress,
    fingerprint: u64,
    held: Vec<u64>,
    origin: Option<Json>,
    has_own_loss: bool,
    /// The name of the source of gradients.
    source: Option<String>,
    /// The names of its blocks.
    blocks: Vec<String>,
}

record! { Words { settings, progress, fingerprint, held = Vec::new(), has_own_loss = false, source = None, blocks = Vec::new(), origin } }

impl Checkpoint {
    /// The bytes of the file: a model file with the best weights so far, and the state of the run.
    pub fn save(&self, preparation: Option<Preparation>) -> Result<Vec<u8>> {
        let best = Model::new(self.spec.clone(), self.settings.loss.clone(), self.best.clone(), preparation);
        let mut content = best.to_tensors(Storage::F32)?;
        let blocks = self.source.as_ref().map(|source| &source.blocks[..]).unwrap_or_default();
        let words = Words {
            settings: self.settings.clone(),
            progress: self.progress.clone(),
            fingerprint: self.fingerprint,
            held: self.held.clone(),
            origin: self.origin.clone(),
            has_own_loss: self.has_own_loss,
            source: self.source.as_ref().map(|source| source.name.clone()),
            blocks: blocks.iter().map(|block| block.name.clone()).collect(),
        };
        content.metadata.push((KEY.into(), words.to_json().to_string()));
        let total = self.parameters.len();
        content.put_f32("run.parameters", &[total], self.parameters.clone());
        content.put_f32("run.moments", &[self.moments.len()], self.moments.clone());
        if !self.sums.is_empty() {
            content.put_f32("run.sums", &[self.sums.len()], self.sums.clone());
        }
        for (at, block) in blocks.iter().enumerate() {
            content.put_f32(&format!("run.source.{at}"), &[block.values.len()], block.values.clone());
        }
        content.put_f32("run.best", &[total], self.best.clone());
        let standings = || self.progress.standings.iter();
        let losses: Vec<f32> = standings().flat_map(|standing| standing.losses.iter().copied()).collect();
        content.put_f32("run.losses", &[losses.len()], losses);
        let means: Vec<f64> = standings().flat_map(|standing| standing.means.iter().copied()).collect();
        let means: Vec<u32> = bytemuck::cast_slice(&means).to_vec();
        if !means.is_empty() {
            content.tensors.insert("run.means".into(), Array { shape: vec![means.len()], data: Data::U32(means) });
        }
        let control = Array { shape: vec![self.control.len()], data: Data::U32(self.control.clone()) };
        content.tensors.insert("run.control".into(), control);
        tensors::write(&content)
    }

    /// With how its rows were read from a table.
    #[must_use]
    pub fn with_origin(self, origin: &Origin) -> Self {
        Self { origin: Some(origin.to_json()), ..self }
    }

    /// How its rows were read from a table. Errors if the checkpoint does not hold it.
    pub fn origin(&self, source: &str) -> Result<Origin> {
        let unknown =
            || Error::new(format!("{source}: the checkpoint does not hold how its rows were read from a table"));
        Origin::from_json(self.origin.as_ref().ok_or_else(unknown)?).map_err(|error| error.within(source))
    }

    /// Reads a checkpoint and the preparation of its table; `source` names it in messages. Errors if the file is damaged.
    pub fn load(bytes: &[u8], source: &str) -> Result<(Self, Option<Preparation>)> {
        let mut content = tensors::read(bytes, source)?;
        let model = Model::from_tensors(&mut content, source)?;
        let err = |what: &str| Error::new(format!("{source}: {what}"));
        let text =
            content.text(KEY).ok_or_else(|| err("it is a model, not a checkpoint: there is nothing to resume"))?;
        let words = Json::parse(text).and_then(|json| Words::from_json(&json));
        let words = words.map_err(|error| err(&format!("its checkpoint header is damaged: {error}")))?;
        words.settings.check().map_err(|error| error.within(source))?;
        let total = model.parameters.len();
        let members = words.settings.members;
        if model.members() != members || words.progress.standings.len() != members {
            return Err(err("its numbers of models contradict each other"));
        }
        let length = content.shape("run.moments").map(|shape| shape.iter().product());
        let is_of_first_version = words.settings.accumulate == 1
            && words.settings.optimizer.motion() == Motion::ByValue
            && length == Some(2 * total);
        let mut take =
            |name: &str, count: usize| content.take_f32(name, &[count]).map_err(|error| error.within(source));
        let parameters = take("run.parameters", total)?;
        let moment_words = members * words.settings.moment_words(&Layout::of(&model.spec));
        // Files of the first version have no state of limits.
        let count = if is_of_first_version { 2 * total } else { moment_words };
        let mut moments = take("run.moments", count)?;
        moments.resize(moment_words, 0.0);
        let sums = if words.settings.accumulate > 1 {
            take("run.sums", members * fold::words_of(total / members))?
        } else {
            Vec::new()
        };
        let best = take("run.best", total)?;
        let Words { settings, mut progress, fingerprint, held, origin, has_own_loss, source: name, blocks: names } =
            words;
        let losses = take("run.losses", members.saturating_mul(progress.cursor))?;
        for (standing, losses) in progress.standings.iter_mut().zip(losses.chunks_exact(progress.cursor.max(1))) {
            standing.losses = losses.to_vec();
        }
        let mut blocks = Vec::new();
        for (at, block) in names.into_iter().enumerate() {
            let place = format!("run.source.{at}");
            let length = content.shape(&place).map(|shape| shape.iter().product());
            let values =
                content.take_f32(&place, &[length.unwrap_or_default()]).map_err(|error| error.within(source))?;
            blocks.push(StateBlock { name: block, values });
        }
        let own_source = name.map(|name| SourceState { name, blocks });
        let Some(Array { data: Data::U32(control), .. }) = content.tensors.remove("run.control") else {
            return Err(err("its step counters are missing"));
        };
        if let Some(Array { data: Data::U32(means), .. }) = content.tensors.remove("run.means") {
            if means.is_empty() || !means.len().is_multiple_of(2 * members) {
                return Err(err("its means of rows are damaged"));
            }
            for (standing, means) in progress.standings.iter_mut().zip(means.chunks_exact(means.len() / members)) {
                standing.means = bytemuck::pod_collect_to_vec(means);
            }
        }
        if control.len() != 4 * members {
            return Err(err("its step counters are damaged"));
        }
        let spec = model.spec;
        let checkpoint = Self {
            spec,
            has_own_loss,
            source: own_source,
            settings,
            parameters,
            moments,
            sums,
            control,
            best,
            progress,
            fingerprint,
            held,
            origin,
        };
        Ok((checkpoint, model.preparation))
    }
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::*;
    use crate::device::Device;
    use crate::nn::{Activation, Spec};
    use crate::table::{Choice, Fractions};
    use crate::train::{self, Examples};

    #[test]
    fn a_checkpoint_keeps_how_its_rows_were_read() {
        let train = Examples { x: vec![0.5, 1.5], y: vec![1.0, 2.0] };
        let data = train::Data { inputs: 1, targets: 1, train, ..train::Data::default() };
        let spec = Spec::mlp(1, &[], 1, Activation::identity());
        let trainer = Trainer::new(&Device::cpu(1), spec, TrainerConfig::default(), data).unwrap();
        let choice = Choice { target: "y".into(), bins: None, split_seed: Some(1 << 52), ..Choice::default() };
        let fractions = Fractions { validation: 0.1 + 0.2, test: 1e-9 };
        let origin = Origin { choice, fractions, test_file: Some("t.csv".into()), ..Origin::default() };
        let plain = block_on(trainer.checkpoint()).unwrap();
        assert!(plain.origin("a.ckpt").unwrap_err().to_string().starts_with("a.ckpt: the checkpoint does not hold"));
        let bytes = plain.with_origin(&origin).save(None).unwrap();
        let text = tensors::read(&bytes, "a").unwrap().text(KEY).unwrap().to_owned();
        assert!(text.ends_with(&format!("\"origin\":{}}}", origin.to_json())), "{text}");
        let (read, _) = Checkpoint::load(&bytes, "a").unwrap();
        assert_eq!((read.origin("a").unwrap(), read.save(None).unwrap()), (origin, bytes));
    }
}

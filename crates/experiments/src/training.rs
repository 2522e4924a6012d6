//! Trains the models of one method on the data of one seed, and measures its predictions. All methods get the same rows, the same order
//! of rows and the same configuration, so they differ in model and loss only.

use std::cell::RefCell;
use std::rc::Rc;

use super::net::Net;
use super::random::{Purpose, Stream};
use super::report::{Trace, Trial};
use super::subject::{Curve, Decode, EpochScore, Kind, Method, MethodResult, Subject};
use meromorph::device::Device;
use meromorph::error::Result;
use meromorph::optim::{Optimizer, Schedule};
use meromorph::train::{Data, Flow, Keep, Trainer, TrainerConfig};

/// Seeds of the models of an ensemble are this far apart.
const MEMBER_OFFSET: u64 = 1_000_003;

/// Adam for all epochs, without a patience; the caller sets the seed.
pub(super) fn adam(epochs: usize, batch: usize, lr: f64, schedule: Schedule) -> TrainerConfig {
    let optimizer = Optimizer::adam(0.0);
    TrainerConfig { epochs, batch, lr, schedule, optimizer, patience: 0, min_delta: 0.0, ..TrainerConfig::default() }
}

/// A trained model and the epoch whose weights it has, from 0.
struct Trained {
    trainer: Trainer,
    epoch: usize,
}

/// One method on the data of one seed.
pub(super) async fn trial<D: 'static, P: 'static>(
    subject: &Subject<D, P>,
    method: &Method<P>,
    data: &Rc<D>,
    config: &TrainerConfig,
    device: &Device,
) -> Result<(Trial, Vec<Trace>)> {
    let probes = (subject.probes)(data);
    let (predictions, trained) = match &method.kind {
        Kind::Known(answer) => (probes.iter().map(|x| answer(x)).collect::<Vec<P>>(), Vec::new()),
        Kind::Learnt { nets, decode } => {
            let trained = train(subject, nets(), *decode, data, config, device).await?;
            let mut predictions = Vec::with_capacity(probes.len());
            for x in &probes {
                predictions.push(decode(&outputs(&trained, x).await?));
            }
            (predictions, trained)
        }
    };
    let MethodResult { values, curves, more } = (subject.measure)(data, &predictions);
    let traces = curves.into_iter().map(|Curve { chart, points }| Trace { seed: config.seed, chart, points });
    let history = |one: &Trained| one.trainer.history().iter().map(|epoch| epoch.train_loss).collect();
    let losses = trained.iter().map(history).collect();
    let steps = trained.iter().map(|one| one.trainer.steps_done() as usize).sum();
    let kept_epochs = trained.iter().map(|one| one.epoch).collect();
    let measured = Trial::of(config.seed, values);
    Ok((Trial { losses, steps, kept_epochs, more, ..measured }, traces.collect()))
}

async fn train<D: 'static, P: 'static>(
    subject: &Subject<D, P>,
    nets: Vec<Net>,
    decode: Decode<P>,
    data: &Rc<D>,
    config: &TrainerConfig,
    device: &Device,
) -> Result<Vec<Trained>> {
    let mut trained = Vec::with_capacity(nets.len());
    let (inputs, targets) = (subject.notation.inputs.len(), subject.notation.targets.len());
    for (member, net) in nets.into_iter().enumerate() {
        let seed = config.seed.wrapping_add(MEMBER_OFFSET * member as u64);
        let rows = Data { inputs, targets, train: (subject.train)(data).clone(), ..Data::default() };
        let count = rows.train.rows(targets);
        let keep = if subject.epoch_score.is_none() { Keep::Last } else { Keep::Best };
        let config = TrainerConfig { seed, keep, ..config.clone() };
        let mut trainer = Trainer::new(device, net.network(inputs, seed), config, rows)?;
        let order = RefCell::new(Stream::new(seed, Purpose::Order));
        trainer.shuffle_with(move |_| order.borrow_mut().permutation(count));
        // A member of an ensemble is scored as if it were alone.
        if let Some(EpochScore { x, score }) = subject.epoch_score {
            let scored = data.clone();
            trainer.choose_best_by(x(data).to_vec(), move |z| score(&scored, &decode(&[z.to_vec()])))?;
        }
        let outcome = trainer.run(&mut |_| Flow::Continue).await?;
        let epoch = outcome.best_epoch.unwrap_or(outcome.epochs.saturating_sub(1));
        trained.push(Trained { trainer, epoch });
    }
    Ok(trained)
}

/// The outputs for inputs: by model, then by output, each row-major.
async fn outputs(trained: &[Trained], x: &[f32]) -> Result<Vec<Vec<Vec<f32>>>> {
    let mut all = Vec::with_capacity(trained.len());
    for one in trained {
        all.push(one.trainer.predict_each(x).await?);
    }
    Ok(all)
}

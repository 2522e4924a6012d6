//! A window as a step of the trainer: how the memory fills, what a step costs, and that runs go on where they stopped.

use crate::devices::devices;
use crate::noise::noise;
use meromorph::contrast::{Bank, Contrast, Form, Map, Metric, Retrieval, States, Update};
use meromorph::device::Device;
use meromorph::train::{Checkpoint, Data, Event, Examples, Flow, Keep, Trainer, TrainerConfig};
use meromorph::{Error, Result};
use pollster::block_on;

/// Five rows of one coordinate, two classes, numbered from 10, and a memory of 4 slots with one row.
fn contrast(update: Update) -> Result<Contrast> {
    Ok(Contrast {
        map: Map::new(1, Form::Metric(Metric::Diagonal, None))?,
        retrieval: Retrieval { sharpness: 1.0, nudge: 0.1, is_symmetric: true, steps: 64, rate: 0.25, epsilon: 1e-8 },
        curvature: 1.0,
        states: States::Classes,
        bank: Bank { slots: 4, keys: vec![7.0], states: vec![1.0, 99.0], grows: true },
        update,
    })
}

fn trainer(device: &Device, update: Update, batch: usize) -> Result<Trainer> {
    let x = vec![0.0, 1.0, 2.0, 3.0, 4.0];
    let y = (0_u8..5).flat_map(|row| [f32::from(row % 2), f32::from(10 + row)]).collect();
    let data = Data { inputs: 1, targets: 2, train: Examples { x, y }, ..Data::default() };
    let config = TrainerConfig { epochs: 1, batch, patience: 0, keep: Keep::Last, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(device, contrast(update)?.network(None), config, data)?;
    trainer.shuffle_with(|_| (0..5).collect());
    Ok(trainer)
}

fn blocks(trainer: &Trainer) -> Result<[Vec<f32>; 4]> {
    let blocks: Vec<Vec<f32>> = block_on(trainer.source_blocks())?.into_iter().map(|block| block.values).collect();
    blocks.try_into().map_err(|_| Error::new("four blocks"))
}

/// The rows of a window go in front; the oldest fall out; a row that only fills the last batch has no number, and so is no candidate.
#[test]
fn the_memory_holds_the_latest_rows() -> Result<()> {
    for device in devices(&[1]) {
        let mut small = trainer(&device, Update::Optimizer, 2)?;
        let [keys, states, control, _] = blocks(&small)?;
        assert_eq!((keys, control), (vec![7.0, 0.0, 0.0, 0.0], vec![1.0, 1.0]));
        assert_eq!(states[..2], [1.0, 99.0]);
        small.advance(1)?;
        let [keys, states, control, _] = blocks(&small)?;
        assert_eq!((keys, control), (vec![0.0, 1.0, 7.0, 0.0], vec![3.0, 1.0]));
        assert_eq!(states[..6], [0.0, 10.0, 1.0, 11.0, 1.0, 99.0]);
        small.advance(1)?;
        let [keys, states, control, _] = blocks(&small)?;
        assert_eq!((keys, control), (vec![2.0, 3.0, 0.0, 1.0], vec![4.0, 1.0]));
        assert_eq!(states, [0.0, 12.0, 1.0, 13.0, 0.0, 10.0, 1.0, 11.0]);
        small.advance(1)?;
        let [keys, states, ..] = blocks(&small)?;
        assert_eq!((keys[0], states[1], states[3]), (4.0, 14.0, -1.0));
        // Of more rows than slots the last remain.
        let mut large = trainer(&device, Update::Optimizer, 5)?;
        large.advance(1)?;
        let [keys, states, control, _] = blocks(&large)?;
        assert_eq!((keys, control), (vec![1.0, 2.0, 3.0, 4.0], vec![4.0, 1.0]));
        assert_eq!(states, [1.0, 11.0, 0.0, 12.0, 1.0, 13.0, 0.0, 14.0]);
    }
    Ok(())
}

/// The first window by hand: the memory holds a row of class 1 at 7. A query of class 0 finds nothing of its class, p = 0, one of class 1 all, p = 1.
#[test]
fn the_figures_of_a_window_are_those_worked_by_hand() -> Result<()> {
    for device in devices(&[1]) {
        let mut trainer = trainer(&device, Update::Optimizer, 2)?;
        trainer.advance(1)?;
        let [.., figures] = blocks(&trainer)?;
        // Losses -ln 0.001 and -ln 1.001; distances 7 and 6; the entropy of one weight of 1 is 0.
        let expected = [0.5 * (6.907_755 - 0.001), 6.5, 6.5, 0.0];
        assert!(figures.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-3), "{figures:?}");
    }
    Ok(())
}

/// A step whose gradient is not finite leaves the parameters as they were: a weight of e^180 makes distances that f32 does not hold.
#[test]
fn a_step_that_is_not_finite_is_left_out() -> Result<()> {
    for device in devices(&[1]) {
        let mut moved = trainer(&device, Update::Steps { metric: 0.1, angles: 0.0 }, 5)?;
        moved.advance(2)?;
        assert_ne!(block_on(moved.parameters())?[0], 0.0);
        let (network, config) = (moved.network().clone(), moved.settings().clone());
        let start = vec![180.0; network.layout().total];
        let mut far = Trainer::with_parameters(&device, network, config, moved.data().clone(), &start)?;
        far.advance(2)?;
        assert_eq!(block_on(far.parameters())?[0], 180.0, "{}", device.info().device);
    }
    Ok(())
}

fn learning(device: &Device, epochs: usize) -> Result<Trainer> {
    let (rows, n) = (200, 6);
    let y = (0..rows).flat_map(|row| [(row % 3) as f32, row as f32]).collect();
    let data = Data { inputs: n, targets: 2, train: Examples { x: noise(rows * n, 2), y }, ..Data::default() };
    let source = Contrast {
        map: Map::new(n, Form::Linear(4))?,
        bank: Bank { slots: 50, keys: Vec::new(), states: Vec::new(), grows: true },
        ..contrast(Update::Optimizer)?
    };
    let config =
        TrainerConfig { epochs, batch: 16, patience: 0, seed: 3, keep: Keep::Last, ..TrainerConfig::default() };
    Trainer::new(device, source.network(None), config, data)
}

/// A run that is saved after its second epoch and resumed ends with the same bits: parameters, memory, figures.
#[test]
fn a_run_goes_on_where_it_stopped() -> Result<()> {
    for device in devices(&[2]) {
        let mut whole = learning(&device, 4)?;
        block_on(whole.run(&mut |_| Flow::Continue))?;
        let mut first = learning(&device, 4)?;
        block_on(async {
            first.epoch(&mut |_| Flow::Continue).await?;
            first.epoch(&mut |_| Flow::Continue).await
        })?;
        let bytes = block_on(first.checkpoint())?.save(None)?;
        let checkpoint = Checkpoint::load(&bytes, "a.ckpt")?.0;
        let model = learning(&device, 4)?;
        let (network, data) = (model.network().clone(), model.data().clone());
        let mut second = block_on(Trainer::resume_with(&device, network, data, checkpoint))?;
        block_on(second.run(&mut |_| Flow::Continue))?;
        assert_eq!(block_on(second.parameters())?, block_on(whole.parameters())?);
        assert_eq!(block_on(second.source_blocks())?, block_on(whole.source_blocks())?);
    }
    Ok(())
}

/// Windows upload, allocate and read nothing: the host looks at the figures once per report.
#[test]
fn windows_take_nothing_from_the_host() -> Result<()> {
    for device in devices(&[1]) {
        let mut trainer = learning(&device, 2)?;
        trainer.advance(10)?;
        let launches = trainer.step_summary().launches.len();
        let names: Vec<String> = trainer
            .step_summary()
            .launches
            .iter()
            .map(|launch| format!("{} {:?}", launch.kernel, launch.label))
            .collect();
        assert!(launches <= 27, "{names:#?}");
        block_on(trainer.parameters())?;
        let before = device.counters();
        trainer.advance(2)?;
        let after = device.counters();
        assert_eq!(after.uploaded_bytes, before.uploaded_bytes);
        assert_eq!((after.live_bytes, after.peak_bytes), (before.live_bytes, before.peak_bytes));
        assert_eq!((after.readbacks, after.bind_groups), (before.readbacks, before.bind_groups));
        let mut reports = 0;
        block_on(trainer.run(&mut |event| {
            if let Event::Source(report) = event {
                assert_eq!(report[0].0, "loss");
                reports += 1;
            }
            Flow::Continue
        }))?;
        assert!(reports > 0);
    }
    Ok(())
}

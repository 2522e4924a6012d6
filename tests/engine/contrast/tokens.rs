//! Task B, which token follows: the engine learns the embedding, step by step as the reference does.

use super::oracle::tasks::Tokens;
use super::oracle::{Batch, Error, Geometry, descend, pool, scatter};
use super::rule::{apart, narrow};
use crate::devices::devices;
use meromorph::Result;
use meromorph::contrast::{
    Bank, Contrast, Form, Map, Metric, Nudge, Retrieval, Rotors, States, TokenContrast, TokenRows, Update,
    derived_frame,
};
use meromorph::device::Device;
use meromorph::train::{Data, Examples, Keep, Trainer, TrainerConfig};
use pollster::block_on;

/// The place of the largest entry.
fn largest(y: &[f64]) -> usize {
    (0..y.len()).max_by(|&a, &b| y[a].total_cmp(&y[b])).expect("not empty")
}

fn trainer(device: &Device, task: &Tokens, windows: usize) -> Result<Trainer> {
    let retrieval = &task.energy.retrieval;
    let (mut rows, mut y) = (TokenRows { tokens: 2, ..TokenRows::default() }, Vec::new());
    for window in 0..windows {
        let (ids, targets) = task.rows(window);
        for (id, target) in ids.iter().zip(targets.chunks_exact(32)) {
            // The second token of a row does not count.
            rows.ids.extend([id[0] as u32, 31]);
            rows.mask.extend([1.0, 0.0]);
            y.extend([largest(target) as f32, -1.0]);
        }
    }
    rows.check(32)?;
    let contrast = Contrast {
        map: Map::new(8, Form::Metric(Metric::Diagonal, Some(Rotors::ring(8, 8)?)))?,
        retrieval: Retrieval { sharpness: 2.0, nudge: 0.05, is_symmetric: true, steps: 64, rate: 0.25, epsilon: 1e-8 },
        curvature: 1.0,
        states: States::Classes,
        bank: Bank {
            slots: 32,
            keys: narrow(&retrieval.keys),
            states: (0..32_u8).flat_map(|token| [f32::from(token), f32::from(token)]).collect(),
            grows: false,
        },
        update: Update::Steps { metric: task.rates.metric as f32, angles: 0.0 },
    };
    let source = TokenContrast { contrast, vocabulary: 32, tokens: 2, rate: task.embedding_rate as f32 };
    let data = Data { inputs: 4, targets: 2, train: Examples { x: rows.inputs(), y }, ..Data::default() };
    let config = TrainerConfig { epochs: 1, batch: 32, patience: 0, keep: Keep::Last, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(device, source.network(narrow(&task.embedding))?, config, data)?;
    let count = (windows * 32) as u32;
    trainer.shuffle_with(move |_| (0..count).collect());
    Ok(trainer)
}

/// The geometry and the embedding of a run.
fn learned(trainer: &Trainer) -> Result<(Geometry, Vec<f64>)> {
    let flat = block_on(trainer.parameters())?;
    let all = &trainer.network().layout().parameters;
    let embedding = all.iter().find(|one| one.name == "embedding").expect("an embedding");
    let values = &flat[embedding.offset..][..32 * 8];
    Ok((super::rule::geometry(trainer)?, values.iter().map(|&x| f64::from(x)).collect()))
}

#[test]
fn steps_are_those_of_the_reference() -> Result<()> {
    let task = Tokens::new(1, Error::CrossEntropy);
    for device in devices(&[1]) {
        let mut trainer = trainer(&device, &task, 20)?;
        let (mut at, mut embedding) = (Geometry::identity(&task.energy.retrieval.rotor), task.embedding.clone());
        for window in 0..20 {
            let (ids, targets) = task.rows(window);
            let mask = vec![vec![1.0]; ids.len()];
            let batch = Batch { queries: pool(&embedding, 8, &ids, &mask), targets };
            let gradient = task.energy.contrast(&at, &batch, task.nudge);
            scatter(&mut embedding, &ids, &mask, &gradient.queries, task.embedding_rate);
            assert!(descend(&mut at, &gradient, task.rates));
            trainer.advance(1)?;
            let (got, values) = learned(&trainer)?;
            let worst = values.iter().zip(&embedding).map(|(a, b)| (a - b).abs()).fold(apart(&got, &at), f64::max);
            assert!(worst < 1e-4, "{}, window {window}: {worst:e}", device.info().device);
            (at, embedding) = (got, values);
        }
    }
    Ok(())
}

/// In 200 windows from five seeds: the squared error of what is retrieved, judged by the reference on rows that no window has seen.
#[test]
fn an_embedding_learns_which_token_follows() -> Result<()> {
    for seed in 1..=5 {
        let task = Tokens::new(seed, Error::CrossEntropy);
        let mut trainer = trainer(&Device::cpu(2), &task, 200)?;
        let score = |trainer: &Trainer| -> Result<[f64; 2]> {
            let (at, embedding) = learned(trainer)?;
            let mut sums = [0.0; 2];
            for window in 1000..1010 {
                let (ids, targets) = task.rows(window);
                let mask = vec![vec![1.0]; ids.len()];
                let batch = Batch { queries: pool(&embedding, 8, &ids, &mask), targets };
                for (row, target) in task.energy.free(&at, &batch).iter().zip(batch.targets.chunks_exact(32)) {
                    sums[0] += Error::Squared.loss(&row.y, target) / 320.0;
                    sums[1] += f64::from(u8::from(largest(&row.y) == largest(target))) / 320.0;
                }
            }
            Ok(sums)
        };
        let before = score(&trainer)?;
        trainer.advance(200)?;
        let [loss, accuracy] = score(&trainer)?;
        assert!(before[0] > 0.4 && before[1] < 0.2, "{before:?}");
        assert!(loss <= 0.02 && accuracy > 0.99, "seed {seed}: loss {loss}, accuracy {accuracy}");
    }
    Ok(())
}

/// Two rows of three tokens, the last of the second being padding.
fn rows() -> TokenRows {
    TokenRows { tokens: 3, ids: vec![0, 1, 2, 2, 1, 0], mask: vec![1.0, 1.0, 1.0, 1.0, 1.0, 0.0] }
}

#[test]
fn nudges_point_where_they_are_worked_by_hand() -> Result<()> {
    // Tokens at (0, 0), (3, 0) and (0, 6).
    let embedding = [0.0, 0.0, 3.0, 0.0, 0.0, 6.0];
    let rows = rows();
    let queries = rows.pooled(&embedding, 2);
    assert_eq!(queries, [1.0, 2.0, 1.5, 3.0]);
    let to = |nudge: Nudge| nudge.targets(&rows, &embedding, &queries, 2);
    assert_eq!(to(Nudge::Off)?, queries);
    assert_eq!(to(Nudge::Template(vec![1.0, -1.0]))?, [2.0, 1.0, 2.5, 2.0]);
    assert_eq!(to(Nudge::TargetEmbedding { is_shifted: false })?, queries);
    // The rows that follow are 1, 2, 2, and 1, 1 before padding.
    assert_eq!(to(Nudge::TargetEmbedding { is_shifted: true })?, [1.0, 4.0, 3.0, 0.0]);
    let said = to(Nudge::Template(vec![1.0])).expect_err("too short").to_string();
    assert_eq!(said, "contrast: nudge: got a template of 1 numbers, expected 2");
    Ok(())
}

#[test]
fn rows_of_tokens_are_split_and_checked() -> Result<()> {
    let (kept, last) = TokenRows::full(3, rows().ids).split_last()?;
    let said = rows().split_last().map(drop).expect_err("padding at the end").to_string();
    assert!(said.contains("row 1: got padding as the last token"), "{said}");
    assert_eq!((kept.tokens, &kept.ids[..], &last[..]), (2, &[0, 1, 2, 1][..], &[2, 0][..]));
    assert_eq!(kept.inputs(), [0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
    let said = |rows: TokenRows| rows.check(3).expect_err("it does not fit").to_string();
    assert_eq!(said(TokenRows::full(2, vec![0, 3])), "contrast: tokens: row 0, place 1: got 3, expected below 3");
    assert!(said(TokenRows::full(2, vec![0])).contains("got 1 ids and 1 marks"));
    assert!(said(TokenRows { mask: vec![2.0; 6], ..rows() }).contains("mask: got 2, expected 0 to 1"));
    assert!(TokenRows::full(1, vec![0]).split_last().is_err());
    Ok(())
}

/// Rows along (3, 4) / 5 with a little across: the frame finds the long direction first, and coordinates in it are uncorrelated.
#[test]
fn a_derived_frame_has_uncorrelated_coordinates() -> Result<()> {
    let rows: Vec<f32> = [(5.0, 0.5), (-5.0, 0.5), (2.0, -1.0), (-2.0, -1.0)]
        .iter()
        .flat_map(|(a, b)| [0.6 * a - 0.8 * b, 0.8 * a + 0.6 * b])
        .collect();
    let frame = derived_frame(&rows, 2)?;
    let expected = [0.6, 0.8, 0.8, -0.6];
    for (got, expected) in frame.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-6, "{frame:?}");
    }
    assert!((frame[0] * frame[2] + frame[1] * frame[3]).abs() < 1e-6);
    assert!(derived_frame(&[1.0], 2).is_err() && derived_frame(&[f32::NAN, 0.0], 2).is_err());
    Ok(())
}

//! The native side of the browser tests: trains on a CSV like the page does and prints the events as JSON lines, or predicts
//! with a model file. `web_native train data.csv y 3 4 out.safetensors` · `web_native predict model.safetensors data.csv`

use std::path::Path;

use meromorph::io::{Choice, Header, read_table};
use meromorph::train::{Event, Flow, Model, Prediction, Recipe, Trainer};
use meromorph::{Device, Result, host};
use pollster::block_on;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["train", data, target, epochs, seed, out] => train(data, target, number(epochs), number(seed) as u64, out),
        ["predict", model, data] => predict(model, data),
        _ => panic!("train DATA TARGET EPOCHS SEED OUT | predict MODEL DATA"),
    }
}

fn number(word: &str) -> usize {
    word.parse().expect("a whole number")
}

fn train(data: &str, target: &str, epochs: usize, seed: u64, out: &str) -> Result<()> {
    let table = read_table(&host::read(Path::new(data))?, data, Header::Auto)?;
    let choice = Choice { target: target.into(), ..Choice::default() };
    let run = Recipe { choice, epochs: Some(epochs), seed, ..Recipe::default() }.prepare(&table)?;
    let (spec, loss, preparation) = (run.spec.clone(), run.settings.loss, Some(run.preparation));
    let mut trainer = Trainer::new(&Device::cpu(1), run.spec, run.settings, run.data)?;
    let print = |event: &Event<'_>| {
        if let Event::Epoch(report) = event {
            println!("{}", serde_json::to_string(report).expect("a report is JSON"));
        }
        Flow::Continue
    };
    block_on(trainer.run(&mut { print }))?;
    let parameters = block_on(trainer.parameters())?;
    host::write_whole(Path::new(out), &Model { spec, loss, parameters, preparation }.save()?)
}

fn predict(model: &str, data: &str) -> Result<()> {
    let model = Model::load(&host::read(Path::new(model))?, model)?;
    let table = read_table(&host::read(Path::new(data))?, data, Header::Auto)?;
    for prediction in block_on(model.predict(&Device::cpu(1), &table))? {
        match prediction {
            Prediction::Number(value) => println!("{value}"),
            Prediction::Class { name, probability } => println!("{name},{probability}"),
        }
    }
    Ok(())
}

//! Predicts with a model file: loads it, reads rows, prints a value or ⊥ for each. The file is trained first, into a temporary folder.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::model::Prediction;
use meromorph::prelude::*;

fn main() -> Result<()> {
    let device = Device::cpu(2);
    let path = std::env::temp_dir().join(format!("meromorph-predict-only-{}.safetensors", std::process::id()));
    std::fs::write(&path, trained(&device)?).map_err(|error| Error::new(error.to_string()))?;

    let file = std::fs::read(&path).map_err(|error| Error::new(error.to_string()))?;
    let model = Model::load(&file, "inverse.safetensors")?;
    let rows = read_table(b"x\n-1\n0\n0.5\n", "rows.csv", Header::Auto)?;
    let predictions = pollster::block_on(model.predict(&device, &rows))?;
    for (x, prediction) in ["-1", "0", "0.5"].iter().zip(&predictions) {
        match prediction {
            Prediction::Decoded { value: Some(value), .. } => println!("1 / {x} = {value:.3}"),
            Prediction::Decoded { value: None, .. } => println!("1 / {x} = ⊥"),
            Prediction::None | Prediction::Number(_) | Prediction::Normal { .. } | Prediction::Class { .. } => {
                println!("{x}: not a model with poles");
            }
        }
    }
    let is_bottom = |at: usize| matches!(predictions[at], Prediction::Decoded { value: None, .. });
    assert!(is_bottom(1) && !is_bottom(0) && !is_bottom(2), "no value at the pole only: {predictions:?}");
    std::fs::remove_file(&path).map_err(|error| Error::new(error.to_string()))
}

/// The bytes of a model of y = 1 / x, which has no value near 0.
fn trained(device: &Device) -> Result<Vec<u8>> {
    let mut csv = String::from("x,y\n");
    for i in 0..1000 {
        let x = (f64::from(i) - 499.5) / 250.0;
        let y = if x.abs() < 0.05 { "inf".to_owned() } else { (1.0 / x).to_string() };
        csv += &format!("{x},{y}\n");
    }
    let table = read_table(csv.as_bytes(), "inverse.csv", Header::Auto)?;
    let choice = Choice { target: "y".into(), ..Choice::default() };
    let options = TrainOptions {
        choice,
        head: Some(Head::rational(1)),
        hidden: Some(vec![16, 16]),
        activation: Some(Activation::tanh()),
        epochs: Some(150),
        patience: Some(0),
        lr: Some(5e-3),
        weight_decay: Some(0.0),
        ..TrainOptions::default()
    };
    let run = options.prepare(&table)?;
    let mut trainer = Trainer::new(device, run.spec, run.settings, run.data)?;
    pollster::block_on(trainer.run(&mut |_| Flow::Continue))?;
    pollster::block_on(trainer.model(Some(run.preparation)))?.save()
}

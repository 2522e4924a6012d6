//! From a table to a saved model and its predictions: what `mero train` and `mero predict` do.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::prelude::*;

fn main() -> Result<()> {
    let mut csv = String::from("width,material,price\n");
    for i in 0..600 {
        let (width, is_oak) = (f64::from(i % 60) / 10.0, i % 3 == 0);
        let price = 2.0 * width + if is_oak { 5.0 } else { 0.0 };
        csv += &format!("{width},{},{price}\n", if is_oak { "oak" } else { "pine" });
    }
    let table = read_table(csv.as_bytes(), "prices.csv", Header::Auto)?;
    let recipe =
        TrainOptions { choice: Choice { target: "price".into(), ..Choice::default() }, ..TrainOptions::default() };
    let run = recipe.prepare(&table)?;

    let device = Device::cpu(2);
    let mut trainer = Trainer::new(&device, run.spec, run.settings, run.data)?;
    pollster::block_on(trainer.run(&mut |_| Flow::Continue))?;
    let file = pollster::block_on(trainer.model(Some(run.preparation)))?.save()?;

    let model = Model::load(&file, "prices.safetensors")?;
    let new = read_table(b"width,material\n3.0,oak\n", "new.csv", Header::Auto)?;
    let predictions = pollster::block_on(model.predict(&device, &new))?;
    println!("3 wide, oak: {:?}, expected 11", predictions[0]);
    Ok(())
}

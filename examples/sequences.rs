//! A recurrent model of two inputs: readings of a sensor in time, and which sensor it was. It is trained, saved with its loop as one node, read back
//! and exported as ONNX, where each input has its name.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::export::write_onnx;
use meromorph::prelude::*;
use pollster::block_on;

/// Readings of a sensor.
const STEPS: usize = 12;
/// Sensors, each with an offset of its own.
const SENSORS: usize = 4;
/// Numbers that the state remembers.
const STATE: usize = 12;

/// h ← tanh(x_t w + h U + e) over the readings, with an embedding e of the sensor; then a line from the last state.
fn recurrent() -> Network {
    let inputs = [Input::indices("sensor", [1], SENSORS), Input::numbers("readings", [STEPS])];
    let parameters = [
        ("sensors", Initial::normal([SENSORS, STATE], 0.3)),
        ("w", Initial::normal([1, STATE], 0.5)),
        ("u", Initial::normal([STATE, STATE], 0.25)),
        ("out", Initial::normal([STATE, 1], 0.3)),
    ];
    Network::function_of(inputs, parameters, |p, inputs| {
        let rows = inputs.rows();
        let sensor = ops::take_rows(&p["sensors"], inputs["sensor"].value());
        let readings = ops::reshape(&ops::transpose(&inputs["readings"]), [STEPS, rows, 1]);
        let states = ops::scan(&ops::tanh(&sensor), &[&readings], |state, reading| {
            let sum = &ops::matmul(&reading[0], &p["w"]) + &ops::matmul(state, &p["u"]);
            Ok(ops::tanh(&(&sum + &sensor)))
        })?;
        let last = ops::reshape(&ops::slice(&states, 0, STEPS - 1..STEPS), [rows, STATE]);
        Ok::<_, Error>(ops::matmul(&last, &p["out"]))
    })
}

/// Waves whose phase the sensor shifts; the target is the next reading without the shift.
fn waves(rows: usize) -> Data {
    let row = |row: usize| {
        let (sensor, speed, start) = (row % SENSORS, 0.3 + 0.3 * (row as f32 * 0.618).fract(), row as f32 * 0.37);
        let reading = move |step: usize| (speed * step as f32 + start).sin();
        let shift = 0.4 * sensor as f32 - 0.6;
        let x = [sensor as f32].into_iter().chain((0..STEPS).map(move |step| reading(step) + shift));
        (x.collect::<Vec<_>>(), reading(STEPS))
    };
    let (x, y): (Vec<_>, Vec<_>) = (0..rows).map(row).unzip();
    Data { inputs: 1 + STEPS, targets: 1, train: Examples { x: x.concat(), y }, ..Data::default() }
}

fn main() -> Result<()> {
    let device = Device::cpu(1);
    let settings = TrainerConfig { epochs: 60, batch: 64, lr: 1e-2, ..TrainerConfig::default() };
    let mut trainer = Trainer::new(&device, recurrent(), settings, waves(1024))?;
    block_on(trainer.run(&mut |_| Flow::Continue))?;

    let model = Model::load(&block_on(trainer.model(None))?.save()?, "sequences.safetensors")?;
    let [Layer::Function(graph)] = &model.spec.layers[..] else { unreachable!("the model is one function") };
    println!("{}", graph.lines()?.join("\n"));
    let Examples { x, y } = waves(200).train;
    let outputs = block_on(model.outputs(&device, &x))?;
    let worst = outputs.iter().zip(&y).fold(0.0_f32, |worst, (z, y)| worst.max((z - y).abs()));
    println!("at most {worst:.3} from the next reading; as ONNX {} bytes", write_onnx(&model)?.len());
    assert!(worst < 0.3, "expected predictions near the next reading, got {worst} apart");
    Ok(())
}

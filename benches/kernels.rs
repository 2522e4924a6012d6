//! Single kernels on every device of this machine: time, GFLOP/s and GB/s from each kernel's cost. Arguments select lines by name.
#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use std::time::Instant;

use meromorph::device::{Command, Device, Dispatch, Info, Request, View};
use meromorph::internal::kernels::matmul::Operand;
use meromorph::internal::kernels::pointwise::IterationSpace;
use meromorph::internal::kernels::{layer_norm, map, matmul, mlp, random, reduce, softmax};
use meromorph::nn::{Activation, Layout, Spec};
use meromorph::program::{Program, ScalarOp, op};

/// Long enough for the resolution of the clock and to amortise the first submits.
const SECONDS: f64 = 0.7;

fn main() {
    let expected: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for name in ["cpu", "webgpu"] {
        let request = |subgroups| Request { device: name.into(), subgroups, ..Request::default() };
        let Ok(device) = pollster::block_on(Device::open(&request(true))) else { continue };
        let plain = pollster::block_on(Device::open(&request(false))).expect("a device that opened before opens again");
        println!(
            "{name}: {}, {} threads, {} lanes per subgroup",
            device.info().name,
            device.info().threads,
            device.info().subgroup
        );
        for (line, make) in lines(device.info()) {
            if expected.is_empty() || expected.iter().any(|word| format!("{name} {line}").contains(word)) {
                measure(&device, &line, &*make);
                let exchanges = ["reduce", "softmax", "layer_norm"].iter().any(|kernel| line.starts_with(kernel));
                if exchanges && device.info().subgroup > 1 {
                    measure(&plain, &format!("{line}, no subgroups"), &*make);
                }
            }
        }
    }
}

/// Returns a filled buffer of the given number of words.
type Lend<'a> = &'a dyn Fn(usize) -> View;
type Make = Box<dyn Fn(Lend<'_>) -> Dispatch>;

fn lines(info: &Info) -> Vec<(String, Make)> {
    let mut lines: Vec<(String, Make)> = Vec::new();
    for [m, k, n] in [[256, 256, 256], [1024, 1024, 1024], [4096, 64, 64], [64, 4096, 64], [1, 1024, 1024]] {
        for (mark, is_a_transposed, is_b_transposed) in [("", false, false), (" aT", true, false), (" bT", false, true)]
        {
            let info = info.clone();
            let make: Make = Box::new(move |view| {
                let operand = |words: u32, is_transposed| Operand {
                    view: view(words as usize),
                    is_transposed,
                    is_batched: false,
                };
                let (a, b) = (operand(m * k, is_a_transposed), operand(k * n, is_b_transposed));
                matmul::dispatch(&info, [1, m, k, n], a, b, view((m * n) as usize))
            });
            lines.push((format!("matmul {m} x {k} x {n}{mark}"), make));
        }
    }
    let rows: [&'static ScalarOp; 8] =
        [&op::ADD, &op::DIV, &op::EXP, &op::LN, &op::SIN, &op::TANH, &op::SOFTPLUS, &op::POW];
    let count = 1 << 20;
    for row in rows {
        let make: Make = Box::new(move |view| {
            let inputs = row.arguments.iter().map(|_| view(count)).collect();
            map::dispatch(Program::op(row), IterationSpace::flat([1, 1, 1, count as u32]), inputs, view(count))
        });
        lines.push((format!("map {}", row.name), make));
    }
    let (space, half) = (IterationSpace::flat([1, 1, 1, count as u32]), (count / 1024) as u32);
    for (name, shape) in [("whole", [1, count as u32, 1]), ("rows", [half, 1024, 1]), ("columns", [1, half, 1024])] {
        let make: Make = Box::new(move |view| {
            let program = Program::build(1, |x| x[0]);
            let out = view(count / shape[1] as usize);
            reduce::dispatch(reduce::Join::Sum, program, space, shape, shape[1], 1.0, vec![view(count)], out)
        });
        lines.push((format!("reduce {name}"), make));
    }
    let shape = [half, 1024];
    lines.push((
        "softmax".into(),
        Box::new(move |view| softmax::dispatch(softmax::SoftmaxForm::Softmax, shape, view(count), view(count))),
    ));
    lines.push((
        "layer_norm".into(),
        Box::new(move |view| layer_norm::dispatch(shape, 1e-5, view(count), view(count), view(1024))),
    ));
    lines.push((
        "random uniform".into(),
        Box::new(move |view| random::dispatch(random::Distribution::Uniform, 1, 0, view(64), view(count))),
    ));
    let spec = Spec::mlp(5, &[64, 64, 64], 1, Activation::silu());
    let layout = Layout::of(&spec);
    let perceptron = mlp::Mlp::of(&spec, &layout).expect("it is fused");
    let (info, rows) = (info.clone(), 1 << 16);
    lines.push((
        "mlp_forward 5-64-64-64-1".into(),
        Box::new(move |view| {
            let fused = perceptron.predicting(&info, rows, mlp::Precision::F32);
            let outputs = [view(rows), view(fused.scratch_words(&info))];
            mlp::forward(&fused, [view(5 * rows), view(layout.total)], outputs)
        }),
    ));
    lines
}

fn measure(device: &Device, name: &str, make: &dyn Fn(Lend<'_>) -> Dispatch) {
    let filled = |words: usize| {
        let values: Vec<u32> = (0..words).map(|i| f32::to_bits(0.1 + (i % 97) as f32 / 97.0)).collect();
        device.upload(&values).expect("the bench fits into device memory").view()
    };
    let dispatch = make(&filled);
    let out = View { words: 1, ..dispatch.outputs[0].clone() };
    let record = || {
        device.record(Command::Dispatch(dispatch.clone()));
        Ok(())
    };
    let (plan, ()) = device.capture(record).expect("the kernel compiles");
    let run = |times: usize| {
        let start = Instant::now();
        plan.run(times).expect("the plan runs");
        pollster::block_on(device.read(&out)).expect("a result");
        start.elapsed().as_secs_f64()
    };
    run(1);
    let once = run(1).max(1e-6);
    let times = ((SECONDS / once) as usize).clamp(1, 20_000);
    let seconds = run(times) / times as f64;
    let cost = plan.summary().cost;
    let (flops, bytes) = (cost.flops as f64 / seconds / 1e9, cost.bytes as f64 / seconds / 1e9);
    println!("  {name:32} {:10.1} us {flops:8.1} GFLOP/s {bytes:8.2} GB/s", seconds * 1e6);
}

//! Every kernel's cases on every device here: the result within the bound of its f64 oracle, and not one word outside the output touched.
//! Without a Vulkan driver the GPU half fails unless `MERO_NO_GPU=1` says that there is none.

use meromorph::device::{Bound, Case, Command, Device, Dispatch, Expected, Request, View};
use meromorph::kernels;

/// Words kept free before and after each output; a multiple of the binding alignment.
const GUARD: usize = 64;
const PATTERN: u32 = 0x5ea1_ed00;

#[test]
fn cpu_agrees_with_the_oracles() {
    check_all(&Device::cpu(1));
}

#[test]
fn two_cpu_threads_agree_with_the_oracles() {
    check_all(&Device::cpu(2));
}

#[test]
fn webgpu_agrees_with_the_oracles() {
    if std::env::var_os("MERO_NO_GPU").is_some() {
        return;
    }
    let request = Request { device: "webgpu".into(), threads: 0 };
    let device = pollster::block_on(Device::open(&request)).unwrap_or_else(|error| {
        panic!("{error}\ninstall the package mesa-vulkan-drivers for a software adapter, or set MERO_NO_GPU=1")
    });
    check_all(&device);
}

fn check_all(device: &Device) {
    let wanted = std::env::var("MERO_CASE").unwrap_or_default();
    let mut failures = Vec::new();
    for (kernel, cases) in kernels::ALL {
        for case in cases() {
            let name = format!("{}: {}", kernel.name, case.name);
            if name.contains(&wanted) {
                failures.extend(check(device, &case).into_iter().map(|failure| format!("{name}: {failure}")));
            }
        }
    }
    assert!(failures.is_empty(), "on {}:\n{}", device.info().name, failures.join("\n"));
}

/// What is wrong with each output of a case.
fn check(device: &Device, case: &Case) -> Vec<String> {
    let upload = |words: &Vec<u32>| device.upload(words).expect("room for the case").view();
    let guarded: Vec<View> = case.outputs.iter().map(|before| upload(&with_guards(before))).collect();
    let inner =
        |(view, words): (&View, &Vec<u32>)| View { buffer: view.buffer.clone(), offset: GUARD, words: words.len() };
    device.record(Command::Dispatch(Dispatch {
        kernel: case.kernel,
        body: case.body.clone(),
        params: case.params.clone(),
        inputs: case.inputs.iter().map(upload).collect(),
        outputs: guarded.iter().zip(&case.outputs).map(inner).collect(),
    }));
    let mut failures = Vec::new();
    for (at, (view, expected)) in guarded.iter().zip(&case.expected).enumerate() {
        match pollster::block_on(device.read(view)) {
            Ok(got) => failures.extend(compare(&got, expected, case.bound).map(|what| format!("output {at}: {what}"))),
            Err(error) => failures.push(error.to_string()),
        }
    }
    failures
}

fn with_guards(words: &[u32]) -> Vec<u32> {
    [&[PATTERN; GUARD], words, &[PATTERN; GUARD]].concat()
}

fn compare(got: &[u32], expected: &Expected, bound: Bound) -> Option<String> {
    let (before, rest) = got.split_at(GUARD);
    let (got, after) = rest.split_at(expected.words());
    let touched = before.iter().chain(after).filter(|&&word| word != PATTERN).count();
    if touched > 0 {
        return Some(format!("{touched} words outside it were written"));
    }
    let floats = |values: &[f64], got: &dyn Fn(usize) -> f64| {
        let is_off = |&at: &usize| !bound.admits(got(at), values[at]);
        let off: Vec<usize> = (0..values.len()).filter(is_off).collect();
        let show = |&at: &usize| format!("[{at}] {:e} for {:e}", got(at), values[at]);
        let shown: Vec<_> = off.iter().take(6).map(show).collect();
        (!off.is_empty()).then(|| format!("{} of {} off: {}", off.len(), values.len(), shown.join(", ")))
    };
    match expected {
        Expected::Floats(values) => floats(values, &|at| f64::from(f32::from_bits(got[at]))),
        Expected::Halves(values) => {
            floats(values, &|at| half::f16::from_bits((got[at / 2] >> (16 * (at % 2))) as u16).to_f64())
        }
        Expected::Words(words) => {
            let off = (0..words.len()).find(|&at| got[at] != words[at]);
            off.map(|at| format!("[{at}] {:#x} for {:#x}", got[at], words[at]))
        }
        Expected::Anything(_) => None,
    }
}

//! A case run on a device and held against its oracle: the result within the bound, and not one word outside the output
//! touched. One body for every device, natively and in a browser; only tests come here.

use super::Entry;
use crate::device::{Bound, Case, Command, Device, Dispatch, Expected, View};

/// Words kept free before and after each output; a multiple of the binding alignment.
const GUARD: usize = 64;
const PATTERN: u32 = 0x5ea1_ed00;

/// What fails among the cases whose name contains `wanted`, one line each, and how many were run. Panels are compiled only by
/// SwiftShader, for which they are: LLVM's drivers take minutes.
pub async fn check_all(entries: &[Entry], device: &Device, wanted: &str) -> (Vec<String>, usize) {
    let (mut failures, mut count) = (Vec::new(), 0);
    for (kernel, cases) in entries {
        for case in cases() {
            let name = format!("{}: {}", kernel.name, case.name);
            let info = device.info();
            let is_for_it = info.device == "cpu"
                || match name.rsplit(' ').next() {
                    Some("panel") => info.is_swiftshader(),
                    Some("f16") => info.features.iter().any(|feature| feature == "f16"),
                    _ => true,
                };
            if name.contains(wanted) && is_for_it {
                count += 1;
                failures.extend(check(device, &case).await.into_iter().map(|failure| format!("{name}: {failure}")));
            }
        }
    }
    (failures, count)
}

/// The cases of the kernel called `kernel` whose outputs are not the same words on both devices, and how many were run.
pub async fn differing(entries: &[Entry], kernel: &str, devices: [&Device; 2]) -> (Vec<String>, usize) {
    let known = entries.iter().filter(|(known, _)| known.name == kernel);
    let cases: Vec<Case> = known.flat_map(|(_, cases)| cases()).collect();
    let mut names = Vec::new();
    for case in &cases {
        let mut words = Vec::new();
        for device in devices {
            let outputs = launch(device, case);
            for view in &outputs {
                words.push(device.read(view).await.map_err(|error| error.to_string()));
            }
        }
        let (one, other) = words.split_at(words.len() / 2);
        if one != other || one.iter().any(Result::is_err) {
            names.push(case.name.clone());
        }
    }
    (names, cases.len())
}

/// What is wrong with each output of a case.
async fn check(device: &Device, case: &Case) -> Vec<String> {
    let mut failures = Vec::new();
    for (at, (view, expected)) in launch(device, case).iter().zip(&case.expected).enumerate() {
        match device.read(view).await {
            Ok(got) => failures.extend(compare(&got, expected, case.bound).map(|what| format!("output {at}: {what}"))),
            Err(error) => failures.push(error.to_string()),
        }
    }
    failures
}

/// Records a case; its outputs with their guards.
fn launch(device: &Device, case: &Case) -> Vec<View> {
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
    guarded
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

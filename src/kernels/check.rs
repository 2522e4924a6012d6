//! Runs a case on a device and compares it with its oracle: the result must be within the bound, and no word outside the output may be
//! written. The same code for every device, natively and in a browser; used by tests only.

use super::Entry;
use crate::device::{Bound, Case, Command, Device, Dispatch, Expected, MATRICES_FEATURE, Tiles, View};

/// Words kept free before and after each output; a multiple of the binding alignment.
const GUARD: usize = 64;
const PATTERN: u32 = 0x5ea1_ed00;

/// Failures among each `every`-th of the cases whose name contains `pattern`, one line each, and the number of cases run. Panels are compiled only on
/// SwiftShader, for which they are made: LLVM's drivers take minutes to compile them.
pub async fn check_all(entries: &[Entry], device: &Device, pattern: &str, every: usize) -> (Vec<String>, usize) {
    let (mut failures, mut count, mut found) = (Vec::new(), 0, 0..);
    for (kernel, cases) in entries {
        for case in cases() {
            let name = format!("{}: {}", kernel.name, case.name);
            let info = device.info();
            let is_for_it = info.runs_cpu_path()
                || match name.rsplit(' ').next() {
                    Some("perinvocation") => info.tiles() == Tiles::PerInvocation,
                    Some("cpu") => false,
                    Some(feature @ ("f16" | MATRICES_FEATURE)) => info.features.iter().any(|has| has == feature),
                    _ => true,
                };
            if name.contains(pattern) && is_for_it && found.next().is_some_and(|at: usize| at.is_multiple_of(every)) {
                count += 1;
                failures.extend(check(device, &case).await.into_iter().map(|failure| format!("{name}: {failure}")));
            }
        }
    }
    (failures, count)
}

/// Those of each `every`-th case of the kernel called `kernel` whose outputs are not the same words on both devices, each with the first word that
/// differs, and how many were run.
pub async fn differing(entries: &[Entry], kernel: &str, devices: [&Device; 2], every: usize) -> (Vec<String>, usize) {
    let known = entries.iter().filter(|(known, _)| known.name == kernel);
    let cases: Vec<Case> = known.flat_map(|(_, cases)| cases()).step_by(every).collect();
    let mut failures = Vec::new();
    for case in &cases {
        let outputs = devices.map(|device| launch(device, case));
        for (output, (one, other)) in outputs[0].iter().zip(&outputs[1]).enumerate() {
            let difference = match (devices[0].read(one).await, devices[1].read(other).await) {
                (Ok(one), Ok(other)) => difference(&one, &other),
                (Err(error), _) | (_, Err(error)) => Some(error.to_string()),
            };
            failures.extend(difference.map(|what| format!("{kernel}: {}: output {output}: {what}", case.name)));
        }
    }
    (failures, cases.len())
}

/// The first word in which two guarded outputs differ, with the value on each device.
fn difference(one: &[u32], other: &[u32]) -> Option<String> {
    let at = (0..one.len()).find(|&at| one[at] != other[at])?;
    let place = at as i64 - GUARD as i64;
    Some(format!("[{place}] got {:#x} on one device, {:#x} on the other", one[at], other[at]))
}

/// Errors in the outputs of a case, one line each.
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

/// Records a case; returns its outputs including their guards.
fn launch(device: &Device, case: &Case) -> Vec<View> {
    let upload = |words: &Vec<u32>| device.upload(words).expect("a case fits into device memory").view();
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
        return Some(format!("{touched} words outside the output were written"));
    }
    let floats = |values: &[f64], got: &dyn Fn(usize) -> f64| {
        let is_off = |&at: &usize| !bound.admits(got(at), values[at]);
        let off: Vec<usize> = (0..values.len()).filter(is_off).collect();
        let show = |&at: &usize| format!("[{at}] got {:e}, expected {:e}", got(at), values[at]);
        let shown: Vec<_> = off.iter().take(6).map(show).collect();
        (!off.is_empty()).then(|| format!("{} of {} off: {}", off.len(), values.len(), shown.join("; ")))
    };
    match expected {
        Expected::Floats(values) => floats(values, &|at| f64::from(f32::from_bits(got[at]))),
        Expected::Halves(values) => {
            floats(values, &|at| half::f16::from_bits((got[at / 2] >> (16 * (at % 2))) as u16).to_f64())
        }
        Expected::Words(words) => {
            let off = (0..words.len()).find(|&at| got[at] != words[at]);
            off.map(|at| format!("[{at}] got {:#x}, expected {:#x}", got[at], words[at]))
        }
        Expected::Anything(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(got: &[u32], expected: &Expected) -> Option<String> {
        compare(&with_guards(got), expected, Bound::Exact)
    }

    #[test]
    fn a_failure_names_the_value_and_the_expected_value() {
        let words = [1.0_f32, -2.5, 3.0].map(f32::to_bits);
        assert_eq!(compared(&words, &Expected::Floats(vec![1.0, -2.5, 3.0])), None);
        let expected = "2 of 3 off: [1] got -2.5e0, expected 2.5e0; [2] got 3e0, expected 4e0";
        assert_eq!(compared(&words, &Expected::Floats(vec![1.0, 2.5, 4.0])).unwrap(), expected);
        assert_eq!(compared(&[7, 8], &Expected::Words(vec![7, 24])).unwrap(), "[1] got 0x8, expected 0x18");
        let halves = u32::from(half::f16::from_f32(1.5).to_bits());
        assert_eq!(
            compared(&[halves], &Expected::Halves(vec![1.0])).unwrap(),
            "1 of 1 off: [0] got 1.5e0, expected 1e0"
        );
        let mut outside = with_guards(&[7]);
        outside[0] = 0;
        assert_eq!(
            compare(&outside, &Expected::Words(vec![7]), Bound::Exact).unwrap(),
            "1 words outside the output were written"
        );
        let [one, other] = [[1, 2], [1, 3]].map(|words| with_guards(&words));
        assert_eq!(difference(&one, &one), None);
        assert_eq!(difference(&one, &other).unwrap(), "[1] got 0x2 on one device, 0x3 on the other");
    }
}

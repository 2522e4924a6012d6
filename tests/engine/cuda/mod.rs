//! The CUDA printer without a GPU: every composed kernel prints, and what is printed runs on the host with the results of its oracle.
#![allow(unsafe_code, reason = "printed kernels are loaded as compiled code")]

mod shim;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::rows::rows;
use meromorph::device::cuda::print::{Form, INTRINSICS, PRELUDE, print};
use meromorph::device::{Case, Device, Geometry, compose, compose_sized};
use meromorph::internal::{cases, kernels};
use meromorph::nn::{Activation, Spec};
use meromorph::train::{Flow, StepKind, Trainer, TrainerConfig};
use pollster::block_on;
use shim::{Kernels, Outside, Printing, Shim, Source};

/// Lanes of a subgroup on every NVIDIA GPU.
const LANES: u32 = 32;

/// The cases that a GPU runs, each with its name.
fn gpu_cases(pattern: &str) -> Vec<(String, Case)> {
    let named = |case: Case| (format!("{}: {}", case.kernel.name, case.name), case);
    let all = cases::all().into_iter().flat_map(|(_, cases)| cases()).map(named);
    let is_for_gpus = |name: &str| ![" perinvocation", " cpu", " matrices"].iter().any(|other| name.ends_with(other));
    all.filter(|(name, _)| is_for_gpus(name) && name.contains(pattern)).collect()
}

/// Every composed kernel of these cases once, in order.
fn sources(cases: &[(String, Case)]) -> Vec<String> {
    let mut found: Vec<_> = cases.iter().map(|(_, case)| compose(case.kernel, case.body.as_ref(), LANES)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Runs the cases whose names contain a text.
fn check(pattern: &str, outside: Outside) {
    let kernels = Kernels::new(outside);
    let expected = sources(&gpu_cases(pattern)).into_iter().map(|source| vec![Source::plain(source)]);
    kernels.load(&expected.collect::<Vec<_>>());
    let device = Device::over(Box::new(Shim::new(kernels, Printing::Plain)));
    let (failures, count) = block_on(kernels::check::check_all(&cases::all(), &device, pattern, 1));
    assert!(count > 0 && failures.is_empty(), "of {count} cases:\n{}", failures.join("\n"));
}

#[test]
fn printed_kernels_stay_in_their_arrays_and_agree_with_the_oracles() {
    check(&std::env::var("MERO_CASE").unwrap_or_default(), Outside::Aborts);
}

#[test]
fn other_guards_change_no_result() {
    for pattern in ["reduce: ", "gather: ", "matmul: "] {
        check(pattern, Outside::Clamped);
    }
    check("reduce: ", Outside::Unguarded);
}

/// The losses of a fused run of a few epochs.
fn losses(device: &Device) -> Vec<f64> {
    let data = rows(5, [256, 64], |x| (x[0] - x[1]).sin() + 0.5 * x[2] * x[3] - x[4]);
    let spec = Spec::mlp(5, &[64, 64, 64], 1, Activation::silu());
    let settings =
        TrainerConfig { epochs: 3, batch: 64, patience: 0, step: Some(StepKind::Fused), ..TrainerConfig::default() };
    let mut trainer = Trainer::new(device, spec, settings, data).expect("a trainer");
    block_on(trainer.run(&mut |_| Flow::Continue)).expect("a run");
    let history = trainer.history().iter();
    history.flat_map(|epoch| [epoch.train_loss, epoch.val_loss.expect("validation rows")]).collect()
}

/// Splits of a batch, without and with data in workgroup memory.
const GEOMETRIES: [Geometry; 2] = [Geometry::DEFAULT, Geometry { rows: 8, lanes: 128, is_held: true }];

/// Losses of a run in printed kernels.
fn printed_losses(kernels: Rc<Kernels>, form: Printing, geometry: Geometry) -> Vec<f64> {
    let device = Device::over(Box::new(Shim::new(kernels, form)));
    device.set_geometry(64, Some(geometry));
    losses(&device)
}

/// A whole fused run: what the printed kernels learn is what the cpu's own code learns.
#[test]
fn a_fused_run_in_printed_kernels_is_that_of_the_cpu() {
    let expected = losses(&Device::cpu(1));
    for geometry in GEOMETRIES {
        let printed = [Printing::Plain, Printing::Sized, Printing::Whole]
            .map(|form| printed_losses(Kernels::new(Outside::Unguarded), form, geometry));
        assert_eq!(printed[0], printed[1], "{geometry}: sizes that are compiled in change no bit");
        assert_eq!(printed[0], printed[2], "{geometry}: neither does running all launches of a step as one kernel");
        for (at, (printed, expected)) in printed[0].iter().zip(&expected).enumerate() {
            assert!((printed - expected).abs() <= 2e-5 * expected.abs(), "{at}: got {printed}, expected {expected}");
        }
        assert!(!expected.is_empty() && printed[0].len() == expected.len());
    }
}

/// So what the guarded kernels compute on the host is what the others compute.
#[test]
fn guarded_kernels_differ_in_the_guards_only() {
    for source in sources(&gpu_cases("")) {
        let [plain, guarded] = [Form::PLAIN, Form::GUARDED].map(|form| print(&source, form).expect("it prints"));
        assert!(!plain.text.contains(GUARD) && guarded.text.contains(GUARD), "{}", guarded.text);
        assert_eq!(without_guards(&guarded.text), plain.text);
        assert_eq!((plain.threads, plain.arguments), (guarded.threads, guarded.arguments));
    }
}

/// What a guarded index begins with: `wgsl::inside(static_cast<u32>(index), count)`.
const GUARD: &str = "wgsl::inside(static_cast<u32>(";

fn without_guards(text: &str) -> String {
    let (mut made, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once(GUARD) {
        let (index, count) = after.split_at(closing(after));
        made += before;
        made += &without_guards(index);
        let count = &count[1..];
        rest = &count[closing(count) + 1..];
    }
    made + rest
}

/// Where the parenthesis is that closes one before the text.
fn closing(text: &str) -> usize {
    let mut open = 1;
    let is_last = |letter: char| {
        open += i32::from(letter == '(') - i32::from(letter == ')');
        open == 0
    };
    text.find(is_last).expect("a closing parenthesis")
}

/// `x / 0` and shifts by 32 and more are undefined in C++ and defined in WGSL.
#[test]
fn divisions_and_shifts_of_integers_are_guarded_unless_the_right_side_is_a_safe_number() {
    let cases = [
        ("x: u32, y: u32", "x / y", "wgsl::divide(x, y)"),
        ("x: u32, y: u32", "x % y", "wgsl::modulo(x, y)"),
        ("x: u32, y: u32", "x << y", "wgsl::shift_left(x, y)"),
        ("x: u32, y: u32", "x >> y", "wgsl::shift_right(x, y)"),
        ("x: u32", "7u / x", "wgsl::divide(7u, x)"),
        ("x: u32", "x / 7u", "(x / 7u)"),
        ("x: u32", "x % 7u", "(x % 7u)"),
        ("x: u32", "x << 31u", "(x << 31u)"),
        ("x: u32", "x >> 31u", "(x >> 31u)"),
        ("x: u32", "x / 32u", "(x / 32u)"),
        ("x: i32, y: i32", "x / y", "wgsl::divide(x, y)"),
        ("x: i32, y: i32", "x % y", "wgsl::modulo(x, y)"),
        ("x: i32, y: u32", "x << y", "wgsl::shift_left(x, y)"),
        ("x: i32, y: u32", "x >> y", "wgsl::shift_right(x, y)"),
    ];
    for (arguments, value, expected) in cases {
        assert_eq!(returned(arguments, value, Form::PLAIN), expected, "{arguments}: {value}");
    }
}

#[test]
fn a_guarded_index_is_inside_its_array() {
    for (arguments, value, plain, guarded) in [
        ("i: u32", "a[i]", "a[i]", "a[wgsl::inside(static_cast<u32>(i), (a_bytes / 4u))]"),
        ("i: i32", "a[i]", "a[i]", "a[wgsl::inside(static_cast<u32>(i), (a_bytes / 4u))]"),
        ("i: u32", "b[i]", "shared_memory().b[i]", "shared_memory().b[wgsl::inside(static_cast<u32>(i), 6u)]"),
    ] {
        assert_eq!(returned(arguments, value, Form::PLAIN), plain, "{arguments}: {value}");
        assert_eq!(returned(arguments, value, Form::GUARDED), guarded, "{arguments}: {value}");
    }
}

/// What is printed for a value that a function of these arguments returns; it may use a buffer `a` and six workgroup variables `b`.
fn returned(arguments: &str, value: &str, form: Form) -> String {
    let result = if arguments.contains("x: i32") { "i32" } else { "u32" };
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> a: array<u32>; var<workgroup> b: array<u32, 6>;
         fn returned({arguments}) -> {result} {{ return {value}; }}
         @compute @workgroup_size(1) fn main() {{ a[0] = b[0]; }}"
    );
    let text = print(&source, form).unwrap_or_else(|error| panic!("{error}")).text;
    let body = text.split_once("returned(").and_then(|(_, rest)| rest.split_once('{')).expect("a function").1;
    let (before, rest) = body.split_once("return ").expect("a value");
    let text = rest.split_once(';').expect("an end").0;
    // A load is a variable.
    let held = before.split_once('=').map(|(_, value)| value.trim().trim_end_matches(';'));
    held.unwrap_or(text).to_owned()
}

#[test]
fn what_cannot_be_printed_is_named() {
    let cases = [
        (
            "@group(0) @binding(0) var t: texture_2d<f32>; @compute @workgroup_size(1) fn main() { let x = textureLoad(t, vec2<u32>(0u), 0); }",
            "ImageLoad",
        ),
        (
            "@group(0) @binding(0) var<storage, read_write> a: array<vec3<f32>>; @compute @workgroup_size(1) fn main() { var b: array<vec3<f32>, 4>; a[0] = b[1]; }",
            "array with gaps",
        ),
        (
            "@group(0) @binding(0) var<storage, read_write> a: array<f32>; @compute @workgroup_size(1) fn main() { a[0] = distance(1.0 + a[1], a[2]); }",
            "Distance",
        ),
        ("override width: u32 = 4u; @compute @workgroup_size(1) fn main() {}", "overrides"),
        ("@fragment fn main() {}", "another stage"),
        ("fn main( {}", "expected"),
    ];
    for (source, named) in cases {
        let error = print(source, Form::PLAIN).map(|printed| printed.text).expect_err(source).to_string();
        assert!(error.starts_with("cuda: the kernel cannot be printed: ") && error.contains(named), "{error}");
    }
}

/// What the printer writes for one kernel of each kind, from the struct with its arguments on: most kernels have the same functions before it, which
/// `softmax` shows. `MERO_WRITE=1` writes the files.
#[test]
fn printed_text_is_that_of_the_snapshots() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/cuda/snapshots");
    for (name, pattern) in
        [("map", "map: "), ("reduce", "reduce: sum"), ("softmax", "softmax: "), ("normal", "normal: ")]
    {
        let (_, case) = gpu_cases(pattern).swap_remove(0);
        let text = print(&compose(case.kernel, case.body.as_ref(), LANES), Form::PLAIN).expect("it prints").text;
        let start = if name == "softmax" { 0 } else { text.find("struct Bound").expect("a kernel has arguments") };
        let (text, path) = (&text[start..], folder.join(format!("{name}.cu")));
        if std::env::var_os("MERO_WRITE").is_some() {
            std::fs::write(&path, text).expect("the snapshot can be written");
        }
        let stored = std::fs::read_to_string(&path).expect("the snapshot is there");
        assert!(stored == text, "{}: is not what is printed; MERO_WRITE=1 writes it. Printed:\n{text}", path.display());
    }
}

/// One in so many kernels whose sizes are compiled in: they take seconds to compile.
const SIZED: usize = 12;

/// Writes every printed kernel, plain and guarded, some with their sizes compiled in, and whole steps, for `tests/nvrtc.py`, which compiles them.
#[test]
#[ignore = "tests/nvrtc.py runs it, with the folder for the kernels in MERO_PRINTED"]
fn print_every_kernel() {
    let folder = PathBuf::from(std::env::var_os("MERO_PRINTED").expect("MERO_PRINTED names a folder"));
    let write = |at: usize, kind: &str, source: &str, form: Form| {
        let text = print(source, form).unwrap_or_else(|error| panic!("{error}\n{source}")).text;
        let path = folder.join(format!("{at:04}_{kind}.cu"));
        std::fs::write(path, [INTRINSICS, PRELUDE, &text].concat()).expect("it can be written");
    };
    let cases = gpu_cases("");
    for (at, source) in sources(&cases).iter().enumerate() {
        write(at, "plain", source, Form::PLAIN);
        write(at, "guarded", source, Form::GUARDED);
    }
    let sized =
        cases.iter().filter_map(|(_, case)| compose_sized(case.kernel, case.body.as_ref(), &case.params, LANES));
    for (at, source) in sized.enumerate().step_by(SIZED) {
        write(at, "sized", &source, Form::SIZED);
    }
    let kernels = Kernels::new(Outside::Unguarded);
    for geometry in GEOMETRIES {
        printed_losses(kernels.clone(), Printing::Whole, geometry);
    }
    let wholes = kernels.wholes();
    assert_eq!(wholes.len(), GEOMETRIES.len(), "each run has a step of its own");
    for (at, text) in wholes.iter().enumerate() {
        let path = folder.join(format!("{at:04}_whole.cu"));
        std::fs::write(path, [INTRINSICS, PRELUDE, text].concat()).expect("it can be written");
    }
}

//! The Rust part of `tests/parity.py`: masked operations over the numbers that it wrote. Run by `bash tests/run parity` only.

use std::path::Path;

use meromorph::Device;
use meromorph::device::Request;
use meromorph::scm::{self, Masked};
use pollster::block_on;

type Operation = (&'static str, fn(&[Masked]) -> Masked);

const OPERATIONS: &[Operation] = &[
    ("add", |x| scm::add(&x[0], &x[1])),
    ("sub", |x| scm::sub(&x[0], &x[1])),
    ("mul", |x| scm::mul(&x[0], &x[1])),
    ("div", |x| scm::div(&x[0], &x[1])),
    ("inv", |x| scm::inv(&x[0])),
    ("neg", |x| scm::neg(&x[0])),
    ("pow", |x| scm::pow(&x[0], &x[1])),
    ("log", |x| scm::log(&x[0])),
    ("exp", |x| scm::exp(&x[0])),
    ("sqrt", |x| scm::sqrt(&x[0])),
    ("sin", |x| scm::sin(&x[0])),
    ("cos", |x| scm::cos(&x[0])),
    ("tan", |x| scm::tan(&x[0])),
];

/// Reads `<operation>.<k>.values` (f32) and `.mask` (words), writes `<operation>.<device>.values` and `.mask`, little-endian, into the folder
/// `MERO_PARITY`, on each of the comma-separated devices of `MERO_PARITY_DEVICES`.
#[test]
#[ignore = "tests/parity.py makes its numbers"]
fn results_for_the_numbers_of_the_script() {
    let folder = std::env::var("MERO_PARITY").expect("the folder of numbers");
    let devices = std::env::var("MERO_PARITY_DEVICES").expect("names of devices");
    for name in devices.split(',') {
        let device = block_on(Device::open(&Request { device: name.into(), threads: 2, ..Request::default() }))
            .expect("a device");
        for (operation, run) in OPERATIONS {
            let path = |part: &str| Path::new(&folder).join(format!("{operation}.{part}"));
            let read = |k: usize| {
                let values = words(&path(&format!("{k}.values")))?;
                let values: Vec<f32> = values.into_iter().map(f32::from_bits).collect();
                let mask = words(&path(&format!("{k}.mask")))?;
                Some(Masked::with_mask(&device, [values.len()], &values, &mask).expect("a mask of the right length"))
            };
            let inputs: Vec<Masked> = (0..2).map_while(read).collect();
            let out = run(&inputs);
            let values = block_on(out.value().value().to_f32()).expect("values");
            let values: Vec<u32> = values.into_iter().map(f32::to_bits).collect();
            write(&path(&format!("{name}.values")), &values);
            write(&path(&format!("{name}.mask")), &block_on(out.mask()).expect("words"));
        }
    }
}

fn words(path: &Path) -> Option<Vec<u32>> {
    let bytes = std::fs::read(path).ok()?;
    Some(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
}

fn write(path: &Path, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    std::fs::write(path, bytes).expect("the folder takes files");
}

//! Damaged files: each reader gets mutated files and must return, within 2 s and the memory limit, without a panic. `MERO_FUZZ=10000` sets the
//! number of files per reader; a failure names the reader and the number of its file, which is the same in every run.
#![cfg(target_os = "linux")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::io::{Cursor, Read, Write};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use meromorph::contrast::{Memory, MemoryHeader};
use meromorph::files::{Format, open_rows, read_table, tensors};
use meromorph::internal::host;
use meromorph::model::Model;
use meromorph::train::{Checkpoint, Data, Examples, Trainer, TrainerConfig};
use meromorph::{Device, Result};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn count(bytes: usize) {
    PEAK.fetch_max(HELD.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

#[expect(unsafe_code, reason = "counts and passes every call on to the system")]
// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller's.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The address space of the process, so that the limit is the same on every machine.
const SPACE: &str = "--as=2000000000";
const MOST_TIME: Duration = Duration::from_secs(2);

/// A kind of file: its name, valid files, and what reads one.
struct Subject {
    name: &'static str,
    files: Vec<Vec<u8>>,
    /// From the mutated content of a file to the file.
    wrap: fn(Vec<u8>) -> Vec<u8>,
    read: fn(&[u8]) -> Result<()>,
}

#[test]
fn mutated_files_are_read_or_refused() {
    let limit = std::process::Command::new("prlimit").args(["--pid", &std::process::id().to_string(), SPACE]).status();
    assert!(limit.is_ok_and(|status| status.success()), "prlimit limits the memory of this test");
    let files: usize = std::env::var("MERO_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let most = host::memory_bytes() as usize;
    let (mut failures, mut report) = (Vec::new(), String::new());
    let subjects = subjects();
    for subject in &subjects {
        for file in &subject.files {
            let whole = (subject.read)(&(subject.wrap)(file.clone()));
            assert!(whole.is_ok(), "{}: the file before any change: {whole:?}", subject.name);
        }
    }
    std::panic::set_hook(Box::new(|_| {}));
    for subject in subjects {
        let (start, mut longest, mut largest, mut accepted) = (Instant::now(), Duration::ZERO, 0, 0);
        let mut messages = BTreeSet::new();
        for at in 0..files {
            let bytes = (subject.wrap)(mutated(&subject.files, at as u64));
            let (before, start) = (HELD.load(Relaxed), Instant::now());
            PEAK.store(before, Relaxed);
            let outcome = catch_unwind(|| (subject.read)(&bytes));
            let (taken, held) = (start.elapsed(), PEAK.load(Relaxed).saturating_sub(before));
            (longest, largest) = (longest.max(taken), largest.max(held));
            match &outcome {
                Ok(Ok(())) => accepted += 1,
                // Without digits, messages of one cause are equal.
                Ok(Err(error)) => {
                    messages.insert(error.to_string().replace(|letter: char| !letter.is_alphabetic(), ""));
                }
                Err(_) => {}
            }
            let is_fine = outcome.is_ok();
            if !is_fine || taken > MOST_TIME || held > most {
                failures.push(format!("{} {at}: panic {}, {taken:?}, {held} bytes", subject.name, !is_fine));
            }
        }
        let (name, reasons) = (subject.name, messages.len());
        report += &format!(
            "{name}: {files} files in {:?}, {accepted} read, {reasons} different messages, longest {longest:?}, largest {largest} bytes\n",
            start.elapsed()
        );
    }
    drop(std::panic::take_hook());
    assert!(failures.is_empty(), "\n{}\n{report}", failures.join("\n"));
    eprintln!("{report}");
}

fn table(bytes: &[u8]) -> Result<()> {
    read_table(bytes, "t", Format::default()).map(drop)
}

fn subjects() -> Vec<Subject> {
    fn plain(bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }
    let csv = b"a,b,name,y\n1,2.5,\"x, \"\"y\"\"\",3\n-1e5,,z,4\n007,1e308,\"q\n\",5\n".to_vec();
    let lines = b"{\"a\": 1, \"b\": \"x\\u00e9\", \"c\": true}\n{\"a\": -2.5e3, \"b\": null}\n{\"d\": \"\"}\n".to_vec();
    let json = b"[{\"a\": 1, \"b\": \"x\\\\\"},\n {\"a\": 2, \"b\": \"y\"}]".to_vec();
    let npy = array("<f8", 24);
    let parquet = ["types", "types_gzip", "types_zstd", "types_none", "types_int96", "encodings", "polars"];
    let parquet = parquet.map(|name| data(&format!("{name}.parquet"))).to_vec();
    let books = vec![data("openpyxl.xlsx"), data("xlsxwriter.xlsx")];
    let (model, checkpoint) = trained();
    let function =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/function.safetensors")).expect("a file");
    let read_parts = |bytes: &[u8]| table(&with_parts(bytes));
    let on = |name, files, read| Subject { name, files, wrap: plain, read };
    vec![
        on("csv", vec![csv.clone()], table),
        on("json lines", vec![lines], table),
        on("json", vec![json], table),
        on("npy", vec![npy.clone()], table),
        on("npz", vec![archive(&[("X.npy", &npy), ("y.npy", &array("<f8", 4))])], table),
        on("parquet", parquet, table),
        on("xlsx", books.clone(), table),
        on("parts of xlsx", books.iter().filter_map(|book| parts(book)).collect(), read_parts),
        on("gz", vec![gz(csv.clone())], table),
        Subject { name: "in gz", files: vec![csv.clone()], wrap: gz, read: table },
        on("zst", vec![zst(csv.clone()), data("csv.zst")], table),
        Subject { name: "in zst", files: vec![csv], wrap: zst, read: table },
        on("safetensors", vec![model.clone()], |bytes| tensors::read(bytes, "t").map(drop)),
        on("model", vec![model.clone()], |bytes| Model::load(bytes, "t").map(drop)),
        on("old model", vec![without_checksum(&model)], |bytes| Model::load(bytes, "t").map(drop)),
        on("checkpoint", vec![checkpoint.clone()], |bytes| Checkpoint::load(bytes, "t").map(drop)),
        on("npy in ranges", vec![array("<f8", 24)], ranges),
        on("npz in ranges", vec![archive(&[("a.npy", &array("<f8", 24)), ("b.npy", &array("<f8", 24))])], ranges),
        on("hdf5 in ranges", ["plain.h5", "packed.h5", "grown.h5"].map(|name| data_of("ranges", name)).to_vec(), hdf5),
        on("csv in ranges", vec![b"a,b,y\n1,2.5,3\n-1e5,,4\n007,1e308,\"5\n\"\n".to_vec()], ranges),
        on("old checkpoint", vec![without_checksum(&checkpoint)], |bytes| Checkpoint::load(bytes, "t").map(drop)),
        on("function", vec![without_checksum(&function)], predicted),
        on("memory", vec![without_checksum(&memory())], remembered),
    ]
}

/// The file of a memory of two rows.
fn memory() -> Vec<u8> {
    let names = vec!["a".to_owned(), "b".to_owned()];
    let header = MemoryHeader { columns: names.clone(), names, sharpness: 5.0, ..MemoryHeader::default() };
    let memory = Memory::new(header, vec![1.0, 0.0, 0.5, 2.0], vec![0.0, 1.0], &[1.0, 2.0, 3.0, 5.0], vec![0, 1]);
    memory.and_then(|memory| memory.save()).expect("a memory")
}

/// A memory that loads also finds.
fn remembered(bytes: &[u8]) -> Result<()> {
    let memory = Memory::load(bytes, "t")?;
    let found = memory.find(&vec![0.5; memory.inputs()], memory.rows())?;
    memory.shares(&found[0].neighbours).iter().for_each(|(class, _)| _ = memory.name(*class).len());
    Ok(())
}

/// Reads all rows of a file, of which the paths in it are tried one after another.
fn ranges_of(bytes: &[u8], paths: &[&str]) -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t");
    std::fs::write(&path, bytes).expect("a file");
    let mut outcome = Ok(());
    for within in paths {
        let path = format!("{}{within}", path.display());
        outcome = open_rows(path.as_ref(), Format::default()).and_then(|source| {
            let rows = source.rows().min(10_000);
            let mut column = vec![0.0; rows];
            (0..source.columns().len().min(100))
                .try_for_each(|place| source.read(0..rows, &[place], &mut [&mut column]))
        });
        match &outcome {
            Ok(()) => return outcome,
            // Such a panic of the crate is caught, and would be a fault of it.
            Err(error) => assert!(!error.to_string().contains("it is damaged ("), "{error}"),
        }
    }
    outcome
}

fn ranges(bytes: &[u8]) -> Result<()> {
    ranges_of(bytes, &[""])
}

fn hdf5(bytes: &[u8]) -> Result<()> {
    ranges_of(bytes, &["", ":/b,n,t,u,y", ":/runs/first/t,y", ":/runs/table"])
}

fn data(name: &str) -> Vec<u8> {
    data_of("tables", name)
}

fn data_of(folder: &str, name: &str) -> Vec<u8> {
    let path = format!("{}/tests/data/{folder}/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A sequence of numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let bits = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) % most.max(1) as u64) as usize
    }
}

/// One of the files after one to four changes.
fn mutated(files: &[Vec<u8>], seed: u64) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x1234_5678_9abc_def1));
    let mut bytes = files[random.below(files.len())].clone();
    for _ in 0..=random.below(4) {
        change(&mut bytes, &mut random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    const BYTES: [u8; 10] = [0, 1, 2, 0x0f, 0x7f, 0x80, 0xfe, 0xff, b'"', b'9'];
    const NUMBERS: [u64; 7] = [0, u64::MAX, 1 << 31, (1 << 31) - 1, 1 << 40, u32::MAX as u64, i64::MAX as u64];
    const TEXTS: [&str; 8] = ["99999999999", "18446744073709551616", "-1", "1e999", "{", "[[[[", "\"", "A1048577"];
    let at = random.below(bytes.len());
    // Headers are at the start and the end.
    let at = match random.below(4) {
        0 => at % 64,
        1 => bytes.len().saturating_sub(1 + at % 256),
        _ => at,
    };
    let length = 1 + random.below(32);
    let end = (at + length).min(bytes.len());
    match random.below(9) {
        0 if !bytes.is_empty() => bytes[at.min(end - 1)] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = BYTES[random.below(BYTES.len())],
        2 => {
            let width = 1 << random.below(4);
            let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
            bytes.iter_mut().skip(at).zip(&number[..width]).for_each(|(byte, new)| *byte = *new);
        }
        3 => bytes.truncate(at),
        4 => drop(bytes.drain(at.min(end)..end)),
        5 => {
            let part = bytes[at.min(end)..end].to_vec();
            let place = random.below(bytes.len());
            bytes.splice(place..place, part);
        }
        6 => {
            let part: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
            bytes.splice(at.min(end)..at.min(end), part);
        }
        7 => {
            let text = TEXTS[random.below(TEXTS.len())];
            bytes.splice(at.min(end)..(at + random.below(4)).max(at.min(end)).min(end), text.bytes());
        }
        _ => {
            let part = bytes[at.min(end)..end].to_vec();
            let many = part.iter().copied().cycle().take(part.len() * (1 + random.below(200)));
            bytes.splice(end..end, many.collect::<Vec<_>>());
        }
    }
}

fn array(kind: &str, count: usize) -> Vec<u8> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}, {}), }}", 4, count / 4);
    header.extend(std::iter::repeat_n(' ', 63 - (10 + header.len()) % 64));
    header.push('\n');
    let numbers = (0..count).flat_map(|at| (at as f64).to_le_bytes());
    let head = [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    head.into_iter().chain(numbers).collect()
}

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        out.start_file(*name, zip::write::SimpleFileOptions::default()).expect("a member");
        out.write_all(bytes).expect("memory");
    }
    out.finish().expect("an archive").into_inner()
}

/// The members of a workbook as one text, so that a change leaves checksums valid: each with a line of its name and the number of its bytes.
fn parts(book: &[u8]) -> Option<Vec<u8>> {
    let mut from = zip::ZipArchive::new(Cursor::new(book)).ok()?;
    let mut out = Vec::new();
    for name in [
        "xl/workbook.xml",
        "xl/_rels/workbook.xml.rels",
        "xl/styles.xml",
        "xl/sharedStrings.xml",
        "xl/worksheets/sheet1.xml",
    ] {
        let mut bytes = Vec::new();
        from.by_name(name).ok()?.read_to_end(&mut bytes).ok()?;
        out.extend(format!("\u{1}{name}\u{2}").bytes().chain(bytes));
    }
    Some(out)
}

/// The workbook of such a text.
fn with_parts(bytes: &[u8]) -> Vec<u8> {
    let members = bytes.split(|byte| *byte == 1).filter_map(|member| {
        let end = member.iter().position(|byte| *byte == 2)?;
        Some((std::str::from_utf8(&member[..end]).ok()?, &member[end + 1..]))
    });
    let mut members: Vec<_> = members.collect();
    members.dedup_by_key(|(name, _)| *name);
    let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        if out.start_file(name, zip::write::SimpleFileOptions::default()).is_ok() {
            out.write_all(bytes).expect("memory");
        }
    }
    out.finish().expect("an archive").into_inner()
}

fn gz(bytes: Vec<u8>) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(&bytes).expect("memory");
    out.finish().expect("memory")
}

fn zst(bytes: Vec<u8>) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(&bytes[..], ruzstd::encoding::CompressionLevel::Fastest)
}

/// A model file and a checkpoint.
fn trained() -> (Vec<u8>, Vec<u8>) {
    let examples = |rows: usize| Examples { x: vec![0.5; 2 * rows], y: vec![1.0; rows] };
    let data = Data { inputs: 2, targets: 1, train: examples(8), validation: examples(2), test: examples(2) };
    let spec = meromorph::nn::Spec::mlp(2, &[4], 1, meromorph::nn::Activation::silu());
    let settings = TrainerConfig { epochs: 1, batch: 4, ..TrainerConfig::default() };
    let trainer = Trainer::new(&Device::cpu(1), spec.clone(), settings.clone(), data).expect("a trainer");
    let parameters = pollster::block_on(trainer.parameters()).expect("parameters");
    let model = Model::new(spec, settings.loss, parameters, None).save().expect("a model");
    let checkpoint = pollster::block_on(trainer.checkpoint()).expect("a checkpoint").save(None).expect("a file");
    (model, checkpoint)
}

/// What a model that is a function predicts: a graph that loads can be recorded.
fn predicted(bytes: &[u8]) -> Result<()> {
    let model = Model::load(bytes, "t")?;
    pollster::block_on(model.outputs(&Device::cpu(1), &vec![0.5; 3 * model.spec.inputs])).map(drop)
}

/// The same file in the format before checksums, which would refuse nearly every change.
fn without_checksum(whole: &[u8]) -> Vec<u8> {
    let length = u64::from_le_bytes(whole[..8].try_into().expect("eight bytes")) as usize;
    let header = std::str::from_utf8(&whole[8..8 + length]).expect("text");
    let header = header.replacen("\"checksum\"", "\"check\"", 1);
    // A memory has no number of a format.
    let header = match header.split_once(r#"\"format\":"#) {
        Some((before, after)) => {
            let after = after.trim_start_matches(|letter: char| letter.is_ascii_digit());
            format!(r#"{before}\"format\":1{after}"#)
        }
        None => header,
    };
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &whole[8 + length..]].concat()
}

//! How many bytes a memory needs while it is made of its rows, written and read, counted by the allocator: multiples of the rows, which may be most of a
//! machine's memory. One test, because all tests of a file share the allocator.

mod counting;

use std::sync::atomic::Ordering::Relaxed;

use meromorph::contrast::{ContrastOptions, Labelled, Learning, Memory, MemoryHeader};
use meromorph::prelude::*;
use pollster::block_on;

use counting::{Counting, HELD, PEAK};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ROWS: usize = 50_000;
const COLUMNS: usize = 32;
const BYTES: usize = 4 * ROWS * COLUMNS;

/// The result, and the most bytes held on the way beyond those before, in multiples of the rows.
fn peak<T>(of: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let before = HELD.load(Relaxed);
    PEAK.store(before, Relaxed);
    let result = of()?;
    Ok((result, (PEAK.load(Relaxed) - before) as f64 / BYTES as f64))
}

#[test]
fn what_is_held_besides_the_rows_is_a_small_multiple_of_them() -> Result<()> {
    let mut state = 1_u32;
    let mut drawn = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    let x: Vec<f32> = (0..ROWS * COLUMNS).map(|_| drawn()).collect();
    let classes: Vec<u32> = (0..ROWS as u32).map(|row| row % 5).collect();
    let names = (0..5).map(|class| class.to_string()).collect();
    let rows = Labelled { inputs: COLUMNS, x, classes, names };
    let options = ContrastOptions { epochs: 1, memory: 1024, ..ContrastOptions::default() };
    let [kept, _] = rows.split(0.2, 0);
    let device = Device::cpu(1);
    // Of the four fifths that are learned: scaled for the trainer, and on the device.
    let (mut learning, learned) = peak(|| Learning::of_part(&device, &rows, &kept, &options))?;
    assert!(learned < 2.0, "setting up a run takes {learned:.2} times its rows");
    let ((), run) = peak(|| block_on(learning.run(&mut |_| Flow::Continue)))?;
    assert!(run < 0.4, "a run takes {run:.2} times its rows");
    let map = block_on(learning.learned())?;
    let before = HELD.load(Relaxed);
    drop((learning, device));
    let freed = (before - HELD.load(Relaxed)) as f64 / BYTES as f64;
    assert!(freed > 1.5, "the end of a run frees {freed:.2} times its rows");
    let (memory, made) = peak(|| map.memory(&rows, MemoryHeader::default()))?;
    assert!(made < 1.5, "a memory takes {made:.2} times its rows, which it holds once");
    let (bytes, saved) = peak(|| memory.save())?;
    assert!(saved < 1.2, "writing takes {saved:.2} times the rows, which the file holds once");
    let (again, loaded) = peak(|| Memory::load(&bytes, "a"))?;
    assert!(again == memory && loaded < 1.5, "reading takes {loaded:.2} times the rows");
    let (found, judged) = peak(|| memory.judge(&rows.x[..COLUMNS * 2000], &rows.classes[..2000]))?;
    // What is found for 128 rows at a time: with 1,000 neighbours of 16 bytes each it has 2 MB, and twice that before the parts of threads are joined.
    assert!(found.rows == 2000 && judged < 1.5, "judging takes {judged:.2} times the rows");
    Ok(())
}

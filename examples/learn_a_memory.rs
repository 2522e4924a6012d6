//! A memory of labelled rows: learned so that rows of a class are near each other. It finds what is nearest, and says if nothing in it is like a row.
#![allow(clippy::print_stdout, reason = "an example shows what it computes")]

use meromorph::contrast::{ContrastOptions, Labelled, Learning, MapKind, Memory, MemoryHeader};
use meromorph::prelude::*;
use pollster::block_on;

/// Two classes at -1 and 1 of the first column; three more columns, forty times as long, say nothing.
fn rows(count: u32) -> Labelled {
    // Numbers in [-1, 1) that look random (the mixing of MurmurHash3).
    let drawn = |at: u32| {
        let mixed = (at ^ at >> 16).wrapping_mul(0x85eb_ca6b);
        let mixed = (mixed ^ mixed >> 13).wrapping_mul(0xc2b2_ae35);
        f64::from((mixed ^ mixed >> 16) >> 8) / f64::from(1 << 23) - 1.0
    };
    let row = |row: u32| {
        let side = if row.is_multiple_of(2) { -1.0 } else { 1.0 };
        let drawn = [1, 2, 3, 4].map(|column| drawn(4 * row + column));
        [side + 0.3 * drawn[0], 40.0 * drawn[1], 40.0 * drawn[2], 40.0 * drawn[3]].map(|x| x as f32)
    };
    Labelled {
        inputs: 4,
        x: (0..count).flat_map(row).collect(),
        classes: (0..count).map(|row| row % 2).collect(),
        names: vec!["left".into(), "right".into()],
    }
}

fn main() -> Result<()> {
    let rows = rows(600);
    let [kept, held] = rows.split(0.2, 1);
    let (learned, held) = (rows.subset(&kept), rows.subset(&held));
    let options = ContrastOptions { map: MapKind::Diagonal, batch: 32, lr: Some(0.05), ..ContrastOptions::default() };
    let mut learning = Learning::new(&Device::cpu(1), &learned, &options)?;
    block_on(learning.run(&mut |_| Flow::Continue))?;
    let memory = block_on(learning.memory(&learned, MemoryHeader::default()))?;
    let [before, after] =
        [Memory::plain(&learned, 5.0)?, memory.clone()].map(|memory| memory.judge(&held.x, &held.classes));
    let (before, after) = (before?.recall[0].1, after?.recall[0].1);
    println!("recall@1 of {} rows: {before:.2} without a map, {after:.2} with it", held.classes.len());
    assert!(before < 0.8 && after > 0.97);

    // A row of the right class far out in the other columns, and one that is like nothing in memory.
    let found = memory.find(&[1.0, 30.0, -30.0, 30.0, 900.0, 0.0, 0.0, 0.0], 3)?;
    println!("{}, {}", memory.name(found[0].neighbours[0].class), if found[1].is_known { "known" } else { "unknown" });
    assert!(memory.name(found[0].neighbours[0].class) == "right" && !found[1].is_known);

    assert_eq!(Memory::load(&memory.save()?, "a.memory")?, memory);
    Ok(())
}

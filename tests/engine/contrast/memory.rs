//! Memories by hand: what they find, how sure they are, how they are judged, and their files.

use meromorph::Result;
use meromorph::contrast::{Labelled, Memory, MemoryHeader, MetricParts, Neighbour, Through};
use meromorph::files::tensors;

fn header() -> MemoryHeader {
    let names = ["left", "right"].map(str::to_owned).to_vec();
    let columns = vec!["a".into(), "b".into()];
    MemoryHeader { columns, target: "side".into(), names, sharpness: 2.0, ..MemoryHeader::default() }
}

/// Rows at 0, 1, 3, 6 and 10 along a, which the map doubles; b does not count, and a is shifted by 1.
fn line() -> Result<Memory> {
    let rows = [1.0, 5.0, 2.0, -3.0, 4.0, 0.0, 7.0, 9.0, 11.0, 2.0];
    Memory::new(header(), vec![2.0, 0.0], vec![1.0, 0.0], &rows, vec![0, 0, 1, 1, 0])
}

#[test]
fn the_nearest_rows_are_found_under_the_map() -> Result<()> {
    let memory = line()?;
    assert_eq!((memory.inputs(), memory.outputs(), memory.rows(), memory.name(1)), (2, 1, 5, "right"));
    // a = 3.5 is 2.5 after the shift and 5 under the map; rows are at 0, 2, 6, 12 and 20.
    let found = memory.find(&[3.5, 100.0, 1.0, 0.0], 3)?;
    let neighbour = |row, class, distance| Neighbour { row, class, distance };
    assert_eq!(found[0].neighbours, [neighbour(2, 1, 1.0), neighbour(1, 0, 3.0), neighbour(0, 0, 5.0)]);
    assert_eq!(found[1].neighbours[0], neighbour(0, 0, 0.0));
    // exp(-2 d) relative to the nearest: 1, e^-4, e^-8.
    let total = 1.0 + (-4.0_f64).exp() + (-8.0_f64).exp();
    let weights = memory.weights(&found[0].neighbours);
    assert!((weights[0] - 1.0 / total).abs() < 1e-12 && (weights[1] - (-4.0_f64).exp() / total).abs() < 1e-12);
    let shares = memory.shares(&found[0].neighbours);
    assert_eq!(shares.iter().map(|(class, _)| *class).collect::<Vec<_>>(), [1, 0]);
    assert!((shares[1].1 - (1.0 - 1.0 / total)).abs() < 1e-12);
    // Each row's nearest other one is 2, 2, 4, 6 and 8 away: 99 % of five rows are all of them.
    assert_eq!(memory.header.reach, 8.0);
    let [inside, outside] = [memory.find(&[15.0, 0.0], 1)?, memory.find(&[15.1, 0.0], 1)?];
    assert!(inside[0].is_known && !outside[0].is_known);
    // Of two rows as near, the first.
    assert_eq!(memory.find(&[1.5, 0.0], 1)?[0].neighbours[0].row, 0);
    let others = memory.find_others(&[1, 4], 2)?;
    assert_eq!(others[0].neighbours, [neighbour(0, 0, 2.0), neighbour(2, 1, 4.0)]);
    assert_eq!(others[1].neighbours, [neighbour(3, 1, 8.0), neighbour(2, 1, 14.0)]);
    Ok(())
}

/// Classes at 0, 2, 20 (left) and 6, 12 (right) under the map; queries at 5 (right) and 13 (left).
#[test]
fn a_memory_is_judged_by_what_it_finds_first() -> Result<()> {
    let judged = line()?.judge(&[3.5, 0.0, 7.5, 0.0], &[1, 0])?;
    // 5 finds right, left, left, right, left; 13 finds right, right, left, left, left.
    assert_eq!(judged.rows, 2);
    assert_eq!(judged.recall, [(1, 0.5), (5, 1.0)]);
    // Right has 2 rows: (1/1) / 2. Left has 3: the third is the first of its class, (1/3) / 3.
    assert!((judged.map_at_r - f64::midpoint(0.5, 1.0 / 9.0)).abs() < 1e-12, "{}", judged.map_at_r);
    assert_eq!((judged.accuracy, judged.known), (0.5, 1.0));
    Ok(())
}

#[test]
fn files_give_the_same_memory_or_say_what_is_wrong() -> Result<()> {
    let memory = line()?;
    let bytes = memory.save()?;
    assert_eq!(Memory::load(&bytes, "a")?, memory);
    let mut turned = line()?;
    turned.metric = MetricParts { weights: vec![4.0, 0.0], angles: vec![0.5], planes: vec![0, 1] };
    turned.header.is_numeric = true;
    assert_eq!(Memory::load(&turned.save()?, "a")?, turned);
    let refused = |bytes: &[u8]| Memory::load(bytes, "a").map(drop).expect_err("it is damaged").to_string();
    for at in [9, 200, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 4;
        assert!(refused(&damaged).starts_with("a: "), "byte {at}");
    }
    assert!(refused(&bytes[..bytes.len() - 4]).starts_with("a: "));
    for (angles, planes, what) in [(vec![0.5], vec![0, 2], "map"), (vec![0.5, 0.1], vec![0, 1], "angles")] {
        turned.metric = MetricParts { angles, planes, ..MetricParts::default() };
        assert_eq!(refused(&turned.save()?), format!("a: the planes of the memory do not fit its {what}"));
    }
    let wrong = |map: Vec<f32>, rows: &[f32], classes: Vec<u32>| {
        Memory::new(header(), map, vec![0.0, 0.0], rows, classes).map(drop).expect_err("it does not fit").to_string()
    };
    assert!(wrong(vec![1.0], &[1.0, 2.0], vec![0]).starts_with("memory: sizes do not fit: got a map of 1 numbers"));
    assert!(wrong(vec![1.0, 0.0], &[1.0], vec![0]).contains("1 rows of 1 numbers"));
    assert_eq!(
        wrong(vec![1.0, 0.0], &[1.0, 2.0], vec![2]),
        "memory: got class 2, expected below 2, the number of classes"
    );
    assert_eq!(
        wrong(vec![1.0, 0.0], &[1.0, f32::NAN], vec![0]),
        "memory: row 0, column 1: got NaN, expected a finite number"
    );
    let said = |count: usize| memory.find(&[0.0, 0.0], count).map(drop).expect_err("too many").to_string();
    assert_eq!(said(6), "memory: got 6 neighbours, expected 1 to 5, the rows in memory");
    assert_eq!(said(0), "memory: got 0 neighbours, expected 1 to 5, the rows in memory");
    Ok(())
}

/// Files have a number of their format: 1, or 2 if a model makes the coordinates. The first files have none, and newer ones are refused.
#[test]
fn files_of_other_formats_load_or_say_so() -> Result<()> {
    let memory = line()?;
    let with = |bytes: &[u8], from: &str, to: &str| {
        let mut content = tensors::read(bytes, "a")?;
        let text = &mut content.metadata[1].1;
        assert!(text.contains(from), "{text}");
        *text = text.replace(from, to);
        tensors::write(&content)
    };
    let bytes = memory.save()?;
    assert_eq!(Memory::load(&with(&bytes, "\"format\":1,", "")?, "a")?, memory);
    let newer = Memory::load(&with(&bytes, "\"format\":1,", "\"format\":3,")?, "a").map(drop).expect_err("it is newer");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(newer.to_string(), format!("a: its format is 3, this engine ({version}) reads up to 2"));
    let mut deep = memory;
    deep.header.through = Some(Through { layer: 1, digest: "ab".into() });
    let bytes = deep.save()?;
    assert_eq!(Memory::load(&with(&bytes, "\"format\":2,", "\"format\":2,")?, "a")?, deep);
    Ok(())
}

/// A part has the same map, and a reach of its own: rows at 0, 6 and 20 are 6, 6 and 14 from the next one.
#[test]
fn a_part_of_a_memory_finds_among_its_own_rows() -> Result<()> {
    let part = line()?.part(&[0, 2, 4]);
    assert_eq!((part.rows(), part.header.reach, &part.classes[..]), (3, 14.0, &[0, 1, 0][..]));
    let found = part.find(&[3.5, 0.0], 2)?;
    assert_eq!(found[0].neighbours.iter().map(|one| (one.row, one.distance)).collect::<Vec<_>>(), [(1, 1.0), (0, 5.0)]);
    Ok(())
}

/// More rows than a tile and more queries than a block: the same as one query at a time against a sort of all distances.
#[test]
fn tiles_and_blocks_find_what_a_sort_finds() -> Result<()> {
    let mut state = 7_u32;
    let mut drawn = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as f32
    };
    let rows: Vec<f32> = (0..3 * 1500).map(|_| drawn()).collect();
    let queries: Vec<f32> = (0..3 * 150).map(|_| drawn()).collect();
    let header = MemoryHeader { columns: Vec::new(), ..header() };
    let unit = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let memory = Memory::new(header, unit, vec![0.0; 3], &rows, vec![0; 1500])?;
    for (query, found) in queries.chunks(3).zip(memory.find(&queries, 20)?) {
        let square = |row: &[f32]| row.iter().zip(query).map(|(a, b)| (a - b).powi(2)).sum::<f32>();
        let mut all: Vec<(f32, usize)> = rows.chunks(3).map(square).zip(0..).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let found: Vec<(f32, usize)> = found.neighbours.iter().map(|one| (one.distance, one.row)).collect();
        let expected: Vec<(f32, usize)> = all[..20].iter().map(|(square, row)| (square.sqrt(), *row)).collect();
        assert_eq!(found, expected);
    }
    Ok(())
}

/// Each class has its share held out, one with a single row keeps it, and every row is in one part.
#[test]
fn a_split_keeps_the_shares_of_the_classes() {
    let classes: Vec<u32> = (0..61).map(|row| if row == 60 { 2 } else { u32::from(row % 3 == 0) }).collect();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let rows = Labelled { inputs: 1, x: (0_u16..61).map(f32::from).collect(), classes, names };
    let [kept, held] = rows.split(0.25, 3);
    let count = |part: &[usize], class: u32| part.iter().filter(|&&row| rows.classes[row] == class).count();
    assert_eq!([0, 1, 2].map(|class| count(&held, class)), [10, 5, 0]);
    let mut all = [kept.clone(), held.clone()].concat();
    all.sort_unstable();
    assert_eq!(all, (0..61).collect::<Vec<_>>());
    assert_ne!(rows.split(0.25, 4)[1], held);
    let part = rows.subset(&held[..2]);
    assert_eq!(part.x, [held[0] as f32, held[1] as f32]);
}

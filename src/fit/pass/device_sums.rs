//! Sums over all rows in single precision on a device. Rows are uploaded once if they fit, and otherwise in each pass, through two buffers by turns.

use std::ops::Range;

use super::normal::{Bad, Normal};
use super::single::Single;
use super::sums::Sums;
use crate::device::{Buffer, Command, Device, VIEW_WORDS, View};
use crate::error::Result;
use crate::fit::rows::Problem;
use crate::fit::rows::pieces::{self, PIECE};
use crate::host::ThreadPool;
use crate::kernels::normal;

/// The room that rows take on a device, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    /// Rows that are uploaded at a time.
    chunk: usize,
    /// Rows that stay on the device.
    resident: usize,
}

/// The room on every device that runs WebGPU.
const ROOM: Room = Room { chunk: 64 << 20, resident: 1 << 30 };

impl Room {
    /// The room within so many bytes, of which two chunks take a quarter at most; 0 = the usual room.
    pub(crate) fn of(bytes: u64) -> Self {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        if bytes == 0 { ROOM } else { Self { chunk: ROOM.chunk.min(bytes / 8), resident: bytes / 4 * 3 } }
    }
}

/// The sums over the rows of a problem on a device.
pub(crate) struct DeviceSums<'a> {
    device: &'a Device,
    problem: &'a Problem<'a>,
    sums: &'a Sums<'a>,
    single: &'a Single,
    pool: &'a ThreadPool,
    /// Pieces of rows in each chunk but the last.
    pieces: usize,
    /// All chunks, if they stay on the device.
    resident: Option<Vec<Chunk>>,
    buffers: [Buffer; 2],
    scalars: Buffer,
}

/// Rows on the device, in columns of `stride` words.
struct Chunk {
    rows: Buffer,
    stride: usize,
    /// Groups, each with its rows.
    runs: Vec<(usize, Range<usize>)>,
}

/// Launches whose sums are on their way.
struct Launched {
    sums: Buffer,
    bad: Buffer,
    /// The group of each launch, and where its sums and its counters are.
    places: Vec<(usize, Range<usize>, Range<usize>)>,
}

impl<'a> DeviceSums<'a> {
    pub(crate) fn new(
        (device, room): (&'a Device, Room),
        problem: &'a Problem<'a>,
        sums: &'a Sums<'a>,
        single: &'a Single,
        pool: &'a ThreadPool,
    ) -> Result<Self> {
        let (rows, columns) = (problem.data.rows(), single.residuals.data_columns());
        let most = room.chunk.min(device.info().max_binding_bytes as usize);
        let pieces = (most / (4 * columns * PIECE)).max(1);
        let words = columns * rows.min(pieces * PIECE);
        let buffers = [(); 2].map(|()| device.buffer(words));
        let scalars = device.buffer(sums.groups() * single.residuals.scalars().next_multiple_of(VIEW_WORDS));
        let mut all = Self { device, problem, sums, single, pool, pieces, resident: None, buffers, scalars };
        if 4 * columns * rows <= room.resident {
            all.resident =
                Some(all.chunks().map(|pieces| all.upload(pieces, &device.buffer(words))).collect::<Result<_>>()?);
        }
        Ok(all)
    }

    /// The sums at the free parameters `x`.
    pub(crate) async fn normal(&self, x: &[f64]) -> Result<std::result::Result<Normal, Bad>> {
        self.device.write(&self.scalars, 0, &self.scalar_words(x))?;
        let mut total = Total { normal: Normal::zeros(x.len()), bad: 0 };
        if let Some(chunks) = &self.resident {
            self.add(self.launch(chunks)?, &mut total).await?;
            return Ok(total.checked());
        }
        // Waiting for the sums before the last keeps uploads from running ahead of the device.
        let mut last: Option<Launched> = None;
        for (pieces, buffer) in self.chunks().zip(self.buffers.iter().cycle()) {
            let launched = self.launch(&[self.upload(pieces, buffer)?])?;
            if let Some(before) = last.replace(launched) {
                self.add(before, &mut total).await?;
            }
        }
        if let Some(last) = last {
            self.add(last, &mut total).await?;
        }
        Ok(total.checked())
    }

    /// The pieces of each chunk.
    fn chunks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (all, each) = (self.problem.data.rows().div_ceil(PIECE), self.pieces);
        (0..all).step_by(each).map(move |first| first..all.min(first + each))
    }

    /// Each group's scalars, at the alignment of views.
    fn scalar_words(&self, x: &[f64]) -> Vec<u32> {
        let mut words = Vec::with_capacity(self.scalars.words());
        for group in 0..self.sums.groups() {
            let scalars = self.single.scalars(self.sums, group, x);
            words.extend(scalars.iter().map(|&value| (value as f32).to_bits()));
            words.resize(words.len().next_multiple_of(VIEW_WORDS), 0);
        }
        words
    }

    /// Copies rows into a buffer.
    fn upload(&self, pieces: Range<usize>, buffer: &Buffer) -> Result<Chunk> {
        let (problem, columns) = (self.problem, &self.single.columns);
        let rows = problem.data.rows();
        let stride = rows.min(pieces.end * PIECE) - pieces.start * PIECE;
        let mut words = vec![0_u32; stride * self.single.residuals.data_columns()];
        let (mut filled, mut runs) = (0, Vec::<(usize, Range<usize>)>::new());
        let make =
            |piece| problem.data.with(pieces::range(piece, rows), |part| (columns.of_part(part), part.runs.to_vec()));
        pieces::each(self.pool, pieces, make, |(columns, more)| {
            for (target, column) in words.chunks_exact_mut(stride).zip(&columns) {
                let target = target[filled..].iter_mut();
                target.zip(column).for_each(|(word, &value)| *word = (value as f32).to_bits());
            }
            for (group, rows) in more {
                let rows = filled + rows.start..filled + rows.end;
                match runs.last_mut() {
                    Some((last, known)) if *last == group => known.end = rows.end,
                    _ => runs.push((group, rows)),
                }
            }
            filled += columns.first().map_or(0, Vec::len);
        })?;
        self.device.write(buffer, 0, &words)?;
        Ok(Chunk { rows: buffer.clone(), stride, runs })
    }

    fn launch(&self, chunks: &[Chunk]) -> Result<Launched> {
        let size = self.single.residuals.size();
        let runs = chunks.iter().flat_map(|chunk| chunk.runs.iter().map(move |run| (chunk, run)));
        let (mut places, mut ends) = (Vec::new(), [0, 0]);
        for (_, (group, rows)) in runs.clone() {
            let count = normal::groups(rows.len());
            let mut place = |at: usize, words: usize| {
                let start = ends[at];
                ends[at] = (start + words).next_multiple_of(VIEW_WORDS);
                start..start + words
            };
            places.push((*group, place(0, count * size), place(1, 2 * count)));
        }
        let [sums, bad] = ends.map(|words| self.device.buffer(words));
        let view = |buffer: &Buffer, range: &Range<usize>| View {
            buffer: buffer.clone(),
            offset: range.start,
            words: range.len(),
        };
        let count = self.single.residuals.scalars();
        for ((chunk, (group, rows)), (_, own_sums, own_bad)) in runs.zip(&places) {
            let start = group * count.next_multiple_of(VIEW_WORDS);
            self.device.record(Command::Dispatch(normal::dispatch(
                self.single.residuals.clone(),
                rows.clone(),
                chunk.stride,
                self.single.scale(self.problem),
                [chunk.rows.view(), view(&self.scalars, &(start..start + count))],
                [view(&sums, own_sums), view(&bad, own_bad)],
            )?));
        }
        self.device.flush()?;
        Ok(Launched { sums, bad, places })
    }

    async fn add(&self, launched: Launched, total: &mut Total) -> Result<()> {
        let Launched { sums, bad, places } = launched;
        let (sums, bad) = (self.device.read(&sums.view()).await?, self.device.read(&bad.view()).await?);
        for (group, own_sums, own_bad) in places {
            let size = self.single.residuals.size();
            let mut own = normal::totals(size, bytemuck::cast_slice(&sums[own_sums]), &bad[own_bad]);
            total.bad += own.bad;
            self.single.convert(&mut own.sums);
            total.normal.add(&own.sums, &self.sums.places()[group]);
        }
        Ok(())
    }
}

struct Total {
    normal: Normal,
    /// Rows that are not finite.
    bad: u64,
}

impl Total {
    fn checked(self) -> std::result::Result<Normal, Bad> {
        let Self { normal, bad } = self;
        let sums = normal.hessian.iter().chain(&normal.gradient).chain([&normal.cost, &normal.squares]);
        let is_finite = sums.copied().all(f64::is_finite);
        // Which row it is, is found out in double precision.
        if bad == 0 && is_finite { Ok(normal) } else { Err(Bad::Rows { count: bad as usize, first: 0 }) }
    }
}

#[cfg(test)]
mod tests {
    use pollster::block_on;

    use super::super::normal::Objective;
    use super::super::single::Sample;
    use super::*;
    use crate::fit::formula::Formula;
    use crate::fit::rows::Levels;

    const ROWS: usize = 5 * PIECE + 77;

    fn spread(at: usize) -> f64 {
        (at * 2_654_435_761 % 1_000_003) as f64 / 1_000_003.0
    }

    /// The sums of a problem with two groups, in both precisions, and the bytes that an evaluation uploads.
    fn sums(room: Room) -> (Normal, Normal, u64) {
        let t: Vec<f64> = (0..ROWS).map(|at| 4.0 * spread(at)).collect();
        let y: Vec<f64> = t.iter().enumerate().map(|(at, t)| 3e5 * (-t).exp() + 1e3 * spread(at * 7)).collect();
        let sigma: Vec<f64> = (0..ROWS).map(|at| 10.0 + spread(at * 3)).collect();
        let set = Levels::of_numbers(&(0..ROWS).map(|at| (at % 3 / 2) as f64).collect::<Vec<f64>>());
        let formula =
            Formula::parse("a[set] * exp(-b * (t - 0.5) / 3) + c * sin(t - 0.5) / exp(t - 0.5)", &["t", "set"])
                .unwrap();
        let problem = Problem::with_levels(formula, &[("t", &t)], &[("set", &set)], &y).unwrap();
        let problem = problem.sigma(&sigma, true).unwrap();
        let pool = ThreadPool::new(2).unwrap();
        let sums = Sums::new(&problem, &pool);
        let x = [2e5, 3e5, 1.2, -40.0];
        let picked: Vec<usize> = (0..ROWS).step_by(1_000).collect();
        let single = Single::new(&problem, &sums, &x, &Sample::of(&problem, &picked).unwrap());
        let device = Device::cpu(2);
        let on_device = DeviceSums::new((&device, room), &problem, &sums, &single, &pool).unwrap();
        let before = device.counters().uploaded_bytes;
        let normal = block_on(on_device.normal(&x)).unwrap().unwrap();
        let uploaded = device.counters().uploaded_bytes - before;
        (normal, sums.normal(&x).unwrap(), uploaded)
    }

    #[test]
    fn sums_agree_with_double_precision_wherever_rows_are() {
        let small = 4 * 4 * PIECE;
        let (resident, exact, once) = sums(Room { chunk: 2 * small, ..ROOM });
        let (uploaded, _, each_time) = sums(Room { chunk: 2 * small, resident: small });
        let (whole, ..) = sums(ROOM);
        let bits = |normal: &Normal| format!("{normal:?}");
        // Within 64 MiB: two buffers of 8 MiB, and 48 MiB of rows that stay.
        let Room { chunk, resident: kept } = Room::of(64 << 20);
        assert_eq!((chunk, kept), (8 << 20, 48 << 20));
        let (.., every_time) = sums(Room::of(4 * 4 * PIECE as u64));
        assert_eq!(every_time, each_time, "rows beyond the limit are uploaded in each pass");
        assert_eq!(bits(&resident), bits(&uploaded));
        // t - 0.5, y and the weights: the rest is not worth a column.
        assert_eq!(each_time - once, 3 * 4 * ROWS as u64);
        for normal in [&resident, &whole] {
            let norms = exact.hessian.diagonal().map(f64::sqrt);
            let residuals = exact.squares.sqrt();
            assert!((normal.cost / exact.cost - 1.0).abs() < 1e-5, "{} {}", normal.cost, exact.cost);
            assert!((normal.squares / exact.squares - 1.0).abs() < 1e-5);
            for i in 0..4 {
                let apart = (normal.gradient[i] - exact.gradient[i]).abs();
                assert!(apart < 1e-5 * norms[i] * residuals, "{i}: {} {}", normal.gradient[i], exact.gradient[i]);
                for j in 0..4 {
                    let apart = (normal.hessian[(i, j)] - exact.hessian[(i, j)]).abs();
                    assert!(apart < 1e-5 * norms[i] * norms[j], "{i} {j}");
                }
            }
        }
    }
}

//! Runs of a plan on a GPU, natively, with a timestamp before the first command and after each. Barriers order the commands of a plan, so a command lasts from
//! the end of the one before, and what the GPU needs to start it is part of it. Timestamps inside a pass and between passes are extensions; without
//! them (Metal) each launch is a pass of its own, whose ends have timestamps. `timestamps_web.rs` has the same items for browsers.

use super::encode::{Encoded, Step};
use super::platform::{Ticket, wait};
use super::signal::Signal;
use crate::device::backend::Soon;
use crate::device::timings::Timings;
use crate::error::{Error, Result};
use crate::host;

/// Timestamps of one query set.
const SET_STAMPS: u32 = wgpu::QUERY_SET_MAX_QUERIES;
const STAMP_BYTES: u64 = 8;
/// Timestamps inside a pass and between passes.
const ANYWHERE: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

/// What a device needs, or can use, of its adapter.
pub(super) const FEATURES: wgpu::Features = wgpu::Features::TIMESTAMP_QUERY.union(ANYWHERE);

/// The timestamps of a submit, on their way to the host.
struct Stamped {
    ticket: Ticket,
    buffer: wgpu::Buffer,
    stamps: u32,
}

/// Whether its timestamps may be anywhere, not only at the ends of passes.
pub(super) fn is_anywhere(device: &wgpu::Device) -> bool {
    device.features().contains(ANYWHERE)
}

/// Runs the commands `times` times, `window` times per submit, until the GPU is done; the future reads the timestamps.
pub(super) fn run(
    encoded: &Encoded,
    (device, queue): (&wgpu::Device, &wgpu::Queue),
    counts: [usize; 2],
) -> Soon<'static, Result<Timings>> {
    measured(encoded, (device, queue), counts, is_anywhere(device))
}

/// The same with timestamps that may be anywhere or not.
pub(super) fn measured(
    encoded: &Encoded,
    (device, queue): (&wgpu::Device, &wgpu::Queue),
    counts: [usize; 2],
    is_anywhere: bool,
) -> Soon<'static, Result<Timings>> {
    let done = submit_all(encoded, (device, queue), counts, is_anywhere);
    let (device, commands) = (device.clone(), encoded.steps().len());
    let period_ms = f64::from(queue.get_timestamp_period()) * 1e-6;
    Box::pin(async move {
        let (submits, wall) = done?;
        let mut spans = Vec::with_capacity(counts[0] * commands);
        let mut origin = None;
        for submit in &submits {
            for ends in read(&device, submit).await?.windows(2) {
                // Ticks may exceed what a float holds exactly; their differences do not.
                let origin = *origin.get_or_insert(ends[0]);
                spans.push([ends[0], ends[1]].map(|tick| tick.wrapping_sub(origin).cast_signed() as f64 * period_ms));
            }
        }
        Ok(Timings::new(commands, wall, spans))
    })
}

/// Submits everything and waits: the submits, and when they began and ended.
fn submit_all(
    encoded: &Encoded,
    (device, queue): (&wgpu::Device, &wgpu::Queue),
    [times, window]: [usize; 2],
    is_anywhere: bool,
) -> Result<(Vec<Stamped>, [f64; 2])> {
    wait(device, None)?;
    let start = host::now_ms();
    let mut submits: Vec<Stamped> = Vec::new();
    let mut left = times;
    while left > 0 {
        let runs = window.min(left);
        submits.push(submit(encoded, (device, queue), runs, is_anywhere));
        left -= runs;
        // One submit runs while the next is encoded, as in a run without timestamps.
        if let [.., before, _] = &submits[..] {
            wait(device, Some(before.ticket.clone()))?;
        }
    }
    wait(device, None)?;
    Ok((submits, [start, host::now_ms()]))
}

fn submit(
    encoded: &Encoded,
    (device, queue): (&wgpu::Device, &wgpu::Queue),
    times: usize,
    is_anywhere: bool,
) -> Stamped {
    let stamps = (times * encoded.steps().len() + 1) as u32;
    let sets = Sets::new(device, stamps);
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
    let steps = std::iter::repeat_n(encoded.steps(), times).flatten();
    if is_anywhere {
        anywhere(&mut encoder, steps, &sets);
    } else {
        at_ends(&mut encoder, steps, &sets);
    }
    let buffer = |usage| {
        let size = STAMP_BYTES * u64::from(stamps);
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
    };
    let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
    let readable = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    for (set, first) in sets.0.iter().zip((0..stamps).step_by(SET_STAMPS as usize)) {
        let count = SET_STAMPS.min(stamps - first);
        encoder.resolve_query_set(set, 0..count, &resolved, STAMP_BYTES * u64::from(first));
    }
    encoder.copy_buffer_to_buffer(&resolved, 0, &readable, 0, resolved.size());
    Stamped { ticket: queue.submit([encoder.finish()]), buffer: readable, stamps }
}

/// Appends the commands with a timestamp after each, where timestamps may be anywhere.
fn anywhere<'s>(encoder: &mut wgpu::CommandEncoder, steps: impl Iterator<Item = &'s Step>, sets: &Sets) {
    let mut pass: Option<wgpu::ComputePass<'static>> = None;
    encoder.write_timestamp(sets.at(0).0, 0);
    for (step, at) in steps.zip(1..) {
        let (set, index) = sets.at(at);
        match step {
            Step::Dispatch { .. } => {
                let pass = pass.get_or_insert_with(|| begin(encoder, None, None).forget_lifetime());
                step.record(pass);
                pass.write_timestamp(set, index);
            }
            Step::Copy { .. } => {
                drop(pass.take());
                step.copy(encoder);
                encoder.write_timestamp(set, index);
            }
        }
    }
}

/// The same with timestamps only at the ends of passes. A copy is outside of passes: an empty one after it has its timestamp.
fn at_ends<'s>(encoder: &mut wgpu::CommandEncoder, steps: impl Iterator<Item = &'s Step>, sets: &Sets) {
    drop(begin(encoder, Some(sets.at(0)), None));
    for (step, at) in steps.zip(1..) {
        step.copy(encoder);
        step.record(&mut begin(encoder, None, Some(sets.at(at))));
    }
}

/// The query sets of a submit.
struct Sets(Vec<wgpu::QuerySet>);

/// A query set and an index in it.
type Place<'a> = (&'a wgpu::QuerySet, u32);

impl Sets {
    fn new(device: &wgpu::Device, stamps: u32) -> Self {
        let set = |first: u32| {
            let count = SET_STAMPS.min(stamps - first);
            let ty = wgpu::QueryType::Timestamp;
            device.create_query_set(&wgpu::QuerySetDescriptor { label: None, ty, count })
        };
        Self((0..stamps).step_by(SET_STAMPS as usize).map(set).collect())
    }

    fn at(&self, stamp: u32) -> Place<'_> {
        (&self.0[(stamp / SET_STAMPS) as usize], stamp % SET_STAMPS)
    }
}

/// Begins a pass, perhaps with a timestamp at its beginning or at its end.
fn begin<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    start: Option<Place<'_>>,
    end: Option<Place<'_>>,
) -> wgpu::ComputePass<'e> {
    let timestamp_writes = start.or(end).map(|(query_set, _)| wgpu::ComputePassTimestampWrites {
        query_set,
        beginning_of_pass_write_index: start.map(|(_, index)| index),
        end_of_pass_write_index: end.map(|(_, index)| index),
    });
    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: None, timestamp_writes })
}

/// The ticks of a submit that is done.
async fn read(device: &wgpu::Device, submit: &Stamped) -> Result<Vec<u64>> {
    let mapped = Signal::default();
    let raised = mapped.clone();
    submit.buffer.map_async(wgpu::MapMode::Read, .., move |result| raised.raise(result));
    wait(device, None)?;
    let failed = |error: &dyn std::fmt::Display| Error::device(format!("webgpu: timestamps cannot be read: {error}"));
    mapped.await.map_err(|error| failed(&error))?;
    let view = submit.buffer.get_mapped_range(..).map_err(|error| failed(&error))?;
    let bytes = STAMP_BYTES as usize * submit.stamps as usize;
    Ok(bytemuck::pod_collect_to_vec(&view[..bytes]))
}

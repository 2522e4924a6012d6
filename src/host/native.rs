//! The native platform: std. `files.rs` and `folders.rs` have the files, `memory.rs` the memory.

use std::sync::OnceLock;
use std::time::Instant;

/// Milliseconds since the first call.
pub fn now_ms() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
}

/// Seconds since 1970, by the machine's clock.
pub fn unix_seconds() -> u64 {
    std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs())
}

/// A random seed.
pub fn entropy() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// Threads that can run at once: processors by affinity and control group, or fewer if SLURM gives this task fewer.
pub fn threads() -> usize {
    let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    super::slurm::threads(|name| std::env::var(name).ok()).map_or(available, |allocated| allocated.min(available))
}

/// What `work` makes of each part, in their order; each part has a thread of its own.
pub fn in_threads<T: Sync, R: Send>(parts: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let Some((first, others)) = parts.split_first() else { return Vec::new() };
    std::thread::scope(|scope| {
        let others: Vec<_> = others.iter().map(|part| scope.spawn(|| work(part))).collect();
        let first = work(first);
        let joined =
            others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(first).chain(joined).collect()
    })
}

/// Lets other tasks of the executor run, or other work of a web page: the task is ready again at once.
pub async fn breathe() {
    let mut has_paused = false;
    let pause = |context: &mut std::task::Context<'_>| {
        if std::mem::replace(&mut has_paused, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    };
    std::future::poll_fn(pause).await;
}

/// The processor's name.
pub fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).and_then(|line| line.split_once(':'));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

/// The vector instructions the kernels will use.
pub fn instruction_set() -> String {
    format!("{:?}", pulp::Arch::new()).split(['(', ' ']).next().unwrap_or("scalar").to_owned()
}

/// Runs `op` with those instructions.
#[inline]
pub fn vectorize<Op: pulp::WithSimd>(op: Op) -> Op::Output {
    match pulp::Arch::new() {
        pulp::Arch::Scalar => op.with_simd(pulp::Scalar128b),
        arch => arch.dispatch(op),
    }
}

/// The larger of the two; x where x is NaN.
#[expect(clippy::inline_always, reason = "one instruction of the kernels")]
#[inline(always)]
pub fn larger<S: pulp::Simd>(simd: S, low: S::f32s, x: S::f32s) -> S::f32s {
    simd.max_f32s(low, x)
}

/// The smaller of the two; x where x is NaN.
#[expect(clippy::inline_always, reason = "one instruction of the kernels")]
#[inline(always)]
pub fn smaller<S: pulp::Simd>(simd: S, high: S::f32s, x: S::f32s) -> S::f32s {
    simd.min_f32s(high, x)
}

/// The number nearest to a decimal text.
pub(crate) fn nearest_number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// The shortest text of a finite number of at least 0 that reads back as it, as a 32-bit one if it `is_single`: `1.5e-7`.
pub(crate) fn shortest(value: f64, is_single: bool) -> String {
    if is_single { format!("{:e}", value as f32) } else { format!("{value:e}") }
}

/// sin(x), x in radians.
pub fn sin(x: f64) -> f64 {
    x.sin()
}

/// cos(x), x in radians.
pub fn cos(x: f64) -> f64 {
    x.cos()
}

/// base^exponent.
pub fn pow(base: f64, exponent: f64) -> f64 {
    base.powf(exponent)
}

/// Peak memory of the process in bytes; 0 if the platform does not report it.
pub fn peak_bytes() -> u64 {
    of_status("VmHWM:")
}

/// Memory of the process in bytes now; 0 if the platform does not report it.
pub fn resident_bytes() -> u64 {
    of_status("VmRSS:")
}

/// A field of the process's status, in bytes.
fn of_status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kib| kib * 1024)
}

/// A constant that a kernel's inner loop uses. Native compilers choose well where to keep it.
#[expect(clippy::inline_always, reason = "one number of the kernels")]
#[inline(always)]
pub fn from_memory(x: &'static f32) -> f32 {
    *x
}

//! A fork-join thread pool for work of some tens of microseconds: one round costs about a microsecond while the workers are awake.
//! Work is split by index and never by time, so no result depends on which thread ran an index. An index goes to the first thread that is free: on a busy
//! machine the caller does the work of late workers and does not wait for them. Workers spin for `SPIN`, then park.
#![allow(unsafe_code, reason = "a borrowed job crosses to threads that outlive it; the round's count keeps it alive")]

use std::any::Any;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, park, yield_now};
use std::time::{Duration, Instant};

use super::Disjoint;
use crate::error::{Error, Result};

/// How long a thread spins before it parks.
const SPIN: Duration = Duration::from_micros(40);
/// The most indices that a round hands out one by one. Beyond it, a slot is index i with i + SLOTS, i + 2 SLOTS, ...
const SLOTS: usize = 4096;

/// A fork-join thread pool: the caller and its workers.
pub struct ThreadPool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    turn: Mutex<()>,
}

impl ThreadPool {
    /// A thread pool of `threads` in all: the caller of `parallel` and threads - 1 workers. Fails if the system cannot start that many.
    pub fn new(threads: usize) -> Result<ThreadPool> {
        let workers = threads.max(1) - 1;
        let shared = Arc::new(Shared::new(workers));
        // Dropped on an error, which ends the workers already started.
        let mut pool = ThreadPool { shared, workers: Vec::new(), turn: Mutex::new(()) };
        for worker in 0..workers {
            let refused = |error| {
                let started = worker + 1;
                Error::device(format!("cpu: the system starts only {started} of {threads} threads: {error}"))
            };
            pool.workers.push(spawn(pool.shared.clone(), worker).map_err(refused)?);
        }
        Ok(pool)
    }

    /// The number of threads, including the caller.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// The number of threads that share `fill`: all.
    pub fn members(&self) -> usize {
        self.threads()
    }

    /// Runs work(0), ..., work(count - 1) and returns when all are done. A panic in any of them is passed on. If called from inside its own work, or
    /// by two threads at once, it runs them in order on the calling thread.
    pub fn parallel(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        self.parallel_by(count, &|_, index| work(index));
    }

    /// The same for work(member, i): no two calls with the same `member`, which is less than `threads`, run at once.
    fn parallel_by(&self, count: usize, work: &(dyn Fn(usize, usize) + Sync)) {
        let alone = || (0..count).for_each(|index| work(0, index));
        if self.workers.is_empty() || count < 2 {
            return alone();
        }
        let Ok(turn) = self.turn.try_lock() else { return alone() };
        let slots = count.min(SLOTS);
        let job = Job { count, slots, work };
        let round = self.post(&job);
        self.shared.run(&job, 0, 0);
        self.shared.help(0, round);
        wait_until(|| self.shared.done.load(SeqCst) == slots);
        let panic = self.shared.panic.lock().unwrap().take();
        drop(turn);
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    /// Cuts `values` into pieces of `length` and runs work(member, i, piece i) for each, as `parallel` does. No two calls with the same `member`, which is
    /// less than `threads`, run at once.
    pub fn fill(&self, values: &mut [f32], length: usize, work: &(dyn Fn(usize, usize, &mut [f32]) + Sync)) {
        let (count, values) = (values.len(), Disjoint::new(values));
        self.parallel_by(count.div_ceil(length), &|member, piece| {
            let at = piece * length;
            // SAFETY: one range per piece.
            work(member, piece, unsafe { values.range(at..count.min(at + length)) });
        });
    }

    /// Opens a round with slot 0 taken.
    fn post(&self, job: &Job<'_>) -> u32 {
        let shared = &*self.shared;
        shared.job.store((&raw const *job).cast_mut().cast(), SeqCst);
        shared.done.store(0, SeqCst);
        let round = Ticket::from(shared.ticket.load(SeqCst)).round.wrapping_add(1);
        self.open(Ticket { round, next: 1, slots: job.slots as u16 });
        round
    }

    fn open(&self, ticket: Ticket) {
        self.shared.ticket.store(ticket.into(), SeqCst);
        for (worker, parked) in self.workers.iter().zip(&self.shared.parked) {
            if parked.load(SeqCst) {
                worker.thread().unpark();
            }
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        self.shared.stop.store(true, SeqCst);
        let round = Ticket::from(self.shared.ticket.load(SeqCst)).round.wrapping_add(1);
        self.open(Ticket { round, next: 0, slots: 0 });
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}

struct Job<'a> {
    count: usize,
    slots: usize,
    work: &'a (dyn Fn(usize, usize) + Sync),
}

/// The round, its slots and the next one to hand out, in one atomic word, so that a slot can only be taken in the open round.
#[derive(Clone, Copy)]
struct Ticket {
    round: u32,
    next: u16,
    slots: u16,
}

impl From<u64> for Ticket {
    fn from(word: u64) -> Ticket {
        Ticket { round: (word >> 32) as u32, next: (word >> 16) as u16, slots: word as u16 }
    }
}

impl From<Ticket> for u64 {
    fn from(ticket: Ticket) -> u64 {
        u64::from(ticket.round) << 32 | u64::from(ticket.next) << 16 | u64::from(ticket.slots)
    }
}

struct Shared {
    ticket: AtomicU64,
    done: AtomicUsize,
    job: AtomicPtr<()>,
    stop: AtomicBool,
    parked: Vec<AtomicBool>,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Shared {
    fn new(workers: usize) -> Shared {
        Shared {
            ticket: AtomicU64::new(0),
            done: AtomicUsize::new(0),
            job: AtomicPtr::new(null_mut()),
            stop: AtomicBool::new(false),
            parked: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            panic: Mutex::new(None),
        }
    }

    /// Takes and runs slots of `round` until none is left.
    fn help(&self, member: usize, round: u32) {
        while let Some(slot) = self.claim(round) {
            // SAFETY: the slot just taken is not done, so `parallel` of this round still waits and its job lives on its stack.
            self.run(unsafe { &*self.job.load(SeqCst).cast::<Job<'_>>() }, member, slot);
        }
    }

    fn claim(&self, round: u32) -> Option<usize> {
        let take = |word| {
            let ticket = Ticket::from(word);
            (ticket.round == round && ticket.next < ticket.slots)
                .then(|| Ticket { next: ticket.next + 1, ..ticket }.into())
        };
        self.ticket.fetch_update(SeqCst, SeqCst, take).ok().map(|word| Ticket::from(word).next.into())
    }

    fn run(&self, job: &Job<'_>, member: usize, slot: usize) {
        let indices = (slot..job.count).step_by(job.slots);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| indices.for_each(|index| (job.work)(member, index)))) {
            *self.panic.lock().unwrap() = Some(payload);
        }
        self.done.fetch_add(1, SeqCst);
    }

    /// Waits until the round is no longer `seen`, and returns it.
    fn next_round(&self, worker: usize, seen: u32) -> u32 {
        let round = || Ticket::from(self.ticket.load(SeqCst)).round;
        if !spin_until(|| round() != seen) {
            // This thread sets the flag before it reads the round again, and `open` reads the flag after it changes the round: one of the two sees the other.
            self.parked[worker].store(true, SeqCst);
            while round() == seen {
                park();
            }
            self.parked[worker].store(false, SeqCst);
        }
        round()
    }
}

fn spawn(shared: Arc<Shared>, worker: usize) -> std::io::Result<JoinHandle<()>> {
    let serve = move || {
        let mut round = 0;
        while !shared.stop.load(SeqCst) {
            round = shared.next_round(worker, round);
            shared.help(worker + 1, round);
        }
    };
    std::thread::Builder::new().name(format!("mero worker {worker}")).spawn(serve)
}

/// Spins until `done` and returns true; returns false after `SPIN`.
fn spin_until(done: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < SPIN {
        for _ in 0..16 {
            if done() {
                return true;
            }
            spin_loop();
        }
    }
    false
}

fn wait_until(done: impl Fn() -> bool) {
    while !spin_until(&done) {
        yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_runs_once_in_every_round() {
        for threads in [1, 2, 3, 5] {
            let pool = ThreadPool::new(threads).expect("threads");
            for count in [0, 1, 2, 3, 4, 5, 11, 5000].into_iter().cycle().take(2_000) {
                let seen: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                pool.parallel(count, &|i| _ = seen[i].fetch_add(1, SeqCst));
                assert!(seen.iter().all(|n| n.load(SeqCst) == 1), "{threads} threads, {count} pieces");
            }
        }
    }

    #[test]
    fn every_piece_is_filled_once() {
        let pool = ThreadPool::new(3).expect("threads");
        for (count, length) in [(0, 4), (3, 4), (4, 4), (5, 4), (1000, 7)] {
            let mut values = vec![0.0; count];
            pool.fill(&mut values, length, &|_, at, piece| {
                for value in piece {
                    *value += at as f32 + 1.0;
                }
            });
            assert!(
                values.iter().enumerate().all(|(at, value)| *value == (at / length) as f32 + 1.0),
                "{count}, {length}"
            );
        }
    }

    #[test]
    fn parked_workers_wake() {
        let pool = ThreadPool::new(3).expect("threads");
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(1));
            let sum = AtomicUsize::new(0);
            pool.parallel(6, &|i| _ = sum.fetch_add(i, SeqCst));
            assert_eq!(sum.load(SeqCst), 15);
        }
    }

    #[test]
    fn a_call_inside_work_runs_in_place() {
        let pool = ThreadPool::new(2).expect("threads");
        let sum = AtomicUsize::new(0);
        pool.parallel(4, &|_| pool.parallel(4, &|i| _ = sum.fetch_add(i, SeqCst)));
        assert_eq!(sum.load(SeqCst), 24);
    }

    #[test]
    fn a_panic_is_passed_on_and_the_pool_goes_on() {
        let pool = ThreadPool::new(2).expect("threads");
        for bad in [0, 1] {
            let outcome = catch_unwind(AssertUnwindSafe(|| pool.parallel(2, &|i| assert_ne!(i, bad))));
            assert!(outcome.is_err());
        }
        pool.parallel(2, &|_| ());
    }
}

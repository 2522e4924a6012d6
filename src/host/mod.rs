//! Everything that depends on the platform: clock, entropy, threads, files, processor. `native.rs` and `web.rs` have the same items.

#[cfg(not(target_arch = "wasm32"))]
mod archive;
mod budget;
mod disjoint;
#[cfg(not(target_arch = "wasm32"))]
mod files;
#[cfg(not(target_arch = "wasm32"))]
mod folders;
#[cfg(not(all(target_arch = "wasm32", feature = "exact-fma")))]
mod fused;
#[cfg(target_arch = "wasm32")]
pub mod fused_exact;
#[cfg(not(target_arch = "wasm32"))]
mod memory;
#[cfg(not(target_arch = "wasm32"))]
mod native;
mod number;
#[cfg(not(target_arch = "wasm32"))]
mod range_file;
#[cfg(not(target_arch = "wasm32"))]
mod reading;
#[cfg(not(target_arch = "wasm32"))]
mod slurm;
#[cfg(not(target_arch = "wasm32"))]
mod temporary;
#[cfg(not(target_arch = "wasm32"))]
mod thread_pool;
#[cfg(target_arch = "wasm32")]
#[path = "thread_pool_web.rs"]
mod thread_pool;
#[cfg(not(target_arch = "wasm32"))]
mod utc;
#[cfg(target_arch = "wasm32")]
mod web;

#[cfg(not(target_arch = "wasm32"))]
pub use archive::{ARCHIVE_MAGIC, Archive, Member, pack};
pub use budget::{filled, has_room, is_trying, reserve, trying};
pub use disjoint::Disjoint;
#[cfg(not(target_arch = "wasm32"))]
pub use files::*;
#[cfg(not(target_arch = "wasm32"))]
pub use folders::*;
#[cfg(not(all(target_arch = "wasm32", feature = "exact-fma")))]
pub use fused::{fused, fused_negated};
#[cfg(all(target_arch = "wasm32", feature = "exact-fma"))]
pub use fused_exact::{fused, fused_negated};
#[cfg(not(target_arch = "wasm32"))]
pub use memory::{MemoryLimit, claim, memory_bytes, memory_left, memory_limit, release};
#[cfg(not(target_arch = "wasm32"))]
pub use native::*;
pub use number::{DOUBLES, Number, SINGLES, gib, number, parse_number, parse_plain};

#[cfg(not(target_arch = "wasm32"))]
pub use range_file::{RangeFile, RangeReader, Spool};
#[cfg(not(target_arch = "wasm32"))]
pub use reading::*;
#[cfg(not(target_arch = "wasm32"))]
pub use temporary::FileLock;

pub use thread_pool::ThreadPool;
#[cfg(target_arch = "wasm32")]
pub use thread_pool::{Share, sharing};
#[cfg(not(target_arch = "wasm32"))]
pub use utc::utc;
#[cfg(target_arch = "wasm32")]
pub use web::*;

/// The vector instructions that this browser build may use.
#[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
use pulp::wasm::RelaxedSimd as Instructions;
#[cfg(all(target_arch = "wasm32", not(target_feature = "relaxed-simd")))]
use pulp::wasm::Simd128 as Instructions;
/// Whether they have fused products.
#[cfg(target_arch = "wasm32")]
const FUSES: bool = cfg!(target_feature = "relaxed-simd");

/// Whether this build brings its own parser of numbers, because the standard library's is large (see `number.rs`).
const PARSES_NUMBERS: bool = cfg!(target_arch = "wasm32");

//! Where the platform is asked for anything: clock, entropy, threads, files, processor. Two files, the same items.

#[cfg(all(target_arch = "wasm32", feature = "portable"))]
mod exact;
#[cfg(not(target_arch = "wasm32"))]
mod files;
#[cfg(not(target_arch = "wasm32"))]
mod folders;
#[cfg(not(target_arch = "wasm32"))]
mod native;
mod number;
#[cfg(not(target_arch = "wasm32"))]
mod team;
#[cfg(target_arch = "wasm32")]
#[path = "team_sequential.rs"]
mod team;
#[cfg(target_arch = "wasm32")]
mod web;

#[cfg(all(target_arch = "wasm32", feature = "portable"))]
pub use exact::*;
#[cfg(not(target_arch = "wasm32"))]
pub use files::*;
#[cfg(not(target_arch = "wasm32"))]
pub use folders::*;
#[cfg(not(target_arch = "wasm32"))]
pub use native::*;
pub use number::{DOUBLES, Number, SINGLES, number, parse_number};
pub use team::Team;
#[cfg(target_arch = "wasm32")]
pub use web::*;

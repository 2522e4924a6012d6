//! Where the time and the memory of training go: every launch of a step by the device's own clock, joined with its arithmetic and traffic and compared
//! with what the device can do at best; and every block of memory by what it holds, with the leaks among them.
//!
//! ```
//! use meromorph::prelude::*;
//! use meromorph::profile::{Ceilings, Grouping, MemoryProfile, StepProfile};
//!
//! # pollster::block_on(async {
//! let device = Device::cpu(1);
//! let memory = MemoryProfile::of(&device);
//! let train = Examples { x: vec![0.5; 256], y: vec![0.25; 256] };
//! let data = Data { inputs: 1, targets: 1, train, ..Data::default() };
//! let spec = Spec::mlp(1, &[16, 16], 1, Activation::silu());
//! let mut trainer = Trainer::new(&device, spec, TrainerConfig::default(), data)?;
//! memory.mark("set up");
//! let profile = StepProfile::of(&mut trainer, Some(20), 3).await?;
//! memory.mark("trained");
//! let kernels = profile.grouped(Grouping::Kernel);
//! println!("{}: {:.0} % of a step", kernels[0].name, 100.0 * kernels[0].share);
//! assert_eq!(memory.delta("set up", "trained")?.total(), 0);
//! assert!(memory.leaks().is_empty());
//! # Ok::<(), Error>(())
//! # }).unwrap();
//! ```

mod bottleneck;
mod ceilings;
mod inside;
mod memory;
mod options;
mod step;
mod trace;

pub use bottleneck::{Bottleneck, LIMIT, bottlenecks};
pub use ceilings::{Ceilings, CopyRate};
pub use inside::{Part, inside};
pub use memory::{Leak, Mark, MemoryProfile, TagBytes};
pub use options::{OPTIONS, ProfileOptions};
pub use step::{Group, Grouping, LaunchProfile, StepProfile};
pub use trace::trace;

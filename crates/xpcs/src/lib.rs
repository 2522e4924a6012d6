//! X-ray photon correlation spectroscopy (XPCS): fits two-time correlations c2(φ, t1, t2) of a sample that diffuses, at rest or in a shear flow.
//! A [`Model`] is a formula of `fit`; an [`Experiment`] holds the data and hands out the pairs t1 < t2 as rows; [`Fitting`] joins them.
//!
//! The theory is that of He et al., PNAS 121 (2024) e2401162121; parameters, files and names of keys follow the program homodyne.
//!
//! ```
//! use meromorph_xpcs::{Fitting, Flow, Model, Synthetic};
//! let made = Synthetic { phi: vec![0.0, 45.0], times: 40, dt: 0.5, ..Synthetic::new(Model::new(Flow::Static)) };
//! let experiment = made.experiment()?;
//! let outcome = Fitting::new(made.model).solve(&experiment)?;
//! let offset = outcome.fit.value("offset").unwrap();
//! assert!((offset - 1.0).abs() < 0.05);
//! # Ok::<(), meromorph::Error>(())
//! ```

mod angles;
mod config;
mod experiment;
mod files;
mod fitting;
mod model;
mod parameter;
mod results;
mod rows;
mod synthetic;
mod theory;
mod tried;
mod two_component;
mod values;

pub use angles::{AngleRange, parse_angles};
pub use config::{Checkpoints, Config, Execution, PerformanceLog, check_method, check_rule};
pub use experiment::Experiment;
pub use files::{Setup, experiment_bytes, open_experiment, read_experiment, write_experiment};
pub use fitting::{Fitting, Outcome};
pub use model::{Convention, Flow, Model, Scaling, SincArgument, chosen};
pub use parameter::{PARAMETERS, ParameterInfo, canonical};
pub use results::{ARRAYS_FILE, RESULT_FILES, Results, check_arrays};
pub use rows::PairRows;
pub use synthetic::Synthetic;
pub use theory::decay;
pub use values::{Stored, Values};

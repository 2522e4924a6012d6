//! The configuration of Trainer2, the contrastive trainer of the Liorhybrid project: all of its fields, read from JSON and checked, and the run that they describe here.
//! Fields that describe another library or have no effect in Trainer2 itself are accepted and listed ([`Trainer2::notes`]).

mod fields;
mod notes;
mod presets;
mod setup;

use super::scalar::Velocity;
use crate::error::{Error, Result};
use crate::json::Json;
use crate::options::{Naming, Value};

pub use fields::FIELDS;
pub use setup::Trainer2Run;

/// How Trainer2 learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// From local differences of two phases, with the embedding of the tokens.
    Contrastive,
    /// As Trainer2 does, from one number.
    Scalar,
}

/// The coordinates in which distances are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameMode {
    /// Rotations.
    Rotor,
    /// The eigenvectors of the second moments of the queries, then rotations.
    Derived,
    /// A diagonal metric with a low rank besides.
    LearnedLowRank,
}

/// Whether angles are learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotorMode {
    /// No rotation.
    Off,
    /// As in Trainer2 the same as `Stateful`.
    Derived,
    /// Angles are learned.
    Stateful,
}

/// Where R comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurvatureSource {
    /// The mean of |T|.
    Constitutive,
    /// A tensor of rank 4, which the program gives.
    Curvature,
}

/// How the field moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DynamicsMode {
    /// Velocity Verlet.
    Symplectic,
    /// Cayley's step.
    Dissipative,
}

/// What pulls the field to its rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Potential {
    /// Nothing.
    Zero,
    /// A spring.
    Harmonic,
}

/// Where the scalar rule nudges to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NudgeMode {
    /// Nowhere.
    Off,
    /// As in Trainer2 along a template of zeros: nowhere.
    Template,
    /// To the embedding of the next tokens.
    TargetEmbedding,
}

/// A configuration: fields with the names of Trainer2, and after them those of this engine. Those that only other libraries have are not stored.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the table of fields documents each")]
pub struct Trainer2 {
    pub coord_dim_n: usize,
    pub eps: f64,
    pub retrieval_beta: f64,
    pub frame_mode: FrameMode,
    pub r_source: CurvatureSource,
    pub rotor_mode: RotorMode,
    pub lowrank_r: usize,
    pub rotor_k: usize,
    pub tbptt_window_steps: usize,
    pub beta_nudge: f64,
    pub eta_update: f64,
    pub nudge_every_windows: usize,
    pub max_epochs: usize,
    pub max_windows: usize,
    pub spsa_sigma: f64,
    pub spsa_lr: f64,
    pub spsa_directions: usize,
    pub dynamics_mode: DynamicsMode,
    pub symplectic_dt: f64,
    pub symplectic_m_cog: f64,
    pub symplectic_hbar_cog: f64,
    pub symplectic_potential: Potential,
    pub symplectic_stiffness: f64,
    pub nudge_mode: NudgeMode,
    pub nudge_scale: f64,
    pub warmup_steps: usize,
    pub capture_batch_size: usize,
    /// At most 0: never.
    pub log_every_windows: i64,
    /// At most 0: never.
    pub save_every_windows: i64,
    pub run_dir: String,
    pub run_name: String,
    pub telemetry_jsonl_filename: String,
    pub seed: u64,
    pub rule: Rule,
    pub velocity: Velocity,
    pub batch_size: usize,
    pub eta_embedding: f64,
    pub field_grid: [usize; 2],
    pub field_dim: usize,
    /// The fields of Trainer2 that are true.
    switches: Vec<&'static str>,
    /// The fields that were set.
    given: Vec<&'static str>,
}

impl Default for Trainer2 {
    fn default() -> Self {
        Self {
            coord_dim_n: 8,
            eps: 1e-8,
            retrieval_beta: 5.0,
            frame_mode: FrameMode::Rotor,
            r_source: CurvatureSource::Constitutive,
            rotor_mode: RotorMode::Stateful,
            lowrank_r: 4,
            rotor_k: 6,
            tbptt_window_steps: 64,
            beta_nudge: 1e-3,
            eta_update: 1e-2,
            nudge_every_windows: 1,
            max_epochs: 1,
            max_windows: 0,
            spsa_sigma: 0.01,
            spsa_lr: 0.01,
            spsa_directions: 4,
            dynamics_mode: DynamicsMode::Symplectic,
            symplectic_dt: 0.005,
            symplectic_m_cog: 1.0,
            symplectic_hbar_cog: 0.1,
            symplectic_potential: Potential::Harmonic,
            symplectic_stiffness: 0.01,
            nudge_mode: NudgeMode::TargetEmbedding,
            nudge_scale: 0.1,
            warmup_steps: 10,
            capture_batch_size: 0,
            log_every_windows: 10,
            save_every_windows: 100,
            run_dir: "./runs".into(),
            run_name: "experiment_01".into(),
            telemetry_jsonl_filename: "telemetry.jsonl".into(),
            seed: 42,
            rule: Rule::Contrastive,
            velocity: Velocity::NudgedPosition,
            batch_size: 32,
            eta_embedding: 5.0,
            field_grid: [8, 8],
            field_dim: 16,
            switches: vec!["nudge_use_shifted_target", "cudnn_deterministic", "static_shapes", "telemetry_jsonl"],
            given: Vec::new(),
        }
    }
}

impl Trainer2 {
    /// Reads a configuration from the text of a JSON object; `source` names it in messages. A field that is absent has its default.
    ///
    /// Errors for an unknown field, a value of another type or out of range, and fields that contradict each other.
    pub fn parse(text: &str, source: &str) -> Result<Self> {
        let mut config = Self::default();
        config
            .apply(&Json::parse(text).map_err(|error| error.within(source))?)
            .map_err(|error| error.within(source))?;
        Ok(config)
    }

    /// Sets the fields of a JSON object. Errors as [`Trainer2::parse`].
    pub fn apply(&mut self, json: &Json) -> Result<()> {
        let Json::Fields(fields) = json else { return Err(json.unlike("an object of fields")) };
        let mut given = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            given.push((FIELDS.find(name, Naming::Rust)?, value_of(value)));
        }
        FIELDS.apply(self, &given, Naming::Rust)?;
        for (entry, _) in given {
            if !self.given.contains(&entry.name) {
                self.given.push(entry.name);
            }
        }
        self.check()
    }

    /// Whether a field of Trainer2 that is true or false is true.
    pub fn is_on(&self, name: &str) -> bool {
        self.switches.contains(&name)
    }

    pub(super) fn switch(&mut self, name: &'static str, is_on: bool) {
        self.switches.retain(|known| *known != name);
        if is_on {
            self.switches.push(name);
        }
    }

    /// Rows of a window: those that are captured, or `batch_size`.
    pub fn rows_of_window(&self) -> usize {
        if self.capture_batch_size > 0 { self.capture_batch_size } else { self.batch_size }
    }

    /// The beginning of the names of checkpoints in the folder of a run.
    pub const CHECKPOINT: &str = "checkpoint_";

    /// Errors if fields contradict each other.
    pub fn check(&self) -> Result<()> {
        for (field, name) in
            [("run_name", &self.run_name), ("telemetry_jsonl_filename", &self.telemetry_jsonl_filename)]
        {
            let is_plain = !name.is_empty() && *name != "." && *name != ".." && !name.contains(['/', '\\']);
            if !is_plain || name.starts_with(Self::CHECKPOINT) {
                let what = format!("the name of a file or folder, without / and not of a {}", Self::CHECKPOINT);
                return Err(Error::usage(format!("{field}: got \"{name}\", expected {what}")));
            }
        }
        let rate = (self.eta_update / self.beta_nudge) as f32;
        if !rate.is_finite() {
            let (eta, beta) = (self.eta_update, self.beta_nudge);
            return Err(Error::usage(format!(
                "eta_update: got {eta:e} with beta_nudge {beta:e}, expected a quotient below 3e38"
            )));
        }
        let has_rotors = self.rotor_mode != RotorMode::Off;
        let has_graphs = self.is_on("use_cudagraphs");
        let is_prepared = has_graphs || self.is_on("use_torch_compile");
        let n = self.coord_dim_n;
        let is_low_rank = self.frame_mode == FrameMode::LearnedLowRank;
        let has_two_batches = self.capture_batch_size > 0
            && self.given.contains(&"batch_size")
            && self.capture_batch_size != self.batch_size;
        let wrong = [
            (n < 2, format!("coord_dim_n: got {n}, expected at least 2, which a rotation turns")),
            (
                has_rotors && self.rotor_k > n * n,
                format!("rotor_k: got {}, expected at most {}, the square of coord_dim_n", self.rotor_k, n * n),
            ),
            (has_rotors && self.rotor_k == 0, "rotor_k: got 0, expected at least 1 unless rotor_mode is off".into()),
            (
                is_low_rank && self.lowrank_r == 0,
                "lowrank_r: got 0, expected at least 1 with frame_mode learned_lowrank".into(),
            ),
            (
                is_low_rank && self.rule == Rule::Scalar,
                "frame_mode: got learned_lowrank, expected rotor or derived with rule lior_scalar".into(),
            ),
            (
                is_prepared && self.warmup_steps == 0,
                "warmup_steps: got 0, expected at least 1 with use_torch_compile or use_cudagraphs".into(),
            ),
            (
                has_graphs && !self.is_on("static_shapes"),
                "static_shapes: got false, expected true with use_cudagraphs".into(),
            ),
            (
                has_graphs && self.capture_batch_size == 0,
                "capture_batch_size: got 0, expected at least 1 with use_cudagraphs".into(),
            ),
            (
                has_graphs && self.is_on("enable_spsa_fallback"),
                "enable_spsa_fallback: got true, expected false with use_cudagraphs".into(),
            ),
            (
                has_two_batches,
                format!(
                    "batch_size: got {}, expected {}, as capture_batch_size",
                    self.batch_size, self.capture_batch_size
                ),
            ),
        ];
        wrong.into_iter().find(|(is_wrong, _)| *is_wrong).map_or(Ok(()), |(_, what)| Err(Error::usage(what)))
    }
}

/// A value of JSON as that of an option.
fn value_of(json: &Json) -> Value {
    match json {
        Json::Bool(flag) => Value::Flag(*flag),
        Json::Number(_) => Value::Number(json.number().unwrap_or(f64::NAN)),
        Json::Text(text) => Value::Text(text.clone()),
        Json::List(items) => Value::List(items.iter().map(value_of).collect()),
        Json::Fields(fields) => {
            Value::Fields(fields.iter().map(|(name, value)| (name.clone(), value_of(value))).collect())
        }
        Json::Null => Value::Other("null".into()),
    }
}

//! From a configuration and tokens to a run of the trainer.

use super::{CurvatureSource, DynamicsMode, FrameMode, NudgeMode, Potential, RotorMode, Rule, Trainer2};
use crate::contrast::coupled::Coupled;
use crate::contrast::curvature::{Collapse, Curvature};
use crate::contrast::field::{Dynamics, Field, Phases, Symplectic};
use crate::contrast::frame::{derived_frame, turned};
use crate::contrast::map::{Form, Map, Metric};
use crate::contrast::nudge::Nudge;
use crate::contrast::periodic::Periodic;
use crate::contrast::rotors::Rotors;
use crate::contrast::scalar::ScalarRule;
use crate::contrast::source::{Bank, Contrast, States, Update};
use crate::contrast::spsa::{Spsa, Windowed};
use crate::contrast::tokens::{TokenContrast, TokenRows};
use crate::error::{Error, Result};
use crate::kernels::retrieve::Retrieval;
use crate::model::{Initial, Network};
use crate::train::{Data, Examples, GradientConfig, Keep, ParameterGroup, TrainerConfig};

/// What the trainer needs for a run.
pub struct Trainer2Run {
    /// The model with its rule.
    pub network: Network,
    /// The rows.
    pub data: Data,
    /// Windows and seed.
    pub settings: TrainerConfig,
    /// The norm of the keys of the memory, which stay as they are.
    pub memory_norm: f64,
}

/// Streams of the draws of a run.
const EMBEDDING: u32 = 1;
const KEYS: u32 = 2;

impl Trainer2 {
    /// The run for rows of tokens below `vocabulary`. The memory has a Gaussian key for each token. The contrastive rule learns an embedding from which the
    /// last token of each row follows from the others; lior_scalar has a fixed embedding. `tensor` is that of R_source curvature, [n, n, n, n].
    ///
    /// Errors if the rows do not fit, or a field does not fit the others.
    pub fn run(&self, rows: &TokenRows, vocabulary: usize, tensor: Option<Vec<f32>>) -> Result<Trainer2Run> {
        self.check()?;
        rows.check(vocabulary)?;
        if vocabulary < 2 {
            return Err(Error::new("contrast: tokens: got 1 token, expected at least 2 that differ"));
        }
        let n = self.coord_dim_n;
        let mut memory = [EMBEDDING, KEYS].map(|stream| self.drawn(vocabulary * n, stream));
        if self.frame_mode == FrameMode::Derived {
            // The moments of the queries, which have no target among their tokens.
            let queries = if self.rule == Rule::Contrastive { rows.split_last()?.0 } else { rows.clone() };
            let frame = derived_frame(&queries.pooled(&memory[0], n), n)?;
            memory = memory.map(|values| turned(&frame, &values, n));
        }
        let [embedding, keys] = memory;
        let memory_norm = keys.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        let curvature = self.curvature(tensor)?;
        let (network, inputs, targets, train) = match self.rule {
            Rule::Contrastive => self.contrastive(rows, (embedding, keys), curvature)?,
            Rule::Scalar => self.scalar(rows, (embedding, keys), curvature)?,
        };
        let frozen = if self.rule == Rule::Scalar && self.rotor_mode == RotorMode::Off {
            vec![ParameterGroup::frozen(&["angles"])]
        } else {
            Vec::new()
        };
        let settings = TrainerConfig {
            epochs: self.max_epochs,
            batch: self.rows_of_window(),
            patience: 0,
            keep: Keep::Last,
            seed: self.seed,
            gradients: GradientConfig { groups: frozen, ..GradientConfig::default() },
            ..TrainerConfig::default()
        };
        Ok(Trainer2Run { network, data: Data { inputs, targets, train, ..Data::default() }, settings, memory_norm })
    }

    /// Windows of a run over so many rows.
    pub fn windows(&self, rows: usize) -> usize {
        let all = self.max_epochs.saturating_mul(rows.div_ceil(self.rows_of_window()));
        if self.max_windows > 0 { all.min(self.max_windows) } else { all }
    }

    /// The rotations of the run, of which a run without them has none that turns.
    pub fn rotors(&self) -> Result<Rotors> {
        Rotors::ring(self.coord_dim_n, self.rotor_k.max(1))
    }

    fn drawn(&self, count: usize, stream: u32) -> Vec<f32> {
        let mut values = vec![0.0; count];
        Initial::normal([count], 1.0).fill(&mut values, self.seed, stream);
        values
    }

    fn curvature(&self, tensor: Option<Vec<f32>>) -> Result<Curvature> {
        if self.r_source == CurvatureSource::Curvature {
            let tensor = tensor.ok_or_else(|| {
                Error::usage("R_source: got curvature, expected constitutive: only a program can give the tensor")
            })?;
            return Ok(Curvature::Collapse(Collapse { tensor, epsilon: self.eps as f32 }));
        }
        let (dt, mass) = (self.symplectic_dt, self.symplectic_m_cog);
        let dynamics = match self.dynamics_mode {
            DynamicsMode::Symplectic => {
                let is_free = self.symplectic_potential == Potential::Zero;
                let stiffness = if is_free { 0.0 } else { self.symplectic_stiffness };
                Dynamics::Symplectic(Symplectic { dt, mass, hbar: self.symplectic_hbar_cog, stiffness })
            }
            DynamicsMode::Dissipative => Dynamics::Phases(Phases { dt, mass, ..Phases::default() }),
        };
        Ok(Curvature::Field(Field { grid: self.field_grid, width: self.field_dim, dynamics, seed: self.seed }))
    }

    fn contrastive(
        &self,
        rows: &TokenRows,
        (embedding, keys): (Vec<f32>, Vec<f32>),
        curvature: Curvature,
    ) -> Result<(Network, usize, usize, Examples)> {
        let n = self.coord_dim_n;
        let (kept, last) = rows.split_last()?;
        let vocabulary = keys.len() / n;
        let rotors = if self.rotor_mode == RotorMode::Off { None } else { Some(self.rotors()?) };
        let metric = match self.frame_mode {
            FrameMode::LearnedLowRank => Metric::LowRank(self.lowrank_r),
            _ => Metric::Diagonal,
        };
        let token = |id: usize| [id as f32, id as f32];
        let contrast = Contrast {
            map: Map::new(n, Form::Metric(metric, rotors))?,
            retrieval: Retrieval {
                sharpness: self.retrieval_beta as f32,
                nudge: self.beta_nudge as f32,
                is_symmetric: true,
                steps: self.tbptt_window_steps as u32,
                rate: 0.25,
                epsilon: self.eps as f32,
            },
            curvature: 1.0,
            states: States::Classes,
            bank: Bank { slots: vocabulary, keys, states: (0..vocabulary).flat_map(token).collect(), grows: false },
            update: Update::Steps { metric: self.eta_update as f32, angles: self.eta_update as f32 },
        };
        let rule = TokenContrast { contrast, vocabulary, tokens: kept.tokens, rate: self.eta_embedding as f32 };
        let model = rule.model(rule.parameters(embedding))?;
        let coupled = Coupled::new(rule, curvature, self.tbptt_window_steps)?;
        // A query is in no memory.
        let y = last.iter().flat_map(|&id| [id as f32, -1.0]).collect();
        Ok((self.with_rule(model, Box::new(coupled))?, 2 * kept.tokens, 2, Examples { x: kept.inputs(), y }))
    }

    fn scalar(
        &self,
        rows: &TokenRows,
        (embedding, keys): (Vec<f32>, Vec<f32>),
        curvature: Curvature,
    ) -> Result<(Network, usize, usize, Examples)> {
        let n = self.coord_dim_n;
        let rule = ScalarRule {
            velocity: self.velocity,
            rate: (self.eta_update / self.beta_nudge) as f32,
            nudge: self.nudge_scale as f32,
            sharpness: self.retrieval_beta as f32,
            epsilon: self.eps as f32,
            steps: self.tbptt_window_steps,
            curvature,
            keys,
            ..ScalarRule::new(self.rotors()?)
        };
        let nudge = match self.nudge_mode {
            NudgeMode::Off => Nudge::Off,
            NudgeMode::Template => Nudge::Template(vec![0.0; n]),
            NudgeMode::TargetEmbedding => Nudge::TargetEmbedding { is_shifted: self.is_on("nudge_use_shifted_target") },
        };
        let x = rows.pooled(&embedding, n);
        let y = nudge.targets(rows, &embedding, &x, n)?;
        let model = rule.clone().network()?;
        Ok((self.with_rule(model, Box::new(rule))?, n, n, Examples { x, y }))
    }

    /// The model with its rule, in windows of its period, and with the fallback if there is one.
    fn with_rule(&self, model: Network, rule: Box<dyn Windowed>) -> Result<Network> {
        let rule = if self.is_on("enable_spsa_fallback") {
            let (sigma, rate) = (self.spsa_sigma as f32, self.spsa_lr as f32);
            let spsa = Spsa { rule, directions: self.spsa_directions, sigma, rate, seed: self.seed };
            spsa.check()?;
            Box::new(spsa)
        } else {
            rule
        };
        let period = self.nudge_every_windows;
        Ok(if period > 1 { model.with_source(Periodic { rule, period }) } else { model.with_source(rule) })
    }
}

//! Which fields have no effect here, and why.

use super::{CurvatureSource, NudgeMode, Potential, RotorMode, Rule, Trainer2};

/// Fields that have no effect whatever their value, and what to use instead.
const INERT: [(&str, &str); 13] = [
    (
        "metric_mode",
        "the metric is diagonal after rotations, as in Trainer2; frame_mode learned_lowrank adds a low rank",
    ),
    ("theta_wrap", "angles are always kept in [-pi, pi), as in Trainer2"),
    ("cudnn_benchmark", "kernels are this engine's own, not cuDNN's; mero doctor measures a device"),
    ("cudnn_deterministic", "a run always gives the same numbers on one device"),
    ("allow_tf32", "numbers are always 32-bit floats"),
    ("matmul_allow_tf32", "numbers are always 32-bit floats"),
    ("use_torch_compile", "a window is always recorded, fused and compiled once"),
    ("use_cudagraphs", "a window is always recorded once and replayed"),
    ("warmup_steps", "a window is recorded without running it first"),
    ("static_shapes", "the shapes of a window are always fixed"),
    ("timing_debug", "windows are timed in the telemetry; mero profile measures single launches"),
    ("step_progress_every", "the host sees whole windows; use log_every_windows"),
    ("lowrank_r", "it is the rank of frame_mode learned_lowrank, which is not chosen"),
];

impl Trainer2 {
    /// A sentence for each field that was set but has no effect here: why, and what to use instead. After them warnings about fields that do.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        let mut say = |name: &str, why: &str| {
            if self.given.contains(&name) {
                notes.push(format!("{name} has no effect: {why}"));
            }
        };
        for (name, why) in INERT {
            if name != "lowrank_r" || self.frame_mode != super::FrameMode::LearnedLowRank {
                say(name, why);
            }
        }
        self.say_unused(&mut say);
        let is_floor = self.rule == Rule::Contrastive && self.beta_nudge < 3e-3;
        let warnings = [
            (
                is_floor,
                "beta_nudge: differences of phases are near the rounding of 32-bit floats below 0.003: use 0.01 to 0.1",
            ),
            (
                self.rotor_mode == RotorMode::Derived,
                "rotor_mode: derived is the same as stateful, as in Trainer2; frame_mode derived has its own frame",
            ),
            (
                self.r_source == CurvatureSource::Curvature && self.coord_dim_n > 8,
                "R_source: a tensor of rank 4 has n^4 numbers: use at most 8 coordinates",
            ),
            (
                self.is_on("use_torch_compile") && self.is_on("use_cudagraphs"),
                "use_torch_compile: with use_cudagraphs Trainer2 may compile twice",
            ),
            (
                self.rule == Rule::Scalar,
                "rule: lior_scalar lowers costs whether or not the rows are told apart: compare it with contrastive",
            ),
        ];
        notes.extend(warnings.into_iter().filter(|(holds, _)| *holds).map(|(_, what)| what.to_owned()));
        notes
    }

    /// Fields that other fields switch off.
    fn say_unused(&self, say: &mut dyn FnMut(&str, &str)) {
        if !self.is_on("enable_spsa_fallback") {
            for name in ["spsa_sigma", "spsa_lr", "spsa_directions"] {
                say(name, "enable_spsa_fallback is false");
            }
        }
        if self.r_source == CurvatureSource::Curvature {
            let fields = ["dynamics_mode", "symplectic_dt", "symplectic_m_cog", "field_grid", "field_dim"];
            let of_waves = ["symplectic_hbar_cog", "symplectic_stiffness", "symplectic_potential"];
            for name in fields.into_iter().chain(of_waves) {
                say(name, "R_source is curvature, which has no field");
            }
        } else if self.dynamics_mode == super::DynamicsMode::Dissipative {
            for name in ["symplectic_hbar_cog", "symplectic_stiffness", "symplectic_potential"] {
                say(name, "it is of dynamics_mode symplectic");
            }
        } else if self.symplectic_potential == Potential::Zero {
            say("symplectic_stiffness", "symplectic_potential is zero");
        }
        if self.rotor_mode == RotorMode::Off {
            say("rotor_k", "rotor_mode is off");
        }
        match self.rule {
            Rule::Contrastive => {
                let why =
                    "it is of rule lior_scalar; the contrastive rule nudges by the loss of the next token (beta_nudge)";
                for name in ["nudge_mode", "nudge_scale", "nudge_use_shifted_target", "velocity"] {
                    say(name, why);
                }
            }
            Rule::Scalar => {
                say("eta_embedding", "rule lior_scalar leaves the embedding as it is");
                if self.velocity != super::Velocity::Displacement {
                    say("retrieval_beta", "only velocity displacement depends on what is retrieved");
                }
                if self.nudge_mode != NudgeMode::TargetEmbedding {
                    say("nudge_use_shifted_target", "it is of nudge_mode target_embedding");
                }
                if self.nudge_mode == NudgeMode::Template {
                    say("nudge_mode", "a template is zeros, as in Trainer2; a program can give one (Nudge::Template)");
                }
            }
        }
        if !self.is_on("telemetry_jsonl") {
            say("telemetry_jsonl_filename", "telemetry_jsonl is false");
        }
    }
}

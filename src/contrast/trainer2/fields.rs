//! The fields of Trainer2 as a table: type, range, default, and what each does here.

use super::{CurvatureSource, DynamicsMode, FrameMode, NudgeMode, Potential, RotorMode, Rule, Trainer2, Velocity};
use crate::options::{Entry, Group, Kind, Range, Table, Value};

/// The 48 fields of Trainer2, and those that only this engine has.
pub static FIELDS: Table<Trainer2> = Table {
    groups: &[
        Group { title: "Geometry", entries: || GEOMETRY },
        Group { title: "Windows", entries: || WINDOWS },
        Group { title: "SPSA", entries: || SPSA },
        Group { title: "Field", entries: || FIELD },
        Group { title: "Nudge", entries: || NUDGE },
        Group { title: "Library", entries: || LIBRARY },
        Group { title: "Recording", entries: || RECORDING },
        Group { title: "Output", entries: || OUTPUT },
        Group { title: "Meromorph", entries: || OWN },
    ],
};

type Field = Entry<Trainer2>;

const POSITIVE: Kind = Kind::Double(Range::Positive);
const NOT_NEGATIVE: Kind = Kind::Double(Range::NotNegative);
const COUNT: Kind = Kind::whole(1);
const COUNT_OR_NONE: Kind = Kind::whole(0);
/// Whole numbers, of which those below 1 switch something off.
const PERIOD: Kind = Kind::Double(Range::Of {
    is_valid: |x| x.fract() == 0.0 && x.abs() < 16_777_216.0,
    expected: "a whole number, at most 0 for never",
});
const NAME: Kind = Kind::Text("a name,");

/// A field that is true or false.
const fn switch(name: &'static str, doc: &'static str, default: &'static str) -> Field {
    Entry::new(name, Kind::Flag, doc).default(default).set_by_name(|config, name, value| {
        config.switch(name, value.flag());
        Ok(())
    })
}

/// A field that nothing here depends on.
const fn inert(name: &'static str, kind: Kind, doc: &'static str, default: &'static str) -> Field {
    Entry::new(name, kind, doc).default(default).set(|_, _| {})
}

const GEOMETRY: &[Field] = &[
    Entry::new("coord_dim_n", Kind::Whole { least: 1, most: 1024 }, "Coordinates in which distances are measured")
        .default("8")
        .set(|config, value| config.coord_dim_n = value.whole()),
    Entry::new("eps", Kind::Number(Range::Positive), "Added under each root")
        .default("1e-8")
        .set(|config, value| config.eps = value.number()),
    Entry::new("retrieval_beta", Kind::Number(Range::Positive), "Sharpness of the weights of the memory")
        .default("5")
        .set(|config, value| config.retrieval_beta = value.number()),
    Entry::new(
        "frame_mode",
        Kind::Name(|| {
            vec![
                ("rotor", "Rotations"),
                ("derived", "Eigenvectors of the second moments of the queries, then rotations"),
                ("learned_lowrank", "A metric with a low rank besides its diagonal"),
            ]
        }),
        "Coordinates of the metric",
    )
    .default("rotor")
    .set(|config, value| config.frame_mode = value.one_of(&FRAMES)),
    inert(
        "metric_mode",
        Kind::Name(|| vec![("diag_rot", "A weight per coordinate, after rotations")]),
        "Form of the metric",
        "diag_rot",
    ),
    Entry::new(
        "R_source",
        Kind::Name(|| {
            vec![("constitutive", "The mean modulus of the field"), ("curvature", "A tensor that the program gives")]
        }),
        "Where the weight R of all distances comes from",
    )
    .default("constitutive")
    .set(|config, value| config.r_source = value.one_of(&CURVATURES)),
    Entry::new(
        "rotor_mode",
        Kind::Name(|| vec![("off", "No rotation"), ("derived", "As stateful"), ("stateful", "Angles are learned")]),
        "Whether coordinates are rotated before the metric",
    )
    .default("stateful")
    .set(|config, value| config.rotor_mode = value.one_of(&ROTORS)),
    Entry::new("lowrank_r", COUNT_OR_NONE, "Rank of frame_mode learned_lowrank")
        .default("4")
        .set(|config, value| config.lowrank_r = value.whole()),
    Entry::new("rotor_k", Kind::Whole { least: 0, most: 1 << 20 }, "Angles of rotations of neighbouring coordinates")
        .default("6")
        .set(|config, value| config.rotor_k = value.whole()),
    inert(
        "theta_wrap",
        Kind::Double(Range::Of {
            is_valid: |x| (x - std::f32::consts::TAU).abs() < 1e-3,
            expected: "2 pi, about 6.2832",
        }),
        "Period of the angles",
        "2 pi",
    ),
];

const FRAMES: [(&str, FrameMode); 3] =
    [("rotor", FrameMode::Rotor), ("derived", FrameMode::Derived), ("learned_lowrank", FrameMode::LearnedLowRank)];
const CURVATURES: [(&str, CurvatureSource); 2] =
    [("constitutive", CurvatureSource::Constitutive), ("curvature", CurvatureSource::Curvature)];
const ROTORS: [(&str, RotorMode); 3] =
    [("off", RotorMode::Off), ("derived", RotorMode::Derived), ("stateful", RotorMode::Stateful)];

const WINDOWS: &[Field] = &[
    Entry::new("tbptt_window_steps", Kind::Whole { least: 1, most: 4096 }, "Steps of a window")
        .default("64")
        .set(|config, value| config.tbptt_window_steps = value.whole()),
    Entry::new(
        "beta_nudge",
        Kind::Number(Range::Positive),
        "Of the contrastive rule the nudge b; of lior_scalar the divisor of its step",
    )
    .default("0.001")
    .set(|config, value| config.beta_nudge = value.number()),
    Entry::new("eta_update", Kind::Number(Range::Positive), "Learning rate of the metric and the angles")
        .default("0.01")
        .set(|config, value| config.eta_update = value.number()),
    Entry::new("nudge_every_windows", Kind::Whole { least: 1, most: 1 << 20 }, "Windows from one update to the next")
        .default("1")
        .set(|config, value| config.nudge_every_windows = value.whole()),
    Entry::new("max_epochs", COUNT, "Passes over the rows")
        .default("1")
        .set(|config, value| config.max_epochs = value.whole()),
    Entry::new("max_windows", COUNT_OR_NONE, "Windows after which the run ends; 0 for all of its epochs")
        .default("0")
        .set(|config, value| config.max_windows = value.whole()),
];

const SPSA: &[Field] = &[
    switch("enable_spsa_fallback", "Replace a step that is rejected by one of simultaneous perturbation", "false"),
    Entry::new("spsa_sigma", Kind::Number(Range::Positive), "Size of a perturbation")
        .default("0.01")
        .set(|config, value| config.spsa_sigma = value.number()),
    Entry::new("spsa_lr", Kind::Number(Range::Positive), "Learning rate of the fallback")
        .default("0.01")
        .set(|config, value| config.spsa_lr = value.number()),
    Entry::new("spsa_directions", Kind::Whole { least: 1, most: 1024 }, "Directions that are averaged")
        .default("4")
        .set(|config, value| config.spsa_directions = value.whole()),
];

const FIELD: &[Field] = &[
    Entry::new(
        "dynamics_mode",
        Kind::Name(|| vec![("symplectic", "Velocity Verlet"), ("dissipative", "Cayley's step, which keeps |T|")]),
        "How the field moves",
    )
    .default("symplectic")
    .set(|config, value| config.dynamics_mode = value.one_of(&DYNAMICS)),
    Entry::new("symplectic_dt", POSITIVE, "Step of the field")
        .default("0.005")
        .set(|config, value| config.symplectic_dt = value.number()),
    Entry::new(
        "symplectic_m_cog",
        Kind::Double(Range::Of { is_valid: |x| x > 1e-6 && x.is_finite(), expected: "a number above 1e-6" }),
        "Mass of the field",
    )
    .default("1")
    .set(|config, value| config.symplectic_m_cog = value.number()),
    Entry::new("symplectic_hbar_cog", NOT_NEGATIVE, "hbar of the field")
        .default("0.1")
        .set(|config, value| config.symplectic_hbar_cog = value.number()),
    Entry::new(
        "symplectic_potential",
        Kind::Name(|| vec![("zero", "None"), ("harmonic", "A spring")]),
        "What pulls the field to its first values",
    )
    .default("harmonic")
    .set(|config, value| {
        config.symplectic_potential = value.one_of(&[("zero", Potential::Zero), ("harmonic", Potential::Harmonic)]);
    }),
    Entry::new("symplectic_stiffness", NOT_NEGATIVE, "Stiffness of the spring")
        .default("0.01")
        .set(|config, value| config.symplectic_stiffness = value.number()),
];

const DYNAMICS: [(&str, DynamicsMode); 2] =
    [("symplectic", DynamicsMode::Symplectic), ("dissipative", DynamicsMode::Dissipative)];

const NUDGE: &[Field] = &[
    Entry::new(
        "nudge_mode",
        Kind::Name(|| {
            vec![
                ("off", "Nowhere"),
                ("template", "Along a template of zeros"),
                ("target_embedding", "To the embedding of the target"),
            ]
        }),
        "Where rule lior_scalar nudges to",
    )
    .default("target_embedding")
    .set(|config, value| config.nudge_mode = value.one_of(&NUDGES)),
    Entry::new("nudge_scale", Kind::Number(Range::NotNegative), "Share of the way to the target")
        .default("0.1")
        .set(|config, value| config.nudge_scale = value.number()),
    switch("nudge_use_shifted_target", "The target is the next token", "true"),
];

const NUDGES: [(&str, NudgeMode); 3] =
    [("off", NudgeMode::Off), ("template", NudgeMode::Template), ("target_embedding", NudgeMode::TargetEmbedding)];

const LIBRARY: &[Field] = &[
    switch("cudnn_benchmark", "Of cuDNN; no effect", "false"),
    switch("cudnn_deterministic", "Of cuDNN; no effect", "true"),
    switch("allow_tf32", "Of PyTorch; no effect", "false"),
    switch("matmul_allow_tf32", "Of PyTorch; no effect", "false"),
    switch("use_torch_compile", "Of PyTorch; no effect", "false"),
];

const RECORDING: &[Field] = &[
    switch("use_cudagraphs", "Windows are always recorded and replayed; no effect", "false"),
    Entry::new("warmup_steps", COUNT_OR_NONE, "No effect")
        .default("10")
        .set(|config, value| config.warmup_steps = value.whole()),
    Entry::new("capture_batch_size", Kind::Whole { least: 0, most: 1 << 24 }, "Rows of a window, if above 0")
        .default("0")
        .set(|config, value| config.capture_batch_size = value.whole()),
    switch("static_shapes", "Shapes are always fixed; no effect", "true"),
];

const OUTPUT: &[Field] = &[
    switch("run_smoke_tests", "Check the device before the run", "false"),
    Entry::new("log_every_windows", PERIOD, "Windows of a line of telemetry")
        .default("10")
        .set(|config, value| config.log_every_windows = value.number() as i64),
    Entry::new("save_every_windows", PERIOD, "Windows from one checkpoint to the next")
        .default("100")
        .set(|config, value| config.save_every_windows = value.number() as i64),
    Entry::new("run_dir", NAME, "Folder of runs").default("./runs").set(|config, value| config.run_dir = name(value)),
    Entry::new("run_name", NAME, "Folder of the run in it")
        .default("experiment_01")
        .set(|config, value| config.run_name = name(value)),
    switch("telemetry_jsonl", "Write telemetry", "true"),
    Entry::new("telemetry_jsonl_filename", NAME, "File of the telemetry")
        .default("telemetry.jsonl")
        .set(|config, value| config.telemetry_jsonl_filename = name(value)),
    Entry::new("seed", Kind::Whole { least: 0, most: u32::MAX as u64 }, "Seed of all draws")
        .default("42")
        .set(|config, value| config.seed = value.whole() as u64),
    switch("timing_debug", "No effect; the telemetry has times", "false"),
    inert("step_progress_every", COUNT_OR_NONE, "No effect", "0"),
];

fn name(value: &Value) -> String {
    value.text().to_owned()
}

const OWN: &[Field] = &[
    Entry::new(
        "rule",
        Kind::Name(|| {
            vec![
                ("contrastive", "Differences of local statistics; the embedding is learned"),
                ("lior_scalar", "The rule of Trainer2"),
            ]
        }),
        "How parameters are learned",
    )
    .default("contrastive")
    .set(|config, value| {
        config.rule = value.one_of(&[("contrastive", Rule::Contrastive), ("lior_scalar", Rule::Scalar)]);
    }),
    Entry::new(
        "velocity",
        Kind::Name(|| {
            vec![
                ("position", "The query, which no nudge moves"),
                ("nudged_position", "The nudged query"),
                ("displacement", "From it to what is retrieved"),
            ]
        }),
        "What rule lior_scalar calls velocity",
    )
    .default("nudged_position")
    .set(|config, value| config.velocity = value.one_of(&VELOCITIES)),
    Entry::new("batch_size", Kind::Whole { least: 1, most: 1 << 24 }, "Rows of a window")
        .default("32")
        .set(|config, value| config.batch_size = value.whole()),
    Entry::new("eta_embedding", Kind::Number(Range::Positive), "Learning rate of the embedding")
        .default("5")
        .set(|config, value| config.eta_embedding = value.number()),
    Entry::new("field_grid", Kind::Wholes { length: Some(2) }, "Sites of the field")
        .default("[8, 8]")
        .set(|config, value| config.field_grid = [0, 1].map(|axis| value.items()[axis].whole())),
    Entry::new("field_dim", Kind::Whole { least: 1, most: 1024 }, "Rows and columns of the matrix at a site")
        .default("16")
        .set(|config, value| config.field_dim = value.whole()),
];

const VELOCITIES: [(&str, Velocity); 3] = [
    ("position", Velocity::Position),
    ("nudged_position", Velocity::NudgedPosition),
    ("displacement", Velocity::Displacement),
];

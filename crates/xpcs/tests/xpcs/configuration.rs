//! Configurations in YAML.

use meromorph::fit::{Global, Strategy};
use meromorph_xpcs::{Config, Flow, Model, Scaling};

#[test]
fn configurations_are_read_whole() {
    let text = "
metadata: {version: 1}
analysis_mode: laminar_flow
analyzer_parameters:
  dt: 0.1
  start_frame: 1
  end_frame: -1
  scattering: {wavevector_q: 0.0054}
  geometry: {stator_rotor_gap: 2000000}
experimental_data:
  data_folder_path: some/folder
  data_file_name: data.npz
  cache_file_path: elsewhere
phi_filtering:
  enabled: true
  target_ranges:
    - {min_angle: -10, max_angle: 10, description: along}
initial_parameters:
  parameter_names: [D0, alpha, gamma_dot_t0]
  values: [1e3, 0.5, 1e-3]
  active_parameters: [D0, gamma_dot_t0, D_offset, beta, gamma_dot_offset, phi0]
  fixed_parameters: {gamma_dot_t_offset: 0}
parameter_space:
  bounds:
    - {name: D0, min: 1, max: 1e6, type: Normal, prior_mu: 1, prior_sigma: 2}
    - {name: alpha, min: -10, max: 10, type: Normal}
optimization:
  method: nlsq
  nlsq: {max_iterations: 77, ftol: 1e-8, loss: soft_l1}
performance: {computation: {gpu_acceleration: true}}
";
    let config = Config::parse(text, "c.yaml", None).unwrap();
    assert_eq!(config.setup.q, Some(0.0054));
    assert_eq!(config.setup.frames, (Some(1), None));
    assert_eq!(config.data.unwrap().to_str(), Some("some/folder/data.npz"));
    assert_eq!((config.fitting.options.evaluations, config.fitting.loss.name()), (77, "soft_l1"));
    assert_eq!(config.fitting.bounds[0], ("D0", [1.0, 1e6]));
    assert_eq!(config.fitting.fixed, [("gamma_dot_offset", 0.0), ("alpha", 0.5)]);
    assert_eq!(config.fitting.starts[2], ("gamma_dot_0", 1e-3));
    assert_eq!(
        config.notes,
        [
            "not used: parameter_space.bounds: type, prior_mu, prior_sigma; optimization.nlsq: ftol; performance.computation: gpu_acceleration; metadata",
            "nothing to switch: experimental_data: cache_file_path: data are not cached or packed, and checks are part of the sums",
        ]
    );
    let quiet = Config::parse(text, "c.yaml", Some(Flow::Static)).unwrap();
    assert!(quiet.notes.contains(&"\"gamma_dot_0\" is not used: it is not a parameter of the model static".to_owned()));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let cases = [
        ("", "c.yaml: got 0 documents, expected one"),
        ("a: [1", "c.yaml: line 2: "),
        (
            "analyzer_parameters: {dt: 1}",
            "c.yaml: analysis_mode is missing: expected static, laminar_flow or heterodyne",
        ),
        (
            "analysis_mode: laminr_flow",
            "c.yaml: line 1: analysis_mode: got \"laminr_flow\", expected one of \"static\", \"static_isotropic\", \"static_anisotropic\", \"laminar_flow\", \"laminar\", \"heterodyne\", \"two_component\"; did you mean \"laminar_flow\"?",
        ),
        (
            "analysis_mode: static\nanalyzer_parameters:\n  dt: 1\n  end_frames: 3",
            "c.yaml: line 4: analyzer_parameters.end_frames: unknown key: expected one of \"dt\", \"start_frame\", \"end_frame\", \"scattering\", \"geometry\"; did you mean \"end_frame\"?",
        ),
        (
            "analysis_mode: static\nanalyzer_parameters:\n  dt: fast",
            "c.yaml: line 3: analyzer_parameters.dt: got \"fast\", expected a finite number",
        ),
        (
            "analysis_mode: static\ninitial_parameters: {parameter_names: [D0, apha]}",
            "c.yaml: line 2: initial_parameters.parameter_names: parameter: got \"apha\", expected one of \"contrast\", \"offset\", \"D0\", \"alpha\", \"D_offset\", \"gamma_dot_0\", \"D0_ref\", \"alpha_ref\", \"D_offset_ref\", \"D0_sample\", \"alpha_sample\", …, \"phi0\"; did you mean \"alpha\"?",
        ),
        (
            "analysis_mode: static\ninitial_parameters:\n  parameter_names: [D0]\n  values: [1, 2]",
            "c.yaml: line 4: initial_parameters.values: got 2 values, expected 1 as parameter_names",
        ),
        (
            "analysis_mode: static\noptimization: {method: mcmc}",
            "c.yaml: line 2: optimization.method: got \"mcmc\", expected \"nlsq\": only least squares is supported, whose standard errors follow from the curvature at the minimum",
        ),
        (
            "analysis_mode: static\nmodel: {int_rule: cumsum}",
            "c.yaml: line 2: model.int_rule: got \"cumsum\", expected \"trapezoid\"; the plain cumulative sum (cumsum) of early versions is not supported",
        ),
        (
            "analysis_mode: static\nanalyzer_parameters: {dtt: 1}\noptimization:\n  nlsq:\n    losss: linear\n    cmaes: {enabel: true}\nperformanc: {}",
            "c.yaml: 4 unknown keys: line 2: analyzer_parameters.dtt: did you mean \"dt\"?; line 6: optimization.nlsq.cmaes.enabel: did you mean \"enable\"?; line 5: optimization.nlsq.losss: did you mean \"loss\"?; line 7: performanc: did you mean \"performance\"?",
        ),
        (
            "analysis_mode: static\nperformance:\n  memory_limit_gb: -1",
            "c.yaml: line 3: performance.memory_limit_gb: got -1, expected a number above 0",
        ),
        (
            "analysis_mode: static\nperformance: {computation: {cpu_threads: many}}",
            "c.yaml: line 2: performance.computation.cpu_threads: got many, expected a number of threads, or auto",
        ),
        ("analysis_mode: static\nanalysis_mode: static", "c.yaml: line 2: "),
    ];
    for (text, message) in cases {
        let error = Config::parse(text, "c.yaml", None).unwrap_err().to_string();
        assert!(
            error == message || message.ends_with(": ") && error.starts_with(message),
            "{text}\n{error}\n{message}"
        );
    }
}

/// Every section of the configurations of homodyne 2.23, and those of its guide about performance.
const ALL_KEYS: &str = "
metadata: {config_version: '2.23.1', generated_at: null}
analysis_mode: laminar_flow
analyzer_parameters:
  dt: 0.1
  start_frame: 1
  end_frame: 40
  scattering: {wavevector_q: 0.0054}
  geometry: {stator_rotor_gap: 2000000}
analysis_settings: {static_mode: false, model_description: {type: any, parameters: 7}}
experimental_data: {file_path: c2.npz, data_file_name: other.hdf, phi_angles_file: list.txt, cache_compression: true, data_type: float64}
phi_filtering:
  enabled: true
  target_ranges: [{min_angle: 170, max_angle: -170, description: around 180}]
  fallback_to_all_angles: true
  algorithm: range_based
  tolerance: 3.0
  quality_control: {min_angles_required: 1, max_angle_spread: 36, validate_coverage: true, require_orthogonal_angles: true}
initial_parameters:
  parameter_names: [D0, alpha, D_offset, gamma_dot_0, beta, gamma_dot_offset, phi_0]
  values: null
  per_angle_scaling: {contrast: null, offset: null}
  units: [a, b]
  active_parameters: null
  fixed_parameters: null
parameter_space:
  model: laminar_flow
  bounds: [{name: D0, min: 1.0, max: 1.0e6, type: TruncatedNormal, prior_mu: 1, prior_sigma: 2, unit: x, description: y}]
  priors: {contrast: {dist_type: TruncatedNormal, mu: 0.06}}
optimization:
  method: nlsq
  nlsq:
    workflow: auto
    goal: quality
    memory_fraction: 0.5
    memory_threshold_gb: 48.0
    max_iterations: 100
    tolerance: 1.0e-8
    xtol: 1.0e-8
    gtol: 1.0e-8
    trust_region_scale: 1.0
    verbose: false
    loss: soft_l1
    x_scale_map: null
    progress: {enable: true, verbose: 1, log_interval: 10}
    diagnostics: {enabled: false}
    hybrid_streaming: {enable: true, chunk_size: 10000, validate_numerics: true}
    anti_degeneracy:
      enable: true
      per_angle_mode: auto
      constant_scaling_threshold: 3
      fourier_order: 2
      fourier_auto_threshold: 6
      hierarchical: {enable: true}
      regularization: {enable: false, lambda: 1.0}
      gradient_monitoring: {enable: true}
      shear_weighting: {enable: true}
    multi_start: {enable: true, n_starts: 10, seed: 42, sampling_strategy: latin_hypercube, refine_top_k: 3}
    cmaes: {enable: true, preset: cmaes-global, sigma: 0.5, popsize: null, refine_with_nlsq: true, refinement_loss: linear}
    quality_validation: {enable: true}
  streaming:
    enable_checkpoints: true
    checkpoint_dir: ./kept
    checkpoint_frequency: 5
    resume_from_checkpoint: false
    keep_last_checkpoints: 2
    enable_fault_tolerance: true
    max_retries_per_batch: 2
    min_success_rate: 0.5
    batch_size: 20000
    adaptive_batching: true
    validate_numerics: true
  stratification: {enabled: auto}
  sequential: {min_success_rate: 0.5}
  recovery: {enable: false, max_attempts: 3}
  mcmc: {backend: numpyro}
  cmc: {enable: auto}
noise_estimation: {enabled: false}
performance:
  strategy_override: streaming
  memory_limit_gb: 0.5
  enable_progress: true
  fast_mode: true
  memory_optimization: {enabled: true, chunk_size: 8000, enable_caching: false, cache_strategy: adaptive}
  computation: {enable_jit: true, cpu_threads: 16, vectorization_level: high}
logging:
  enabled: true
  level: INFO
  console: {enabled: true}
  file: {enabled: false}
  performance: {enabled: true, level: INFO, filename: slow.log, threshold_seconds: 0.2}
  modules: {jax._src: WARNING}
quality_control: {enabled: false}
plotting: {save_plots: true}
output: {directory: ./results, base_directory: other, formats: {hdf5: true}, create_subdirs: true, timestamp_dirs: false, compress_hdf5: true}
validation: {strict_mode: false}
";

#[test]
fn keys_of_homodyne_take_effect_or_are_named() {
    let mut config = Config::parse(ALL_KEYS, "c.yaml", None).unwrap();
    let notes = config.notes.join("\n");
    assert_eq!(config.notes.len(), 3, "{notes}");
    assert!(config.notes[0].starts_with("optimization.streaming.batch_size changes nothing: "), "{notes}");
    assert!(config.notes[1].starts_with("not used: "), "{notes}");
    for part in ["metadata", "hybrid_streaming", "stratification, sequential"] {
        assert!(config.notes[1].contains(part), "{part}: {notes}");
    }
    for part in ["nothing to switch: ", "cache_compression", "fast_mode", "enable_caching", "compress_hdf5"] {
        assert!(config.notes[2].contains(part), "{part}: {notes}");
    }
    let execution = &config.execution;
    assert_eq!(execution.strategy, Some(Strategy::Streaming));
    assert_eq!(execution.memory, Some((1 << 29, "memory_limit_gb")));
    assert_eq!((execution.memory_fraction, execution.threads), (Some(0.5), Some(16)));
    let checkpoints = execution.checkpoints.as_ref().unwrap();
    assert_eq!(checkpoints.folder.as_deref(), Some(std::path::Path::new("./kept")));
    assert_eq!((checkpoints.every, checkpoints.kept, checkpoints.resumes), (Some(5), Some(2), false));
    let log = execution.log.as_ref().unwrap();
    assert_eq!((log.file.to_str(), log.threshold), (Some("slow.log"), 0.2));
    let options = &config.fitting.options;
    assert_eq!((options.global, options.seed, options.recovers), (Global::CmaEs, 42, false));
    assert_eq!((options.evaluations, config.fitting.loss.name()), (100, "soft_l1"));
    assert!(config.fitting.starts.is_empty() && config.angles[0].contains(-175.0) && !config.angles[0].contains(0.0));
    // Three angles share a contrast, two do not.
    for (angles, expected) in [(3, Scaling::Constant), (2, Scaling::Individual)] {
        config.settle_scaling(angles);
        assert_eq!(config.fitting.model.scaling, expected);
    }
}

#[test]
fn the_modes_of_contrasts_decide_the_scaling() {
    let scaling = |mode: &str| {
        let text = format!("analysis_mode: static\noptimization: {{nlsq: {{anti_degeneracy: {{{mode}}}}}}}");
        let config = Config::parse(&text, "c.yaml", None).unwrap();
        (config.fitting.model.scaling, config.shared_from, config.notes.len())
    };
    assert_eq!(scaling("enable: false"), (Scaling::Individual, None, 0));
    assert_eq!(scaling("per_angle_mode: individual"), (Scaling::Individual, None, 0));
    assert_eq!(scaling("per_angle_mode: constant"), (Scaling::Constant, None, 1));
    assert_eq!(scaling("per_angle_mode: fourier"), (Scaling::Individual, None, 1));
    assert_eq!(scaling("constant_scaling_threshold: 5").1, Some(5));
}

#[test]
fn the_example_is_a_configuration() {
    let config = Config::parse(include_str!("../../../../examples/xpcs.yaml"), "xpcs.yaml", None).unwrap();
    assert!(config.notes.is_empty(), "{:?}", config.notes);
    assert_eq!(config.fitting.model, Model { scaling: Scaling::Individual, ..Model::new(Flow::Laminar) });
    assert_eq!(config.angles.len(), 2);
}

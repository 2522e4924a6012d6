//! Configurations in YAML.

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
            "experimental_data: cache_file_path is not used",
            "parameter_space.bounds: type, prior_mu, prior_sigma are not used",
            "parameter_space.bounds: type is not used",
            "optimization.nlsq: ftol is not used",
            "metadata, performance are not used",
        ]
    );
    let quiet = Config::parse(text, "c.yaml", Some(Flow::Static)).unwrap();
    assert!(quiet.notes.contains(&"\"gamma_dot_0\" is not used: it is not a parameter of the model static".to_owned()));

    let cases = [
        ("", "c.yaml: got 0 documents, expected one"),
        ("a: [1", "c.yaml: line 2: "),
        ("analyzer_parameters: {dt: 1}", "c.yaml: analysis_mode is missing: expected static or laminar_flow"),
        (
            "analysis_mode: laminr_flow",
            "c.yaml: line 1: analysis_mode: got \"laminr_flow\", expected one of \"static\", \"static_isotropic\", \"static_anisotropic\", \"laminar_flow\", \"laminar\"; did you mean \"laminar_flow\"?",
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
            "c.yaml: line 2: initial_parameters.parameter_names: parameter: got \"apha\", expected one of \"contrast\", \"offset\", \"D0\", \"alpha\", \"D_offset\", \"gamma_dot_0\", \"beta\", \"gamma_dot_offset\", \"phi0\"; did you mean \"alpha\"?",
        ),
        (
            "analysis_mode: static\ninitial_parameters:\n  parameter_names: [D0]\n  values: [1, 2]",
            "c.yaml: line 4: initial_parameters.values: got 2 values, expected 1 as parameter_names",
        ),
        (
            "analysis_mode: static\noptimization: {method: mcmc}",
            "c.yaml: line 2: optimization.method: got \"mcmc\", expected \"nlsq\": only least squares is supported",
        ),
        (
            "analysis_mode: static\nmodel: {int_rule: cumsum}",
            "c.yaml: line 2: model.int_rule: got \"cumsum\", expected \"trapezoid\"; the plain cumulative sum (cumsum) of early versions is not supported",
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

#[test]
fn the_example_is_a_configuration() {
    let config = Config::parse(include_str!("../../../../examples/xpcs.yaml"), "xpcs.yaml", None).unwrap();
    assert!(config.notes.is_empty(), "{:?}", config.notes);
    assert_eq!(config.fitting.model, Model { scaling: Scaling::Individual, ..Model::new(Flow::Laminar) });
    assert_eq!(config.angles.len(), 2);
}

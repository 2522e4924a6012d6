//! The configuration of Trainer2: its fields, what is refused, what is noted, and the runs that it describes.

use crate::devices::devices;
use meromorph::Result;
use meromorph::contrast::TokenRows;
use meromorph::contrast::trainer2::{FIELDS, Trainer2, Trainer2Run};
use meromorph::device::Device;
use meromorph::train::{Checkpoint, Trainer};
use pollster::block_on;

fn parsed(text: &str) -> Result<Trainer2> {
    Trainer2::parse(text, "c.json")
}

/// Rows of three tokens: any one, one of 16, and the one that follows the second in a fixed order.
fn rows(count: usize) -> TokenRows {
    let ids = (0..count as u32).flat_map(|row| {
        let (any, token) = (row * 11 % 16, row * 7 % 16);
        [any, token, (token * 5 + 3) % 16]
    });
    let mut rows = TokenRows::full(3, ids.collect());
    rows.mask.iter_mut().step_by(3).for_each(|mark| *mark = 0.0);
    rows
}

const SMALL: &str = r#""field_grid": [3, 2], "field_dim": 2, "symplectic_dt": 0.5, "batch_size": 16"#;

fn trainer(device: &Device, fields: &str) -> Result<Trainer> {
    let config = parsed(&format!("{{{SMALL}, {fields}}}"))?;
    let Trainer2Run { network, data, settings, .. } = config.run(&rows(64), 16, None)?;
    Trainer::new(device, network, settings, data)
}

/// The figure of this name after the last window.
fn figure(trainer: &Trainer, name: &str) -> Result<f64> {
    let report = block_on(trainer.source_report())?.expect("a report");
    Ok(report.iter().find(|(known, _)| known == name).expect("a figure").1)
}

#[test]
fn all_fields_of_trainer2_are_read() -> Result<()> {
    let of = |is_own: bool| {
        let groups = FIELDS.groups.iter().filter(move |group| (group.title == "Meromorph") == is_own);
        groups.map(|group| (group.entries)().len()).sum::<usize>()
    };
    assert_eq!((of(false), of(true)), (48, 6));
    assert_eq!(parsed("{}")?, Trainer2::default());
    let config = parsed(
        r#"{"coord_dim_n": 4, "run_name": "a", "telemetry_jsonl": false, "log_every_windows": -1, "max_windows": 7,
            "capture_batch_size": 5, "seed": 3, "theta_wrap": 6.283185307179586, "max_epochs": 2}"#,
    )?;
    assert_eq!((config.coord_dim_n, &config.run_name[..], config.log_every_windows), (4, "a", -1));
    assert_eq!((config.is_on("telemetry_jsonl"), config.is_on("static_shapes")), (false, true));
    assert_eq!((config.rows_of_window(), config.windows(100), config.seed), (5, 7, 3));
    assert_eq!(parsed(r#"{"max_epochs": 3}"#)?.windows(33), 6);
    Ok(())
}

#[test]
fn invalid_fields_say_what_is_wrong() {
    let cases = [
        ("[]", "c.json: got [], expected an object of fields"),
        ("{\"eps\": 0}", "c.json: eps: got 0, expected a finite number above 0"),
        ("{\"coord_dim_n\": 0}", "c.json: coord_dim_n: got 0, expected a whole number from 1 to 1024"),
        ("{\"retrieval_beta\": \"x\"}", "c.json: retrieval_beta: got \"x\", expected a finite number above 0"),
        ("{\"beta_nudge\": -1}", "c.json: beta_nudge: got -1, expected a finite number above 0"),
        ("{\"nudge_scale\": -1}", "c.json: nudge_scale: got -1, expected a finite number of at least 0"),
        ("{\"tbptt_window_steps\": 0}", "c.json: tbptt_window_steps: got 0, expected a whole number from 1 to 4096"),
        ("{\"max_epochs\": 0}", "c.json: max_epochs: got 0"),
        ("{\"max_windows\": -1}", "c.json: max_windows: got -1"),
        ("{\"symplectic_m_cog\": 1e-7}", "c.json: symplectic_m_cog: got 1e-7, expected a number above 1e-6"),
        ("{\"symplectic_stiffness\": -1}", "c.json: symplectic_stiffness: got -1"),
        ("{\"metric_mode\": \"block_rot\"}", "c.json: metric_mode: got \"block_rot\", expected one of \"diag_rot\""),
        (
            "{\"symplectic_potential\": \"gaussian_well\"}",
            "c.json: symplectic_potential: got \"gaussian_well\", expected one of \"zero\"",
        ),
        ("{\"static_shapes\": 1}", "c.json: static_shapes: got 1, expected true or false"),
        ("{\"log_every_windows\": 0.5}", "c.json: log_every_windows: got 0.5, expected a whole number"),
        ("{\"theta_wrap\": 3}", "c.json: theta_wrap: got 3, expected 2 pi"),
        ("{\"rotor_kk\": 3}", "c.json: option \"rotor_kk\" is unknown: did you mean \"rotor_k\"?"),
        ("{\"rotor_k\": 0}", "c.json: rotor_k: got 0, expected at least 1 unless rotor_mode is off"),
        ("{\"coord_dim_n\": 1}", "c.json: coord_dim_n: got 1, expected at least 2, which a rotation turns"),
        ("{\"rotor_k\": 65}", "c.json: rotor_k: got 65, expected at most 64, the square of coord_dim_n"),
        (
            "{\"frame_mode\": \"learned_lowrank\", \"lowrank_r\": 0}",
            "c.json: lowrank_r: got 0, expected at least 1 with frame_mode learned_lowrank",
        ),
        (
            "{\"frame_mode\": \"learned_lowrank\", \"rule\": \"lior_scalar\"}",
            "c.json: frame_mode: got learned_lowrank, expected rotor or derived with rule lior_scalar",
        ),
        (
            "{\"use_torch_compile\": true, \"warmup_steps\": 0}",
            "c.json: warmup_steps: got 0, expected at least 1 with use_torch_compile or use_cudagraphs",
        ),
        (
            "{\"use_cudagraphs\": true, \"capture_batch_size\": 8, \"static_shapes\": false}",
            "c.json: static_shapes: got false, expected true with use_cudagraphs",
        ),
        ("{\"use_cudagraphs\": true}", "c.json: capture_batch_size: got 0, expected at least 1 with use_cudagraphs"),
        (
            "{\"use_cudagraphs\": true, \"capture_batch_size\": 8, \"enable_spsa_fallback\": true}",
            "c.json: enable_spsa_fallback: got true, expected false with use_cudagraphs",
        ),
        (
            "{\"batch_size\": 4, \"capture_batch_size\": 8}",
            "c.json: batch_size: got 4, expected 8, as capture_batch_size",
        ),
    ];
    for (text, expected) in cases {
        let said = parsed(text).map(drop).expect_err("it is invalid").to_string();
        assert!(said.starts_with(expected), "{text}: {said}");
    }
    let said = |text: &str| {
        let run = parsed(text).and_then(|config| config.run(&rows(8), 16, None));
        run.map(drop).expect_err("it does not fit").to_string()
    };
    assert!(said("{\"symplectic_dt\": 9}").starts_with("field: dt: got 9, expected less than 8.9443"));
    assert!(said("{\"R_source\": \"curvature\"}").starts_with("R_source: got curvature, expected constitutive"));
}

#[test]
fn fields_without_effect_are_noted() -> Result<()> {
    assert!(parsed("{}")?.notes().iter().all(|note| !note.contains("has no effect")));
    let notes = parsed(
        r#"{"cudnn_benchmark": true, "timing_debug": true, "use_torch_compile": false, "rotor_k": 3, "rotor_mode": "off",
            "spsa_lr": 0.1, "nudge_scale": 0.2, "beta_nudge": 0.05}"#,
    )?
    .notes();
    let names: Vec<&str> = notes.iter().map(|note| note.split(' ').next().expect("a word")).collect();
    assert_eq!(names, ["cudnn_benchmark", "use_torch_compile", "timing_debug", "spsa_lr", "rotor_k", "nudge_scale"]);
    assert!(notes[0].contains("has no effect: kernels are this engine's own"), "{notes:?}");
    let floor = parsed("{}")?.notes();
    assert!(floor[0].starts_with("beta_nudge: differences of phases are near the rounding"), "{floor:?}");
    Ok(())
}

#[test]
fn presets_are_those_of_the_guide() -> Result<()> {
    let [development, production, profiling] = Trainer2::PRESETS.map(Trainer2::preset);
    let (development, production, profiling) = (development?, production?, profiling?);
    assert!(development.is_on("cudnn_benchmark") && !development.is_on("use_cudagraphs"));
    assert_eq!((production.capture_batch_size, production.warmup_steps, production.rows_of_window()), (32, 10, 32));
    assert!(production.is_on("use_cudagraphs") && !production.is_on("cudnn_deterministic"));
    assert!(profiling.is_on("timing_debug"));
    let said = Trainer2::preset("produktion").expect_err("it is unknown").to_string();
    assert!(
        said.starts_with("preset: got \"produktion\", expected one of development, production, profiling"),
        "{said}"
    );
    Ok(())
}

/// From its configuration alone the contrastive rule learns which token follows; R is that of the field.
#[test]
fn the_contrastive_rule_learns_what_follows() -> Result<()> {
    for device in devices(&[1]) {
        for mode in ["symplectic", "dissipative"] {
            let fields = format!(
                r#""dynamics_mode": "{mode}", "beta_nudge": 0.05, "retrieval_beta": 2, "eta_update": 0.1, "nudge_every_windows": 2"#
            );
            let mut trainer = trainer(&device, &fields)?;
            trainer.advance(1)?;
            let before = figure(&trainer, "loss")?;
            let r = figure(&trainer, "curvature")?;
            trainer.advance(299)?;
            let after = figure(&trainer, "loss")?;
            let name = &device.info().device;
            assert!(before > 2.0 && after < 0.5 * before, "{name}, {mode}: {before} to {after}");
            assert!(r > 0.3 && r < 2.0 && (figure(&trainer, "curvature")? - r).abs() > 1e-4, "{name}, {mode}: {r}");
        }
    }
    Ok(())
}

#[test]
fn the_rule_of_trainer2_has_its_figures() -> Result<()> {
    let device = Device::cpu(1);
    let scalar = |fields: &str| trainer(&device, &format!("\"rule\": \"lior_scalar\", \"beta_nudge\": 0.1, {fields}"));
    let mut still = scalar("\"nudge_mode\": \"off\"")?;
    still.advance(3)?;
    assert_eq!(figure(&still, "difference")?, 0.0);
    assert_eq!((figure(&still, "energy_geo")?, figure(&still, "energy_struct")?), (0.0, 1.0));
    let mut moving =
        scalar("\"velocity\": \"displacement\", \"enable_spsa_fallback\": true, \"frame_mode\": \"derived\"")?;
    moving.advance(3)?;
    assert!(figure(&moving, "difference")?.abs() > 1e-6);
    for name in ["free", "curvature", "speed", "energy_geo", "energy_var"] {
        assert!(figure(&moving, name)? > 0.0, "{name}");
    }
    let correlation = figure(&moving, "energy_struct")? - 1.0;
    assert!(correlation.abs() <= 1.0 + 1e-6 && correlation != 0.0, "{correlation}");
    // Without rotations the angles stay.
    let mut plain = scalar("\"rotor_mode\": \"off\"")?;
    plain.advance(3)?;
    let values = block_on(plain.parameters())?;
    assert!(values[..8].iter().any(|g| *g != 0.0) && values[8..].iter().all(|angle| *angle == 0.0), "{values:?}");
    Ok(())
}

#[test]
fn updates_are_made_once_in_a_period() -> Result<()> {
    for device in devices(&[1]) {
        let mut trainer = trainer(&device, r#""nudge_every_windows": 3, "beta_nudge": 0.05"#)?;
        let mut last = block_on(trainer.parameters())?;
        let mut moved = Vec::new();
        for _ in 0..7 {
            trainer.advance(1)?;
            let now = block_on(trainer.parameters())?;
            moved.push(now != last);
            last = now;
        }
        assert_eq!(moved, [true, false, false, true, false, false, true], "{}", device.info().device);
    }
    Ok(())
}

/// Across epochs, with all parts that have a state.
#[test]
fn a_run_goes_on_from_its_checkpoint() -> Result<()> {
    let device = Device::cpu(1);
    let fields = r#""nudge_every_windows": 2, "beta_nudge": 0.05, "enable_spsa_fallback": true, "max_epochs": 3"#;
    let mut whole = trainer(&device, fields)?;
    // Epochs have four windows: inside of one, at the end of one, and inside of a later one.
    for windows in [3, 1, 5] {
        whole.advance(windows)?;
        let bytes = block_on(whole.checkpoint())?.save(None)?;
        let config = parsed(&format!("{{{SMALL}, {fields}}}"))?;
        let Trainer2Run { network, data, .. } = config.run(&rows(64), 16, None)?;
        let (read, _) = Checkpoint::load(&bytes, "a")?;
        let mut part = block_on(Trainer::resume_with(&device, network, data, read))?;
        assert_eq!(block_on(part.source_blocks())?, block_on(whole.source_blocks())?);
        part.advance(2)?;
        whole.advance(2)?;
        assert_eq!(block_on(part.parameters())?, block_on(whole.parameters())?, "{windows}");
        assert_eq!(block_on(part.source_blocks())?, block_on(whole.source_blocks())?, "{windows}");
        whole.advance(2)?;
    }
    Ok(())
}

/// A tensor of fours gives R = 2 under a metric of ones: σ = (1/n²) Σ δ δ 4. Its rule may have more parameters than those of the map.
#[test]
fn r_comes_from_a_tensor() -> Result<()> {
    for rule in ["contrastive", "lior_scalar"] {
        let text =
            format!("{{\"R_source\": \"curvature\", \"coord_dim_n\": 4, \"rule\": \"{rule}\", \"beta_nudge\": 0.1}}");
        let run = parsed(&text)?.run(&rows(8), 16, Some(vec![4.0; 256]))?;
        let mut trainer = Trainer::new(&Device::cpu(1), run.network, run.settings, run.data)?;
        trainer.advance(1)?;
        let figures = block_on(trainer.source_report())?.expect("figures");
        let (_, r) = figures.iter().find(|(name, _)| name == "curvature").expect("R");
        assert!((r - 2.0).abs() < 1e-5, "{rule}: {r}");
    }
    Ok(())
}

//! Profiles of training steps: times of launches on every device, traces, and the memory of a run with its leaks. No test says how fast anything is.
#![allow(clippy::unwrap_used, reason = "a test")]

use meromorph::device::{Buffer, Command, Request, Tag};
use meromorph::nn::{Activation, Spec};
use meromorph::profile::{Ceilings, Grouping, Leak, MemoryProfile, StepProfile, inside, trace};
use meromorph::tensor::Tensor;
use meromorph::train::{Data, Examples, StepKind, Trainer, TrainerConfig};
use meromorph::{Device, Result, autograd::Var, ops};
use pollster::block_on;
use serde_json::Value;

/// The CPU with one and two threads, and a GPU with timestamps unless `MERO_NO_GPU` is set.
fn devices() -> Vec<Device> {
    let mut all = vec![Device::cpu(1), Device::cpu(2)];
    if std::env::var_os("MERO_NO_GPU").is_none() {
        let request = Request { device: crate::devices::gpu(), timestamps: true, ..Request::default() };
        all.push(block_on(Device::open(&request)).expect("a Vulkan driver (mesa-vulkan-drivers), or MERO_NO_GPU=1"));
    }
    all
}

fn trainer(device: &Device, step: StepKind) -> Trainer {
    let wave = |count: usize| (0..count).map(|at| (at as f32 * 0.7).sin()).collect();
    let data = Data { inputs: 3, targets: 1, train: Examples { x: wave(600), y: wave(200) }, ..Data::default() };
    let config = TrainerConfig { batch: 64, step: Some(step), ..TrainerConfig::default() };
    Trainer::new(device, Spec::mlp(3, &[8, 8], 1, Activation::silu()), config, data).unwrap()
}

#[test]
fn every_launch_has_a_time_and_the_shares_add_up() {
    for device in devices() {
        for step in [StepKind::Fused, StepKind::Recorded] {
            let place = format!("{} {}", device.info().device, step.name());
            let mut trainer = trainer(&device, step);
            let profile = block_on(StepProfile::of(&mut trainer, Some(9), 3)).unwrap();
            let summary = trainer.step_summary();
            assert_eq!(profile.launches.len(), summary.launches.len() + summary.copies.len(), "{place}");
            assert_eq!((profile.steps, profile.timings.runs()), (9, 9), "{place}");
            assert!(profile.launches.iter().all(|one| one.ms >= 0.0 && one.ms.is_finite()), "{place}");
            assert!(profile.launches.iter().any(|one| one.ms > 0.0), "{place}");
            assert!(profile.step_ms > 0.0 && profile.plain_ms > 0.0 && profile.explained() > 0.0, "{place}");
            for by in [Grouping::Kernel, Grouping::Layer, Grouping::Op, Grouping::Direction] {
                let groups = profile.grouped(by);
                let sum: f64 = groups.iter().map(|group| group.share).sum();
                assert!((sum - 1.0).abs() < 1e-9, "{place} {by:?}: {sum}");
                let launches: usize = groups.iter().map(|group| group.launches).sum();
                assert_eq!(launches, profile.launches.len(), "{place} {by:?}");
            }
            let layers = profile.grouped(Grouping::Layer);
            let has = |name: &str| layers.iter().any(|group| group.name == name);
            let expected: &[&str] =
                if step == StepKind::Fused { &["model", "update"] } else { &["layers.0", "loss", "update"] };
            assert!(expected.iter().all(|name| has(name)), "{place}: {layers:?}");
        }
    }
}

#[test]
fn a_fused_launch_is_divided_among_the_layers() {
    let [fused, recorded] = [StepKind::Fused, StepKind::Recorded]
        .map(|step| block_on(StepProfile::of(&mut trainer(&Device::cpu(1), step), Some(9), 1)).unwrap());
    let parts = inside(&fused, &recorded);
    let ms = fused.grouped(Grouping::Layer).iter().find(|group| group.name == "model").unwrap().ms;
    assert!((parts.iter().map(|part| part.ms).sum::<f64>() / ms - 1.0).abs() < 1e-9);
    for layer in ["layers.0", "layers.2", "layers.4", "loss"] {
        assert!(parts.iter().any(|part| part.layer == layer && part.cost.flops > 0), "{layer}: {parts:?}");
    }
    assert!(["forward", "backward"].iter().all(|way| parts.iter().any(|part| part.direction == *way)));
    assert!(parts.iter().all(|part| part.layer != "update"), "{parts:?}");
}

#[test]
fn measured_steps_train_like_others() {
    for device in devices() {
        let [mut plain, mut measured] = [0, 1].map(|_| trainer(&device, StepKind::Recorded));
        plain.advance(11).unwrap();
        let timings = block_on(measured.advance_timed(11)).unwrap();
        assert_eq!(timings.runs(), 11);
        let spans = &timings.spans;
        assert!(spans.iter().all(|[start, end]| start <= end) && spans.windows(2).all(|two| two[0][1] <= two[1][0]));
        assert_eq!(block_on(plain.parameters()).unwrap(), block_on(measured.parameters()).unwrap(), "the same bits");
    }
}

#[test]
fn many_runs_fit_into_several_query_sets() {
    for device in devices() {
        let x = Var::constant(Tensor::from_f32(&device, [64], &[1.0; 64]).unwrap());
        let (plan, _y) = device.capture(|| Ok((0..40).fold(x.clone(), |x, _| ops::sum(&x, 0..1)))).unwrap();
        let timings = block_on(plan.run_timed(60)).unwrap();
        // 4,800 timestamps; a set holds 4,096.
        assert_eq!((timings.commands, timings.spans.len()), (40, 2400), "{}", device.info().device);
    }
}

#[test]
fn a_device_without_timestamps_says_so() {
    let device = Device::dry();
    let error = block_on(trainer(&device, StepKind::Recorded).advance_timed(1)).unwrap_err().to_string();
    assert!(error.starts_with("profile: device \"dry\"") && error.contains("got no timestamps, expected"), "{error}");
    let zero = block_on(StepProfile::of(&mut trainer(&Device::cpu(1), StepKind::Fused), Some(0), 1)).unwrap_err();
    assert_eq!(zero.to_string(), "profile: got 0 steps or windows, expected at least 1 of each");
}

#[test]
fn ceilings_are_measured() {
    let ceilings = block_on(Ceilings::measure(&Device::cpu(2))).unwrap();
    // Which size is fastest depends on what else the machine does.
    assert!(ceilings.gflops > 0.0 && [128, 256, 512, 1024, 2048, 4096].contains(&ceilings.matmul_size));
    assert!(ceilings.copies.iter().all(|rate| rate.gbytes_s > 0.0 && rate.gbytes_s.is_finite()));
    assert!(ceilings.copies.is_sorted_by_key(|rate| rate.bytes));
}

/// Beginning and end of an event in nanoseconds.
fn ends(event: &Value) -> [i64; 2] {
    let ns = |value: &Value| (value.as_f64().unwrap() * 1e3).round() as i64;
    let start = ns(&event["ts"]);
    [start, start + ns(&event["dur"])]
}

#[test]
fn a_trace_is_json_whose_events_nest() {
    let mut trainer = trainer(&Device::cpu(1), StepKind::Recorded);
    let profile = block_on(StepProfile::of(&mut trainer, Some(5), 1)).unwrap();
    let text = trace(&profile, "cpu \"quoted\"");
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let track =
        |tid: i64| -> Vec<&Value> { events.iter().filter(|event| event["ph"] == "X" && event["tid"] == tid).collect() };
    let (layers, launches) = (track(1), track(2));
    assert_eq!(launches.len(), 5 * profile.launches.len());
    assert_eq!(layers.iter().filter(|event| event["cat"] == "step").count(), 5);
    for track in [&layers, &launches] {
        // Two events of a track are apart, or one lies within the other; one that comes later begins no earlier.
        for (at, first) in track.iter().enumerate() {
            for second in &track[at + 1..] {
                let ([a, b], [c, d]) = (ends(first), ends(second));
                assert!(a <= c && (b <= c || d <= b), "{first} {second}");
            }
        }
    }
    let memory: Vec<&Value> = events.iter().filter(|event| event["ph"] == "C").collect();
    assert_eq!(memory.len(), launches.len());
    let bytes = |name: &str| memory.iter().map(|event| event["args"][name].as_f64().unwrap()).fold(0.0, f64::max);
    let summary = trainer.step_summary();
    assert_eq!(bytes("persistent"), summary.persistent_bytes as f64);
    assert!((1.0..=summary.unshared_bytes as f64).contains(&bytes("results of the step")));
    for (at, launch) in launches.iter().take(profile.launches.len()).enumerate() {
        let (mut names, mut frame) = (Vec::new(), &trace["stackFrames"][launch["sf"].as_str().unwrap()]);
        while let Some(name) = frame["name"].as_str() {
            names.push(name);
            frame = &trace["stackFrames"][frame["parent"].as_str().unwrap_or("none")];
        }
        let own = &profile.launches[at].launch;
        let [op, layer, direction] = [Grouping::Op, Grouping::Layer, Grouping::Direction].map(|by| by.name(own));
        assert_eq!(names, [op, layer, direction, "step"]);
        let sizes: Vec<(&str, u32)> = own.code.iter().flat_map(meromorph::device::Code::sizes).collect();
        assert!(sizes.iter().all(|(name, size)| launch["args"][name] == *size), "{launch} {sizes:?}");
    }
    assert!(profile.launches.iter().any(|one| one.launch.code.as_ref().is_some_and(|code| !code.sizes().is_empty())));
    for launch in launches {
        let [start, end] = ends(launch);
        let is_around = |event: &&&Value| {
            let [from, to] = ends(event);
            event["cat"] != "step" && from <= start && end <= to
        };
        assert!(layers.iter().any(|event| is_around(&event)), "{launch}");
    }
    let names: Vec<&Value> =
        events.iter().filter(|event| event["ph"] == "M").map(|event| &event["args"]["name"]).collect();
    assert_eq!(names, ["mero on cpu \"quoted\"", "layers", "launches"]);
}

#[test]
fn the_bytes_of_tags_are_the_bytes_in_use() {
    for device in devices() {
        let before = device.upload(&[0; 1000]).unwrap();
        let memory = MemoryProfile::of(&device);
        let is_exact = || assert_eq!(memory.live().total(), device.counters().live_bytes as i64);
        is_exact();
        memory.mark("start");
        let mut trainer = trainer(&device, StepKind::Recorded);
        is_exact();
        memory.mark("set up");
        trainer.advance(7).unwrap();
        block_on(trainer.batch_losses()).unwrap();
        is_exact();
        let live = memory.live();
        for tag in [Tag::Parameters, Tag::Gradients, Tag::Optimizer, Tag::Activations, Tag::Data] {
            assert!(live.of(tag) > 0, "{tag:?}");
        }
        drop((trainer, before));
        is_exact();
        assert_eq!(memory.live().total(), 0, "{}", device.info().device);
        memory.mark("end");
        let [there, back] = [("start", "set up"), ("set up", "start")].map(|(a, b)| memory.delta(a, b).unwrap());
        for tag in Tag::ALL {
            assert_eq!(there.of(tag), -back.of(tag));
        }
        assert!(there.total() > 0 && memory.peak_bytes() >= there.total());
        let peak = memory.marks()[1].peak;
        assert!(peak >= memory.marks()[1].live.total(), "{peak}");
        let error = memory.delta("start", "sett up").unwrap_err().to_string();
        assert_eq!(
            error,
            "memory: no mark has this name: got \"sett up\", expected one of 3 marks; did you mean \"set up\"?"
        );
    }
}

#[test]
fn a_profile_that_ended_sees_nothing() -> Result<()> {
    let device = Device::cpu(1);
    drop(MemoryProfile::of(&device));
    let _kept = device.tagged(Tag::Data, || device.upload(&[1; 64]))?;
    let memory = MemoryProfile::of(&device);
    assert_eq!((memory.live().of(Tag::Workspace), memory.live().of(Tag::Data)), (256, 0), "in use before");
    Ok(())
}

#[test]
fn a_clean_run_of_a_thousand_steps_has_no_leaks() {
    for step in [StepKind::Fused, StepKind::Recorded] {
        let device = Device::cpu(1);
        let memory = MemoryProfile::of(&device);
        let mut trainer = trainer(&device, step);
        memory.mark("set up");
        for step in 0..1000 {
            trainer.advance(1).unwrap();
            // Work that is not planned in advance makes and frees buffers, too.
            let x = Tensor::from_f32(&device, [8], &[step as f32; 8]).unwrap();
            block_on(ops::sum(&Var::constant(x), 0..1).value().to_f32()).unwrap();
            memory.mark("step");
        }
        assert_eq!(memory.leaks(), [], "{}", step.name());
    }
}

/// Steps of a loop that leaks, each with a mark.
fn leaking(mut step: impl FnMut(&Device, usize)) -> Vec<Leak> {
    let device = Device::cpu(1);
    let memory = MemoryProfile::of(&device);
    let mut trainer = trainer(&device, StepKind::Recorded);
    memory.mark("set up");
    for at in 0..6 {
        trainer.advance(1).unwrap();
        step(&device, at);
        memory.mark("step");
    }
    memory.leaks()
}

#[test]
fn a_buffer_that_is_kept_is_a_leak() {
    let mut kept: Option<Buffer> = None;
    let leaks = leaking(|device, at| {
        if at == 1 {
            kept = device.upload(&[0; 640]).ok();
        }
    });
    assert_eq!(leaks, [Leak::Buffer { tag: Tag::Workspace, bytes: 2560, marks: 5 }]);
    // Made too late to be one.
    let leaks = leaking(|device, at| {
        if at == 4 {
            kept = device.upload(&[0; 640]).ok();
        }
    });
    assert_eq!(leaks, []);
}

#[test]
fn parameters_that_pile_up_are_a_leak() {
    let mut kept: Vec<Buffer> = Vec::new();
    let leaks = leaking(|device, _| kept.extend(device.tagged(Tag::Parameters, || device.upload(&[0; 64]))));
    assert_eq!(leaks, [Leak::Growth { tag: Tag::Parameters, bytes: 6 * 256, marks: 7 }]);
}

#[test]
fn plans_that_pile_up_are_a_leak() {
    let mut kept = Vec::new();
    let leaks = leaking(|device, _| {
        let (from, to) = (device.upload(&[1; 64]).unwrap(), device.buffer(64));
        let plan = device.tagged(Tag::Activations, || {
            device.capture(|| {
                let between = device.buffer(64);
                device.record(Command::Copy { from: from.view(), to: between.view() });
                device.record(Command::Copy { from: between.view(), to: to.view() });
                Ok(())
            })
        });
        kept.push(plan.unwrap().0);
    });
    let grown: Vec<Tag> = leaks.iter().filter(|leak| matches!(leak, Leak::Growth { .. })).map(Leak::tag).collect();
    assert!(grown.contains(&Tag::Activations), "{leaks:?}");
}

//! Profiles: memory, time, and the flow of gradients.

use meromorph::Result;
use meromorph::autograd::Var;
use meromorph::device::Device;
use meromorph::tensor::Tensor;
use tenflowers_autograd::{FlowAnalysis, GradientTape, IssueType, Severity, TensorOps, TrackedTensor, Values};

/// The product of all numbers with a weight.
struct Scale<'t>(TrackedTensor<'t>);

impl Scale<'_> {
    fn forward(&self, input: &Var) -> Result<Var> {
        (*self.0).mul(input)
    }
}

fn memory(tape: &GradientTape, model: &Scale<'_>, input: Var, params: &[TrackedTensor<'_>]) -> Result<(f64, usize)> {
    use tenflowers_autograd::GradientMemoryProfiler;

    let mut profiler = GradientMemoryProfiler::new();
    profiler.start_profiling();

    profiler.record_checkpoint("before_forward")?;
    let output = model.forward(&input)?;
    profiler.record_checkpoint("after_forward")?;

    let grads = tape.gradient(&[output], &params)?;
    profiler.record_checkpoint("after_backward")?;

    let forward_memory = profiler.get_memory_delta("before_forward", "after_forward")?;

    let text = format!("Forward pass memory: {:.2}MB", forward_memory.unwrap());
    assert_eq!(text, "Forward pass memory: 1.00MB");

    let leaks = profiler.detect_leaks()?;
    if leaks.num_suspicious > 0 {
        panic!("Warning: {} potential memory leaks", leaks.num_suspicious);
    }
    assert!(grads[0].is_some());
    Ok((forward_memory.unwrap(), leaks.num_suspicious))
}

/// The result has 2^18 numbers of 4 bytes, 1 MiB.
#[test]
fn the_forward_pass_takes_the_bytes_of_its_result() -> Result<()> {
    let device = Device::cpu(1);
    let tape = GradientTape::on(&device);
    let params = [tape.watch([2.0])];
    let input = Var::constant(Tensor::from_f32(&device, [1 << 18], &vec![1.0; 1 << 18])?);
    assert_eq!(memory(&tape, &Scale(params[0]), input, &params)?, (1.0, 0));
    Ok(())
}

fn benchmark(tape: &GradientTape, loss: TrackedTensor<'_>, params: &[TrackedTensor<'_>]) -> Result<[String; 3]> {
    use tenflowers_autograd::{BenchmarkConfig, PerformanceBenchmark};

    let config =
        BenchmarkConfig { iterations: 100, warmup_iterations: 10, enable_statistics: true, ..Default::default() };

    let mut benchmark = PerformanceBenchmark::new(config);

    benchmark.start_benchmark("backward_pass")?;

    for _ in 0..config.iterations {
        let grads = tape.gradient(&[loss], &params)?;
        drop(grads);
    }

    let result = benchmark.end_benchmark("backward_pass")?;

    assert_eq!(result.measurement.as_ref().map(|all| all.samples_ms.len()), Some(100));
    assert!((result.mean_time_ms * result.throughput_ops_per_sec - 1e3).abs() < 1e-6);
    Ok([
        format!("Mean time: {:.2}ms", result.mean_time_ms),
        format!("Std dev: {:.2}ms", result.std_time_ms),
        format!("Throughput: {:.0} ops/sec", result.throughput_ops_per_sec),
    ])
}

#[test]
fn each_backward_pass_is_a_sample() -> Result<()> {
    let tape = GradientTape::new();
    let x = tape.watch(vec![1.0; 1000]);
    let lines = benchmark(&tape, x.mul(&x)?, &[x])?;
    assert!(lines.iter().all(|line| !line.contains("NaN") && !line.contains("inf")), "{lines:?}");
    Ok(())
}

fn flow(tape: &GradientTape, loss: Var, params: Vec<TrackedTensor<'_>>) -> Result<(String, Vec<String>, FlowAnalysis)> {
    use tenflowers_autograd::GradientFlowVisualizer;

    let mut visualizer = GradientFlowVisualizer::new();
    visualizer.analyze_flow(&tape, &loss, &params)?;

    let health = visualizer.get_health_summary()?;
    let health = format!("Gradient health: {}", health);

    let mut lines = Vec::new();
    if let Some(analysis) = visualizer.flow_analysis() {
        for issue in &analysis.issues {
            lines.push(format!("Issue: {:?} - {}", issue.issue_type, issue.description));
        }
        return Ok((health, lines, analysis.clone()));
    }
    panic!("no analysis");
}

/// The loss 1e5 a + 1e-3 b + c: gradients of 1e5, 1e-3 and 1.
#[test]
fn issues_are_named() -> Result<()> {
    let tape = GradientTape::new();
    let [large, small] = [1e5, 1e-3].map(|factor| tape.constant([1], &[factor]));
    let (a, b, c) = (tape.watch([1.0]), tape.watch([1.0]), tape.watch([1.0]));
    let loss: Values = Values::from((*a.mul(&large?)?.add(&b.mul(&small?)?)?.add(&c)?).clone());
    let (health, lines, analysis) = flow(&tape, loss.into_var(), vec![a, b, c])?;
    let expected = [
        "Issue: Exploding - parameter 0: root mean square 1.0e5",
        "Issue: Bottleneck - from parameter 2 back to parameter 1 the gradient shrinks by a factor of 1000",
        "Issue: GradientImbalance - parameter 0 has a gradient 1.0e8 times that of parameter 1; last to first layer 1.0e-5",
    ];
    assert_eq!(lines, expected);
    assert!(health.starts_with("Gradient health: 2 of 3 gradients are sound; exploding: parameter 0"), "{health}");
    assert_eq!((analysis.issues[0].issue_type, analysis.issues[0].severity), (IssueType::Exploding, Severity::High));
    let statistics = analysis.statistics;
    assert_eq!((statistics.max_gradient_magnitude, statistics.total_edges, statistics.depth), (1e5, 8, 3));
    assert!((statistics.exploding_percentage - 100.0 / 3.0).abs() < 1e-9);
    Ok(())
}

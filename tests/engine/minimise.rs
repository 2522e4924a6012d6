//! Minimisers on the host: L-BFGS against certified fits of NIST, Newton's method with a diagonal, and losses on a device.

use meromorph::autograd::Var;
use meromorph::nn::{Activation, Layout, Pass, Spec, forward, initialise};
use meromorph::program::expr::square;
use meromorph::tensor::{Shape, Tensor};
use meromorph::train::minimise::{Ending, FlatLoss, Lbfgs, Minimum, NewtonDiagonal, lbfgs, newton_diagonal};
use meromorph::{Device, Error, Result, ops};
use pollster::block_on;

/// A problem of NIST's Statistical Reference Datasets: a model with its derivatives, data, both starts and the certified parameters.
struct Problem {
    name: &'static str,
    model: fn(&[f64], f64) -> (f64, Vec<f64>),
    x: &'static [f64],
    y: &'static [f64],
    starts: [&'static [f64]; 2],
    certified: &'static [f64],
}

fn saturation(b: &[f64], x: f64) -> (f64, Vec<f64>) {
    let e = (-b[1] * x).exp();
    (b[0] * (1.0 - e), vec![1.0 - e, b[0] * x * e])
}

const PROBLEMS: [Problem; 4] = [
    Problem {
        name: "Misra1a",
        model: saturation,
        x: &[77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0],
        y: &[10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78],
        starts: [&[500.0, 0.0001], &[250.0, 0.0005]],
        certified: &[2.3894212918E+02, 5.5015643181E-04],
    },
    Problem {
        name: "BoxBOD",
        model: saturation,
        x: &[1.0, 2.0, 3.0, 5.0, 7.0, 10.0],
        y: &[109.0, 149.0, 149.0, 191.0, 213.0, 224.0],
        starts: [&[1.0, 1.0], &[100.0, 0.75]],
        certified: &[2.1380940889E+02, 5.4723748542E-01],
    },
    Problem {
        name: "DanWood",
        model: |b, x| {
            let power = x.powf(b[1]);
            (b[0] * power, vec![power, b[0] * power * x.ln()])
        },
        x: &[1.309, 1.471, 1.490, 1.565, 1.611, 1.680],
        y: &[2.138, 3.421, 3.597, 4.340, 4.882, 5.660],
        starts: [&[1.0, 5.0], &[0.7, 4.0]],
        certified: &[7.6886226176E-01, 3.8604055871E+00],
    },
    Problem {
        name: "Rat42",
        model: |b, x| {
            let e = (b[1] - b[2] * x).exp();
            let u = 1.0 + e;
            (b[0] / u, vec![1.0 / u, -b[0] * e / (u * u), b[0] * e * x / (u * u)])
        },
        x: &[9.0, 14.0, 21.0, 28.0, 42.0, 57.0, 63.0, 70.0, 79.0],
        y: &[8.93, 10.80, 18.59, 22.33, 39.35, 56.11, 61.73, 64.62, 67.08],
        starts: [&[100.0, 1.0, 0.1], &[75.0, 2.5, 0.07]],
        certified: &[7.2462237576E+01, 2.6180768402E+00, 6.7359200066E-02],
    },
];

impl Problem {
    /// The sum of squares over parameters in units of the start, and its gradient.
    fn cost(&self, start: &[f64], z: &[f64]) -> (f64, Vec<f64>) {
        let b: Vec<f64> = z.iter().zip(start).map(|(z, start)| z * start).collect();
        let mut cost = 0.0;
        let mut gradient = vec![0.0; z.len()];
        for (x, y) in self.x.iter().zip(self.y) {
            let (value, slopes) = (self.model)(&b, *x);
            cost += (value - y) * (value - y);
            for ((sum, slope), start) in gradient.iter_mut().zip(slopes).zip(start) {
                *sum += 2.0 * (value - y) * slope * start;
            }
        }
        (cost, gradient)
    }

    fn fitted(&self, start: &[f64]) -> Minimum {
        let ones = vec![1.0; start.len()];
        let mut found = block_on(lbfgs(&ones, &Lbfgs::default(), async |z| Ok(self.cost(start, z)))).expect("it fits");
        found.x.iter_mut().zip(start).for_each(|(z, start)| *z *= start);
        found
    }
}

#[test]
fn lbfgs_reaches_the_certified_parameters() {
    let mut failures = Vec::new();
    for problem in &PROBLEMS {
        for start in problem.starts {
            let found = problem.fitted(start);
            let error = |(got, certified): (&f64, &f64)| ((got - certified) / certified).abs();
            let worst = found.x.iter().zip(problem.certified).map(error).fold(0.0, f64::max);
            let how = format!(
                "{} from {start:?}: off by {worst:.1e} after {} iterations, {} evaluations, {:?}",
                problem.name, found.iterations, found.evaluations, found.ending
            );
            if worst.is_nan() || worst > 1e-8 || found.evaluations > 150 {
                failures.push(how);
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn lbfgs_minimises_rosenbrock_in_many_dimensions() {
    let rosenbrock = async |x: &[f64]| {
        let mut value = 0.0;
        let mut gradient = vec![0.0; x.len()];
        for at in 0..x.len() - 1 {
            let (left, right) = (1.0 - x[at], x[at + 1] - x[at] * x[at]);
            value += left * left + 100.0 * right * right;
            gradient[at] += -2.0 * left - 400.0 * x[at] * right;
            gradient[at + 1] += 200.0 * right;
        }
        Ok((value, gradient))
    };
    let start: Vec<f64> = (0..50).map(|at| if at % 2 == 0 { -1.2 } else { 1.0 }).collect();
    let found = block_on(lbfgs(&start, &Lbfgs::default(), rosenbrock)).unwrap();
    assert!(found.value < 4.0 && found.gradient.iter().all(|slope| slope.abs() < 1e-6), "{:?}", found.ending);
    let short = Lbfgs { iterations: 3, ..Lbfgs::default() };
    let found = block_on(lbfgs(&start, &short, rosenbrock)).unwrap();
    assert_eq!((found.iterations, found.ending), (3, Ending::Iterations));
}

#[test]
fn lbfgs_steps_back_from_where_there_is_no_value_and_passes_errors_on() {
    // x - ln x, which is not defined below 0: the first step of length 1 from 0.3 leads there.
    let barrier = async |x: &[f64]| Ok((x[0] - x[0].ln(), vec![1.0 - 1.0 / x[0]]));
    for start in [0.3, 40.0, 1e-3] {
        let found = block_on(lbfgs(&[start], &Lbfgs::default(), barrier)).unwrap();
        assert!((found.x[0] - 1.0).abs() < 1e-8, "from {start}: {found:?}");
    }
    // At the minimum there is nothing to do.
    let found = block_on(lbfgs(&[1.0], &Lbfgs::default(), barrier)).unwrap();
    assert_eq!((found.iterations, found.evaluations, found.ending), (0, 1, Ending::Gradient));
    let refused = |result: Result<Minimum>| result.expect_err("it is refused").to_string();
    let error = refused(block_on(lbfgs(&[-1.0], &Lbfgs::default(), barrier)));
    assert!(error.starts_with("lbfgs: at the start the value is NaN"), "{error}");
    let failing = async |_: &[f64]| Err(Error::new("the device is lost"));
    assert_eq!(refused(block_on(lbfgs(&[1.0], &Lbfgs::default(), failing))), "the device is lost");
    let short = async |_: &[f64]| Ok((1.0, vec![]));
    let error = refused(block_on(lbfgs(&[1.0], &Lbfgs::default(), short)));
    assert_eq!(error, "lbfgs: got a gradient of 0 elements, expected 1");
}

#[test]
fn a_newton_step_with_the_diagonal_solves_a_diagonal_quadratic() {
    let bowl = async |x: &[f64]| {
        let curvatures = [0.5, 4.0, 1000.0, 2f64.powi(-20)];
        let goals = [1.0, -2.0, 0.25, 8.0];
        let gaps: Vec<f64> = x.iter().zip(goals).map(|(x, goal)| x - goal).collect();
        let value = gaps.iter().zip(curvatures).map(|(gap, h)| 0.5 * h * gap * gap).sum();
        let gradient = gaps.iter().zip(curvatures).map(|(gap, h)| h * gap).collect();
        Ok((value, gradient, curvatures.to_vec()))
    };
    let found = block_on(newton_diagonal(&[0.0; 4], &NewtonDiagonal::default(), bowl)).unwrap();
    assert_eq!((found.x, found.iterations, found.ending), (vec![1.0, -2.0, 0.25, 8.0], 1, Ending::Gradient));
    let half = NewtonDiagonal { rate: 0.5, iterations: 1, ..NewtonDiagonal::default() };
    let found = block_on(newton_diagonal(&[0.0; 4], &half, bowl)).unwrap();
    assert_eq!((found.x, found.ending), (vec![0.5, -1.0, 0.125, 4.0], Ending::Iterations));
}

#[test]
fn a_newton_step_descends_where_the_curvature_is_negative() {
    // A double well, from its hilltop's side.
    let well = async |x: &[f64]| {
        let square = x[0] * x[0];
        Ok((square * square - 2.0 * square, vec![4.0 * x[0] * (square - 1.0)], vec![12.0 * square - 4.0]))
    };
    let settings = NewtonDiagonal { decay: 0.0, ..NewtonDiagonal::default() };
    let found = block_on(newton_diagonal(&[0.25], &settings, well)).unwrap();
    assert!((found.x[0] - 1.0).abs() < 1e-9, "{found:?}");
    // Without curvature ε bounds the step.
    let slope = async |x: &[f64]| Ok((x[0], vec![1.0], vec![0.0]));
    let one = NewtonDiagonal { iterations: 1, epsilon: 0.5, ..NewtonDiagonal::default() };
    assert_eq!(block_on(newton_diagonal(&[3.0], &one, slope)).unwrap().x, [1.0]);
    let lost = async |_: &[f64]| Ok((0.0, vec![1.0], vec![f64::NAN]));
    assert!(block_on(newton_diagonal(&[3.0], &one, lost)).is_err());
}

#[test]
fn losses_on_a_device_are_functions_of_a_flat_vector() {
    let device = Device::cpu(1);
    let scale = Var::constant(Tensor::from_f32(&device, [2], &[1.0, 8.0]).unwrap());
    let loss = FlatLoss::new(&device, [Shape::from([2]), Shape::from([1])], |v| {
        Ok(ops::add(
            &ops::sum(&ops::fused(&[&v[0], &scale], |v| v[1] * square(v[0] - 0.5)), 0..1),
            &ops::fused(&[&v[1]], |v| 2.0 * square(v[0] + 1.0)),
        ))
    });
    let (value, gradient, diagonal) = block_on(loss.with_diagonal(&[1.5, 0.0, 1.0], 0, 0)).unwrap();
    assert_eq!((value, gradient, diagonal), (11.0, vec![2.0, -8.0, 8.0], vec![2.0, 16.0, 4.0]));
    assert_eq!(block_on(loss.at(&[1.5, 0.0, 1.0])).unwrap(), (11.0, vec![2.0, -8.0, 8.0]));
    // The Hessian is diagonal, so its estimate is exact and one step is enough.
    for probes in [0, 3] {
        let settings = NewtonDiagonal::default();
        let function = async |x: &[f64]| loss.with_diagonal(x, probes, 7).await;
        let found = block_on(newton_diagonal(&[1.5, 0.0, 1.0], &settings, function)).unwrap();
        assert_eq!((found.x, found.iterations), (vec![0.5, 0.5, -1.0], 1));
    }
    let error = block_on(loss.at(&[1.0])).err().unwrap();
    assert_eq!(error.to_string(), "loss: got a point of 1 elements, expected 3");
}

#[test]
fn lbfgs_trains_a_small_model_on_a_device() {
    let device = Device::cpu(1);
    let spec = Spec::mlp(1, &[8], 1, Activation::tanh());
    let layout = Layout::of(&spec);
    let flat = initialise(&layout, 3);
    let start: Vec<f64> =
        layout.parameters.iter().flat_map(|p| layout.slice(p, &flat).iter().map(|v| f64::from(*v))).collect();
    let x: Vec<f32> = (0..40).map(|k| k as f32 / 10.0 - 2.0).collect();
    let y: Vec<f32> = x.iter().map(|x| (2.0 * x).sin()).collect();
    let [x, y] = [x, y].map(|data| Var::constant(Tensor::from_f32(&device, [40, 1], &data).unwrap()));
    let shapes: Vec<Shape> = layout.parameters.iter().map(|parameter| parameter.shape.clone()).collect();
    let loss = FlatLoss::new(&device, shapes, |parameters| {
        let made = forward(&spec, parameters, &x, &Pass::Predict);
        Ok(ops::mean(&ops::square(&ops::sub(&made, &y)), 0..2))
    });
    let settings = Lbfgs { rounding: 1e-6, iterations: 400, ..Lbfgs::default() };
    let found = block_on(lbfgs(&start, &settings, async |x| loss.at(x).await)).unwrap();
    assert!(found.value < 1e-4, "{} after {} iterations, {:?}", found.value, found.iterations, found.ending);
}

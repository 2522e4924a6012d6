//! Compressed gradients: nothing gets lost, sizes are those that are reported, damaged messages are refused, and training with them ends where it
//! ends without compression.

use meromorph::autograd::Var;
use meromorph::compress::{Bits, Compressor, Count, Cutoff, Message, Method, Rounding};
use meromorph::internal::math::splitmix::{STEP, mixed};
use meromorph::tensor::Tensor;
use meromorph::{Device, Result, ops};
use pollster::block_on;

const EIGHT: Method = Method::Quantize { bits: Bits::Eight, rounding: Rounding::Nearest };
const FOUR: Method = Method::Quantize { bits: Bits::Four, rounding: Rounding::Nearest };
const RANDOM: Method = Method::Quantize { bits: Bits::Four, rounding: Rounding::Stochastic { seed: 7 } };
const LARGEST: Method = Method::TopK(Count::Share(0.05));
const METHODS: [Method; 8] = [
    Method::None,
    LARGEST,
    Method::TopK(Count::Exactly(3)),
    Method::Threshold(Cutoff::Magnitude(0.5)),
    Method::Threshold(Cutoff::Zeros(0.9)),
    EIGHT,
    FOUR,
    RANDOM,
];

/// Numbers from -1 up to 1, most of them small.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let start = mixed(seed);
    let unit = |at: usize| (mixed(start.wrapping_add(STEP.wrapping_mul(at as u64))) >> 40) as f32 / (1 << 24) as f32;
    (0..count).map(|at| (2.0 * unit(at) - 1.0).powi(3)).collect()
}

fn message_of(method: Method, gradient: &[f32]) -> Message {
    Compressor::new(method).unwrap().compress("w", gradient).unwrap()
}

#[test]
fn what_is_sent_and_the_residual_are_the_gradient_and_the_earlier_residual() {
    for method in METHODS {
        let mut compressor = Compressor::new(method).unwrap();
        let mut earlier = vec![0.0_f32; 1000];
        for step in 0..20 {
            let gradient = numbers(1000, step);
            let sent = compressor.compress("w", &gradient).unwrap().decompress().unwrap();
            let none = vec![0.0; 1000];
            let residual = compressor.residual("w").unwrap_or(&none).to_vec();
            for at in 0..1000 {
                let (got, expected) = (sent[at] + residual[at], gradient[at] + earlier[at]);
                let is_equal = if method == RANDOM { (got - expected).abs() <= 1e-6 } else { got == expected };
                assert!(is_equal, "{method:?}, step {step}, value {at}: {got}, expected {expected}");
            }
            earlier = residual;
        }
    }
}

/// Whole numbers, whose sums are exact, so that nothing may get lost over many steps.
#[test]
fn everything_sent_and_the_residual_are_the_sum_of_all_gradients() {
    for method in [LARGEST, Method::Threshold(Cutoff::Magnitude(40.0)), Method::Threshold(Cutoff::Zeros(0.8))] {
        let mut compressor = Compressor::new(method).unwrap();
        let [mut sent, mut all] = [vec![0.0_f32; 777], vec![0.0_f32; 777]];
        for step in 0..200 {
            let gradient: Vec<f32> = numbers(777, step).iter().map(|v| (16.0 * v).round()).collect();
            all.iter_mut().zip(&gradient).for_each(|(all, v)| *all += v);
            compressor.compress("w", &gradient).unwrap().add_to(&mut sent, 1.0).unwrap();
            let left = compressor.residual("w").unwrap();
            assert!((0..777).all(|at| sent[at] + left[at] == all[at]), "{method:?}, step {step}");
        }
    }
}

#[test]
fn a_residual_of_zeros_replaces_the_earlier_one() {
    let mut compressor = Compressor::new(Method::Threshold(Cutoff::Magnitude(1.0))).unwrap();
    let mut sent = |gradient: f32| compressor.compress("w", &[gradient]).unwrap().decompress().unwrap()[0];
    assert_eq!([sent(0.6), sent(0.6), sent(0.6), sent(0.0)], [0.0, 1.2, 0.0, 0.0]);
}

#[test]
fn without_loss_or_feedback_there_is_no_residual() {
    let gradient = numbers(100, 1);
    for method in [Method::None, Method::TopK(Count::Exactly(100)), Method::TopK(Count::Share(1.0))] {
        let mut compressor = Compressor::new(method).unwrap();
        assert_eq!(compressor.compress("w", &gradient).unwrap().decompress().unwrap(), gradient, "{method:?}");
        assert!(compressor.residual("w").unwrap_or(&[]).iter().all(|residual| *residual == 0.0), "{method:?}");
    }
    let mut compressor = Compressor::new(LARGEST).unwrap().without_feedback();
    let first = compressor.compress("w", &gradient).unwrap();
    assert_eq!(compressor.residual("w"), None);
    assert_eq!(compressor.compress("w", &gradient).unwrap(), first);
}

#[test]
fn exactly_k_values_of_largest_magnitude_are_sent() {
    let gradient = numbers(1000, 3);
    for count in [1, 7, 500, 999] {
        let message = message_of(Method::TopK(Count::Exactly(count)), &gradient);
        let sent = message.decompress().unwrap();
        let kept: Vec<usize> = (0..1000).filter(|&at| sent[at] != 0.0).collect();
        assert_eq!((message.sent(), kept.len()), (if count > 900 { 1000 } else { count }, count));
        let least = kept.iter().map(|&at| gradient[at].abs()).fold(f32::INFINITY, f32::min);
        assert!((0..1000).all(|at| if sent[at] == 0.0 {
            gradient[at].abs() <= least
        } else {
            sent[at] == gradient[at]
        }));
    }
}

#[test]
fn constants_and_zeros_survive() {
    for method in METHODS {
        for length in [0, 1, 5, 600] {
            let zeros = message_of(method, &vec![0.0; length]).decompress().unwrap();
            assert_eq!(zeros, vec![0.0; length], "{method:?}, {length} zeros");
            let sent = message_of(method, &vec![-0.7; length]).decompress().unwrap();
            assert!(sent.iter().all(|value| [-0.7, 0.0].contains(value)), "{method:?}, {length} values");
            let is_complete = !matches!(method, Method::TopK(_));
            assert!(!is_complete || sent == vec![-0.7; length], "{method:?}, {length} values");
        }
    }
}

#[test]
fn the_bytes_saved_are_those_of_the_message() {
    let gradient = numbers(100_000, 5);
    for (method, low, high) in [
        (Method::None, -0.001, 0.0),
        (LARGEST, 0.918, 0.919),
        (Method::TopK(Count::Share(0.001)), 0.997, 0.999),
        (Method::Threshold(Cutoff::Zeros(0.95)), 0.912, 0.925),
        (EIGHT, 0.745, 0.747),
        (FOUR, 0.870, 0.872),
    ] {
        let message = message_of(method, &gradient);
        assert_eq!(message.saved(), 1.0 - message.bytes().len() as f64 / 400_000.0);
        assert!((low..=high).contains(&message.saved()), "{method:?}: {}, expected {low} to {high}", message.saved());
        assert_eq!(Message::parse(message.bytes()).unwrap(), message);
        assert_eq!(message.clone().into_bytes(), message.bytes());
    }
}

#[test]
fn a_threshold_is_found_for_a_share_of_zeros() {
    for length in [2000, 200_000] {
        for share in [0.0, 0.5, 0.8, 0.95, 0.99] {
            let sent = message_of(Method::Threshold(Cutoff::Zeros(share)), &numbers(length, 2)).decompress().unwrap();
            let zeros = sent.iter().filter(|value| **value == 0.0).count() as f64 / length as f64;
            assert!((zeros - share).abs() < 0.02, "{length} values: {zeros} zeros, expected {share}");
        }
    }
}

/// Every byte of a message is covered by its checksum or decides where that is.
#[test]
fn damaged_messages_are_refused() {
    for method in METHODS {
        let bytes = message_of(method, &numbers(77, 1)).into_bytes();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            assert!(Message::parse(&changed).is_err(), "{method:?}: byte {at} changed");
            assert!(Message::parse(&bytes[..at]).is_err(), "{method:?}: cut to {at} bytes");
        }
        assert!(Message::parse(&[&bytes[..], &[0]].concat()).is_err(), "{method:?}: one byte more");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let bytes = message_of(Method::None, &[1.0, 2.0]).into_bytes();
    let refused = |bytes: &[u8]| Message::parse(bytes).unwrap_err().to_string();
    assert_eq!(refused(&bytes[..30]), "compress: message: size: got 30 bytes, expected 36");
    assert_eq!(refused(b"GIF89a"), "compress: message: first bytes: got \"GIF8\", expected \"MGRD\"");
    let mut changed = bytes.clone();
    changed[26] ^= 1;
    assert!(refused(&changed).starts_with("compress: message: checksum: got "));

    let mut with_nan = bytes.clone();
    with_nan[28..32].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(refused(&resealed(with_nan)), "compress: message: value 1: got NaN, expected a finite number");
    let mut newer = bytes.clone();
    newer[4] = 2;
    assert_eq!(refused(&resealed(newer)), "compress: message: version: got 2, expected 1");
    let mut unknown = bytes.clone();
    unknown[6] = 9;
    assert_eq!(refused(&resealed(unknown)), "compress: message: encoding: got 9, expected below 5");
    let mut longer = bytes.clone();
    longer[8] = 3;
    assert_eq!(refused(&resealed(longer)), "compress: message: values: got 8 bytes, expected 12");

    let mut compressor = Compressor::new(LARGEST).unwrap();
    let mut refused = |gradient: &[f32]| compressor.compress("layer.weight", gradient).unwrap_err().to_string();
    assert_eq!(refused(&[0.0, f32::NAN]), "compress: layer.weight[1]: got NaN, expected a finite number");
    assert_eq!(refused(&[f32::NEG_INFINITY]), "compress: layer.weight[0]: got -inf, expected a finite number");
    compressor.compress("w", &[f32::MAX; 40]).unwrap();
    let before = compressor.save();
    let mut refused = |gradient: &[f32]| compressor.compress("w", gradient).unwrap_err().to_string();
    assert_eq!(refused(&[f32::MAX; 40]), "compress: w[2] with its residual: got inf, expected a finite number");
    assert_eq!(refused(&[1.0; 41]), "compress: w: got 41 values, expected 40 as in earlier calls");
    assert_eq!(compressor.save(), before);
    let sum = message_of(LARGEST, &[1.0; 4]).add_to(&mut [0.0; 3], 1.0).unwrap_err().to_string();
    assert_eq!(sum, "compress: sum: got 3 values, expected 4 as in the message");
    for method in [
        Method::TopK(Count::Exactly(0)),
        Method::TopK(Count::Share(0.0)),
        Method::TopK(Count::Share(f64::NAN)),
        Method::Threshold(Cutoff::Magnitude(-1.0)),
        Method::Threshold(Cutoff::Zeros(1.0)),
    ] {
        let error = Compressor::new(method).unwrap_err().to_string();
        assert!(error.starts_with("compress: t") && error.contains(": got ") && error.contains("expected"), "{error}");
    }
}

/// The bytes with the checksum that belongs to them: CRC-32, bit by bit.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 4);
    let mut sum = u32::MAX;
    for byte in &bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    bytes.extend_from_slice(&(!sum).to_le_bytes());
    bytes
}

#[test]
fn saved_residuals_continue_where_they_were() {
    for method in METHODS {
        let mut first = Compressor::new(method).unwrap();
        for step in 0..3 {
            first.compress("a", &numbers(300, step)).unwrap();
            first.compress("ß", &numbers(20, step)).unwrap();
        }
        let bytes = first.save();
        let mut second = Compressor::new(method).unwrap();
        second.load(&bytes).unwrap();
        for step in 3..6 {
            let gradient = numbers(300, step);
            assert_eq!(first.compress("a", &gradient).unwrap(), second.compress("a", &gradient).unwrap(), "{method:?}");
        }
        for at in 0..bytes.len() {
            assert!(second.load(&bytes[..at]).is_err(), "{method:?}: cut to {at} bytes");
        }
        first.reset();
        assert_eq!(first.save(), Compressor::new(method).unwrap().save());
    }
}

#[test]
fn random_rounding_depends_on_seed_name_and_call() {
    let gradient = numbers(500, 1);
    let with = |seed, name: &str, calls: usize| {
        let rounding = Rounding::Stochastic { seed };
        let method = Method::Quantize { bits: Bits::Four, rounding };
        let mut compressor = Compressor::new(method).unwrap().without_feedback();
        (0..calls).map(|_| compressor.compress(name, &gradient).unwrap()).last().unwrap()
    };
    assert_eq!(with(1, "a", 1), with(1, "a", 1));
    assert!([with(2, "a", 1), with(1, "b", 1), with(1, "a", 2)].iter().all(|other| *other != with(1, "a", 1)));
}

// Training: 4 workers have a quarter of the rows each and send their gradients compressed; the mean of what arrives moves the parameters.

const WORKERS: usize = 4;
const INPUTS: usize = 20;
const HIDDEN: usize = 32;
const CLASSES: usize = 5;
const ROWS: usize = 1600;
const BATCH: usize = 40;
/// Top-k of 5 % sends a value about every 20 steps; training takes much longer than this delay.
const STEPS: usize = 1000;
const SEEDS: u64 = 3;

struct Task {
    x: Vec<f32>,
    labels: Vec<u32>,
}

/// Classes by a random linear rule; inputs have very different scales, so that some parameters always have small gradients. A tenth of the labels
/// are random.
fn task(seed: u64) -> Task {
    let noise = numbers(ROWS * INPUTS, 100 + seed);
    let scale = |input: usize| (-(input as f32) * 0.25).exp2();
    let rule = numbers(INPUTS * CLASSES, 200 + seed);
    let x: Vec<f32> = noise.iter().enumerate().map(|(at, v)| 3.0 * v * scale(at % INPUTS)).collect();
    let odd = numbers(ROWS, 300 + seed);
    let label = |row: usize| {
        let score = |class: usize| -> f32 {
            (0..INPUTS).map(|input| noise[row * INPUTS + input] * rule[input * CLASSES + class]).sum()
        };
        let best = (0..CLASSES).max_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap_or(0);
        if odd[row].abs() > 0.73 { row as u32 % CLASSES as u32 } else { best as u32 }
    };
    let labels = (0..ROWS).map(label).collect();
    Task { x, labels }
}

const SHAPES: [(&str, &[usize]); 4] =
    [("w1", &[INPUTS, HIDDEN]), ("b1", &[HIDDEN]), ("w2", &[HIDDEN, CLASSES]), ("b2", &[CLASSES])];

/// Parameters on a device, and the scores of rows and their loss.
fn forward(device: &Device, parameters: &[Vec<f32>], x: &[f32], labels: &[u32]) -> Result<(Vec<Var>, Var, Var)> {
    let leaf = |(values, (_, shape)): (&Vec<f32>, &(&str, &[usize]))| {
        Tensor::from_f32(device, shape.to_vec(), values).map(Var::leaf)
    };
    let leaves = parameters.iter().zip(&SHAPES).map(leaf).collect::<Result<Vec<Var>>>()?;
    let x = Var::constant(Tensor::from_f32(device, [labels.len(), INPUTS], x)?);
    let hidden = ops::tanh(&(&ops::matmul(&x, &leaves[0]) + &leaves[1]));
    let scores = &ops::matmul(&hidden, &leaves[2]) + &leaves[3];
    let picked = ops::pick(&ops::log_softmax(&scores), &Tensor::from_u32(device, [labels.len()], labels)?);
    let loss = -&ops::mean(&picked, 0..1);
    Ok((leaves, scores, loss))
}

fn gradients(device: &Device, parameters: &[Vec<f32>], x: &[f32], labels: &[u32]) -> Result<Vec<Vec<f32>>> {
    let (leaves, _, loss) = forward(device, parameters, x, labels)?;
    let gradients = ops::grad(&loss, &leaves.iter().collect::<Vec<_>>())?;
    let read = |gradient: Option<Var>| block_on(gradient.expect("every parameter is used").value().to_f32());
    gradients.into_iter().map(read).collect()
}

/// The loss of all rows, and the share of them that are classified right.
fn judged(device: &Device, parameters: &[Vec<f32>], task: &Task) -> Result<[f64; 2]> {
    let (_, scores, loss) = forward(device, parameters, &task.x, &task.labels)?;
    let loss = block_on(loss.value().to_f32())?[0];
    let scores = block_on(scores.value().to_f32())?;
    let best = |row: &[f32]| (0..CLASSES).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap_or(0);
    let right = scores.chunks(CLASSES).zip(&task.labels).filter(|(row, label)| best(row) == **label as usize);
    Ok([f64::from(loss), right.count() as f64 / ROWS as f64])
}

/// Loss and accuracy after training with this compressor at each worker.
fn trained(device: &Device, task: &Task, seed: u64, compressor: &Compressor) -> Result<[f64; 2]> {
    let size = |shape: &[usize]| shape.iter().product::<usize>();
    let mut parameters: Vec<Vec<f32>> =
        SHAPES.iter().zip(0..).map(|((_, shape), at)| numbers(size(shape), 10 * seed + at)).collect();
    let mut compressors = vec![compressor.clone(); WORKERS];
    let own = ROWS / WORKERS;
    for step in 0..STEPS {
        let mut means: Vec<Vec<f32>> = SHAPES.iter().map(|(_, shape)| vec![0.0; size(shape)]).collect();
        for (worker, compressor) in compressors.iter_mut().enumerate() {
            let start = worker * own + step * BATCH % own;
            let (x, labels) = (&task.x[start * INPUTS..(start + BATCH) * INPUTS], &task.labels[start..start + BATCH]);
            let gradients = gradients(device, &parameters, x, labels)?;
            for ((gradient, (name, _)), mean) in gradients.iter().zip(&SHAPES).zip(&mut means) {
                let message = compressor.compress(name, gradient)?;
                Message::parse(message.bytes())?.add_to(mean, 1.0 / WORKERS as f32)?;
            }
        }
        let rate = 0.5 * (1.0 - step as f32 / STEPS as f32);
        let moved = parameters.iter_mut().flatten().zip(means.iter().flatten());
        moved.for_each(|(parameter, mean)| *parameter -= rate * mean);
    }
    judged(device, &parameters, task)
}

#[test]
fn training_with_feedback_ends_where_training_without_compression_ends() {
    let device = Device::cpu(1);
    let of = |method| Compressor::new(method).unwrap();
    let mean = |compressor: &Compressor| {
        let runs = (0..SEEDS).map(|seed| trained(&device, &task(seed), seed, compressor).unwrap());
        let [loss, accuracy] = runs.fold([0.0; 2], |sums, run| [sums[0] + run[0], sums[1] + run[1]]);
        [loss / SEEDS as f64, accuracy / SEEDS as f64]
    };
    let [loss, accuracy] = mean(&of(Method::None));
    for (what, compressor) in [("top-k", of(LARGEST)), ("4 bits", of(FOUR)), ("4 bits at random", of(RANDOM))] {
        let [got, right] = mean(&compressor);
        assert!((got / loss - 1.0).abs() < 0.01, "{what}: loss {got}, expected {loss}");
        assert!((right - accuracy).abs() < 0.01, "{what}: accuracy {right}, expected {accuracy}");
    }
    let [got, right] = mean(&of(LARGEST).without_feedback());
    assert!(got > 1.1 * loss && right < accuracy - 0.02, "without feedback: loss {got}, accuracy {right}");
}

//! Cases of both retrievals, from one oracle in f64.

use half::f16;

use super::{Cue, FIGURES, FLOOR, Lookup, Retrieval, Sizes, Storage};
use crate::device::{Case, Expected};
use crate::kernels::evidence::{Numbers, case, within, words};

/// Cases: one key, none that is filled, odd widths, several tiles of keys, a wide state, a query's own row in memory, both phases and losses.
pub fn cases() -> Vec<Case> {
    let sizes = [[1, 1, 1, 1], [3, 9, 8, 5], [5, 130, 3, 8], [4, 300, 8, 17], [6, 129, 2, 200]];
    let each = sizes.into_iter().flat_map(|[rows, keys, coordinates, width]| {
        let sizes = Sizes { rows, keys, coordinates, width };
        [(Cue::CrossEntropy, true), (Cue::Squared, true), (Cue::Squared, false)]
            .map(|(cue, is_symmetric)| example(Some((cue, Storage::Floats)), sizes, keys, retrieval(is_symmetric)))
    });
    // An odd number of halves, and several tiles.
    let halves = [[3, 9, 8, 5], [4, 300, 8, 17]].map(|[rows, keys, coordinates, width]| {
        let sizes = Sizes { rows, keys, coordinates, width };
        example(Some((Cue::Squared, Storage::Halves)), sizes, keys - 1, retrieval(true))
    });
    let part = Sizes { rows: 3, keys: 70, coordinates: 4, width: 6 };
    let cross_entropy = Some((Cue::CrossEntropy, Storage::Floats));
    each.chain(halves).chain([0, 1, 33].map(|filled| example(cross_entropy, part, filled, retrieval(true)))).collect()
}

/// Cases: the same with classes.
pub fn cases_of_classes() -> Vec<Case> {
    let sizes = [[1, 1, 1], [3, 9, 8], [5, 130, 3], [4, 1500, 9], [40, 300, 64]];
    let each = sizes.into_iter().flat_map(|[rows, keys, coordinates]| {
        let sizes = Sizes { rows, keys, coordinates, width: 1 };
        [true, false].map(|is_symmetric| example(None, sizes, keys, long(is_symmetric)))
    });
    let part = Sizes { rows: 3, keys: 70, coordinates: 4, width: 1 };
    // At four times the sharpness a row's own class may be out of sight.
    let sharp = Retrieval { sharpness: 12.0, ..long(true) };
    let hard = example(None, Sizes { rows: 12, keys: 60, coordinates: 6, width: 1 }, 60, sharp);
    each.chain([0, 1, 33].map(|filled| example(None, part, filled, long(true)))).chain([hard]).collect()
}

/// With as many steps as a share takes to rest.
fn long(is_symmetric: bool) -> Retrieval {
    Retrieval { steps: 64, ..retrieval(is_symmetric) }
}

fn retrieval(is_symmetric: bool) -> Retrieval {
    Retrieval { sharpness: 3.0, nudge: 0.1, is_symmetric, steps: 24, rate: 0.25, epsilon: 1e-6 }
}

/// Classes of the random memories.
const CLASSES: u32 = 3;

/// Without a cue states are classes.
fn example(form: Option<(Cue, Storage)>, sizes: Sizes, filled: usize, retrieval: Retrieval) -> Case {
    let cue = form.map(|form| form.0);
    let is_packed = form.is_some_and(|form| form.1 == Storage::Halves);
    let Sizes { rows, keys, coordinates, width } = sizes;
    let mut numbers = Numbers::new(61);
    let (queries, memory) = (numbers.floats(rows * coordinates), numbers.floats(keys * coordinates));
    let mut drawn = |count: usize| -> Vec<Vec<f32>> {
        match cue {
            None => numbers.indices(count, CLASSES).iter().map(|&class| vec![class as f32]).collect(),
            Some(_) => {
                (0..count).map(|_| numbers.floats(width).iter().map(|x| x.abs() / width as f32).collect()).collect()
            }
        }
    };
    let (mut states, targets) = (drawn(keys), drawn(rows));
    if is_packed {
        states.iter_mut().flatten().for_each(|x| *x = f16::from_f32(*x).to_f32());
    }
    // Every fifth key is no candidate; query r has the row of key 2 r.
    let id = |key: usize| if key % 5 == 4 { -1.0 } else { key as f32 };
    let with_id = |states: &[Vec<f32>], id: &dyn Fn(usize) -> f32| -> Vec<f32> {
        states.iter().enumerate().flat_map(|(at, state)| [&state[..], &[id(at)]].concat()).collect()
    };
    let inputs = [
        words(&queries),
        words(&memory),
        if is_packed { packed(&states, &id) } else { words(&with_id(&states, &id)) },
        words(&with_id(&targets, &|row| 2.0 * row as f32)),
        words(&[filled as f32, 1.25]),
    ];
    let (mut pulls, mut found) = (Vec::new(), Vec::new());
    for (row, target) in targets.iter().enumerate() {
        let oracle = Oracle {
            distances: (0..filled)
                .map(|key| {
                    let apart =
                        |i: usize| f64::from(memory[i * keys + key]) - f64::from(queries[row * coordinates + i]);
                    let square: f64 = (0..coordinates).map(|i| apart(i).powi(2)).sum();
                    (id(key) >= 0.0 && key != 2 * row).then(|| (square + f64::from(retrieval.epsilon)).sqrt())
                })
                .collect(),
            states: states.iter().map(|state| shown(cue, state)).collect(),
            target: shown(cue, target),
            cue: cue.unwrap_or(Cue::CrossEntropy),
            retrieval,
            rests: cue.is_none(),
        };
        let (pull, figures, mix) = oracle.row();
        pulls.extend(pull.into_iter().chain(std::iter::repeat(0.0)).take(keys));
        found.extend(figures);
        found.extend(if cue.is_some() { mix } else { vec![mix[target[0] as usize]] });
    }
    let name = format!(
        "{} {sizes:?}, {filled} filled, {}",
        form.map_or("classes".into(), |form| format!("{form:?}")),
        retrieval.is_symmetric
    );
    // A difference of weights over 2 b: half a unit of a weight is 10 times as much in a pull, and R / distance times that.
    let expected = vec![Expected::Floats(pulls), Expected::Floats(found)];
    case(name, within(1e-4, 3e-5), inputs.into(), expected, |inputs, out| {
        let [queries, keys, states, targets, control] = std::array::from_fn(|at| inputs[at].clone());
        let lookup = Lookup { queries, keys, states, targets, control };
        let out = [out[0].clone(), out[1].clone()];
        match form {
            Some(form) => retrieval.mixed(form, sizes, lookup, out),
            None => retrieval.of_classes(sizes, lookup, out),
        }
    })
}

/// States as halves, two in a word, then the numbers of their rows.
fn packed(states: &[Vec<f32>], id: &dyn Fn(usize) -> f32) -> Vec<u32> {
    let halves: Vec<u32> = states.iter().flatten().map(|x| u32::from(f16::from_f32(*x).to_bits())).collect();
    let pairs = halves.chunks(2).map(|pair| pair[0] | pair.get(1).map_or(0, |high| high << 16));
    pairs.chain((0..states.len()).map(|key| id(key).to_bits())).collect()
}

/// A state as a vector: of a class, the unit vector.
fn shown(cue: Option<Cue>, state: &[f32]) -> Vec<f64> {
    match cue {
        Some(_) => state.iter().map(|&x| f64::from(x)).collect(),
        None => (0..CLASSES).map(|class| f64::from(u8::from(class as f32 == state[0]))).collect(),
    }
}

/// One query: distances of the candidates, `None` for keys that are none.
struct Oracle {
    distances: Vec<Option<f64>>,
    states: Vec<Vec<f64>>,
    target: Vec<f64>,
    cue: Cue,
    retrieval: Retrieval,
    /// Whether phases go on until they rest.
    rests: bool,
}

impl Oracle {
    fn row(&self) -> (Vec<f64>, [f64; FIGURES], Vec<f64>) {
        let free = self.weights(0.0, &[]);
        let y = self.mix(&free);
        let own: f64 = y.iter().zip(&self.target).map(|(y, t)| y * t).sum();
        let squares: f64 = y.iter().zip(&self.target).map(|(y, t)| 0.5 * (y - t).powi(2)).sum();
        let loss = if self.cue == Cue::Squared { squares } else { -(own + FLOOR).ln() };
        let apart: f64 = free.iter().zip(&self.distances).map(|(w, d)| w * d.unwrap_or(0.0)).sum();
        let entropy = free.iter().filter(|w| **w > 0.0).map(|w| w * w.ln()).sum();
        let nudge = f64::from(self.retrieval.nudge);
        let up = self.nudged(&y, nudge);
        let (down, over) =
            if self.retrieval.is_symmetric { (self.nudged(&y, -nudge), 2.0 * nudge) } else { (free, nudge) };
        let pull = |((up, down), apart): ((&f64, &f64), &Option<f64>)| {
            apart.map_or(0.0, |apart| 1.25 * (up - down) / over / apart)
        };
        (up.iter().zip(&down).zip(&self.distances).map(pull).collect(), [loss, 1.25 * apart, apart, entropy], y)
    }

    fn nudged(&self, free: &[f64], nudge: f64) -> Vec<f64> {
        // Classes rest; the relaxation of vectors may be on its way.
        let (steps, rate) =
            if self.rests { (600, 0.05) } else { (self.retrieval.steps, f64::from(self.retrieval.rate)) };
        let mut y = free.to_vec();
        for _ in 0..steps {
            let mix = self.mix(&self.weights(nudge, &y));
            y.iter_mut().zip(mix).for_each(|(y, mix)| *y += rate * (mix - *y));
        }
        self.weights(nudge, &y)
    }

    fn weights(&self, nudge: f64, y: &[f64]) -> Vec<f64> {
        let own = y.iter().zip(&self.target).map(|(y, t)| y * t).sum::<f64>() + FLOOR;
        let slope = |y: f64, t: f64| if self.cue == Cue::Squared { y - t } else { -t / own };
        let logits = self.distances.iter().zip(&self.states).map(|(distance, state)| {
            let error: f64 = state.iter().zip(y.iter().zip(&self.target)).map(|(s, (&y, &t))| s * slope(y, t)).sum();
            distance.map(|distance| -f64::from(self.retrieval.sharpness) * (1.25 * distance + nudge * error))
        });
        let logits: Vec<Option<f64>> = logits.collect();
        let top = logits.iter().flatten().copied().fold(f64::MIN, f64::max);
        let total: f64 = logits.iter().flatten().map(|logit| (logit - top).exp()).sum();
        logits.iter().map(|logit| logit.map_or(0.0, |logit| (logit - top).exp() / total)).collect()
    }

    fn mix(&self, weights: &[f64]) -> Vec<f64> {
        let column = |i: usize| weights.iter().zip(&self.states).map(|(w, state)| w * state[i]).sum();
        (0..self.target.len()).map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Tiles;
    use crate::kernels::evidence::device;

    /// A window of 64 steps over 256 keys of 8 numbers fits; 2,048 keys of 64 numbers do not. Only llvmpipe has the limit.
    #[test]
    fn llvmpipe_refuses_loops_that_it_would_end_early() {
        let retrieval = Retrieval { steps: 64, ..retrieval(true) };
        let sizes = |keys, width| Sizes { rows: 8, keys, coordinates: 8, width };
        let named = |name: &str| crate::device::Info { name: name.into(), ..device(Tiles::FewLarge) };
        let check = |name: &str, sizes, is_classes| retrieval.check(&named(name), sizes, is_classes);
        assert!(check("llvmpipe (LLVM 15)", sizes(256, 8), false).is_ok());
        let said = check("llvmpipe (LLVM 15)", sizes(2048, 64), false).expect_err("too many").to_string();
        assert!(said.contains("ends loops after 65535 rounds: got 4"), "{said}");
        assert!(check("NVIDIA H100", sizes(2048, 64), false).is_ok());
        // 32 tiles of 8 coordinates and 3 passes, and 2 x 64 steps.
        assert_eq!(retrieval.rounds(sizes(4096, 1), true), 32 * 11 + 128);
        assert!(check("llvmpipe (LLVM 15)", sizes(1 << 20, 1), true).is_err());
    }
}

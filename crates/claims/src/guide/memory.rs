//! Memory: recomputation of cheap results, work in place, messages.

use std::cell::Cell;
use std::rc::Rc;

use pollster::block_on;

use crate::measures::{data, noise, settings};
use crate::{BATCH, Bench, Claim, INPUTS, WIDTH};
use meromorph::autograd::Var;
use meromorph::compress::{Bits, Compressor, Cutoff, Method, Rounding};
use meromorph::device::{Block, Memory, MemoryWatch, Recompute};
use meromorph::nn::{Activation, Layer, LayerNorm, Residual, Spec};
use meromorph::ops;
use meromorph::optim::Optimizer;
use meromorph::tensor::Tensor;
use meromorph::train::{Trainer, TrainerConfig};
use meromorph::{Device, Result};
use meromorph_tenflowers::InPlace;

/// Operations below which a launch counts as cheap: those of a matrix product here are 33 million.
const CHEAP: u64 = 2_000_000;
/// Products in a row.
const PRODUCTS: usize = 1000;

/// Bytes that were taken.
#[derive(Default)]
struct Taken(Cell<u64>);

impl MemoryWatch for Taken {
    fn taken(&self, block: Block) {
        self.0.set(self.0.get() + block.bytes);
    }

    fn released(&self, _: Memory, _: u64) {}
}

/// Bytes that `work` takes from a device, with those that it gives back.
fn taken(device: &Device, work: impl FnOnce() -> Result<()>) -> Result<u64> {
    let watch = Rc::new(Taken::default());
    device.watch_memory(Some(watch.clone()));
    let done = work();
    device.watch_memory(None);
    done.map(|()| watch.0.get())
}

impl Bench<'_> {
    /// A trainer of blocks x + gelu(linear(norm(x))).
    fn blocks(&self, blocks: usize, settings: TrainerConfig) -> Result<Trainer> {
        let gelu = Activation::parse("gelu")?;
        let plain = Spec::mlp(INPUTS, &[WIDTH, WIDTH], 1, gelu);
        let inner =
            vec![Layer::LayerNorm(LayerNorm { epsilon: 1e-5 }), plain.layers[2].clone(), plain.layers[3].clone()];
        let block = Layer::Residual(Residual { layers: inner });
        let mut layers = plain.layers;
        let last = layers.split_off(4);
        layers.truncate(2);
        layers.extend(std::iter::repeat_n(block, blocks));
        layers.extend(last);
        let mut trainer = Trainer::new(self.device, Spec { inputs: INPUTS, layers }, settings, data(BATCH))?;
        trainer.prepare()?;
        Ok(trainer)
    }

    pub(crate) fn selective(&self) -> Result<Vec<Claim>> {
        let blocks = if self.is_quick { 4 } else { 24 };
        let bytes = |trainer: &Trainer| trainer.step_summary().transient_bytes as f64;
        let mut plain = self.blocks(blocks, settings())?;
        let mut less = self.blocks(blocks, TrainerConfig { recompute: Recompute::Cheap(CHEAP), ..settings() })?;
        let saved = 100.0 * (1.0 - bytes(&less) / bytes(&plain));
        let slower = self.slower([&mut plain, &mut less], 2)?;
        let bits = |trainer: &Trainer| -> Result<Vec<u32>> {
            Ok(block_on(trainer.parameters())?.iter().map(|value| value.to_bits()).collect())
        };
        let is_same = bits(&plain)? == bits(&less)?;
        Ok(vec![
            Claim {
                what: format!(
                    "{blocks} blocks of norm, linear and GELU, cheap results made again: at least 40 % less memory between the passes"
                ),
                how: "bytes of the intermediate results of a step; cheap are launches below 2 million operations",
                figure: format!("{saved:.1} % less"),
                is_met: Some(saved >= 40.0),
            },
            Claim {
                what: "the same: at most 30 % more time, and the same gradients".into(),
                how: "time of a step; bits of all weights after those steps",
                figure: format!("{}, {}", slower.text(), if is_same { "the same" } else { "different" }),
                is_met: Some(slower.is_at_most(30.0) && is_same),
            },
        ])
    }

    pub(crate) fn in_place(&self) -> Result<Vec<Claim>> {
        let count = if self.is_quick { 1 << 12 } else { 1 << 20 };
        let products = if self.is_quick { 10 } else { PRODUCTS };
        let decay = Var::constant(Tensor::from_f32(self.device, [1], &[0.999])?);
        let mut value = Var::constant(Tensor::from_f32(self.device, [count], &noise(count, 3))?);
        let apart = |value: &mut Var, times: usize| -> Result<()> {
            for _ in 0..times {
                *value = ops::mul(value, &decay);
                self.device.flush()?;
            }
            block_on(self.first(value)).map(drop)
        };
        let within = |value: &mut Var, times: usize| -> Result<()> {
            (0..times).try_for_each(|_| value.mul_inplace(&decay))?;
            block_on(self.first(value)).map(drop)
        };
        let new = taken(self.device, || apart(&mut value, products))?;
        let same = taken(self.device, || within(&mut value, products))?;
        let saved = 100.0 * (1.0 - same as f64 / new as f64);
        let times = products / 20 + 1;
        let (mut a, mut b) = (value.clone(), value);
        let (_, ratio) = self.benchmark("products").compare(|| apart(&mut a, times), || within(&mut b, times))?;
        let faster = 1.0 / ratio.median;
        Ok(vec![
            Claim {
                what: "products in place take 90 % less memory than with new tensors".into(),
                how: "bytes taken from the device by 1,000 products of 1,048,576 numbers, each run at once",
                figure: format!("{} and {} MiB, {saved:.1} % less", new >> 20, same >> 20),
                is_met: Some(saved >= 90.0),
            },
            Claim {
                what: "and are twice as fast".into(),
                how: "time of 51 such products; blocks of memory are reused in both",
                figure: format!("{faster:.2} times as fast ({:.2} to {:.2})", 1.0 / ratio.high, 1.0 / ratio.low),
                is_met: Some(faster >= 2.0),
            },
        ])
    }

    /// Waits for the first number of a value.
    pub(super) async fn first(&self, value: &Var) -> Result<u32> {
        let view = value.value().view();
        Ok(self.device.read(&view.part(0, 1)).await?[0])
    }

    /// The gradient of a model's first step, by the change that plain descent makes.
    fn gradient(&self, layers: usize, width: usize) -> Result<Vec<f32>> {
        let settings = TrainerConfig { optimizer: Optimizer::sgd(0.0)?, lr: 1.0, ..settings() };
        let mut trainer = self.trainer(layers, width, settings)?;
        let before = block_on(trainer.parameters())?;
        trainer.advance(1)?;
        let after = block_on(trainer.parameters())?;
        Ok(before.iter().zip(after).map(|(before, after)| before - after).collect())
    }

    pub(crate) fn message_sizes(&self) -> Result<Vec<Claim>> {
        let models: &[(usize, usize)] = if self.is_quick { &[(2, 16)] } else { &[(3, 64), (4, WIDTH), (24, WIDTH)] };
        let gradients =
            models.iter().map(|&(layers, width)| self.gradient(layers, width)).collect::<Result<Vec<_>>>()?;
        let saved = |method: Method| -> Result<Vec<f64>> {
            let one = |gradient: &Vec<f32>| Ok(100.0 * Compressor::new(method)?.compress("all", gradient)?.saved());
            gradients.iter().map(one).collect()
        };
        let text = |shares: &[f64]| shares.iter().map(|share| format!("{share:.1} %")).collect::<Vec<_>>().join(", ");
        let eight = saved(Method::Quantize { bits: Bits::Eight, rounding: Rounding::Nearest })?;
        let above = saved(Method::Threshold(Cutoff::Magnitude(1e-4)))?;
        let how = "length of the message for the first gradient of 8-64-64-64-1, of 4 and of 24 layers";
        Ok(vec![
            Claim {
                what: "8 bits for each value save about 75 % of a gradient's bytes (74 to 76 %)".into(),
                how,
                figure: text(&eight),
                is_met: Some(eight.iter().all(|share| (74.0..=76.0).contains(share))),
            },
            Claim {
                what: "leaving out what is smaller than 1e-4 saves at least 80 %".into(),
                how,
                figure: text(&above),
                is_met: Some(above.iter().all(|share| *share >= 80.0)),
            },
        ])
    }
}

//! Compression of gradients, by the guide's names.

use super::value::AsVar;
use meromorph::compress::{Bits, Compressor, Count, Cutoff, Message, Method, Rounding};
use meromorph::error::{Error, Result};
use pollster::block_on;

/// How gradients are compressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CompressionMethod {
    /// Not at all.
    None,
    /// Each value in 4 or 8 bits.
    Quantization {
        /// The bits.
        bits: u8,
    },
    /// The values of at least this size.
    Sparsification {
        /// The size.
        threshold: f32,
    },
    /// So many of the largest values.
    TopK {
        /// How many.
        k: usize,
    },
}

/// Configuration of a [`GradientCompressor`]; the default is the guide's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressionConfig {
    /// The method.
    pub method: CompressionMethod,
    /// Whether what a message leaves out is added to the next.
    pub error_feedback: bool,
    /// Gradients with fewer values are sent as they are.
    pub min_tensor_size: usize,
}

impl Default for CompressionConfig {
    fn default() -> Self {
        let method = CompressionMethod::Sparsification { threshold: 1e-4 };
        Self { method, error_feedback: true, min_tensor_size: 1024 }
    }
}

impl CompressionConfig {
    fn method(&self) -> Result<Method> {
        Ok(match self.method {
            CompressionMethod::None => Method::None,
            CompressionMethod::Sparsification { threshold } => Method::Threshold(Cutoff::Magnitude(threshold)),
            CompressionMethod::TopK { k } => Method::TopK(Count::Exactly(k)),
            CompressionMethod::Quantization { bits: 4 } => {
                Method::Quantize { bits: Bits::Four, rounding: Rounding::Nearest }
            }
            CompressionMethod::Quantization { bits: 8 } => {
                Method::Quantize { bits: Bits::Eight, rounding: Rounding::Nearest }
            }
            CompressionMethod::Quantization { bits } => {
                return Err(Error::usage(format!("compression: bits: got {bits}, expected 4 or 8")));
            }
        })
    }
}

/// Compresses gradients by name.
///
/// ```
/// use meromorph_tenflowers::{CompressionConfig, CompressionMethod, GradientCompressor, GradientTape};
/// use meromorph::prelude::*;
///
/// let config = CompressionConfig { method: CompressionMethod::TopK { k: 50 }, ..CompressionConfig::default() };
/// let mut compressor = GradientCompressor::with_config(config);
/// let tape = GradientTape::new();
/// let values: Vec<f32> = (0..2000).map(|i| (i as f32 * 0.7).sin()).collect();
/// let w = tape.watch(Tensor::from_f32(tape.device(), [2000], &values)?);
/// let gradients = tape.gradient(&[ops::sum(&ops::mul(&w, &w), 0..1)], &[&w])?;
/// let message = compressor.compress(gradients[0].as_ref().unwrap(), "layer1.weight")?;
/// assert!(message.sent() == 50 && message.saved() > 0.9);
/// # Ok::<(), Error>(())
/// ```
pub struct GradientCompressor {
    config: CompressionConfig,
    /// The error says which number of the configuration is wrong.
    compressor: Result<Compressor>,
    whole: Result<Compressor>,
}

impl GradientCompressor {
    /// With a method. A number of it that is out of range is an error of [`GradientCompressor::compress`].
    pub fn with_config(config: CompressionConfig) -> Self {
        let compressor = config.method().and_then(Compressor::new);
        let feedback = |one: Compressor| if config.error_feedback { one } else { one.without_feedback() };
        Self { config, compressor: compressor.map(feedback), whole: Compressor::new(Method::None) }
    }

    /// Waits for a gradient and compresses it with what earlier messages of the name have left out.
    pub fn compress(&mut self, gradient: &impl AsVar, name: &str) -> Result<Message> {
        let compressor = self.compressor.as_mut().map_err(|error| error.clone())?;
        let values = block_on(gradient.var().value().to_f32())?;
        let is_small = values.len() < self.config.min_tensor_size;
        let whole = self.whole.as_mut().map_err(|error| error.clone())?;
        if is_small { whole } else { compressor }.compress(name, &values)
    }

    /// The values of a message.
    pub fn decompress(&self, message: &Message) -> Result<Vec<f32>> {
        message.decompress()
    }
}

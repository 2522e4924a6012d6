//! Gradients become messages, and what a message leaves out becomes the residual of its name.

use std::collections::BTreeMap;

use super::blocks;
use super::bytes::check_finite;
use super::encoding::Encoding;
use super::message::{Message, checked_length};
use super::method::{Cutoff, Method, Rounding};
use super::select;
use super::state::{self, State};
use crate::error::{Error, Result};
use crate::math::splitmix::{STEP, mixed};

/// Makes messages of gradients and keeps a residual for each name.
///
/// After each call, what was sent plus the residual is gradient plus earlier residual, as f32 adds them: exactly, but for a rounding of f32
/// (at most 2^-24 of a block's level) if the method rounds at random.
#[derive(Clone, Debug)]
pub struct Compressor {
    method: Method,
    has_feedback: bool,
    states: BTreeMap<String, State>,
}

impl Compressor {
    /// A compressor with error feedback. Errors if a parameter of the method is out of range.
    pub fn new(method: Method) -> Result<Self> {
        let method = method.checked().map_err(|error| error.within("compress"))?;
        Ok(Self { method, has_feedback: true, states: BTreeMap::new() })
    }

    /// The same without error feedback: what a message leaves out is lost.
    pub fn without_feedback(self) -> Self {
        Self { has_feedback: false, ..self }
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The message for a gradient and the residual of its name, which becomes what this message leaves out.
    ///
    /// Errors, and keeps the residual, if a value is not finite, if its sum with the residual is not, or if an earlier gradient of this name
    /// had another length.
    pub fn compress(&mut self, name: &str, gradient: &[f32]) -> Result<Message> {
        self.compressed(name, gradient).map_err(|error| error.within("compress"))
    }

    fn compressed(&mut self, name: &str, gradient: &[f32]) -> Result<Message> {
        checked_length(gradient.len() as u64).map_err(|error| error.within(name))?;
        check_finite(gradient.iter().copied(), |at| format!("{name}[{at}]"))?;
        let earlier = self.states.get(name);
        let calls = earlier.map_or(0, |state| state.calls);
        let residual = earlier.filter(|_| self.has_feedback).map_or(&[][..], |state| &state.residual);
        let mut values = gradient.to_vec();
        if !residual.is_empty() {
            if residual.len() != gradient.len() {
                let (got, expected) = (gradient.len(), residual.len());
                return Err(Error::usage(format!("{name}: got {got} values, expected {expected} as in earlier calls")));
            }
            values.iter_mut().zip(residual).for_each(|(value, residual)| *value += residual);
            check_finite(values.iter().copied(), |at| format!("{name}[{at}] with its residual"))?;
        }
        let message = encoded(self.method, &values, name, calls);
        message.visit(|place, sent| values[place] -= sent);
        let leaves_nothing = !self.has_feedback || self.method == Method::None;
        let residual = if leaves_nothing { Vec::new() } else { values };
        self.states.insert(name.to_owned(), State { calls: calls + 1, residual });
        Ok(message)
    }

    /// What the messages of a name have left out so far; absent if there are none, or if nothing is left out.
    pub fn residual(&self, name: &str) -> Option<&[f32]> {
        self.states.get(name).map(|state| &state.residual[..]).filter(|residual| !residual.is_empty())
    }

    /// Forgets all residuals and numbers of calls.
    pub fn reset(&mut self) {
        self.states.clear();
    }

    /// Residuals and numbers of calls as bytes, for a checkpoint.
    pub fn save(&self) -> Vec<u8> {
        state::write(&self.states)
    }

    /// Replaces residuals and numbers of calls by saved ones: the next messages are then those that the saved compressor would have made, if the
    /// method is the same. Errors, and changes nothing, if the bytes are cut short or changed.
    pub fn load(&mut self, bytes: &[u8]) -> Result<()> {
        self.states = state::read(bytes).map_err(|error| error.within("compress: residuals"))?;
        Ok(())
    }
}

fn encoded(method: Method, values: &[f32], name: &str, calls: u64) -> Message {
    match method {
        Method::TopK(count) if count.of(values.len()) < values.len() => {
            Message::kept(values, select::largest(values, count.of(values.len())))
        }
        Method::None | Method::TopK(_) => Message::all(values),
        Method::Threshold(cutoff) => {
            let least = match cutoff {
                Cutoff::Magnitude(least) => least,
                Cutoff::Zeros(share) => select::cutoff(values, share),
            };
            Message::kept(values, |_, value| value != 0.0 && value.abs() >= least)
        }
        Method::Quantize { bits, rounding } => Message::with(values.len(), |out| {
            match rounding {
                Rounding::Nearest => blocks::write(out, values, bits, |_| None),
                Rounding::Stochastic { seed } => {
                    let key = draws_key(seed, name, calls);
                    blocks::write(out, values, bits, |place| Some(draw(key, place)));
                }
            }
            Encoding::Levels(bits)
        }),
    }
}

/// The start of the random numbers of a call.
fn draws_key(seed: u64, name: &str, calls: u64) -> u64 {
    let of_name = mixed(seed.wrapping_add(u64::from(crc32fast::hash(name.as_bytes())).wrapping_mul(STEP)));
    mixed(of_name.wrapping_add(calls.wrapping_mul(STEP)))
}

/// From 0 up to 1, in steps of 2^-24.
fn draw(key: u64, place: usize) -> f32 {
    let word = mixed(key.wrapping_add(STEP.wrapping_mul(place as u64 + 1)));
    (word >> 40) as f32 / (1 << 24) as f32
}

//! Compression of gradients that are sent between machines, with error feedback.
//!
//! A [`Compressor`] makes a [`Message`] of each gradient by a [`Method`] and keeps what the message leaves out, so that later messages send it:
//!
//! ```text
//! v = g + e        e: the residual of the earlier messages, 0 at first
//! q = decompress(compress(v))
//! e = v - q
//! ```
//!
//! What was sent and the residual add up to the true gradients, which is why training still converges (Stich and others 2018, "Sparsified SGD with
//! memory"; Karimireddy and others 2019, "Error feedback fixes SignSGD"). The largest values of a gradient carry most of it (Lin and others 2018,
//! "Deep gradient compression"). Stochastic rounding to few levels keeps the mean of a gradient (Alistarh and others 2017, "QSGD").
//!
//! ```
//! use meromorph::compress::{Compressor, Count, Message, Method};
//!
//! let gradient: Vec<f32> = (0..10_000).map(|i| (i as f32 * 0.7).sin()).collect();
//! let mut compressor = Compressor::new(Method::TopK(Count::Share(0.05)))?;
//! let message = compressor.compress("layer.weight", &gradient)?;
//! assert!(message.saved() > 0.9);
//!
//! // On another machine:
//! let received = Message::parse(message.bytes())?;
//! let mut sum = vec![0.0; 10_000];
//! received.add_to(&mut sum, 0.25)?;
//! assert_eq!(received.sent(), 500);
//! # Ok::<(), meromorph::Error>(())
//! ```
//!
//! Sending the messages, and the sum over machines, are left to others.

mod blocks;
mod bytes;
mod compressor;
mod encoding;
mod message;
mod method;
mod select;
mod sparse;
mod state;

pub use compressor::Compressor;
pub use message::Message;
pub use method::{Bits, Count, Cutoff, Method, Rounding};

//! The other figures of the guide of TenfloweRS: what it says of recomputation of some results, work in place, 16 bits, limits, messages, tapes, Newton's
//! method, and the cost of a step.

mod memory;
mod method;
mod speed;

//! The list of ops without ⊥ that a model file can hold.

use super::record::OpRecord;
use super::{cast, custom, index, layer, matmul, normalize, pointwise, reduce, repeat, shape, slice};

/// Every op here that a model file can hold. To add one: its record, next to the op, and its name here.
pub static RECORDS: &[&OpRecord] = &[
    &pointwise::MAP,
    &pointwise::CONSTANT,
    &matmul::MATMUL,
    &layer::LAYER,
    &shape::RESHAPE,
    &shape::BROADCAST_TO,
    &shape::PERMUTE,
    &shape::STACK,
    &slice::SLICE,
    &slice::PAD,
    &reduce::SUM,
    &reduce::MAX,
    &reduce::ARGMAX,
    &index::TAKE_ROWS,
    &index::ADD_ROWS,
    &index::PICK,
    &index::PLACE,
    &normalize::SOFTMAX,
    &normalize::LOG_SOFTMAX,
    &normalize::LOGSUMEXP,
    &normalize::LAYER_NORM,
    &cast::CAST,
    &custom::CUSTOM,
    &custom::DETACH,
    &custom::SCALE_GRADIENT,
    &custom::STRAIGHT_THROUGH,
    &repeat::REPEAT,
    &repeat::SCAN,
];

//! A pass over the rows: the model and its derivatives there, summed in double precision, or in single precision on a device.

pub(super) mod device_sums;
pub(super) mod group_sums;
pub(super) mod model;
pub(super) mod normal;
pub(super) mod single;
pub(super) mod sums;
pub(super) mod tile;

//! A pass over the rows: the model and its derivatives there, summed in double precision, or in single precision on a device.

pub(super) mod device_sums;
mod group_sums;
pub(super) mod model;
mod moments;
pub(super) mod normal;
mod single;
mod sums;
mod tile;

pub(super) use device_sums::DeviceSums;
pub(super) use group_sums::GroupSums;
pub(super) use model::{Memory, Model};
pub(super) use normal::{Bad, Normal, Objective, Partial};
pub(super) use single::{Sample, Single};
pub(super) use sums::Sums;
pub(super) use tile::Triangle;

//! A trained model for other places: an ONNX graph that decodes strictly, and a folder of files that vouch for each other.

mod bundle;
mod metadata;
mod narrow;
mod onnx;
mod validate;

pub use bundle::write_bundle;
pub use metadata::{Contract, Encoding, Metadata, Record, Size, TensorInfo, canonical, digest};
pub use narrow::{Comparison, compare, narrowed};
pub use onnx::{OPSET, write_onnx};
pub use validate::{ValidatedBundle, validate_bundle};

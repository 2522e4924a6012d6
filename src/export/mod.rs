//! Exports of a trained model: an ONNX graph with strict decoding, a bundle with hashes of its files, and a page and a package that
//! predict in a browser.

mod bundle;
mod metadata;
mod narrow;
mod onnx;
mod package;
mod page;
mod tensor_info;
mod validate;

pub use bundle::write_bundle;
pub use metadata::{Contract, Encoding, Metadata, Record, canonical, digest};
pub use narrow::{Comparison, compare, narrowed};
pub use onnx::{OPSET, write_onnx};
pub use package::{PARTS_FOLDER, package_name, write_package};
pub use page::{PAGE_FILE, write_page};
pub use tensor_info::{Size, TensorInfo};
pub use validate::{ValidatedBundle, validate_bundle};

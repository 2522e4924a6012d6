//! The exports of a browser: ONNX, which needs no files.

mod onnx;
mod tensor_info;

pub use onnx::{OPSET, write_onnx};
pub use tensor_info::{Size, TensorInfo};

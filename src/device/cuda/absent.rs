//! The entry of a build without the CUDA device: it names the missing feature.

use std::future::ready;

use crate::device::backend::Entry;
use crate::error::Error;

pub(in crate::device) static ENTRY: Entry = Entry {
    name: "cuda",
    summary: "is not in this build, which lacks the feature \"cuda\" (`cargo install --path . --features cuda`)",
    is_here: false,
    is_choice: false,
    open: |_| {
        Box::pin(ready(Err(Error::usage(
            "device \"cuda\" is not in this build: got one without the feature \"cuda\", expected `cargo install --path . --features cuda`; \"webgpu\" runs on NVIDIA GPUs as well",
        ))))
    },
    list: || Box::pin(ready(Vec::new())),
};

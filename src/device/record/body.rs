//! What a launch gets besides its kernel: a body, which is work as data, and on the CPU its bindings as slices.

use std::any::Any;
use std::rc::Rc;

use super::product::Product;
use crate::host::ThreadPool;

/// Work that a kernel takes as data: a program of scalar ops or a choice of fragments. Devices only see its text.
pub trait Body: Any + Send + Sync {
    /// The WGSL declarations that the kernel's own fragments call.
    fn wgsl(&self) -> String;
    /// Fields of the uniform that are worth compiling in, because its launches repeat with them very often: sizes that loops run to. A device that
    /// compiles for itself may do so. The uniform's words are `params`.
    fn sizes(&self, params: &[u32]) -> &'static [&'static str] {
        let _ = params;
        &[]
    }
    /// What its launch computes, if that is a matrix product and nothing else, for a device with a library for those.
    fn product(&self, params: &[u32]) -> Option<Product> {
        let _ = params;
        None
    }
}

/// A body shared between the recording and the plans made from it.
pub type SharedBody = Rc<dyn Body>;

/// The arguments of a CPU path: the bindings of one dispatch as slices of words.
pub struct Call<'a> {
    /// The `Params` uniform, as words.
    pub params: &'a [u32],
    /// The dispatch's body, if the kernel takes one.
    pub body: Option<&'a dyn Body>,
    /// Input buffers in binding order.
    pub inputs: &'a [&'a [u32]],
    /// Output buffers in binding order; they may also be read.
    pub outputs: &'a mut [&'a mut [u32]],
    /// The threads to use.
    pub pool: &'a ThreadPool,
}

impl<'a> Call<'a> {
    /// The uniform as the kernel's own `Params`.
    pub fn params<P: bytemuck::AnyBitPattern>(&self) -> P {
        bytemuck::pod_read_unaligned(bytemuck::cast_slice(self.params))
    }

    /// Input `at` as floats.
    pub fn floats(&self, at: usize) -> &'a [f32] {
        bytemuck::cast_slice(self.inputs[at])
    }

    /// Output `at` as floats.
    pub fn floats_mut(&mut self, at: usize) -> &mut [f32] {
        bytemuck::cast_slice_mut(self.outputs[at])
    }

    /// The body as the kernel's own type.
    pub fn body<B: Body>(&self) -> &'a B {
        let body: &'a dyn Any = self.body.expect("the kernel takes a body");
        body.downcast_ref().expect("the body is of the kernel's type")
    }
}

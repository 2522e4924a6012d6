//! Tensors: a shape and a type over a view of a device buffer. Lazy: creating one only records the launch that will fill it.

mod form;
mod shape;

use bytemuck::cast_slice;

pub use form::Form;
pub use shape::Shape;

use crate::device::{Command, Device, Dispatch, View};
use crate::error::Result;
use crate::kernels::pointwise::{IterationSpace, MAX_INPUTS};
use crate::kernels::reduce::Join;
use crate::kernels::{map, reduce};
use crate::program::Program;

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DType {
    /// 32-bit float, one per word.
    F32,
    /// 32-bit unsigned integer, one per word: indices, random bits.
    U32,
    /// 16-bit float, two per word: storage only.
    F16,
}

impl DType {
    /// Words that hold `count` elements.
    pub fn words(self, count: usize) -> usize {
        match self {
            Self::F32 | Self::U32 => count,
            Self::F16 => count.div_ceil(2),
        }
    }
}

/// A row-major array on a device. Clones share it.
#[derive(Clone)]
pub struct Tensor {
    device: Device,
    view: View,
    shape: Shape,
    dtype: DType,
}

impl Tensor {
    /// A tensor with no contents yet, for a launch to fill.
    pub fn empty(device: &Device, shape: impl Into<Shape>, dtype: DType) -> Self {
        let shape = shape.into();
        assert!(u32::try_from(shape.len()).is_ok(), "tensor: {shape} has too many elements: expected less than 2^32");
        let words = dtype.words(shape.len());
        let buffer = if dtype == DType::F32 { device.floats(words) } else { device.buffer(words) };
        let view = buffer.view();
        Self { device: device.clone(), view, shape, dtype }
    }

    /// Uploads floats; `data` has as many as the shape.
    pub fn from_f32(device: &Device, shape: impl Into<Shape>, data: &[f32]) -> Result<Self> {
        Self::from_words(device, shape, DType::F32, cast_slice(data))
    }

    /// Uploads unsigned integers.
    pub fn from_u32(device: &Device, shape: impl Into<Shape>, data: &[u32]) -> Result<Self> {
        Self::from_words(device, shape, DType::U32, data)
    }

    /// Floats for code that records and cannot fail: if the device refuses them, whatever uses the tensor fails with the reason.
    #[track_caller]
    pub fn constant(device: &Device, shape: impl Into<Shape>, data: &[f32]) -> Self {
        let tensor = Self { view: device.constant(cast_slice(data)).view(), ..Self::empty(device, shape, DType::F32) };
        assert_eq!(tensor.len(), data.len(), "tensor: {} needs other than {} numbers", tensor.shape, data.len());
        tensor
    }

    /// The same for indices.
    #[track_caller]
    pub fn indices(device: &Device, shape: impl Into<Shape>, data: &[u32]) -> Self {
        let tensor = Self { view: device.constant(data).view(), ..Self::empty(device, shape, DType::U32) };
        assert_eq!(tensor.len(), data.len(), "tensor: {} needs other than {} indices", tensor.shape, data.len());
        tensor
    }

    #[track_caller]
    fn from_words(device: &Device, shape: impl Into<Shape>, dtype: DType, data: &[u32]) -> Result<Self> {
        let tensor = Self { view: device.upload(data)?.view(), ..Self::empty(device, shape, dtype) };
        assert_eq!(
            dtype.words(tensor.len()),
            data.len(),
            "tensor: number of words does not match shape {}: got {}",
            tensor.shape,
            data.len()
        );
        Ok(tensor)
    }

    /// A tensor over part of an existing buffer, for example parameters inside the flat parameter buffer.
    pub fn over(device: &Device, view: View, shape: impl Into<Shape>) -> Self {
        Self { device: device.clone(), view, shape: shape.into(), dtype: DType::F32 }
    }

    /// One value, broadcast wherever it is used.
    pub fn scalar(device: &Device, value: f32) -> Self {
        Self::map(device, Program::build(0, |_| value.into()), &[], &Shape::from([]))
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Its words on the device.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// Its shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Its shape and type.
    pub fn form(&self) -> Form {
        Form { shape: self.shape.clone(), dtype: self.dtype }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.shape.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same words with another shape of as many elements.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Self {
        let shape = shape.into();
        assert_eq!(
            shape.len(),
            self.len(),
            "reshape: {} has {} elements, {shape} has {}",
            self.shape,
            self.len(),
            shape.len()
        );
        Self { shape, ..self.clone() }
    }

    /// Records a launch.
    pub fn launch(&self, dispatch: Dispatch) {
        self.device.record(Command::Dispatch(dispatch));
    }

    /// Runs a program over tensors, each broadcast to `shape`.
    #[track_caller]
    pub fn map(device: &Device, program: Program, inputs: &[&Self], shape: &Shape) -> Self {
        let strides: Vec<[u32; 4]> = inputs.iter().map(|input| input.shape.broadcast_strides(shape)).collect();
        Self::strided(device, program, inputs, &strides, shape)
    }

    /// Runs a program over tensors read by strides into `shape`.
    pub fn strided(device: &Device, program: Program, inputs: &[&Self], strides: &[[u32; 4]], shape: &Shape) -> Self {
        let out = Self::empty(device, shape.clone(), DType::F32);
        let space = space(shape.dims(), strides);
        let views = inputs.iter().map(|input| input.floats().clone()).collect();
        out.launch(map::dispatch(program, space, views, out.view.clone()));
        out
    }

    /// Reduces along `axes` (a run of neighbouring axes), which are removed. A sum is multiplied by `scale`.
    #[track_caller]
    pub fn reduce(&self, join: Join, axes: std::ops::Range<usize>, scale: f32) -> Self {
        let sizes = self.shape.sizes();
        let size = |range: std::ops::Range<usize>| sizes[range].iter().product::<usize>();
        let (outer, extent, inner) = (size(0..axes.start), size(axes.clone()), size(axes.end..sizes.len()));
        assert!(
            extent > 0 || join == Join::Sum,
            "reduce: {} has no elements along {axes:?}, so no largest value",
            self.shape
        );
        let kept: Vec<usize> = sizes[..axes.start].iter().chain(&sizes[axes.end..]).copied().collect();
        let dtype = if join == Join::Argmax { DType::U32 } else { DType::F32 };
        // One workgroup reads a chunk; long extents with few results are reduced in two stages.
        let chunk = if join != Join::Argmax && extent > 16_384 && outer * inner < 256 { 4096 } else { extent.max(1) };
        let chunks = extent.div_ceil(chunk).max(1);
        let program = Program::build(1, |values| values[0]);
        let shape = Shape::from(kept);
        let partial = if chunks == 1 { shape.clone() } else { Shape::from([outer, chunks, inner]) };
        let out = Self::empty(&self.device, partial, dtype);
        let space = space(self.shape.dims(), &[self.shape.broadcast_strides(&self.shape)]);
        let last_scale = if chunks == 1 { scale } else { 1.0 };
        let layout = [outer as u32, extent as u32, inner as u32];
        let (views, result) = (vec![self.floats().clone()], out.view.clone());
        out.launch(reduce::dispatch(join, program, space, layout, chunk as u32, last_scale, views, result));
        if chunks == 1 { out } else { out.reduce(join, 1..2, scale).reshape(shape) }
    }

    /// Records a copy of this tensor's words into a view.
    pub fn copy_into(&self, target: &View) {
        assert_eq!(target.words, self.view.words, "copy: lengths differ");
        self.device.record(Command::Copy { from: self.view.clone(), to: target.clone() });
    }

    /// Waits for its value and returns its floats.
    pub async fn to_f32(&self) -> Result<Vec<f32>> {
        Ok(bytemuck::cast_vec(self.device.read(self.floats()).await?))
    }

    /// Waits for its value and returns its integers.
    pub async fn to_u32(&self) -> Result<Vec<u32>> {
        assert_eq!(self.dtype, DType::U32, "to_u32: got {:?}, expected U32", self.dtype);
        self.device.read(&self.view).await
    }

    #[track_caller]
    fn floats(&self) -> &View {
        assert_eq!(self.dtype, DType::F32, "tensor: got {:?}, expected F32", self.dtype);
        &self.view
    }
}

fn space(dims: [u32; 4], strides: &[[u32; 4]]) -> IterationSpace {
    let mut space = IterationSpace { dims, strides: [[0; 4]; MAX_INPUTS] };
    space.strides[..strides.len()].copy_from_slice(strides);
    space
}

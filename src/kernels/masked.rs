//! Pointwise programs in masked form: out[i], ⊥[i] = total(x0[i], x1[i], …) over up to four dimensions, inputs broadcast by stride 0.
//! A value is a float or ⊥. ⊥ is a bit (bit i of word w is element 32 w + i, tail bits 0), and the value under it is exactly 0; it absorbs in
//! every scalar op. Inputs that are not finite are ⊥ by fault. The planes of a tensor are its words of ⊥ bits and, if faults are kept, from
//! word `plane_words` on the bits of those ⊥ that came from a fault (overflow, an input that is not finite).

mod cases;
mod cpu;
mod engine;
mod text;

use std::any::Any;
use std::rc::Rc;

use super::common;
use super::pointwise::{IterationSpace, MAX_INPUTS, Pointwise};
use crate::device::{Cost, Dispatch, Kernel, View, groups};
use crate::params;
use crate::program::Program;
use crate::record;

pub use cases::cases;

/// The `masked` kernel.
pub static MASKED: Kernel = Kernel {
    name: "masked",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, common::INDEX, common::TOTAL, crate::wgsl!("common/powers"), crate::wgsl!("masked")],
    cpu: cpu::run,
    grid: |dispatch| groups(dispatch.params::<Params>().count as usize, 1024),
    cost: |dispatch| Cost {
        flops: body(dispatch).pointwise.program.operations() * u64::from(dispatch.params::<Params>().count),
        bytes: dispatch.bytes(),
    },
    fuse: None,
    in_place: None,
};

params! {
    /// The index space, the offset of each input's faults in its planes, and the product of `dims`.
    pub struct Params {
        dims: [u32; 4],
        strides: [[u32; 4]; MAX_INPUTS],
        fault_at: [u32; 8],
        count: u32,
    }
}

/// The bit planes of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planes {
    /// None: an element that is not finite is ⊥.
    Bare,
    /// One bit per element: ⊥.
    Bottom,
    /// Two bits per element: ⊥, and ⊥ by a fault.
    Fault,
}

record! { enum Planes { Bare, Bottom, Fault } }

/// Words from the start of a tensor's planes to its faults: enough for `count` bits, rounded up so that a view can begin there.
pub fn plane_words(count: usize) -> usize {
    count.div_ceil(2048) * 64
}

/// Number of words of `planes` for `count` elements.
pub fn planes_words(planes: Planes, count: usize) -> usize {
    match planes {
        Planes::Bare => 0,
        Planes::Bottom => count.div_ceil(32),
        Planes::Fault => plane_words(count) + count.div_ceil(32),
    }
}

/// A program in masked form and its inputs: the kernel's body.
pub struct Total {
    /// The program and the access of its inputs.
    pub pointwise: Pointwise,
    /// The planes of each input.
    pub planes: Vec<Planes>,
    /// Whether the result's faults are written.
    pub has_fault: bool,
}

/// An input: its values, their number, and its planes.
#[derive(Clone)]
pub struct Operand {
    /// The values.
    pub values: View,
    /// Their planes.
    pub planes: Option<(Planes, View)>,
}

/// A launch of `program` over `space`: values into `out`, ⊥ (and faults, if `has_fault`) into `out_planes`.
#[track_caller]
pub fn dispatch(
    program: Program,
    space: IterationSpace,
    inputs: &[Operand],
    out: View,
    out_planes: View,
    has_fault: bool,
) -> Dispatch {
    let mut fault_at = [0; 8];
    for (place, input) in fault_at.iter_mut().zip(inputs) {
        *place = plane_words(input.values.words) as u32;
    }
    let planes = inputs.iter().map(|input| input.planes.as_ref().map_or(Planes::Bare, |(planes, _)| *planes)).collect();
    let bits = inputs.iter().filter_map(|input| input.planes.as_ref().map(|(_, view)| view.clone()));
    let views: Vec<View> = inputs.iter().map(|input| input.values.clone()).chain(bits).collect();
    assert!(
        views.len() + 2 <= MAX_INPUTS + 1,
        "masked: too many buffers: got {} inputs with planes in {} buffers, expected at most {}",
        inputs.len(),
        views.len(),
        MAX_INPUTS - 1
    );
    let params = Params { dims: space.dims, strides: space.strides, fault_at, count: space.len() as u32 };
    let body = Rc::new(Total { pointwise: Pointwise::over(program, &space), planes, has_fault });
    Dispatch {
        kernel: &MASKED,
        body: Some(body),
        params: params.words(),
        inputs: views,
        outputs: vec![out, out_planes],
    }
}

fn body(dispatch: &Dispatch) -> &Total {
    let body: &dyn Any = &**dispatch.body.as_ref().expect("a masked dispatch has a program");
    body.downcast_ref().expect("its body is a program in masked form")
}

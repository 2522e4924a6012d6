//! Builds the kernels' cases: placeholder views for a kernel's own `dispatch`, whose launch is then kept as data, and numbers from a
//! fixed seed. Used only by tests, benches and the `bench` command.

use crate::device::{Bound, Case, Device, Dispatch, Execution, Expected, Info, Tiles, View};

/// Initial contents of outputs, so that an element that is never written shows.
const UNWRITTEN: u32 = 0xdead_beef;

/// A case: `launch` gets views of the inputs and of the outputs (their lengths follow from `expected`) and makes the dispatch.
pub fn case(
    name: impl Into<String>,
    bound: Bound,
    inputs: Vec<Vec<u32>>,
    expected: Vec<Expected>,
    launch: impl FnOnce(&[View], &[View]) -> Dispatch,
) -> Case {
    let lent: Vec<View> = inputs.iter().map(|words| scratch(words.len())).collect();
    let outputs: Vec<Vec<u32>> = expected.iter().map(|expected| vec![UNWRITTEN; expected.words()]).collect();
    let made: Vec<View> = outputs.iter().map(|words| scratch(words.len())).collect();
    let dispatch = launch(&lent, &made);
    // A fused dispatch may read its inputs in another order, or one of them twice.
    let place = |view: &View, among: &[View]| {
        among
            .iter()
            .position(|known| known.buffer.is(&view.buffer))
            .expect("a case's dispatch uses only the views it was given")
    };
    let order: Vec<usize> = dispatch.outputs.iter().map(|view| place(view, &made)).collect();
    Case {
        name: name.into(),
        kernel: dispatch.kernel,
        body: dispatch.body.clone(),
        params: dispatch.params.clone(),
        inputs: dispatch.inputs.iter().map(|view| inputs[place(view, &lent)].clone()).collect(),
        outputs: order.iter().map(|&at| outputs[at].clone()).collect(),
        expected: order.iter().map(|&at| expected[at].clone()).collect(),
        bound,
    }
}

/// A view without memory, for an intermediate result that fusion removes.
pub fn scratch(words: usize) -> View {
    Device::dry().buffer(words).view()
}

/// A GPU for which work is split so.
pub fn device(tiles: Tiles) -> Info {
    Info {
        device: "webgpu",
        name: String::new(),
        driver: String::new(),
        execution: Execution::Shaders,
        tiles,
        is_software: tiles != Tiles::ManySmall,
        // At most as many as the cases are run on.
        threads: 2,
        max_binding_bytes: 0,
        workgroup_bytes: 0,
        subgroup: 1,
        features: Vec::new(),
    }
}

/// The bound |got - expected| <= relative · |expected| + absolute.
pub const fn within(relative: f64, absolute: f64) -> Bound {
    Bound::Within { relative, absolute }
}

/// Floats as the words of a buffer.
pub fn words(values: &[f32]) -> Vec<u32> {
    bytemuck::cast_slice(values).to_vec()
}

/// Numbers from a fixed seed (`SplitMix64`).
pub struct Numbers(u64);

impl Numbers {
    /// Each seed has its own sequence.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 32 bits.
    pub fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 32) as u32
    }

    /// `count` floats in [-1, 1).
    pub fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| (self.word() >> 8) as f32 / 8_388_608.0 - 1.0).collect()
    }

    /// `count` indices below `limit`.
    pub fn indices(&mut self, count: usize, limit: u32) -> Vec<u32> {
        (0..count).map(|_| self.word() % limit).collect()
    }
}

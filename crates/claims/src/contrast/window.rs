//! One window of the contrastive rule: both nudged phases, the gradient from the pulls, a step of metric and angles. Its phases run in one launch, as
//! the engine's own windows do, or are composed of ops step by step, as Trainer2 does it, so that each thing that is saved can be measured.

use std::cell::Cell;

use meromorph::autograd::Var;
use meromorph::contrast::{
    Cue, Form, Lookup, Map, Metric, Retrieval, Rotors, Sizes, Storage, gradients_by_map, stepped,
};
use meromorph::device::Device;
use meromorph::internal::kernels::retrieve::FIGURES;
use meromorph::internal::math::splitmix::{STEP, mixed};
use meromorph::tensor::{DType, Tensor};
use meromorph::{Result, ops};
use pollster::block_on;

use super::composed::{Composed, Saving};

/// Rows, slots of the memory, and numbers of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// What it is called.
    pub name: &'static str,
    /// Queries of a window.
    pub rows: usize,
    /// Slots of the memory.
    pub keys: usize,
    /// Numbers of a state.
    pub width: usize,
}

/// Coordinates of a query.
pub(super) const COORDINATES: usize = 8;

/// How the phases of a window run.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Phases {
    /// In one launch.
    Kernel(Storage),
    /// In ops, a step after the other.
    Composed(&'static [Saving]),
}

/// What varies between the windows that are compared.
#[derive(Clone, Copy)]
pub(super) struct Setting {
    pub size: Size,
    pub phases: Phases,
    pub steps: u32,
    pub nudge: f32,
    /// Slots that are filled.
    pub filled: usize,
    /// Slots that hold a candidate: as many as are filled, or fewer.
    pub candidates: usize,
    /// Whether the keys are mapped before the window, for angles that do not change.
    pub is_mapped_before: bool,
    /// Whether the step is the host's, after the window.
    pub is_step_on_host: bool,
}

impl Setting {
    pub(super) fn new(size: Size, phases: Phases) -> Self {
        let (filled, candidates) = (size.keys, size.keys);
        Self {
            size,
            phases,
            steps: 64,
            nudge: 0.1,
            filled,
            candidates,
            is_mapped_before: false,
            is_step_on_host: false,
        }
    }
}

/// A window with its data on a device.
pub(super) struct Window {
    pub device: Device,
    pub setting: Setting,
    pub retrieval: Retrieval,
    map: Map,
    /// Its parameters, which each window changes.
    pub parameters: Vec<Tensor>,
    pub x: Var,
    pub y: Var,
    weight: Var,
    pub keys: Var,
    /// As the kernel takes them, and the numbers alone.
    pub states: [Var; 2],
    packed: Option<Tensor>,
    mapped: Option<Var>,
    control: Var,
    /// The gradient by the map.
    gradient: Tensor,
    /// Sums of a composed window.
    pub sums: Tensor,
    /// Whether each op runs at once.
    pub is_eager: Cell<bool>,
}

impl Window {
    /// The same random data for every setting of a size.
    pub(super) fn new(device: &Device, setting: Setting) -> Result<Self> {
        let Size { rows, keys, width, .. } = setting.size;
        let map = Map::new(COORDINATES, Form::Metric(Metric::Diagonal, Some(Rotors::ring(COORDINATES, 6)?)))?;
        let retrieval = Retrieval {
            sharpness: 2.0,
            nudge: setting.nudge,
            is_symmetric: true,
            steps: setting.steps,
            rate: 0.25,
            epsilon: 1e-6,
        };
        let constant = |shape: [usize; 2], values: &[f32]| -> Result<Var> {
            Ok(Var::constant(Tensor::from_f32(device, shape, values)?))
        };
        let numbers: Vec<f32> = random(keys * width, 2).iter().map(|x| x / (width as f32).sqrt()).collect();
        let id = |key: usize| if key < setting.candidates { key as f32 } else { -1.0 };
        let states: Vec<f32> =
            numbers.chunks_exact(width).enumerate().flat_map(|(key, row)| [row, &[id(key)]].concat()).collect();
        let targets: Vec<f32> = random(rows * width, 3).iter().map(|x| x / (width as f32).sqrt()).collect();
        let targets: Vec<f32> = targets.chunks_exact(width).flat_map(|row| [row, &[-1.0]].concat()).collect();
        let control = Tensor::from_f32(device, [2], &[setting.filled as f32, 1.0])?;
        Ok(Self {
            device: device.clone(),
            setting,
            retrieval,
            map,
            parameters: vec![
                Tensor::from_f32(device, [COORDINATES], &[0.0; COORDINATES])?,
                Tensor::from_f32(device, [6], &[0.1, -0.2, 0.3, 0.2, -0.1, 0.4])?,
            ],
            x: constant([rows, COORDINATES], &random(rows * COORDINATES, 4))?,
            y: constant([rows, width + 1], &targets)?,
            weight: constant([rows, 1], &vec![1.0; rows])?,
            keys: constant([keys, COORDINATES], &random(keys * COORDINATES, 5))?,
            states: [constant([keys, width + 1], &states)?, constant([keys, width], &numbers)?],
            packed: None,
            mapped: None,
            control: Var::constant(control),
            gradient: Tensor::from_f32(device, [COORDINATES; 2], &[0.0; COORDINATES * COORDINATES])?,
            sums: Tensor::from_f32(device, [2], &[0.0; 2])?,
            is_eager: Cell::new(false),
        }
        .ready())
    }

    /// With the parts that are made once and not in each window.
    fn ready(self) -> Self {
        let Size { keys, width, .. } = self.setting.size;
        let packed = (self.setting.phases == Phases::Kernel(Storage::Halves)).then(|| {
            let words = (keys * width).div_ceil(2);
            let all = Tensor::empty(&self.device, [words + keys], DType::U32);
            ops::cast(&self.states[1], DType::F16).value().copy_into(&all.view().part(0, words));
            let ids = ops::slice(&self.states[0], 1, width..width + 1);
            ids.value().copy_into(&all.view().part(words, keys));
            all
        });
        let mapped = self.setting.is_mapped_before.then(|| self.mapped(&self.matrix(&self.leaves())));
        Self { packed, mapped, ..self }
    }

    fn leaves(&self) -> Vec<Var> {
        self.parameters.iter().map(|value| Var::leaf(value.clone())).collect()
    }

    fn matrix(&self, leaves: &[Var]) -> Var {
        self.map.matrix(leaves)
    }

    /// The keys under a map, [coordinates, keys].
    pub(super) fn mapped(&self, matrix: &Var) -> Var {
        ops::product(matrix, &self.keys, false, true)
    }

    /// Runs what is recorded so far, if each op runs at once.
    pub(super) fn done(&self, value: Var) -> Result<Var> {
        if self.is_eager.get() {
            self.device.flush()?;
        }
        Ok(value)
    }

    /// Records a window, which changes the parameters.
    pub(super) fn record(&self) -> Result<()> {
        let leaves = self.leaves();
        let matrix = self.done(self.matrix(&leaves))?;
        let queries = self.done(ops::product(&self.x, &matrix, false, true))?;
        let mapped = match &self.mapped {
            Some(mapped) => mapped.clone(),
            None => self.done(self.mapped(&matrix))?,
        };
        let pulls = match self.setting.phases {
            Phases::Kernel(storage) => self.launched(storage, &queries, &mapped)?,
            Phases::Composed(savings) => {
                Composed { window: self, savings, matrix: &matrix, queries: &queries, mapped: &mapped }.pulls()?
            }
        };
        let rows = [&self.x, &queries];
        let [gradient, _] = gradients_by_map(&pulls, &self.weight, rows, [&self.keys, &mapped]);
        let gradient = self.done(gradient)?;
        gradient.value().copy_into(self.gradient.view());
        if self.setting.is_step_on_host {
            return self.done(gradient).map(drop);
        }
        self.step(&leaves, &matrix, &gradient)
    }

    fn launched(&self, storage: Storage, queries: &Var, mapped: &Var) -> Result<Var> {
        let Size { rows, keys, width, .. } = self.setting.size;
        let sizes = Sizes { rows, keys, coordinates: COORDINATES, width };
        let outputs = [keys, FIGURES + width].map(|columns| Tensor::empty(&self.device, [rows, columns], DType::F32));
        let view = |var: &Var| var.value().view().clone();
        let lookup = Lookup {
            queries: view(queries),
            keys: view(mapped),
            states: self.packed.as_ref().map_or_else(|| view(&self.states[0]), |packed| packed.view().clone()),
            targets: view(&self.y),
            control: view(&self.control),
        };
        let views = outputs.each_ref().map(|output| output.view().clone());
        outputs[0].launch(self.retrieval.mixed((Cue::Squared, storage), sizes, lookup, views));
        let [pulls, _] = outputs;
        self.done(Var::constant(pulls))
    }

    /// A step of metric and angles, on the device.
    pub(super) fn step(&self, leaves: &[Var], matrix: &Var, gradient: &Var) -> Result<()> {
        let all: Vec<&Var> = leaves.iter().collect();
        let gradients = ops::grad_with_seed(matrix, gradient, &all)?;
        let rows = self.setting.size.rows as f32;
        for (((name, rate), value), gradient) in RATES.iter().zip(leaves).zip(&gradients) {
            let gradient = gradient.as_ref().expect("the map has both parameters");
            let new = stepped(name, value, gradient, rate / rows);
            new.value().copy_into(self.parameters[usize::from(*name == "angles")].view());
        }
        self.done(matrix.clone()).map(drop)
    }

    /// Only the step of a window, with the gradient that the last one left.
    pub(super) fn record_step(&self) -> Result<()> {
        let leaves = self.leaves();
        let matrix = self.matrix(&leaves);
        self.step(&leaves, &matrix, &Var::constant(self.gradient.clone()))
    }

    /// The same step on the host: three values are read, and two are written.
    pub(super) fn step_on_host(&self) -> Result<()> {
        let read = |tensor: &Tensor| block_on(tensor.to_f32());
        let (log, angles, gradient) = (read(&self.parameters[0])?, read(&self.parameters[1])?, read(&self.gradient)?);
        let [log, angles] = super::host::step(&log, &angles, &gradient, self.setting.size.rows as f32)?;
        for (tensor, values) in self.parameters.iter().zip([log, angles]) {
            let view = tensor.view();
            self.device.write(&view.buffer, view.offset, &values.iter().map(|x| x.to_bits()).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Waits for the parameters, and gives them.
    pub(super) fn wait(&self) -> Result<Vec<f32>> {
        let mut all = Vec::new();
        for tensor in &self.parameters {
            all.extend(block_on(tensor.to_f32())?);
        }
        Ok(all)
    }

    /// The gradient by the map that the last window left.
    pub(super) fn gradient(&self) -> Result<Vec<f32>> {
        block_on(self.gradient.to_f32())
    }
}

/// Numbers of mean 0 and variance 1, drawn on the host: the dry device has none.
fn random(count: usize, stream: u64) -> Vec<f32> {
    let share = |at: u64| mixed(STEP.wrapping_mul(at + 1).wrapping_add(stream)) as f64 / 2_f64.powi(64);
    (0..count as u64).map(|at| ((share(at) - 0.5) * 12_f64.sqrt()) as f32).collect()
}

/// The parameters with their learning rates.
pub(super) const RATES: [(&str, f32); 2] = [("log_metric", 0.1), ("angles", 0.03)];

#[cfg(test)]
mod tests {
    use super::super::composed::ALL;
    use super::*;

    const TINY: Size = Size { name: "tiny", rows: 3, keys: 20, width: 5 };

    fn window(phases: Phases) -> Result<Window> {
        Window::new(&Device::cpu(1), Setting { steps: 40, ..Setting::new(TINY, phases) })
    }

    fn gap(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    }

    /// Whatever is saved, and whether ops run one by one, a window leaves the same gradient and the same parameters.
    #[test]
    fn all_forms_of_a_window_agree() -> Result<()> {
        let kernel = window(Phases::Kernel(Storage::Floats))?;
        kernel.record()?;
        let (gradient, parameters) = (kernel.gradient()?, kernel.wait()?);
        assert!(gradient.iter().any(|x| x.abs() > 1e-3), "{gradient:?}");
        let some: [&'static [Saving]; 7] = [
            &[],
            &[Saving::RotatedKeys],
            &[Saving::SharedForm],
            &[Saving::OneSoftmax],
            &[Saving::SumsInPlace],
            &[Saving::Constants],
            ALL,
        ];
        for savings in some {
            for is_eager in [false, true] {
                let composed = window(Phases::Composed(savings))?;
                composed.is_eager.set(is_eager);
                composed.record()?;
                assert!(gap(&composed.gradient()?, &gradient) < 1e-4, "{savings:?}");
                assert!(gap(&composed.wait()?, &parameters) < 1e-5, "{savings:?}");
            }
        }
        let halves = window(Phases::Kernel(Storage::Halves))?;
        halves.record()?;
        let apart = gap(&halves.gradient()?, &gradient);
        assert!(apart > 0.0 && apart < 1e-2, "{apart}");
        Ok(())
    }

    /// The sums of a composed window are those of its steps: twice the phases' steps times the mean cost and the mean distance, which are the same.
    #[test]
    fn running_sums_are_those_of_all_steps() -> Result<()> {
        let sums = |savings: &'static [Saving]| -> Result<Vec<f32>> {
            let composed = window(Phases::Composed(savings))?;
            composed.record()?;
            block_on(composed.sums.to_f32())
        };
        let (all, saved) = (sums(&[])?, sums(ALL)?);
        assert!(gap(&all[..1], &all[1..]) < 1e-3 && gap(&saved[..1], &saved[1..]) < 1e-3, "{all:?} {saved:?}");
        // The free phase is one of three.
        assert!((saved[0] / all[0] - 2.0 / 3.0).abs() < 0.05, "{all:?} {saved:?}");
        Ok(())
    }

    #[test]
    fn the_step_on_the_host_is_the_one_on_the_device() -> Result<()> {
        let [device, host] = [window(Phases::Kernel(Storage::Floats))?, window(Phases::Kernel(Storage::Floats))?];
        device.record()?;
        host.record()?;
        let start = device.wait()?;
        device.record_step()?;
        host.step_on_host()?;
        let (device, host) = (device.wait()?, host.wait()?);
        assert!(gap(&device, &start) > 1e-4, "{device:?}");
        assert!(gap(&device, &host) < 1e-5, "{device:?} {host:?}");
        Ok(())
    }
}

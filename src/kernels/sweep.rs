//! An activation over a tile on the CPU: from its program, or by hand.

use crate::program::Curve;
use crate::program::slices::{Registers, Source, WIDTH};

/// Replaces z by f(z) and writes f'(z) to `slopes`, if given. Both have the same length, a multiple of `PAD`.
pub(crate) struct Sweep<'a> {
    curve: &'a Curve,
    /// Registers of the program that is run: the curve's `sloped` if slopes are computed, else its `value`.
    registers: Registers<'a, f32>,
}

impl<'a> Sweep<'a> {
    /// Words of registers, enough for either program.
    pub(crate) fn words(curve: &Curve) -> usize {
        if curve.by_hand.cpu.is_some() { 0 } else { Registers::<f32>::words(&curve.sloped) }
    }

    pub(crate) fn new(curve: &'a Curve, has_slopes: bool, memory: &'a mut [f32]) -> Self {
        let program = if has_slopes { &curve.sloped } else { &curve.value };
        if curve.by_hand.cpu.is_some() {
            return Self { curve, registers: Registers::none() };
        }
        Self { curve, registers: Registers::new(program, memory) }
    }

    pub(crate) fn run(&mut self, z: &mut [f32], slopes: Option<&mut [f32]>) {
        if let Some(by_hand) = self.curve.by_hand.cpu {
            return by_hand(z, slopes);
        }
        let program = if slopes.is_some() { &self.curve.sloped } else { &self.curve.value };
        let mut slopes = slopes.map(|slopes| slopes.chunks_mut(WIDTH));
        for z in z.chunks_mut(WIDTH) {
            let source = |_| Source::Slice(&*z);
            program.evaluate(z.len(), &mut self.registers, &source);
            if let Some(slopes) = slopes.as_mut().and_then(Iterator::next) {
                slopes.copy_from_slice(program.value(1, slopes.len(), &self.registers, &source));
            }
            if let Some(value) = program.computed(0, z.len(), &self.registers) {
                z.copy_from_slice(value);
            }
        }
    }
}

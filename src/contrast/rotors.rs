//! Rotations as layers of plane rotations (Givens): each layer turns disjoint pairs of coordinates, x_a' = cos t x_a - sin t x_b and
//! x_b' = sin t x_a + cos t x_b, so that few angles make an orthogonal map.

use crate::autograd::Var;
use crate::error::{Error, Result};
use crate::ops;
use crate::program::expr::{cos, sin};
use crate::record;

/// Which pairs of coordinates are turned together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planes {
    /// Neighbours: layer l pairs (2 p + l) mod n with the coordinate after it. For few coordinates.
    Ring,
    /// Layer l pairs coordinates 2^l apart, as in a fast Fourier transform: log₂ n layers reach every coordinate from every other. n is a power of two.
    Butterfly,
}

record! { enum Planes { Ring, Butterfly } }

/// A rotation of `coordinates` coordinates by `angles` angles, layer after layer; pairs after the last angle are not turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotors {
    /// The pairs.
    pub planes: Planes,
    /// Coordinates.
    pub coordinates: usize,
    /// Angles.
    pub angles: usize,
}

record! { Rotors { planes, coordinates, angles } }

impl Rotors {
    /// Rotors with every pair of log₂ n layers.
    ///
    /// Errors if the number of coordinates is not a power of two.
    pub fn butterfly(coordinates: usize) -> Result<Self> {
        if coordinates < 2 || !coordinates.is_power_of_two() {
            return Err(Error::usage(format!(
                "contrast: a butterfly of rotations: got {coordinates} coordinates, expected a power of two"
            )));
        }
        let angles = coordinates / 2 * coordinates.ilog2() as usize;
        Ok(Self { planes: Planes::Butterfly, coordinates, angles })
    }

    /// Rotors of neighbours.
    ///
    /// Errors if there are no angles or fewer than two coordinates.
    pub fn ring(coordinates: usize, angles: usize) -> Result<Self> {
        if coordinates < 2 {
            return Err(Error::usage(format!(
                "contrast: rotations: got {coordinates} coordinates, expected at least 2"
            )));
        }
        if angles == 0 {
            return Err(Error::usage("contrast: rotations: got 0 angles, expected at least 1"));
        }
        Ok(Self { planes: Planes::Ring, coordinates, angles })
    }

    fn layers(&self) -> usize {
        self.angles.div_ceil(self.coordinates / 2)
    }

    /// The pair of coordinates that an angle turns.
    pub fn plane(&self, angle: usize) -> (usize, usize) {
        let pairs = self.coordinates / 2;
        let (layer, pair) = (angle / pairs, angle % pairs);
        match self.planes {
            Planes::Ring => {
                let first = (2 * pair + layer) % self.coordinates;
                (first, (first + 1) % self.coordinates)
            }
            Planes::Butterfly => {
                let apart = 1 << layer;
                let first = pair / apart * 2 * apart + pair % apart;
                (first, first + apart)
            }
        }
    }

    /// Q x for the columns of x [coordinates, columns]; angles [angles].
    pub(crate) fn apply(&self, angles: &Var, x: &Var) -> Var {
        let pairs = self.coordinates / 2;
        let missing = self.layers() * pairs - self.angles;
        let angles = if missing == 0 { angles.clone() } else { ops::pad(angles, 0, 0, missing) };
        (0..self.layers()).fold(x.clone(), |x, layer| {
            let angles = ops::slice(&angles, 0, layer * pairs..(layer + 1) * pairs);
            match self.planes {
                Planes::Ring => self.ring_layer(layer, &angles, &x),
                Planes::Butterfly => butterfly_layer(1 << layer, &angles, &x),
            }
        })
    }

    /// Rolls the first coordinate of the layer to the top, turns neighbours, and rolls back. Of an odd number the last one is not turned.
    fn ring_layer(&self, layer: usize, angles: &Var, x: &Var) -> Var {
        let (rows, by) = (self.coordinates, layer % self.coordinates);
        let rolled = rolled(x, by);
        let even = rows / 2 * 2;
        let turned = butterfly_layer(1, angles, &ops::slice(&rolled, 0, 0..even));
        let turned =
            if even == rows { turned } else { ops::concat(&[&turned, &ops::slice(&rolled, 0, even..rows)], 0) };
        self::rolled(&turned, (rows - by) % rows)
    }
}

/// Row `by` first.
fn rolled(x: &Var, by: usize) -> Var {
    let rows = x.shape().sizes()[0];
    if by == 0 {
        return x.clone();
    }
    ops::concat(&[&ops::slice(x, 0, by..rows), &ops::slice(x, 0, 0..by)], 0)
}

/// Turns rows `apart` apart.
fn butterfly_layer(apart: usize, angles: &Var, x: &Var) -> Var {
    let [rows, columns] = x.shape().sizes() else { unreachable!("coordinates and columns") };
    let groups = rows / (2 * apart);
    let blocks = ops::reshape(x, [groups, 2, apart * columns]);
    let side = |at: usize| ops::reshape(&ops::slice(&blocks, 1, at..at + 1), [groups * apart, *columns]);
    let (a, b) = (side(0), side(1));
    let angles = ops::reshape(angles, [groups * apart, 1]);
    let turned = [
        ops::fused(&[&angles, &a, &b], |v| cos(v[0]) * v[1] - sin(v[0]) * v[2]),
        ops::fused(&[&angles, &a, &b], |v| sin(v[0]) * v[1] + cos(v[0]) * v[2]),
    ];
    let [a, b] = turned.map(|side| ops::reshape(&side, [groups, 1, apart * columns]));
    ops::reshape(&ops::concat(&[&a, &b], 1), [*rows, *columns])
}

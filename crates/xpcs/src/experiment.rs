//! The measured correlations and the geometry of the experiment.

use std::ops::Range;

use super::values::Values;
use meromorph::error::{Error, Result};
use meromorph::internal::host::number;

/// Two-time correlations at several angles.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Angles in degrees, each once.
    pub phi: Vec<f64>,
    /// Times in seconds, ascending.
    pub t: Vec<f64>,
    /// The time step in seconds.
    pub dt: f64,
    /// The wavevector in 1/Å.
    pub q: f64,
    /// The gap between stator and rotor in Å, which only laminar flow needs.
    pub gap: Option<f64>,
    /// c2 [angles, times, times]; only t1 < t2 is used.
    pub c2: Values,
    /// The standard deviation of each c2, if it is known.
    pub sigma: Option<Values>,
}

impl Experiment {
    /// Errors if shapes do not agree, angles are repeated, times do not ascend, or a number that is used is not finite.
    pub fn check(&self) -> Result<()> {
        let Self { phi, t, dt, q, gap, c2, sigma } = self;
        let (angles, times) = (phi.len(), t.len());
        if angles == 0 || times < 3 {
            return Err(Error::new(format!("xpcs: got {angles} angles and {times} times, expected at least 1 and 3")));
        }
        for (name, values) in [("c2", Some(c2)), ("sigma", sigma.as_ref())] {
            let got = values.map_or(angles * times * times, Values::len);
            if got != angles * times * times {
                return Err(Error::new(format!(
                    "xpcs: {name}: got {got} numbers, expected {angles} x {times} x {times} for {angles} angles and {times} times"
                )));
            }
        }
        let above_zero = |what: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(Error::new(format!("xpcs: {what}: got {}, expected a finite number above 0", number(value))))
        };
        above_zero("dt", *dt)?;
        above_zero("wavevector q", *q)?;
        gap.map_or(Ok(()), |gap| above_zero("stator_rotor_gap", gap))?;
        if let Some(at) = phi.iter().position(|angle| !angle.is_finite()) {
            let (angle, at) = (number(phi[at]), at + 1);
            return Err(Error::new(format!("xpcs: phi, angle {at}: got {angle}, expected a finite number")));
        }
        if let Some(at) = (1..angles).find(|&at| phi[..at].contains(&phi[at])) {
            return Err(Error::new(format!("xpcs: phi: the angle {} is there twice", number(phi[at]))));
        }
        let is_ascending = t[0] >= 0.0 && t.windows(2).all(|pair| pair[0] < pair[1]) && t[times - 1].is_finite();
        if !is_ascending {
            return Err(Error::new("xpcs: t: expected finite times from 0 on that ascend"));
        }
        self.check_pairs()
    }

    /// Errors if c2 or sigma cannot be used for a pair t1 < t2.
    fn check_pairs(&self) -> Result<()> {
        let wrong = |what: &str, at: [usize; 3], value: f64, expected: &str| {
            let [angle, i, j] = at;
            Err(Error::new(format!("xpcs: {what}[{angle}, {i}, {j}]: got {}, expected {expected}", number(value))))
        };
        self.each_row(&self.c2, |[angle, i], row| match row.iter().position(|value| !value.is_finite()) {
            Some(at) => wrong("c2", [angle, i, i + 1 + at], row[at], "a finite number"),
            None => Ok(()),
        })?;
        let Some(sigma) = &self.sigma else { return Ok(()) };
        self.each_row(sigma, |[angle, i], row| {
            match row.iter().position(|sigma| !(*sigma > 0.0 && sigma.is_finite())) {
                Some(at) => wrong("sigma", [angle, i, i + 1 + at], row[at], "a finite number above 0"),
                None => Ok(()),
            }
        })
    }

    /// Errors if c2 is 0 wherever t1 < t2.
    pub fn check_measured(&self, source: &str) -> Result<()> {
        let mut is_zero = true;
        self.each_row(&self.c2, |_, row| {
            is_zero &= row.iter().all(|value| *value == 0.0);
            Ok(())
        })?;
        let wrong = "c2_exp is 0 wherever t1 < t2: expected full matrices or their upper triangles";
        if is_zero { Err(Error::new(format!("{source}: {wrong}"))) } else { Ok(()) }
    }

    /// Hands over the values of all pairs t1 < t2, those of an angle and a t1 at a time.
    pub(super) fn each_row(
        &self,
        values: &Values,
        mut take: impl FnMut([usize; 2], &[f64]) -> Result<()>,
    ) -> Result<()> {
        let times = self.t.len();
        let mut row = vec![0.0; times];
        for angle in 0..self.phi.len() {
            for i in 0..times - 1 {
                let row = &mut row[..times - 1 - i];
                values.copy(self.place([angle, i, i + 1]), row)?;
                take([angle, i], row)?;
            }
        }
        Ok(())
    }

    /// The indexes of every pair t1 < t2: angle, t1, t2.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let (angles, times) = (self.phi.len(), self.t.len());
        (0..angles).flat_map(move |angle| (0..times).flat_map(move |i| (i + 1..times).map(move |j| [angle, i, j])))
    }

    /// The place of an entry of c2.
    pub(super) fn place(&self, [angle, i, j]: [usize; 3]) -> usize {
        (angle * self.t.len() + i) * self.t.len() + j
    }

    /// The same with some of the angles.
    pub fn with_angles(self, kept: &[usize]) -> Result<Self> {
        let times = self.t.len();
        if kept.iter().copied().eq(0..self.phi.len()) { Ok(self) } else { self.part(kept, 0..times) }
    }

    /// The same with some consecutive times, the first of which becomes 0, as homodyne counts.
    pub fn with_times(self, kept: Range<usize>) -> Result<Self> {
        let angles: Vec<usize> = (0..self.phi.len()).collect();
        let first = self.t[kept.start];
        let is_all = kept == (0..self.t.len());
        let mut some = if is_all { self } else { self.part(&angles, kept)? };
        some.t.iter_mut().for_each(|t| *t -= first);
        Ok(some)
    }

    /// The same with its numbers in memory. Errors if they do not fit.
    pub fn held(self) -> Result<Self> {
        let c2 = self.c2.held("c2_exp")?;
        Ok(Self { c2, sigma: self.sigma.map(|sigma| sigma.held("sigma")).transpose()?, ..self })
    }

    /// Some of the angles and consecutive times; numbers in a file stay there.
    fn part(self, angles: &[usize], times: Range<usize>) -> Result<Self> {
        let stored = |values: &Values| match values {
            Values::Stored(stored) => Some(Values::Stored(stored.part(angles, times.clone()))),
            _ => None,
        };
        let Some(c2) = stored(&self.c2) else { return self.picked(angles, &times.collect::<Vec<usize>>()) };
        let sigma = self.sigma.as_ref().map(|sigma| {
            stored(sigma).map_or_else(|| sigma.picked(&self, angles, &times.clone().collect::<Vec<usize>>()), Ok)
        });
        let phi = angles.iter().map(|&angle| self.phi[angle]).collect();
        Ok(Self { phi, sigma: sigma.transpose()?, t: self.t[times].to_vec(), c2, ..self })
    }

    /// Some of the angles and times, in memory.
    pub(super) fn picked(&self, angles: &[usize], times: &[usize]) -> Result<Self> {
        Ok(Self {
            phi: angles.iter().map(|&angle| self.phi[angle]).collect(),
            t: times.iter().map(|&at| self.t[at]).collect(),
            c2: self.c2.picked(self, angles, times)?,
            sigma: self.sigma.as_ref().map(|sigma| sigma.picked(self, angles, times)).transpose()?,
            ..*self
        })
    }
}

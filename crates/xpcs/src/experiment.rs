//! The measured correlations and the geometry of the experiment.

use meromorph::error::{Error, Result};
use meromorph::internal::host::number;

/// Numbers in single or in double precision.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// 32 bits.
    Single(Vec<f32>),
    /// 64 bits.
    Double(Vec<f64>),
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number at a place.
    pub fn at(&self, place: usize) -> f64 {
        match self {
            Self::Single(values) => f64::from(values[place]),
            Self::Double(values) => values[place],
        }
    }

    /// Consecutive numbers from a place on.
    pub fn copy(&self, from: usize, into: &mut [f64]) {
        match self {
            Self::Single(values) => {
                into.iter_mut().zip(&values[from..]).for_each(|(into, value)| *into = f64::from(*value));
            }
            Self::Double(values) => into.copy_from_slice(&values[from..][..into.len()]),
        }
    }

    /// Those at places.
    fn picked(&self, places: impl Iterator<Item = usize>) -> Self {
        match self {
            Self::Single(values) => Self::Single(places.map(|at| values[at]).collect()),
            Self::Double(values) => Self::Double(places.map(|at| values[at]).collect()),
        }
    }
}

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
        for at in self.pairs() {
            let place = self.place(at);
            let value = self.c2.at(place);
            if !value.is_finite() {
                return wrong("c2", at, value, "a finite number");
            }
            if let Some(sigma) = self.sigma.as_ref().map(|sigma| sigma.at(place))
                && !(sigma > 0.0 && sigma.is_finite())
            {
                return wrong("sigma", at, sigma, "a finite number above 0");
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
    pub fn with_angles(self, kept: &[usize]) -> Self {
        let all: Vec<usize> = (0..self.t.len()).collect();
        if kept.iter().copied().eq(0..self.phi.len()) { self } else { self.picked(kept, &all) }
    }

    /// The same with some consecutive times, the first of which becomes 0, as homodyne counts.
    pub fn with_times(self, kept: std::ops::Range<usize>) -> Self {
        let angles: Vec<usize> = (0..self.phi.len()).collect();
        let first = self.t[kept.start];
        let all = kept == (0..self.t.len());
        let mut some = if all { self } else { self.picked(&angles, &kept.collect::<Vec<usize>>()) };
        some.t.iter_mut().for_each(|t| *t -= first);
        some
    }

    /// Some of the angles and times.
    pub(super) fn picked(&self, angles: &[usize], times: &[usize]) -> Self {
        let places = || {
            let rows = angles.iter().flat_map(|&angle| times.iter().map(move |&i| [angle, i]));
            rows.flat_map(|[angle, i]| times.iter().map(move |&j| self.place([angle, i, j])))
        };
        Self {
            phi: angles.iter().map(|&angle| self.phi[angle]).collect(),
            t: times.iter().map(|&at| self.t[at]).collect(),
            c2: self.c2.picked(places()),
            sigma: self.sigma.as_ref().map(|sigma| sigma.picked(places())),
            ..*self
        }
    }
}

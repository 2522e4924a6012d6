//! What a long fit has computed so far. The search is a function of the sums at the points that it asks for, so a fit that begins again with these sums
//! at hand makes the same steps and goes on with the same bits.

use std::cell::RefCell;

use nalgebra::{DMatrix, DVector};

use super::searched::{Approach, Searched};
use crate::error::{Error, Result};
use crate::fit::pass::{Bad, Normal, Objective, Partial, Sums};
use crate::host::now_ms;

/// The sums that a fit has computed, and where a search on a device ended before.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    pub(crate) approach: Option<Approach>,
    evaluations: Vec<(Vec<f64>, Normal)>,
    /// The pass over the rows that is not finished.
    partial: Option<Partial>,
    /// Milliseconds in which this process computed sums. Not part of what is saved.
    sums_ms: f64,
}

impl Journal {
    /// Evaluations of the model over all rows that are done.
    pub fn evaluations(&self) -> usize {
        self.evaluations.len()
    }

    /// Seconds in which this process computed sums over rows, with the reading of rows that are not in memory.
    pub fn sums_seconds(&self) -> f64 {
        self.sums_ms / 1e3
    }

    /// Numbers from which [`Journal::from_numbers`] makes it again.
    pub fn numbers(&self) -> Vec<f64> {
        let free =
            self.evaluations.first().map(|(x, _)| x.len()).or(self.partial.as_ref().map(|partial| partial.x.len()));
        let approach = self.approach.as_ref().map_or(Vec::new(), written);
        let mut numbers = vec![approach.len() as f64];
        numbers.extend(approach);
        numbers.extend([free.unwrap_or(0) as f64, self.evaluations.len() as f64]);
        let put = |numbers: &mut Vec<f64>, x: &[f64], normal: &Normal| {
            numbers.extend_from_slice(x);
            numbers.extend([normal.cost, normal.squares, normal.mended as f64]);
            numbers.extend(normal.gradient.iter().chain(normal.hessian.iter()));
        };
        self.evaluations.iter().for_each(|(x, normal)| put(&mut numbers, x, normal));
        if let Some(partial) = &self.partial {
            numbers.push(partial.pieces as f64);
            put(&mut numbers, &partial.x, &partial.normal);
            if let Some((group, sums)) = &partial.open {
                numbers.push(*group as f64);
                numbers.extend(sums);
            }
        }
        numbers
    }

    /// The journal with these numbers.
    pub fn from_numbers(numbers: &[f64]) -> Result<Self> {
        let mut rest = Rest(numbers);
        let read = |rest: &mut Rest<'_>| {
            let approach = rest.take(1)?[0] as usize;
            let approach = rest.take(approach).and_then(read_approach);
            let (free, count) = (rest.take(1)?[0] as usize, rest.take(1)?[0] as usize);
            let mut journal = Self { approach, ..Self::default() };
            for _ in 0..count {
                journal.evaluations.push(rest.sums(free)?);
            }
            if let Some(pieces) = rest.take(1) {
                let (x, normal) = rest.sums(free)?;
                let open = rest.take(1).map(|group| (group[0] as usize, rest.0.to_vec()));
                journal.partial = Some(Partial { x, pieces: pieces[0] as usize, normal, open });
            }
            Some(journal)
        };
        read(&mut rest).ok_or_else(|| Error::new("it is cut short"))
    }
}

/// A search on a device as numbers.
fn written(approach: &Approach) -> Vec<f64> {
    let Approach { searched: Searched { device, is_single, reason, evaluations }, x } = approach;
    let mut numbers = vec![f64::from(u8::from(*is_single)), *evaluations as f64];
    for text in [device, reason] {
        numbers.push(text.len() as f64);
        numbers.extend(text.bytes().map(f64::from));
    }
    numbers.extend(x.iter().flatten());
    numbers
}

fn read_approach(numbers: &[f64]) -> Option<Approach> {
    let mut rest = Rest(numbers);
    let &[is_single, evaluations] = rest.take(2)? else { return None };
    let text = |rest: &mut Rest<'_>| {
        let length = rest.take(1)?[0] as usize;
        String::from_utf8(rest.take(length)?.iter().map(|&byte| byte as u8).collect()).ok()
    };
    let (device, reason) = (text(&mut rest)?, text(&mut rest)?);
    let x = (!rest.0.is_empty()).then(|| rest.0.to_vec());
    let searched = Searched { device, is_single: is_single == 1.0, reason, evaluations: evaluations as usize };
    Some(Approach { searched, x })
}

/// Numbers that are not read yet.
struct Rest<'n>(&'n [f64]);

impl<'n> Rest<'n> {
    fn take(&mut self, count: usize) -> Option<&'n [f64]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A point and its sums.
    fn sums(&mut self, free: usize) -> Option<(Vec<f64>, Normal)> {
        let x = self.take(free)?.to_vec();
        let &[cost, squares, mended] = self.take(3)? else { return None };
        let gradient = DVector::from_column_slice(self.take(free)?);
        let hessian = DMatrix::from_column_slice(free, free, self.take(free.checked_mul(free)?)?);
        Some((x, Normal { cost, squares, mended: mended as usize, gradient, hessian }))
    }
}

/// The sums of a problem, each written down; those in the journal are not computed again.
pub(crate) struct Recorded<'a, 'j> {
    sums: &'a Sums<'a>,
    state: RefCell<State<'j>>,
}

struct State<'j> {
    journal: &'j mut Journal,
    /// Evaluations of this search.
    done: usize,
    watch: &'j mut dyn FnMut(&Journal) -> Result<()>,
}

impl<'a, 'j> Recorded<'a, 'j> {
    pub(crate) fn new(
        sums: &'a Sums<'a>,
        journal: &'j mut Journal,
        watch: &'j mut dyn FnMut(&Journal) -> Result<()>,
    ) -> Self {
        Self { sums, state: RefCell::new(State { journal, done: 0, watch }) }
    }
}

impl Objective for Recorded<'_, '_> {
    fn normal(&self, x: &[f64]) -> std::result::Result<Normal, Bad> {
        let State { journal, done, watch } = &mut *self.state.borrow_mut();
        *done += 1;
        let foreign = || Error::new("fit: the journal is of another fit: expected the same model, data and options");
        if let Some((known, normal)) = journal.evaluations.get(*done - 1) {
            return if known == x { Ok(normal.clone()) } else { Err(foreign().into()) };
        }
        let partial = match journal.partial.take() {
            Some(partial) if partial.x != x => return Err(foreign().into()),
            partial => partial.unwrap_or_else(|| Partial::new(x)),
        };
        let mut started = now_ms();
        let summed = self.sums.summed(partial, &mut |partial| {
            journal.partial = Some(partial.clone());
            journal.sums_ms += now_ms() - started;
            let answer = watch(journal);
            // What is done with the sums is no part of them.
            started = now_ms();
            answer
        });
        journal.sums_ms += now_ms() - started;
        let normal = match summed {
            Ok(normal) => normal,
            Err(bad) => {
                // A point without sums is found out again; a pass that was ended goes on.
                if matches!(bad, Bad::Rows { .. }) {
                    *done -= 1;
                    journal.partial = None;
                }
                return Err(bad);
            }
        };
        journal.partial = None;
        journal.evaluations.push((x.to_vec(), normal.clone()));
        watch(journal)?;
        Ok(normal)
    }
}

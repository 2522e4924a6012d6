//! The search on a device in single precision, from whose end the fit goes on in double precision. Whether single precision is enough is decided by
//! the data: before the search, residuals and derivatives of some of the rows are computed in both.

use std::cell::{Cell, RefCell};

use super::journal::Journal;
use super::local::Search;
use super::options::SolveOptions;
use super::searched::{Approach, Searched};
use super::start::{ROWS, begin, picked};
use super::stop::{Found, Stop};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::fit::pass::device_sums::Room;
use crate::fit::pass::{Bad, DeviceSums, Normal, Objective, Sample, Single, Sums};
use crate::fit::rows::Problem;
use crate::host::ThreadPool;

/// The largest difference of residuals and of derivatives between single and double precision, relative to their norms, with which a search in single
/// precision begins. A search that follows directions with such errors still comes near the minimum.
const MOST_DIFFERENCE: f64 = 1e-3;
/// A parameter whose derivative shrinks to less than this share of that at the start has no effect in single precision.
const NO_EFFECT: f64 = 1e-6;
/// More groups than these are more launches per pass than a device is worth.
const MOST_GROUPS: usize = 256;

/// Searches the minimum on a device in single precision, if the data allow it. The end is kept in the journal, from where
/// [`solve_from`](crate::fit::solve_from()) goes on; if the search does not take place, the journal says why, and the fit is solved as on the CPU. With a
/// journal of a fit that got further, nothing is left to do.
///
/// Errors as `solve_from` does before its search, or if the device fails.
pub async fn approach(
    problem: &Problem<'_>,
    options: &SolveOptions,
    device: &Device,
    journal: &mut Journal,
) -> Result<()> {
    if journal.approach.is_some() || journal.evaluations() > 0 {
        return Ok(());
    }
    problem.check()?;
    let pool = options.pool()?;
    let found = searched(problem, options, device, &pool).await?;
    journal.approach = Some(found.unwrap_or_else(|why| {
        let searched =
            Searched { reason: format!("not searched on {}: {why}", device.info().device), ..Searched::default() };
        Approach { searched, x: None }
    }));
    Ok(())
}

/// The end of the search, or why there was none.
async fn searched(
    problem: &Problem<'_>,
    options: &SolveOptions,
    device: &Device,
    pool: &ThreadPool,
) -> Result<std::result::Result<Approach, String>> {
    let sums = Sums::new(problem, pool);
    let groups = problem.groups();
    if !sums.model().integrals.is_empty() {
        return Ok(Err("integrals are computed in double precision".to_owned()));
    }
    if groups > MOST_GROUPS {
        return Ok(Err(format!(
            "the rows are in {groups} groups, which are as many launches, expected at most {MOST_GROUPS}"
        )));
    }
    if groups > 1 && problem.data.source().is_some() {
        return Ok(Err("the rows of several groups are read in the order of the file".to_owned()));
    }
    let free = problem.free();
    let start = begin(problem, &free, options, pool)?;
    let sample = Sample::of(problem, &picked(0..problem.data.rows(), ROWS))?;
    let single = Single::new(problem, &sums, start.as_slice(), &sample);
    if let Err(error) = single.residuals.check() {
        return Ok(Err(error.to_string()));
    }
    let [residuals, derivatives] = single.differences(&sums, start.as_slice(), &sample);
    if !(residuals.is_finite() && derivatives.is_finite()) {
        return Ok(Err("the model is not finite at the start in single precision".to_owned()));
    }
    let (rows, is_close) = (sample.rows(), residuals <= MOST_DIFFERENCE && derivatives <= MOST_DIFFERENCE);
    let reason = format!(
        "on {rows} rows at the start, single precision changes residuals by {residuals:.0e} and derivatives by {derivatives:.0e} of their size, {} {MOST_DIFFERENCE}",
        if is_close { "at most" } else { "and the most is" },
    );
    if !is_close {
        return Ok(Err(reason));
    }
    let on_device = DeviceSums::new((device, Room::of(options.device_bytes)), problem, &sums, &single, pool)?;
    let search = Search::of(problem, &free, options)?.in_single_precision();
    let mut replay = Replay::default();
    let found = loop {
        let found = search.run(&replay, &start);
        let Some(x) = replay.expected.take() else { break found };
        let normal = on_device.normal(&x).await?;
        replay.known.push((x, normal));
        replay.asked.set(0);
    };
    let found = match found {
        Ok(found) => found,
        Err(Bad::Rows { .. }) => return Ok(Err("the model is not finite at the start in single precision".to_owned())),
        Err(Bad::Unread(error)) => return Err(error),
    };
    if let Some(why) = lost(&found, replay.known.first()) {
        return Ok(Err(format!("the search in single precision {why}")));
    }
    let (device, evaluations) = (device.info().device.to_owned(), replay.known.len());
    let searched = Searched { device, is_single: true, reason, evaluations };
    Ok(Ok(Approach { searched, x: Some(found.x.as_slice().to_vec()) }))
}

/// Why the end of a search is worse to go on from than its start.
fn lost(found: &Found, start: Option<&Known>) -> Option<String> {
    if found.stop == Stop::Evaluations {
        return Some(format!("did not converge in {} evaluations", found.evaluations));
    }
    // In double precision such a parameter may still have a derivative that leads back.
    let effects = |normal: &Normal| normal.hessian.diagonal();
    let (_, Ok(start)) = start? else { return None };
    let (start, end) = (effects(start), effects(&found.normal));
    let is_lost = start.iter().zip(&end).any(|(start, end)| *end <= NO_EFFECT * NO_EFFECT * start && *start > 0.0);
    is_lost.then(|| "led to where a parameter has no effect".to_owned())
}

/// A point and its sums.
type Known = (Vec<f64>, std::result::Result<Normal, Bad>);

/// The sums that are known, in the order in which a search asks for them. A search does not wait for a device: it ends at the first point that is
/// not known, and is run again when it is. That repeats only its own arithmetic, over sums.
#[derive(Default)]
struct Replay {
    known: Vec<Known>,
    asked: Cell<usize>,
    expected: RefCell<Option<Vec<f64>>>,
}

impl Objective for Replay {
    fn normal(&self, x: &[f64]) -> std::result::Result<Normal, Bad> {
        match self.known.get(self.asked.replace(self.asked.get() + 1)) {
            Some((known, normal)) if known == x => normal.clone(),
            Some(_) => Err(Error::new("fit: a search took another way when it was repeated").into()),
            None => {
                self.expected.replace(Some(x.to_vec()));
                Err(Error::new("fit: the sums are not known yet").into())
            }
        }
    }
}

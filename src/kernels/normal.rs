//! Sums over rows of a least-squares problem in one pass: with the residuals r_i = (f(x_i) - y_i) w_i and their derivatives J by P parameters, the
//! products JᵀJ and Jᵀr, Σ r² and the cost. The cost is ½ Σ r², or with a robust loss ½ s² Σ ρ(z) with z = (r / s)²; then JᵀJ and Jᵀr are those of
//! rescaled rows (Triggs): J √h and r ρ' / √h with h = max(ρ' + 2 z ρ'', 2^-52). Rows that are not finite are counted and add nothing.
//!
//! Each group of rows has sums of its own in f32: (0, 0), (0, 1), …, (0, P-1), (0, r), (1, 1), …, (P-1, r), squares, cost. [`totals`] adds them up in
//! f64 and in order. The groups depend only on the number of rows, so results are repeatable to the bit. Sums in f32 are short (16 terms per
//! invocation for a million rows), so they are not compensated: the rounding of the residuals is larger (docs/PERFORMANCE.md).
//! Products of derivatives below 2^-63 may count as 0: parameters should be scaled so that theirs are larger.

mod cases;
mod cpu;
pub mod loss;
mod wgsl;

use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

use super::common;
use crate::device::{Cost, Dispatch, Kernel, View};
use crate::error::{Error, Result};
use crate::params;
use crate::program::Program;

pub use cases::cases;

/// The `normal` kernel.
pub static NORMAL: Kernel = Kernel {
    name: "normal",
    params: Params::FIELDS,
    wgsl: &[common::SCALAR, crate::wgsl!("normal")],
    cpu: cpu::run,
    grid: |dispatch| [groups(dispatch.params::<Params>().rows as usize) as u32, 1, 1],
    cost: |dispatch| {
        let (params, residuals) = (dispatch.params::<Params>(), body(dispatch));
        let per_row = residuals.program.operations() + 2 * residuals.size() as u64;
        let read = u64::from(params.rows) * residuals.data_columns() as u64;
        let written = dispatch.outputs.iter().map(|view| view.words as u64).sum::<u64>();
        Cost { flops: u64::from(params.rows) * per_row, bytes: 4 * (read + written) }
    },
    fuse: None,
    in_place: None,
};

params! {
    /// Rows `first..first + rows` of columns that are `stride` words apart, `per_group` rows per workgroup; `scale` is that of the loss.
    pub struct Params {
        rows: u32,
        first: u32,
        stride: u32,
        per_group: u32,
        scale: f32,
    }
}

/// Residuals as data: the kernel's body.
pub struct Residuals {
    /// Its inputs are the scalars (parameters and what is computed from them), then the columns. Its results are the value and its derivatives.
    pub program: Program,
    /// Number of columns among its inputs.
    pub columns: usize,
    /// Whether residuals and derivatives are multiplied by a column of weights, 1 / σ.
    pub is_weighted: bool,
    /// A robust loss, for example [`loss::huber`]: from z the three results ρ, ρ' and ρ' + 2 z ρ''. `None` is least squares.
    pub loss: Option<Program>,
}

/// The most parameters.
pub const MAX_PARAMETERS: usize = 64;
/// Fewer rows are not worth a group: the device adds up its sums over 256 invocations.
const LEAST_PER_GROUP: usize = 1024;
/// At most 4,096 rows per invocation, so that sums in f32 stay short.
const MOST_PER_GROUP: usize = 4096 * 256;
/// Groups, unless they would be longer than that: enough for a large GPU, few enough to read back.
const GROUPS: usize = 256;

impl Residuals {
    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.program.results.len() - 1
    }

    /// Number of scalars.
    pub fn scalars(&self) -> usize {
        self.program.inputs - self.columns
    }

    /// Number of sums.
    pub fn size(&self) -> usize {
        self.parameters() * (self.parameters() + 3) / 2 + 2
    }

    /// Columns of the data: the program's, y and perhaps the weights.
    pub fn data_columns(&self) -> usize {
        self.columns + 1 + usize::from(self.is_weighted)
    }

    /// Errors if the kernel does not take them.
    pub fn check(&self) -> Result<()> {
        let (parameters, inputs) = (self.parameters(), self.program.inputs);
        if parameters > MAX_PARAMETERS {
            return Err(Error::new(format!("normal: got {parameters} parameters, expected at most {MAX_PARAMETERS}")));
        }
        if self.columns > inputs {
            return Err(Error::new(format!(
                "normal: got {} columns, expected at most the program's {inputs} inputs",
                self.columns
            )));
        }
        if let Some(loss) = &self.loss
            && (loss.inputs, loss.results.len()) != (1, 3)
        {
            let (inputs, results) = (loss.inputs, loss.results.len());
            return Err(Error::new(format!(
                "normal: got a loss with {inputs} inputs and {results} results, expected 1 and 3"
            )));
        }
        self.program.check_f32()
    }
}

/// Rows of each group but the last.
fn rows_per_group(rows: usize) -> usize {
    rows.div_ceil(GROUPS).next_multiple_of(256).clamp(LEAST_PER_GROUP, MOST_PER_GROUP)
}

/// Number of groups of so many rows.
pub fn groups(rows: usize) -> usize {
    rows.div_ceil(rows_per_group(rows)).max(1)
}

/// Sums up `rows` of the data, columns of `stride` words one after another: the program's, y, and the weights if it `is_weighted`. `scale` is
/// that of a robust loss. The outputs are the sums, f32[groups, size], and for each group the number of rows that are not finite and the place of
/// the first in its column, u32[groups, 2].
pub fn dispatch(
    residuals: Rc<Residuals>,
    rows: Range<usize>,
    stride: usize,
    scale: f32,
    [data, scalars]: [View; 2],
    [sums, bad]: [View; 2],
) -> Result<Dispatch> {
    residuals.check()?;
    let groups = groups(rows.len());
    let views = [
        ("data", &data, residuals.data_columns() * stride),
        ("scalars", &scalars, residuals.scalars()),
        ("sums", &sums, groups * residuals.size()),
        ("bad rows", &bad, 2 * groups),
    ];
    for (name, view, least) in views {
        if view.words < least {
            let got = view.words;
            return Err(Error::new(format!("normal: got {got} words of {name}, expected at least {least}")));
        }
    }
    if u32::try_from(data.words).is_err() {
        let got = data.words;
        return Err(Error::new(format!("normal: got {got} words of data, expected less than 2^32")));
    }
    if rows.end > stride {
        return Err(Error::new(format!("normal: got rows up to {}, expected at most the stride {stride}", rows.end)));
    }
    if residuals.loss.is_some() && !(scale > 0.0 && scale.is_finite()) {
        return Err(Error::new(format!("normal: got the loss scale {scale}, expected a positive number")));
    }
    let per_group = rows_per_group(rows.len());
    let [rows, first, stride, per_group] = [rows.len(), rows.start, stride, per_group].map(|size| size as u32);
    let params = Params { rows, first, stride, per_group, scale }.words();
    Ok(Dispatch {
        kernel: &NORMAL,
        body: Some(residuals),
        params,
        inputs: vec![data, scalars],
        outputs: vec![sums, bad],
    })
}

fn body(dispatch: &Dispatch) -> &Residuals {
    let body: &dyn Any = &**dispatch.body.as_ref().expect("the sums have residuals");
    body.downcast_ref().expect("their body is residuals")
}

/// What the groups of a dispatch add up to.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// The sums in the groups' order. They are not finite if products of finite rows exceed the range of f32.
    pub sums: Vec<f64>,
    /// Number of rows that are not finite.
    pub bad: u64,
    /// The place in its column of the first of them.
    pub first_bad: Option<usize>,
}

/// Adds up the outputs of a dispatch in f64, group by group; `size` is that of its residuals.
pub fn totals(size: usize, sums: &[f32], bad: &[u32]) -> Totals {
    let mut totals = Totals { sums: vec![0.0; size], bad: 0, first_bad: None };
    for (group, counters) in sums.chunks_exact(size).zip(bad.chunks_exact(2)) {
        totals.sums.iter_mut().zip(group).for_each(|(total, &sum)| *total += f64::from(sum));
        totals.bad += u64::from(counters[0]);
        if counters[0] > 0 {
            totals.first_bad.get_or_insert(counters[1] as usize);
        }
    }
    totals
}

//! Fractions of polynomials as formulas: composed, flattened to one fraction, evaluated. For small rational heads after
//! training, not inside a training step.
//!
//! ```
//! use meromorph_meadow::Scm;
//! use meromorph_meadow::symbolic::{Budget, Expression, Guard, Values};
//!
//! let (x, y) = (Expression::variable("x"), Expression::variable("y"));
//! let flat = ((x.clone() / y.clone()) / (y / x)).flattened(&[], Budget::default())?;
//! assert_eq!(flat.to_string(), "(x^2)/(y^2) where |x| is not small");
//! let at = |x, y| Values::from([("x", Scm::from_ieee(x)), ("y", Scm::from_ieee(y))]);
//! assert_eq!(flat.evaluate(&at(2.0, 4.0), Guard::default())?.to_ieee(), 0.25);
//! assert!(flat.evaluate(&at(0.0, 4.0), Guard::default())?.is_bottom());
//! # Ok::<(), meromorph::Error>(())
//! ```

mod expression;
mod flatten;
mod fracterm;
mod monomial;
mod polynomial;
mod refusal;
mod simplify;
mod unit;

pub use expression::Expression;
pub use flatten::{BottomRole, Budget, Factor, Flattened, Guard, Origin};
pub use fracterm::{Fracterm, Limits};
pub use monomial::{Values, Variable};
pub use polynomial::Polynomial;
pub use refusal::{Flattening, Refusal};
pub use simplify::Cancellation;
pub use unit::{Growth, RationalUnit};

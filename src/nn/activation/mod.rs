//! Activation functions. Each built-in is one formula in its own file; users give formulas of x as text or as closures over `Expr`.
//! Everything else is derived from the formula: WGSL and CPU code of every step, the gradient, ONNX nodes, the code of exported pages.

mod built_in;
pub mod cases;

use std::sync::Arc;

use crate::error::{Error, Result, unknown_name};
use crate::json::{Json, Record};
use crate::program::Expr;
use crate::program::curve::ByHand;
use crate::program::functions::Function;
use crate::program::parse::{is_name, parse};
use crate::program::{Curve, Program};

pub use built_in::BuiltIn;

// To add one: add a file with its formula, and its name here.
crate::built_ins! { ACTIVATION: BuiltIn; identity, relu, leaky_relu, elu, gelu, mish, sigmoid, silu, softplus, tanh }

/// An activation function, applied to each value.
#[derive(Clone, PartialEq)]
pub struct Activation(Arc<Curve>);

impl Activation {
    /// x · sigmoid(x), the default.
    pub fn silu() -> Self {
        Self::of_built_in(&silu::ACTIVATION)
    }

    /// max(x, 0).
    pub fn relu() -> Self {
        Self::of_built_in(&relu::ACTIVATION)
    }

    /// Hyperbolic tangent.
    pub fn tanh() -> Self {
        Self::of_built_in(&tanh::ACTIVATION)
    }

    /// x.
    pub fn identity() -> Self {
        Self::of_built_in(&identity::ACTIVATION)
    }

    /// A built-in activation.
    pub fn of_built_in(built_in: &BuiltIn) -> Self {
        let value = Program::build(1, |x| (built_in.formula)(x[0]));
        Self(Arc::new(Curve::new(built_in.name, value, built_in.by_hand)))
    }

    /// A built-in activation by its name, or a formula of x such as `x*tanh(softplus(x))`. Errors name the position in the formula.
    ///
    /// ```
    /// use meromorph::nn::Activation;
    ///
    /// let mish = Activation::parse("x*tanh(softplus(x))")?;
    /// assert!((mish.at(1.0) - 0.865098).abs() < 1e-6);
    /// assert!(Activation::parse("x*tanhh(x)").unwrap_err().to_string().contains("did you mean \"tanh\""));
    /// # Ok::<(), meromorph::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        if let Some(built_in) = ALL.iter().find(|built_in| built_in.name == text.trim()) {
            return Ok(Self::of_built_in(built_in));
        }
        if is_name(text.trim()) && text.trim() != "x" {
            let names: Vec<&str> = ALL.iter().map(|built_in| built_in.name).collect();
            let otherwise = ", or a formula of x such as \"x*tanh(softplus(x))\"";
            return Err(unknown_name("activation", text.trim(), &names, otherwise));
        }
        let program = parse(text, &["x"], &functions()).map_err(|error| error.within("activation"))?;
        Self::checked(text.trim().to_owned(), program)
    }

    /// The function of an expression over x: `Activation::of(|x| x * tanh(softplus(x)))`. The expression must depend on x.
    #[track_caller]
    pub fn of(formula: impl FnOnce(Expr) -> Expr) -> Self {
        let program = Program::build(1, |x| formula(x[0]));
        Self::checked(program.text(&["x"]), program).unwrap_or_else(|error| panic!("{error}"))
    }

    fn checked(text: String, program: Program) -> Result<Self> {
        if program.results.len() != 1 {
            return Err(Error::new(format!("activation: got {} results, expected 1", program.results.len())));
        }
        if program.clone().compacted().1.is_empty() {
            return Err(Error::new(format!("activation: \"{text}\" does not depend on x")));
        }
        program.check_f32().map_err(|error| error.within("activation"))?;
        Ok(Self(Arc::new(Curve::new(text, program, ByHand::default()))))
    }

    /// A built-in's name, or the formula.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Its formula and slope, in the form that the kernels use.
    pub fn curve(&self) -> &Arc<Curve> {
        &self.0
    }

    /// f(x), in f64.
    pub fn at(&self, x: f64) -> f64 {
        self.0.value.at(&[x])[0]
    }
}

/// The built-in activations as functions that formulas may call.
pub fn functions() -> Vec<Function> {
    let is_new = |built_in: &&&BuiltIn| !["identity", "relu", "sigmoid", "softplus", "tanh"].contains(&built_in.name);
    let function = |built_in: &&'static BuiltIn| {
        let formula = built_in.formula;
        Function { name: built_in.name, arguments: 1, body: Box::new(move |x| formula(x[0])) }
    };
    ALL.iter().filter(is_new).map(function).collect()
}

impl std::fmt::Debug for Activation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text())
    }
}

impl std::str::FromStr for Activation {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

/// A built-in's name, or the formula.
impl Record for Activation {
    fn blank() -> Self {
        Self::identity()
    }

    fn to_json(&self) -> Json {
        Json::Text(self.text().to_owned())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        *self = Self::parse(json.text().ok_or_else(|| json.unlike("the name or formula of an activation"))?)?;
        Ok(())
    }
}

//! The scalar operations: every pointwise function, once. An operation's tokens are compiled for the CPU in f32 and f64 and also used as WGSL
//! text; vector functions for the CPU in f32 and f64, if any, are in brackets, and the masked form follows `in`. Partial derivatives are
//! written in operations, so programs differentiate to programs, to any order.

use super::expr::Expr;
use super::masked::{self, MaskedForm};
use crate::simd::{double, vector};

/// Powers.
const POWER: &str = crate::wgsl!("common/power");
/// The special functions.
const SPECIAL: &str =
    crate::wgsl!("common/special", "common/error", "common/gamma", "common/faddeeva", "common/bessel");

/// One pointwise function of up to three arguments.
pub struct ScalarOp {
    /// Its name, the same everywhere.
    pub name: &'static str,
    /// Names of its arguments.
    pub arguments: &'static [&'static str],
    /// Its value as WGSL text over the arguments.
    pub wgsl: &'static str,
    /// Its value over slices of equal length.
    pub f32: fn(&[&[f32]], &mut [f32]),
    /// The same in double precision.
    pub f64: fn(&[&[f64]], &mut [f64]),
    /// The partial derivative with respect to each argument, from the arguments and the value `y`.
    pub partials: fn(&[Expr], Expr) -> Vec<Expr>,
    /// Where it is defined and representable.
    pub masked: MaskedForm,
    /// How other languages write it.
    pub texts: Texts,
}

impl ScalarOp {
    /// The WGSL function `op_<name>`.
    pub fn wgsl_function(&self) -> String {
        let arguments: Vec<_> = self.arguments.iter().map(|name| format!("{name}: f32")).collect();
        format!("fn op_{}({}) -> f32 {{ return {}; }}\n", self.name, arguments.join(", "), self.wgsl)
    }

    /// The WGSL functions of several operations, with the fragments they need besides `scalar.wgsl` and `sine.wgsl`.
    pub fn wgsl_functions(ops: &[&'static Self]) -> String {
        let functions: String = ops.iter().map(|op| op.wgsl_function()).collect();
        Self::special_wgsl(ops) + &functions
    }

    /// The WGSL of the special functions if any of `ops` calls one, and that of powers likewise.
    pub fn special_wgsl(ops: &[&'static Self]) -> String {
        let power = if ops.iter().any(|op| op.wgsl.starts_with("power(")) { POWER } else { "" };
        let special = if ops.iter().any(|op| op.is_special()) { SPECIAL } else { "" };
        format!("{power}{special}")
    }

    fn is_special(&self) -> bool {
        self.wgsl.contains("_value(") || self.wgsl.starts_with("arc_")
    }

    /// Its value at one point, in double precision.
    pub fn at(&self, arguments: &[f64]) -> f64 {
        let slices: Vec<&[f64]> = arguments.iter().map(std::slice::from_ref).collect();
        let mut value = [0.0];
        (self.f64)(&slices, &mut value);
        value[0]
    }
}

/// An operation's value over slices: its tokens in a loop, or the vector function given in brackets.
macro_rules! over_slices {
    (single; $value:expr; $($arg:ident),+) => {
        |arguments, out| {
            struct Loop<'a>(&'a [&'a [f32]], &'a mut [f32]);
            impl pulp::WithSimd for Loop<'_> {
                type Output = ();
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _simd: S) {
                    let Self(arguments, out) = self;
                    over_slices!(@loop single; $value; arguments, out; $($arg),+);
                }
            }
            // The compiler vectorises the loop for each instruction set.
            crate::simd::dispatch(Loop(arguments, out));
        }
    };
    (double; $value:expr; $($arg:ident),+) => {
        |arguments, out| {
            struct Loop<'a>(&'a [&'a [f64]], &'a mut [f64]);
            impl pulp::WithSimd for Loop<'_> {
                type Output = ();
                #[inline(always)]
                fn with_simd<S: pulp::Simd>(self, _simd: S) {
                    let Self(arguments, out) = self;
                    over_slices!(@loop double; $value; arguments, out; $($arg),+);
                }
            }
            crate::simd::dispatch(Loop(arguments, out));
        }
    };
    (@loop $prelude:ident; $value:expr; $arguments:ident, $out:ident; $($arg:ident),+) => {
        {
            #[allow(clippy::wildcard_imports, unused_imports, reason = "an operation's tokens name functions of this prelude only")]
            use crate::program::prelude::$prelude::*;
            let count = $out.len();
            let mut each = $arguments.iter();
            $(let $arg = &each.next().expect("as many slices as arguments")[..count];)+
            for i in 0..count {
                $(let $arg = $arg[i];)+
                $out[i] = $value;
            }
        }
    };
    ($number:ident; $value:expr; $($arg:ident),+; $slices:path) => {
        $slices
    };
}

/// How other languages write an operation; empty where it is not one call of theirs.
pub struct Texts {
    /// The ONNX operator that it is.
    pub onnx: &'static str,
    /// Python over numpy and `scipy.special`: `#0` is the first argument, `@0` the same in parentheses where it is not a single term.
    pub python: &'static str,
    /// Rust over f64.
    pub rust: &'static str,
}

/// Rows of operations. After `as` they may have the texts of [`Texts`].
macro_rules! ops {
    (@texts) => { Texts { onnx: "", python: "", rust: "" } };
    (@texts $onnx:literal, $python:literal, $rust:literal) => { Texts { onnx: $onnx, python: $python, rust: $rust } };
    ($d:tt $($(#[$doc:meta])* $id:ident $name:ident($($arg:ident),+) = $value:expr; $([$slices:path $(, $doubles:path)?])? $y:ident => [$($partial:expr),+] in $masked:path $(as $onnx:literal, $python:literal, $rust:literal)?;)+) => {
        $($(#[$doc])*
        pub static $id: ScalarOp = ScalarOp {
            name: stringify!($name),
            arguments: &[$(stringify!($arg)),+],
            wgsl: stringify!($value),
            f32: over_slices!(single; $value; $($arg),+ $(; $slices)?),
            f64: over_slices!(double; $value; $($arg),+ $($(; $doubles)?)?),
            partials: |arguments, $y| {
                #[allow(clippy::wildcard_imports, unused_imports, reason = "derivatives are written in operations")]
                use super::expr::*;
                let mut each = arguments.iter();
                $(let $arg = *each.next().expect("as many arguments as the operation has");)+
                // A derivative need not use every argument, nor the value.
                let _ = ($y, $($arg),+);
                vec![$(Expr::from($partial)),+]
            },
            masked: $masked,
            texts: ops!(@texts $($onnx, $python, $rust)?),
        };)+

        /// Calls a macro with the documentation, the static, the name and the arguments of every operation, for functions of their names over other types.
        macro_rules! each_op {
            ($d then:ident) => { $d then! { $($(#[$doc])* $id $name($($arg),+);)+ } };
        }
        pub(crate) use each_op;

        /// Every operation.
        pub static OPS: &[&ScalarOp] = &[$(&$id),+];

        /// The operations as functions over expressions of the program being built.
        pub mod functions {
            use super::Expr;
            $($(#[$doc])*
            pub fn $name($($arg: impl Into<Expr>),+) -> Expr {
                Expr::op(&super::$id, &[$($arg.into()),+])
            })+
        }
    };
}

ops! {
    $
    /// a + b
    ADD add(a, b) = a + b; [vector::add] y => [1.0, 1.0] in masked::ADD
        as "Add", "", "";
    /// a - b
    SUB sub(a, b) = a - b; [vector::sub] y => [1.0, -1.0] in masked::SUB
        as "Sub", "", "";
    /// a * b
    MUL mul(a, b) = a * b; [vector::mul] y => [b, a] in masked::MUL
        as "Mul", "", "";
    /// a / b
    DIV div(a, b) = a / b; [vector::div] y => [1.0 / b, -y / b] in masked::DIV
        as "Div", "", "";
    /// a / b where its slopes are representable too, that is |a| / b²
    RATIO ratio(a, b) = a / b; y => [1.0 / b, -y / b] in masked::RATIO
        as "Div", "", "";
    /// -x
    NEG neg(x) = -x; y => [-1.0] in masked::NEG
        as "Neg", "", "";
    /// 1 / x
    RECIP recip(x) = 1.0 / x; y => [-y * y] in masked::RECIP
        as "Reciprocal", "(1.0/@0)", "@0.recip()";
    /// |x|; slope 0 at 0
    ABS abs(x) = abs(x); y => [sign(x)] in masked::ABS
        as "Abs", "np.abs(#0)", "@0.abs()";
    /// -1, 0 or 1; 0 of NaN
    SIGN sign(x) = select(0.0, 1.0, x > 0.0) - select(0.0, 1.0, x < 0.0); y => [0.0] in masked::SIGN
        as "Sign", "np.sign(#0)", "(f64::from(#0 > 0.0) - f64::from(#0 < 0.0))";
    /// The smaller, NaN if either is; for equal values the slope goes to `a`
    MIN min(a, b) = smaller(a, b); y => [le(a, b), lt(b, a)] in masked::MIN
        as "Min", "np.minimum(#0, #1)", "@0.min(#1)";
    /// The larger, NaN if either is; for equal values the slope goes to `a`
    MAX max(a, b) = larger(a, b); y => [ge(a, b), gt(b, a)] in masked::MAX
        as "Max", "np.maximum(#0, #1)", "@0.max(#1)";
    /// x within [low, high], NaN if any is
    CLAMP clamp(x, low, high) = smaller(larger(x, low), high); y => [ge(x, low) * le(x, high), lt(x, low), gt(x, high)] in masked::CLAMP
        as "", "np.minimum(np.maximum(#0, #1), #2)", "@0.max(#1).min(#2)";
    /// x * x
    SQUARE square(x) = x * x; [vector::square] y => [2.0 * x] in masked::SQUARE;
    /// √x
    SQRT sqrt(x) = square_root(x); y => [0.5 / y] in masked::SQRT
        as "Sqrt", "np.sqrt(#0)", "@0.sqrt()";
    /// 1/√x
    RSQRT rsqrt(x) = inverse_square_root(x); y => [-0.5 * y / x] in masked::RSQRT
        as "", "(1.0/np.sqrt(#0))", "@0.sqrt().recip()";
    /// a to the power b, NaN for a < 0 unless b is an integer. At b = 0 the slope by a is 0, and changes with b by 1 / a
    POW pow(a, b) = power(a, b); y => [select(b, b * pow(select(b, a, 1.0), b - 1.0), b * gt(a, 0.0) / max(a, 1e-18)), y * ln(select(gt(a, 0.0), a, 1.0))] in masked::POW
        as "Pow", "np.power(#0, #1)", "@0.powf(#1)";
    /// Largest integer not above x
    FLOOR floor(x) = floor(x); y => [0.0] in masked::FLOOR
        as "Floor", "np.floor(#0)", "@0.floor()";
    /// Smallest integer not below x
    CEIL ceil(x) = ceil(x); y => [0.0] in masked::CEIL
        as "Ceil", "np.ceil(#0)", "@0.ceil()";
    /// Nearest integer, ties to even
    ROUND round(x) = round(x); y => [0.0] in masked::BOUNDED
        as "Round", "np.round(#0)", "@0.round_ties_even()";
    /// 1 where a < b, else 0
    LT lt(a, b) = select(0.0, 1.0, a < b); y => [0.0, 0.0] in masked::LT
        as "", "np.where(#0 < #1, 1.0, 0.0)", "f64::from(#0 < #1)";
    /// 1 where a <= b, else 0
    LE le(a, b) = select(0.0, 1.0, a <= b); y => [0.0, 0.0] in masked::LE
        as "", "np.where(#0 <= #1, 1.0, 0.0)", "f64::from(#0 <= #1)";
    /// 1 where a > b, else 0
    GT gt(a, b) = select(0.0, 1.0, a > b); y => [0.0, 0.0] in masked::GT
        as "", "np.where(#0 > #1, 1.0, 0.0)", "f64::from(#0 > #1)";
    /// 1 where a >= b, else 0
    GE ge(a, b) = select(0.0, 1.0, a >= b); y => [0.0, 0.0] in masked::GE
        as "", "np.where(#0 >= #1, 1.0, 0.0)", "f64::from(#0 >= #1)";
    /// 1 where a = b, else 0
    EQ eq(a, b) = select(0.0, 1.0, a == b); y => [0.0, 0.0] in masked::EQ
        as "", "np.where(#0 == #1, 1.0, 0.0)", "f64::from(#0 == #1)";
    /// 1 where a ≠ b, else 0
    NE ne(a, b) = select(1.0, 0.0, a == b); y => [0.0, 0.0] in masked::NE
        as "", "np.where(#0 != #1, 1.0, 0.0)", "f64::from(#0 != #1)";
    /// 1 where x = 0, else 0
    NOT not(x) = select(0.0, 1.0, x == 0.0); y => [0.0] in masked::NOT
        as "", "np.where(#0 == 0.0, 1.0, 0.0)", "f64::from(#0 == 0.0)";
    /// 1 where both are not 0
    AND and(a, b) = select(1.0, 0.0, a == 0.0 || b == 0.0); y => [0.0, 0.0] in masked::AND
        as "", "np.where(np.logical_and(#0, #1), 1.0, 0.0)", "f64::from(#0 != 0.0 && #1 != 0.0)";
    /// 1 where either is not 0
    OR or(a, b) = select(1.0, 0.0, a == 0.0 && b == 0.0); y => [0.0, 0.0] in masked::OR
        as "", "np.where(np.logical_or(#0, #1), 1.0, 0.0)", "f64::from(#0 != 0.0 || #1 != 0.0)";
    /// a where c ≠ 0, else b
    SELECT select(c, a, b) = select(a, b, c == 0.0); y => [0.0, ne(c, 0.0), eq(c, 0.0)] in masked::SELECT
        as "", "np.where(#0, #1, #2)", "(if #0 != 0.0 { #1 } else { #2 })";
    /// e^x
    EXP exp(x) = exponential(x); [vector::exp] y => [y] in masked::EXP
        as "Exp", "np.exp(#0)", "@0.exp()";
    /// 2^x
    EXP2 exp2(x) = exponential2(x); y => [std::f64::consts::LN_2 * y] in masked::EXP2
        as "", "np.exp2(#0)", "@0.exp2()";
    /// e^x - 1, exact near 0
    EXPM1 expm1(x) = expm1(x); y => [y + 1.0] in masked::EXPM1
        as "", "np.expm1(#0)", "@0.exp_m1()";
    /// Natural logarithm
    LN ln(x) = precise_log(x); [vector::ln] y => [1.0 / x] in masked::LN
        as "Log", "np.log(#0)", "@0.ln()";
    /// Logarithm to base 2
    LOG2 log2(x) = precise_log2(x); y => [std::f64::consts::LOG2_E / x] in masked::LOG2
        as "", "np.log2(#0)", "@0.log2()";
    /// ln(1 + x), exact near 0
    LOG1P log1p(x) = log1p(x); y => [1.0 / (1.0 + x)] in masked::LOG1P
        as "", "np.log1p(#0)", "@0.ln_1p()";
    /// sin x
    SIN sin(x) = sine(x); [vector::sin, double::sin] y => [cos(x)] in masked::BOUNDED
        as "Sin", "np.sin(#0)", "@0.sin()";
    /// cos x
    COS cos(x) = cosine(x); [vector::cos, double::cos] y => [-sin(x)] in masked::BOUNDED
        as "Cos", "np.cos(#0)", "@0.cos()";
    /// tan x
    TAN tan(x) = sine(x) / cosine(x); y => [1.0 + y * y] in masked::BOUNDED
        as "Tan", "np.tan(#0)", "@0.tan()";
    /// Arc sine
    ASIN asin(x) = arc_sine(x); y => [rsqrt(1.0 - x * x)] in masked::ARC
        as "Asin", "np.arcsin(#0)", "@0.asin()";
    /// Arc cosine
    ACOS acos(x) = arc_cosine(x); y => [-rsqrt(1.0 - x * x)] in masked::ARC
        as "Acos", "np.arccos(#0)", "@0.acos()";
    /// Arc tangent
    ATAN atan(x) = arc_tangent(x); y => [1.0 / (1.0 + x * x)] in masked::BOUNDED
        as "Atan", "np.arctan(#0)", "@0.atan()";
    /// The angle of the point (b, a): a / b, and the quadrant
    ATAN2 atan2(a, b) = angle(a, b); y => [b / hypot(a, b) / hypot(a, b), -a / hypot(a, b) / hypot(a, b)] in masked::ATAN2
        as "", "np.arctan2(#0, #1)", "@0.atan2(#1)";
    /// √(a² + b²), without overflow on the way
    HYPOT hypot(a, b) = hypotenuse(a, b); y => [a / y, b / y] in masked::HYPOT
        as "", "np.hypot(#0, #1)", "@0.hypot(#1)";
    /// Hyperbolic sine
    SINH sinh(x) = select(hyperbolic(x, -1.0) * sign(x), 0.5 * (expm1(x) - expm1(-x)), abs(x) < 1.0); y => [cosh(x)] in masked::HYPERBOLIC
        as "Sinh", "np.sinh(#0)", "@0.sinh()";
    /// Hyperbolic cosine
    COSH cosh(x) = hyperbolic(x, 1.0); y => [sinh(x)] in masked::HYPERBOLIC
        as "Cosh", "np.cosh(#0)", "@0.cosh()";
    /// Hyperbolic tangent
    TANH tanh(x) = safe_tanh(x); [vector::tanh] y => [1.0 - y * y] in masked::BOUNDED
        as "Tanh", "np.tanh(#0)", "@0.tanh()";
    /// Inverse hyperbolic sine
    ASINH asinh(x) = sign(x) * select(log1p(abs(x) + abs(x) * (abs(x) / (1.0 + hypotenuse(x, 1.0)))), 0.6931471805599453 * (1.0 + precise_log2(abs(x))), abs(x) > 1e18); y => [1.0 / hypot(x, 1.0)] in masked::BOUNDED
        as "Asinh", "np.arcsinh(#0)", "@0.asinh()";
    /// Error function
    ERF erf(x) = erf_value(x); [vector::erf] y => [std::f64::consts::FRAC_2_SQRT_PI * exp(-(x * x))] in masked::BOUNDED
        as "Erf", "special.erf(#0)", "";
    /// 1 - erf(x), exact in the tail
    ERFC erfc(x) = erfc_value(x); y => [-std::f64::consts::FRAC_2_SQRT_PI * exp(-(x * x))] in masked::BOUNDED
        as "", "special.erfc(#0)", "";
    /// sin(x) / x, 1 at 0
    SINC sinc(x) = sinc_value(x); y => [sinc_slope(x)] in masked::BOUNDED
        as "", "np.sinc(@0/np.pi)", "(if #0 == 0.0 { 1.0 } else { @0.sin() / @0 })";
    /// The derivative of sinc
    SINC_SLOPE sinc_slope(x) = sinc_slope_value(x); y => [{
        let s = x * x;
        let far = -sinc(x) - 2.0 * sinc_slope(x) / select(eq(x, 0.0), 1.0, x);
        select(lt(abs(x), 0.05), -1.0 / 3.0 + s * (0.1 - s / 168.0), far)
    }] in masked::BOUNDED;
    /// Γ(x)
    GAMMA gamma(x) = gamma_value(x); y => [y * polygamma(0.0, x)] in masked::GAMMA
        as "", "special.gamma(#0)", "";
    /// ln |Γ(x)|
    LGAMMA lgamma(x) = lgamma_value(x); y => [polygamma(0.0, x)] in masked::LGAMMA
        as "", "special.gammaln(#0)", "";
    /// The derivative of order n of the digamma function, for whole n from 0 on
    POLYGAMMA polygamma(n, x) = polygamma_value(n, x); y => [0.0, polygamma(n + 1.0, x)] in masked::POLYGAMMA
        as "", "special.polygamma(#0, #1)", "";
    /// Real part of Faddeeva's function e^(-z²) erfc(-iz) at z = a + ib, b >= 0
    FADDEEVA_RE faddeeva_re(a, b) = faddeeva_value(a, b).x; y => [
        -2.0 * (a * y - b * faddeeva_im(a, b)),
        2.0 * (a * faddeeva_im(a, b) + b * y) - std::f64::consts::FRAC_2_SQRT_PI
    ] in masked::FADDEEVA
        as "", "np.real(special.wofz(@0 + 1j*@1))", "";
    /// Imaginary part of Faddeeva's function
    FADDEEVA_IM faddeeva_im(a, b) = faddeeva_value(a, b).y; y => [
        std::f64::consts::FRAC_2_SQRT_PI - 2.0 * (a * y + b * faddeeva_re(a, b)),
        -2.0 * (a * faddeeva_re(a, b) - b * y)
    ] in masked::FADDEEVA
        as "", "np.imag(special.wofz(@0 + 1j*@1))", "";
    /// Bessel function of the first kind, order 0
    J0 j0(x) = bessel_j0_value(x); y => [-j1(x)] in masked::BOUNDED
        as "", "special.j0(#0)", "";
    /// Bessel function of the first kind, order 1
    J1 j1(x) = bessel_j1_value(x); y => [{
        let by_x = y / select(eq(x, 0.0), 1.0, x);
        j0(x) - select(lt(abs(x), 0.01), 0.5 - x * x / 16.0, by_x)
    }] in masked::BOUNDED
        as "", "special.j1(#0)", "";
    /// 1 / (1 + e^-x)
    SIGMOID sigmoid(x) = logistic(x); [vector::sigmoid] y => [y * (1.0 - y)] in masked::BOUNDED
        as "Sigmoid", "special.expit(#0)", "(1.0 + (-@0).exp()).recip()";
    /// ln(1 + e^x)
    SOFTPLUS softplus(x) = larger(x, 0.0) + log1p(exp(-abs(x))); [vector::softplus] y => [sigmoid(x)] in masked::BOUNDED
        as "Softplus", "np.logaddexp(0.0, #0)", "(@0.max(0.0) + (-@0.abs()).exp().ln_1p())";
    /// max(x, 0); slope 0 at 0
    RELU relu(x) = rectified(x); y => [gt(x, 0.0)] in masked::BOUNDED
        as "Relu", "np.maximum(#0, 0.0)", "@0.max(0.0)";
}

//! The rows: every pointwise function, once. A row's tokens are compiled for the CPU and shipped as WGSL text; where a vector
//! function for the CPU exists, it stands in brackets beside them, and behind `in` its masked form. A row's partial derivatives are written in rows, so programs of rows differentiate to programs of rows, to any order.

use super::masked::form::{self, Form};
use super::program::E;
use super::vector;

/// One pointwise function of up to three arguments.
pub struct Row {
    /// Its name, the same everywhere.
    pub name: &'static str,
    /// Names of its arguments.
    pub arguments: &'static [&'static str],
    /// Its value as WGSL text over the arguments.
    pub wgsl: &'static str,
    /// Its value over slices of equal length.
    pub cpu: fn(&[&[f32]], &mut [f32]),
    /// The partial derivative with respect to each argument, from the arguments and the value `y`.
    pub partials: fn(&[E], E) -> Vec<E>,
    /// Where it is defined and representable.
    pub form: Form,
}

impl Row {
    /// The WGSL function `row_<name>`.
    pub fn wgsl_function(&self) -> String {
        let arguments: Vec<_> = self.arguments.iter().map(|name| format!("{name}: f32")).collect();
        format!("fn row_{}({}) -> f32 {{ return {}; }}\n", self.name, arguments.join(", "), self.wgsl)
    }
}

/// A row's value over slices: its tokens in a loop, or the function over slices that stands beside them.
macro_rules! over_slices {
    ($value:expr; $($arg:ident),+) => {
        |arguments, out| {
            #[allow(clippy::wildcard_imports, unused_imports, reason = "a row's tokens name functions of this prelude only")]
            use crate::kernels::prelude::*;
            let count = out.len();
            let mut each = arguments.iter();
            $(let $arg = &each.next().expect("as many slices as arguments")[..count];)+
            for i in 0..count {
                $(let $arg = $arg[i];)+
                out[i] = $value;
            }
        }
    };
    ($value:expr; $($arg:ident),+; $slices:path) => {
        |arguments, out| $slices(arguments[0], out)
    };
}

macro_rules! rows {
    ($($(#[$doc:meta])* $id:ident $name:ident($($arg:ident),+) = $value:expr; $([$slices:path])? $y:ident => [$($partial:expr),+] in $form:path;)+) => {
        $($(#[$doc])*
        pub static $id: Row = Row {
            name: stringify!($name),
            arguments: &[$(stringify!($arg)),+],
            wgsl: stringify!($value),
            cpu: over_slices!($value; $($arg),+ $(; $slices)?),
            partials: |arguments, $y| {
                #[allow(clippy::wildcard_imports, unused_imports, reason = "derivatives are written in rows")]
                use self::expr::*;
                let mut each = arguments.iter();
                $(let $arg = *each.next().expect("as many arguments as the row has");)+
                // A derivative need not use every argument, nor the value.
                let _ = ($y, $($arg),+);
                vec![$(E::from($partial)),+]
            },
            form: $form,
        };)+

        /// Every row.
        pub static ROWS: &[&Row] = &[$(&$id),+];

        /// Rows as functions over expressions of the program being built.
        pub mod expr {
            use super::E;
            $($(#[$doc])*
            pub fn $name($($arg: impl Into<E>),+) -> E {
                E::row(&super::$id, &[$($arg.into()),+])
            })+
        }
    };
}

rows! {
    /// a + b
    ADD add(a, b) = a + b; y => [1.0, 1.0] in form::ADD;
    /// a - b
    SUB sub(a, b) = a - b; y => [1.0, -1.0] in form::SUB;
    /// a * b
    MUL mul(a, b) = a * b; y => [b, a] in form::MUL;
    /// a / b
    DIV div(a, b) = a / b; y => [1.0 / b, -y / b] in form::DIV;
    /// a / b where its slopes are representable too, that is |a| / b²
    RATIO ratio(a, b) = a / b; y => [1.0 / b, -y / b] in form::RATIO;
    /// -x
    NEG neg(x) = -x; y => [-1.0] in form::NEG;
    /// 1 / x
    RECIP recip(x) = 1.0 / x; y => [-y * y] in form::RECIP;
    /// |x|; slope 0 at 0
    ABS abs(x) = abs(x); y => [sign(x)] in form::ABS;
    /// -1, 0 or 1
    SIGN sign(x) = sign(x); y => [0.0] in form::SIGN;
    /// The smaller; a tie's slope goes to `a`
    MIN min(a, b) = min(a, b); y => [le(a, b), lt(b, a)] in form::MIN;
    /// The larger; a tie's slope goes to `a`
    MAX max(a, b) = max(a, b); y => [ge(a, b), gt(b, a)] in form::MAX;
    /// x within [low, high]
    CLAMP clamp(x, low, high) = clamp(x, low, high); y => [ge(x, low) * le(x, high), lt(x, low), gt(x, high)] in form::CLAMP;
    /// x * x
    SQUARE square(x) = x * x; y => [2.0 * x] in form::SQUARE;
    /// √x
    SQRT sqrt(x) = sqrt(x); y => [0.5 / y] in form::SQRT;
    /// 1/√x
    RSQRT rsqrt(x) = inverseSqrt(x); y => [-0.5 * y / x] in form::RSQRT;
    /// a to the power b, for a > 0 or an integer b
    POW pow(a, b) = power(a, b); y => [select(b, b * pow(a, b - 1.0), 0.0), y * ln(select(gt(a, 0.0), a, 1.0))] in form::POW;
    /// Largest integer not above x
    FLOOR floor(x) = floor(x); y => [0.0] in form::FLOOR;
    /// Smallest integer not below x
    CEIL ceil(x) = ceil(x); y => [0.0] in form::CEIL;
    /// Nearest integer, ties to even
    ROUND round(x) = round(x); y => [0.0] in form::BOUNDED;
    /// 1 where a < b, else 0
    LT lt(a, b) = select(0.0, 1.0, a < b); y => [0.0, 0.0] in form::LT;
    /// 1 where a <= b, else 0
    LE le(a, b) = select(0.0, 1.0, a <= b); y => [0.0, 0.0] in form::LE;
    /// 1 where a > b, else 0
    GT gt(a, b) = select(0.0, 1.0, a > b); y => [0.0, 0.0] in form::GT;
    /// 1 where a >= b, else 0
    GE ge(a, b) = select(0.0, 1.0, a >= b); y => [0.0, 0.0] in form::GE;
    /// 1 where a = b, else 0
    EQ eq(a, b) = select(0.0, 1.0, a == b); y => [0.0, 0.0] in form::EQ;
    /// 1 where a ≠ b, else 0
    NE ne(a, b) = select(0.0, 1.0, a != b); y => [0.0, 0.0] in form::NE;
    /// 1 where x = 0, else 0
    NOT not(x) = select(0.0, 1.0, x == 0.0); y => [0.0] in form::NOT;
    /// 1 where both are not 0
    AND and(a, b) = select(0.0, 1.0, a != 0.0 && b != 0.0); y => [0.0, 0.0] in form::AND;
    /// 1 where either is not 0
    OR or(a, b) = select(0.0, 1.0, a != 0.0 || b != 0.0); y => [0.0, 0.0] in form::OR;
    /// a where c ≠ 0, else b
    SELECT select(c, a, b) = select(b, a, c != 0.0); y => [0.0, ne(c, 0.0), eq(c, 0.0)] in form::SELECT;
    /// e^x
    EXP exp(x) = exp(x); [vector::exp] y => [y] in form::EXP;
    /// 2^x
    EXP2 exp2(x) = exp2(x); y => [std::f32::consts::LN_2 * y] in form::EXP2;
    /// e^x - 1, exact near 0
    EXPM1 expm1(x) = expm1(x); y => [y + 1.0] in form::EXPM1;
    /// Natural logarithm
    LN ln(x) = log(x); [vector::ln] y => [1.0 / x] in form::LN;
    /// Logarithm to base 2
    LOG2 log2(x) = log2(x); y => [std::f32::consts::LOG2_E / x] in form::LOG2;
    /// ln(1 + x), exact near 0
    LOG1P log1p(x) = log1p(x); y => [1.0 / (1.0 + x)] in form::LOG1P;
    /// sin x
    SIN sin(x) = sine(x); [vector::sin] y => [cos(x)] in form::BOUNDED;
    /// cos x
    COS cos(x) = cosine(x); [vector::cos] y => [-sin(x)] in form::BOUNDED;
    /// tan x
    TAN tan(x) = sine(x) / cosine(x); y => [1.0 + y * y] in form::BOUNDED;
    /// Arc tangent
    ATAN atan(x) = atan(x); y => [1.0 / (1.0 + x * x)] in form::BOUNDED;
    /// The angle of the point (b, a): a / b, and the quadrant
    ATAN2 atan2(a, b) = angle(a, b); y => [b / hypot(a, b) / hypot(a, b), -a / hypot(a, b) / hypot(a, b)] in form::ATAN2;
    /// √(a² + b²), without overflow on the way
    HYPOT hypot(a, b) = hypotenuse(a, b); y => [a / y, b / y] in form::HYPOT;
    /// Hyperbolic sine
    SINH sinh(x) = select(hyperbolic(x, -1.0) * sign(x), 0.5 * (expm1(x) - expm1(-x)), abs(x) < 1.0); y => [cosh(x)] in form::HYPERBOLIC;
    /// Hyperbolic cosine
    COSH cosh(x) = hyperbolic(x, 1.0); y => [sinh(x)] in form::HYPERBOLIC;
    /// Hyperbolic tangent
    TANH tanh(x) = safe_tanh(x); [vector::tanh] y => [1.0 - y * y] in form::BOUNDED;
    /// Error function (Abramowitz and Stegun 7.1.26 away from 0, its series near 0)
    ERF erf(x) = erf(x); [vector::erf] y => [1.1283791671 * exp(-(x * x))] in form::BOUNDED;
    /// 1 / (1 + e^-x)
    SIGMOID sigmoid(x) = 0.5 + 0.5 * safe_tanh(0.5 * x); [vector::sigmoid] y => [y * (1.0 - y)] in form::BOUNDED;
    /// ln(1 + e^x)
    SOFTPLUS softplus(x) = max(x, 0.0) + log1p(exp(-abs(x))); [vector::softplus] y => [sigmoid(x)] in form::BOUNDED;
    /// max(x, 0); slope 0 at 0
    RELU relu(x) = select(x, 0.0, x <= 0.0); y => [gt(x, 0.0)] in form::BOUNDED;
    /// x above 0, 0.01 x below
    LEAKY_RELU leaky_relu(x) = select(0.01 * x, x, x > 0.0); y => [0.01 + 0.99 * gt(x, 0.0)] in form::BOUNDED;
    /// x above 0, e^x - 1 below
    ELU elu(x) = select(x, expm1(x), x < 0.0); [vector::elu] y => [select(gt(x, 0.0), 1.0, y + 1.0)] in form::BOUNDED;
    /// x · sigmoid(x)
    SILU silu(x) = x * (0.5 + 0.5 * safe_tanh(0.5 * x)); [vector::silu] y => [sigmoid(x) * (1.0 + x * (1.0 - sigmoid(x)))] in form::BOUNDED;
    /// 0.5 x (1 + tanh(√(2/π)(x + 0.044715 x³))), the tanh form
    GELU gelu(x) = 0.5 * x * (1.0 + safe_tanh(0.7978845608 * clamp(x, -9.0, 9.0) * (1.0 + 0.044715 * clamp(x, -9.0, 9.0) * clamp(x, -9.0, 9.0)))); [vector::gelu] y => [{
        let t = tanh(0.7978845608 * x * (1.0 + 0.044715 * x * x));
        0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * 0.7978845608 * (1.0 + 0.134145 * x * x)
    }] in form::BOUNDED;
}

//! The masked form of an operation: where it is defined, where its value is a float, how it is computed for any bits. The tokens of a predicate
//! are compiled for the host and also used as WGSL; both give the same result for every bit pattern (`rules.rs`, `shaders/common/total.wgsl`).

use crate::simd::masked::Lanes;

/// An operation's masked form. Arguments that are ⊥ always give ⊥.
pub struct MaskedForm {
    /// Outside this the operation has no value: ⊥.
    pub inside: Option<Predicate>,
    /// Where the value is representable; elsewhere it is ⊥ by fault. Without it the value itself is checked.
    pub fits: Option<Predicate>,
    /// WGSL that keeps subnormal arguments, if a device may flush them in the operation's own WGSL.
    pub value: Option<&'static str>,
    /// Vectorised version for the CPU; without it the operation's own function runs and a second pass marks what is ⊥.
    pub lanes: Option<Lanes>,
}

/// A predicate on an operation's arguments.
#[derive(Clone, Copy)]
pub struct Predicate {
    /// As WGSL over the names of the arguments.
    pub wgsl: &'static str,
    /// The same on the host.
    pub holds: fn(&[f32]) -> bool,
}

macro_rules! predicate {
    ($predicate:expr; ($($arg:ident),+)) => {
        Some(Predicate {
            wgsl: stringify!($predicate),
            holds: |arguments| {
                #[allow(clippy::wildcard_imports, unused_imports, reason = "a predicate's tokens name functions of the rules only")]
                use super::rules::*;
                let mut each = arguments.iter();
                $(let $arg = *each.next().expect("as many arguments as the operation has");)+
                let _ = [$($arg),+];
                $predicate
            },
        })
    };
}

/// `name(arguments) { inside predicate; fits predicate; value WGSL; lanes name; }`, each part optional.
macro_rules! forms {
    ($($id:ident $arguments:tt { $(inside $inside:expr;)? $(fits $fits:expr;)? $(value $value:expr;)? $(lanes $lanes:path;)? })+) => {
        $(pub(crate) const $id: MaskedForm = MaskedForm {
            inside: forms!(@ $(predicate!($inside; $arguments))?),
            fits: forms!(@ $(predicate!($fits; $arguments))?),
            value: forms!(@ $(Some(stringify!($value)))?),
            lanes: forms!(@ $(Some($lanes))?),
        };)+
    };
    (@ $some:expr) => { $some };
    (@) => { None };
}

// 88.72283 is the largest float with a finite e^x, 89.415985 the largest with a finite cosh x.
forms! {
    BOUNDED(x) { fits true; }
    ADD(a, b) { fits sum_fits(a, b); lanes Lanes::Add; }
    SUB(a, b) { fits sum_fits(a, -b); lanes Lanes::Sub; }
    MUL(a, b) { fits product_fits(a, b); value product(a, b); lanes Lanes::Mul; }
    DIV(a, b) { inside is_nonzero(b); fits quotient_fits(a, b); value quotient(a, b); lanes Lanes::Div; }
    RATIO(a, b) { inside is_nonzero(b); fits ratio_fits(a, b); value quotient(a, b); lanes Lanes::Ratio; }
    NEG(x) { fits true; lanes Lanes::Neg; }
    RECIP(x) { inside is_nonzero(x); fits magnitude(x) > 0x00200000; value quotient(1.0, x); lanes Lanes::Recip; }
    ABS(x) { fits true; lanes Lanes::Abs; }
    SIGN(x) { fits true; value truth(is_above_zero(x)) - truth(is_below_zero(x)); }
    MIN(a, b) { fits true; value least(a, b); lanes Lanes::Min; }
    MAX(a, b) { fits true; value greatest(a, b); lanes Lanes::Max; }
    CLAMP(x, low, high) { fits true; value least(greatest(x, low), high); }
    SQUARE(x) { fits product_fits(x, x); value product(x, x); lanes Lanes::Square; }
    SQRT(x) { inside !is_below_zero(x); fits true; value root(x); lanes Lanes::Sqrt; }
    RSQRT(x) { inside is_above_zero(x); fits true; value inverse_root(x); }
    POW(a, b) { inside power_exists(a, b); fits power_fits(a, b); value power(a, b); }
    FLOOR(x) { fits true; value select(floor(x), signed_as(truth(is_below_zero(x)), x), magnitude(x) < 0x3f800000u); }
    CEIL(x) { fits true; value select(ceil(x), signed_as(truth(is_above_zero(x)), x), magnitude(x) < 0x3f800000u); }
    LT(a, b) { fits true; value truth(order(a) < order(b)); }
    LE(a, b) { fits true; value truth(order(a) <= order(b)); }
    GT(a, b) { fits true; value truth(order(a) > order(b)); }
    GE(a, b) { fits true; value truth(order(a) >= order(b)); }
    EQ(a, b) { fits true; value truth(order(a) == order(b)); }
    NE(a, b) { fits true; value truth(order(a) != order(b)); }
    NOT(x) { fits true; value truth(!is_nonzero(x)); }
    AND(a, b) { fits true; value truth(is_nonzero(a) && is_nonzero(b)); }
    OR(a, b) { fits true; value truth(is_nonzero(a) || is_nonzero(b)); }
    SELECT(c, a, b) { fits true; value select(b, a, is_nonzero(c)); }
    EXP(x) { fits x <= 88.72283; lanes Lanes::Exp; }
    EXP2(x) { fits x < 128.0; }
    EXPM1(x) { fits x <= 88.72283; }
    LN(x) { inside is_above_zero(x); fits true; value logarithm(x); lanes Lanes::Ln; }
    LOG2(x) { inside is_above_zero(x); fits true; value logarithm2(x); }
    LOG1P(x) { inside x > -1.0; fits true; }
    HYPERBOLIC(x) { fits abs(x) <= 89.415985; }
    HYPOT(a, b) { fits hypotenuse_fits(a, b); value hypotenuse_value(a, b); }
    ARC(x) { inside abs(x) <= 1.0; fits true; }
    // 35.040096 is the largest float with a finite Γ. Some devices flush a subnormal argument to 0, which is a pole.
    GAMMA(x) { inside magnitude(x) >= 0x00800000 && (x > 0.0 || x != floor(x)); fits x <= 35.040096; }
    LGAMMA(x) { inside magnitude(x) >= 0x00800000 && (x > 0.0 || x != floor(x)); fits x < 4.0e36; }
    // In this range n! / x^(n + 1) is a float.
    POLYGAMMA(n, x) { inside (magnitude(n) == 0 || n >= 1.0) && n == floor(n) && abs(n) <= 4.0 && abs(x) > 1.0e-7 && (x > 0.0 || x != floor(x)); fits true; }
    FADDEEVA(a, b) { inside !is_below_zero(b); fits true; }
    ATAN2(a, b) { fits true; value angle_value(a, b); }
}

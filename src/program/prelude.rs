//! WGSL's scalar functions in Rust, in single and double precision, so that an operation's tokens have the same meaning in all three.
//! `shaders/common/{scalar,sine}.wgsl` have the WGSL versions.
#![allow(non_snake_case, reason = "the names are WGSL's")]

macro_rules! shared {
    ($number:ident) => {
        pub(crate) fn exponential2(x: $number) -> $number {
            x.exp2()
        }

        pub(crate) fn expm1(x: $number) -> $number {
            x.exp_m1()
        }

        pub(crate) fn precise_log2(x: $number) -> $number {
            x.log2()
        }

        pub(crate) fn log1p(x: $number) -> $number {
            x.ln_1p()
        }

        pub(crate) fn sine(x: $number) -> $number {
            x.sin()
        }

        pub(crate) fn cosine(x: $number) -> $number {
            x.cos()
        }

        pub(crate) fn abs(x: $number) -> $number {
            x.abs()
        }

        pub(crate) fn sign(x: $number) -> $number {
            select(select(0.0, -1.0, x < 0.0), 1.0, x > 0.0)
        }

        pub(crate) fn smaller(a: $number, b: $number) -> $number {
            if a <= b || a.is_nan() { a } else { b }
        }

        pub(crate) fn larger(a: $number, b: $number) -> $number {
            if a >= b || a.is_nan() { a } else { b }
        }

        pub(crate) fn square_root(x: $number) -> $number {
            x.sqrt()
        }

        pub(crate) fn inverse_square_root(x: $number) -> $number {
            1.0 / x.sqrt()
        }

        pub(crate) fn rectified(x: $number) -> $number {
            if x <= 0.0 { 0.0 } else { x }
        }

        pub(crate) fn power(a: $number, b: $number) -> $number {
            a.powf(b)
        }

        pub(crate) fn floor(x: $number) -> $number {
            x.floor()
        }

        pub(crate) fn ceil(x: $number) -> $number {
            x.ceil()
        }

        pub(crate) fn round(x: $number) -> $number {
            x.round_ties_even()
        }

        pub(crate) fn arc_tangent(x: $number) -> $number {
            x.atan()
        }

        pub(crate) fn arc_sine(x: $number) -> $number {
            x.asin()
        }

        pub(crate) fn arc_cosine(x: $number) -> $number {
            x.acos()
        }

        pub(crate) fn select(otherwise: $number, then: $number, condition: bool) -> $number {
            if condition { then } else { otherwise }
        }

        pub(crate) fn hypotenuse(a: $number, b: $number) -> $number {
            a.hypot(b)
        }

        pub(crate) fn angle(a: $number, b: $number) -> $number {
            a.atan2(b)
        }

        pub(crate) fn hyperbolic(x: $number, sign: $number) -> $number {
            let e = std::f64::consts::FRAC_1_SQRT_2 as $number * (0.5 * x.abs()).exp();
            let inverse = 0.5 / e;
            e * e + sign * inverse * inverse
        }

        pub(crate) fn erfc_value(x: $number) -> $number {
            special::erfc(f64::from(x)) as $number
        }

        pub(crate) fn sinc_value(x: $number) -> $number {
            special::sinc(f64::from(x)) as $number
        }

        pub(crate) fn sinc_slope_value(x: $number) -> $number {
            special::sinc_slope(f64::from(x)) as $number
        }

        pub(crate) fn gamma_value(x: $number) -> $number {
            special::gamma(f64::from(x)) as $number
        }

        pub(crate) fn lgamma_value(x: $number) -> $number {
            special::lgamma(f64::from(x)) as $number
        }

        pub(crate) fn polygamma_value(n: $number, x: $number) -> $number {
            special::polygamma(n as u32, f64::from(x)) as $number
        }

        /// A complex number, like WGSL's vec2.
        pub(crate) struct Complex {
            pub(crate) x: $number,
            pub(crate) y: $number,
        }

        pub(crate) fn faddeeva_value(x: $number, y: $number) -> Complex {
            let (re, im) = special::faddeeva(f64::from(x), f64::from(y));
            Complex { x: re as $number, y: im as $number }
        }

        pub(crate) fn bessel_j0_value(x: $number) -> $number {
            special::bessel_j0(f64::from(x)) as $number
        }

        pub(crate) fn bessel_j1_value(x: $number) -> $number {
            special::bessel_j1(f64::from(x)) as $number
        }
    };
}

/// In f32, without the operations that have a vector function.
pub(crate) mod single {
    use crate::math::special;

    shared!(f32);
}

/// In f64.
pub(crate) mod double {
    use crate::math::special;

    shared!(f64);

    pub(crate) use crate::simd::double::{exp, exp as exponential, ln as precise_log};

    pub(crate) fn safe_tanh(x: f64) -> f64 {
        x.tanh()
    }

    pub(crate) fn logistic(x: f64) -> f64 {
        1.0 / (1.0 + exp(-x))
    }

    pub(crate) fn erf_value(x: f64) -> f64 {
        special::erf(x)
    }
}

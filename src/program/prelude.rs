//! WGSL's scalar functions in Rust, in single and double precision, so that an operation's tokens have the same meaning in all three.
//! `shaders/common/{scalar,sine}.wgsl` have the WGSL versions.
#![allow(non_snake_case, reason = "the names are WGSL's")]

macro_rules! shared {
    ($number:ident) => {
        pub(in crate::program) fn exp2(x: $number) -> $number {
            x.exp2()
        }

        pub(in crate::program) fn expm1(x: $number) -> $number {
            x.exp_m1()
        }

        pub(in crate::program) fn precise_log2(x: $number) -> $number {
            x.log2()
        }

        pub(in crate::program) fn log1p(x: $number) -> $number {
            x.ln_1p()
        }

        pub(in crate::program) fn sine(x: $number) -> $number {
            x.sin()
        }

        pub(in crate::program) fn cosine(x: $number) -> $number {
            x.cos()
        }

        pub(in crate::program) fn abs(x: $number) -> $number {
            x.abs()
        }

        pub(in crate::program) fn sign(x: $number) -> $number {
            select(select(0.0, -1.0, x < 0.0), 1.0, x > 0.0)
        }

        pub(in crate::program) fn smaller(a: $number, b: $number) -> $number {
            if a <= b || a.is_nan() { a } else { b }
        }

        pub(in crate::program) fn larger(a: $number, b: $number) -> $number {
            if a >= b || a.is_nan() { a } else { b }
        }

        pub(in crate::program) fn sqrt(x: $number) -> $number {
            x.sqrt()
        }

        pub(in crate::program) fn inverseSqrt(x: $number) -> $number {
            1.0 / x.sqrt()
        }

        pub(in crate::program) fn power(a: $number, b: $number) -> $number {
            a.powf(b)
        }

        pub(in crate::program) fn floor(x: $number) -> $number {
            x.floor()
        }

        pub(in crate::program) fn ceil(x: $number) -> $number {
            x.ceil()
        }

        pub(in crate::program) fn round(x: $number) -> $number {
            x.round_ties_even()
        }

        pub(in crate::program) fn arc_tangent(x: $number) -> $number {
            x.atan()
        }

        pub(in crate::program) fn arc_sine(x: $number) -> $number {
            x.asin()
        }

        pub(in crate::program) fn arc_cosine(x: $number) -> $number {
            x.acos()
        }

        pub(in crate::program) fn select(otherwise: $number, then: $number, condition: bool) -> $number {
            if condition { then } else { otherwise }
        }

        pub(in crate::program) fn hypotenuse(a: $number, b: $number) -> $number {
            a.hypot(b)
        }

        pub(in crate::program) fn angle(a: $number, b: $number) -> $number {
            a.atan2(b)
        }

        pub(in crate::program) fn hyperbolic(x: $number, sign: $number) -> $number {
            let e = std::f64::consts::FRAC_1_SQRT_2 as $number * (0.5 * x.abs()).exp();
            let inverse = 0.5 / e;
            e * e + sign * inverse * inverse
        }

        pub(in crate::program) fn erfc_value(x: $number) -> $number {
            special::erfc(f64::from(x)) as $number
        }

        pub(in crate::program) fn sinc_value(x: $number) -> $number {
            special::sinc(f64::from(x)) as $number
        }

        pub(in crate::program) fn sinc_slope_value(x: $number) -> $number {
            special::sinc_slope(f64::from(x)) as $number
        }

        pub(in crate::program) fn gamma_value(x: $number) -> $number {
            special::gamma(f64::from(x)) as $number
        }

        pub(in crate::program) fn lgamma_value(x: $number) -> $number {
            special::lgamma(f64::from(x)) as $number
        }

        pub(in crate::program) fn polygamma_value(n: $number, x: $number) -> $number {
            special::polygamma(n as u32, f64::from(x)) as $number
        }

        /// A complex number, like WGSL's vec2.
        pub(in crate::program) struct Complex {
            pub(in crate::program) x: $number,
            pub(in crate::program) y: $number,
        }

        pub(in crate::program) fn faddeeva_value(x: $number, y: $number) -> Complex {
            let (re, im) = special::faddeeva(f64::from(x), f64::from(y));
            Complex { x: re as $number, y: im as $number }
        }

        pub(in crate::program) fn bessel_j0_value(x: $number) -> $number {
            special::bessel_j0(f64::from(x)) as $number
        }

        pub(in crate::program) fn bessel_j1_value(x: $number) -> $number {
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

    pub(in crate::program) use crate::simd::double::{exp, ln as precise_log};

    pub(in crate::program) fn safe_tanh(x: f64) -> f64 {
        x.tanh()
    }

    pub(in crate::program) fn logistic(x: f64) -> f64 {
        1.0 / (1.0 + exp(-x))
    }

    pub(in crate::program) fn erf_value(x: f64) -> f64 {
        special::erf(x)
    }
}

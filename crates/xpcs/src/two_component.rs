//! Two components that scatter together: a reference r, which diffuses, and a sample s, which diffuses and moves against it with a velocity v. The 14
//! parameters are those of the program heterodyne, the theory is section 2.F of the supplement of He et al., PNAS 121 (2024) e2401162121, with two
//! components (restated as equations 1 to 3 of He et al., PNAS 122 (2025) e2514216122):
//!
//! g2 = offset + contrast · (r1² r2² Ar² + s1² s2² As² + 2 r1 r2 s1 s2 Ar As cos(q cos(φ + phi0) ∫v dt)) / ((r1² + s1²)(r2² + s2²)),
//!
//! with s = f0·exp(f1·(t - f2)) + f3 within 0 and 1, r = 1 - s, each at t1 and at t2, Ar = exp(-q²/2 ∫Jr dt), As = exp(-q²/2 ∫Js dt), all integrals
//! from t1 to t2, Jr = D0_ref·t^alpha_ref + D_offset_ref, Js the same of the sample, both at least 0, and v = v0·t^beta + v_offset. The
//! integrals are sums of trapezoids, and t is at least dt/2, as in the other models. The program heterodyne takes t^x as 0 at t = 0, which differs by
//! half of the first step and puts a bend into the cost where an offset is 0.
//!
//! f0 and f2 are one parameter, f0·exp(-f1·f2): f2 keeps its value. With f1 = 0, f0 and f3 are one too, which the fit reports.

use super::experiment::Experiment;
use super::model::least_time;
use meromorph::internal::host::number;

/// Larger exponents of the share of the sample count as this one.
const MOST_EXPONENT: f64 = 500.0;

/// The formula of g2 over t1, t2 and phi; `bracket` follows contrast and offset.
pub(super) fn formula(experiment: &Experiment, bracket: &str) -> String {
    let (q, least) = (experiment.q, number(least_time(experiment.dt)));
    let (half, q) = (number(q * q / 2.0), number(q));
    let power = |name: &str, exponent: &str, offset: &str| format!("{name}*max(u, {least})^{exponent} + {offset}");
    let decay = |of: &str| {
        let rate = power(&format!("D0_{of}"), &format!("alpha_{of}"), &format!("D_offset_{of}"));
        format!("exp(-{half}*cumint(max({rate}, 0), u, t1, t2))")
    };
    let (reference, sample, velocity) = (decay("ref"), decay("sample"), power("v0", "beta", "v_offset"));
    let share = |t: &str| format!("min(max(f0*exp(min(f1*({t} - f2), {})) + f3, 0), 1)", number(MOST_EXPONENT));
    let (s1, s2) = (share("t1"), share("t2"));
    format!(
        "s1 = {s1}; s2 = {s2}; r1 = 1 - s1; r2 = 1 - s2; reference = r1*r2*{reference}; sample = s1*s2*{sample}; \
         phase = {q}*cos((phi + phi0)*pi/180)*cumint({velocity}, u, t1, t2); \
         offset{bracket} + contrast{bracket}*(reference^2 + sample^2 + 2*reference*sample*cos(phase))/((s1^2 + r1^2)*(s2^2 + r2^2))"
    )
}

/// The same evaluated at every pair of times [angles, times, times]; 1 on the diagonal.
pub(super) fn decay(experiment: &Experiment, value: impl Fn(&str) -> f64) -> Vec<f64> {
    let Experiment { phi, t, dt, q, .. } = experiment;
    let earliest = least_time(*dt);
    let power = |names: [&str; 3], least: f64| {
        let [start, power, offset] = names.map(&value);
        let rate = |t: f64| (start * t.max(earliest).powf(power) + offset).max(least);
        let mut sums = vec![0.0];
        for (at, pair) in t.windows(2).enumerate() {
            sums.push(sums[at] + 0.5 * (pair[1] - pair[0]) * (rate(pair[0]) + rate(pair[1])));
        }
        sums
    };
    let reference = power(["D0_ref", "alpha_ref", "D_offset_ref"], 0.0);
    let sample = power(["D0_sample", "alpha_sample", "D_offset_sample"], 0.0);
    let way = power(["v0", "beta", "v_offset"], f64::NEG_INFINITY);
    let [f0, f1, f2, f3] = ["f0", "f1", "f2", "f3"].map(&value);
    let share = |t: &f64| (f0 * (f1 * (t - f2)).min(MOST_EXPONENT).exp() + f3).clamp(0.0, 1.0);
    let shares: Vec<f64> = t.iter().map(share).collect();
    let times = t.len();
    let mut all = vec![1.0; phi.len() * times * times];
    for (angle, phi) in phi.iter().enumerate() {
        let along = q * (phi + value("phi0")).to_radians().cos();
        for i in 0..times {
            for j in i + 1..times {
                let half = |sums: &[f64]| (-q * q / 2.0 * (sums[j] - sums[i])).exp();
                let ([s1, s2], of_reference, of_sample) = ([shares[i], shares[j]], half(&reference), half(&sample));
                let [r1, r2] = [1.0 - s1, 1.0 - s2];
                let (own, other) = (r1 * r2 * of_reference, s1 * s2 * of_sample);
                let interference = 2.0 * own * other * (along * (way[j] - way[i])).cos();
                let norm = (s1 * s1 + r1 * r1) * (s2 * s2 + r2 * r2);
                let correlation = (own * own + other * other + interference) / norm;
                all[experiment.place([angle, i, j])] = correlation;
                all[experiment.place([angle, j, i])] = correlation;
            }
        }
    }
    all
}

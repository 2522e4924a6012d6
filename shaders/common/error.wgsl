// Error functions; domains and polynomials are stated as in special.wgsl.

fn erf_near(x: f32) -> f32 {
    let s = x * x;
    return x * (1.12837917 + s * (-0.376126188 + s * (0.112833766 + s * (-0.0268346247 + s * (0.00511434567 - s * 0.000674951343)))));
}

// e^(-x²) P(u) / (x + 2) for x >= 3/4, with u = (x - 2) / (x + 2).
fn erfc_far(x: f32) -> f32 {
    if x > 12.0 {
        return 0.0;
    }
    let u = (x - 2.0) / (x + 2.0);
    let high = -0.0214995836 + u * (0.00649953171 + u * (0.00300126793 + u * (-0.000881848998 - u * 0.000407728432)));
    let p = 1.02158271 + u * (-0.687160626 + u * (0.279471628 + u * (-0.0364444787 + u * high)));
    return exp_square_difference(0.0, x) * p / (x + 2.0);
}

// All x.
fn erf_value(x: f32) -> f32 {
    if abs(x) < 0.75 {
        return erf_near(x);
    }
    let value = 1.0 - erfc_far(abs(x));
    return select(value, -value, x < 0.0);
}

// All x; 0 where the value is below the least float.
fn erfc_value(x: f32) -> f32 {
    if abs(x) < 0.75 {
        return 1.0 - erf_near(x);
    }
    let value = erfc_far(abs(x));
    return select(value, 2.0 - value, x < 0.0);
}

// A polynomial of each feature; the coefficients of each degree are one tensor, which starts at a multiple of 64 words.
struct Polynomial { first: u32, step: u32, degree: u32 }

fn polynomial_of(feature: u32) -> Polynomial {
    let count = values();
    if (feature < count) { return Polynomial(params.numerator + feature, step_of(count), NUMERATOR); }
    return Polynomial(params.denominator + feature - count, step_of(params.outputs - count), DENOMINATOR);
}

fn step_of(count: u32) -> u32 { return (count + 63u) & 0xffffffc0u; }

fn curve(z_at: u32, feature: u32) -> vec2<f32> { return polynomial(polynomial_of(feature), word(z_at, feature)); }

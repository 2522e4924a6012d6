// The Faddeeva function w(z) = e^(-z²) erfc(-iz); domains and polynomials are stated as in special.wgsl.

// The terms of ±t in the sum of faddeeva_above, less the factors y and x.
fn faddeeva_node(x: f32, y: f32, t: f32, weight: f32) -> vec2<f32> {
    let below = x - t;
    let above = x + t;
    let scale = weight / ((below * below + y * y) * (above * above + y * y));
    return vec2<f32>(scale * (x * x + y * y + t * t), scale * (below * above + y * y));
}

// 2 e^(-z²) / (1 + e^(2πy / h - i angle)) for the step h = 11/16.
fn faddeeva_pole(x: f32, y: f32, angle: f32) -> vec2<f32> {
    let q = precise_exp(-9.13917863 * y, 0.0);
    let size = 2.0 * exp_square_difference(y, x) * q / (1.0 + q * (2.0 * cosine(angle) + q));
    let phase = 2.0 * x * y;
    return vec2<f32>(size * (cosine(angle - phase) + q * cosine(phase)), size * (sine(angle - phase) - q * sine(phase)));
}

// Laplace's continued fraction to its first term, i / (√π z). Smaller by 2^-32 first: a device may take a quotient by more than 2^126 for 0.
fn faddeeva_far(x: f32, y: f32) -> vec2<f32> {
    let size = 2.3283064e-10 * select(y, abs(x), abs(x) > y);
    let a = 2.3283064e-10 * x / size;
    let b = 2.3283064e-10 * y / size;
    let scale = 0.564189584 / (a * a + b * b);
    return 2.3283064e-10 * vec2<f32>(scale * b / size, scale * a / size);
}

// c + u v.
fn complex_step(c: f32, u: vec2<f32>, v: vec2<f32>) -> vec2<f32> {
    return vec2<f32>(c + u.x * v.x - u.y * v.y, u.x * v.y + u.y * v.x);
}

// The Maclaurin series, even terms and odd, for |z| < 0.3: there the parts of the trapezoidal rule cancel.
fn faddeeva_near(x: f32, y: f32) -> vec2<f32> {
    let u = vec2<f32>(x * x - y * y, 2.0 * x * y);
    let second = complex_step(-0.166666667, u, complex_step(0.0416666667, u, vec2<f32>(-0.00833333333, 0.0)));
    let even = complex_step(1.0, u, complex_step(-1.0, u, complex_step(0.5, u, second)));
    let third = complex_step(-0.0859717461, u, complex_step(0.0191048325, u, vec2<f32>(-0.00347360591, 0.0)));
    let odd = complex_step(1.12837917, u, complex_step(-0.752252778, u, complex_step(0.300901111, u, third)));
    return vec2<f32>(even.x - x * odd.y - y * odd.x, even.y + x * odd.x - y * odd.y);
}

// w(z) = e^(-z²) erfc(-iz) for y >= 0 by the trapezoidal rule of Al Azah and Chandler-Wilde, as in faddeeva.rs but with step 11/16.
fn faddeeva_above(x: f32, y: f32) -> vec2<f32> {
    if abs(x) > 4096.0 || y > 4096.0 {
        return faddeeva_far(x, y);
    }
    if x * x + y * y < 0.09 {
        return faddeeva_near(x, y);
    }
    let offset = x - 0.6875 * round(x * 1.45454545);
    let is_between = abs(offset) <= 0.171875;
    let t = select(0.0, 0.34375, is_between);
    var sum = faddeeva_node(x, y, t + 4.125, select(4.07575393e-8, 2.12450594e-9, is_between));
    sum += faddeeva_node(x, y, t + 3.4375, select(7.38244074e-6, 6.17336511e-7, is_between));
    sum += faddeeva_node(x, y, t + 2.75, select(0.000519574682, 6.97014761e-5, is_between));
    sum += faddeeva_node(x, y, t + 2.0625, select(0.0142086229, 0.00305786273, is_between));
    sum += faddeeva_node(x, y, t + 1.375, select(0.150977418, 0.052125471, is_between));
    sum += faddeeva_node(x, y, t + 0.6875, select(0.623344309, 0.345253426, is_between));
    sum += faddeeva_node(x, y, t, select(0.5, 0.888550263, is_between));
    sum = 0.437676094 * vec2<f32>(y * sum.x, x * sum.y);
    if abs(x) > 12.0 || y > 4.56958931 {
        return sum;
    }
    let centre = select(select(offset + 0.34375, offset - 0.34375, offset > 0.0), offset, is_between);
    return sum + faddeeva_pole(x, y, 9.13917863 * centre);
}

// w(x + iy), real and imaginary part, for all finite x and y with y² - x² <= 88 where y < 0; there it is 2 e^(-z²) - w(-z), with an error
// relative to the larger of the two.
fn faddeeva_value(x: f32, y: f32) -> vec2<f32> {
    if y < 0.0 {
        let size = 2.0 * exp_square_difference(y, x);
        let angle = 2.0 * x * y;
        return vec2<f32>(size * cosine(angle), -size * sine(angle)) - faddeeva_above(-x, -y);
    }
    return faddeeva_above(x, y);
}

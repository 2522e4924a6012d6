// The sum of w_k x^k and its slope, by Horner's rule.
fn polynomial(p: Polynomial, x: f32) -> vec2<f32> {
    var sum = vec2<f32>(theta_word(p.first + p.degree * p.step), 0.0);
    for (var k = p.degree; k > 0u; k--) {
        sum = vec2<f32>(sum.x * x + theta_word(p.first + (k - 1u) * p.step), sum.y * x + sum.x);
    }
    return sum;
}

/// x^k.
fn basis(k: u32, x: f32) -> f32 {
    var power = 1.0;
    for (var i = 0u; i < k; i++) { power *= x; }
    return power;
}

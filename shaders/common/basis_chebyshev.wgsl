// The sum of w_k T_k(x) and its slope, by Clenshaw's rule (1955) and its derivative.
fn polynomial(p: Polynomial, x: f32) -> vec2<f32> {
    var one = vec2<f32>();
    var two = vec2<f32>();
    for (var k = p.degree; k > 0u; k--) {
        let next = 2.0 * (x * one + vec2<f32>(0.0, one.x)) - two + vec2<f32>(theta_word(p.first + k * p.step), 0.0);
        two = one;
        one = next;
    }
    return x * one + vec2<f32>(0.0, one.x) - two + vec2<f32>(theta_word(p.first), 0.0);
}

/// T_k(x).
fn basis(k: u32, x: f32) -> f32 {
    var now = 1.0;
    var next = x;
    for (var i = 0u; i < k; i++) {
        let after = 2.0 * x * next - now;
        now = next;
        next = after;
    }
    return now;
}

/// √(P² + Q²), the divisor of the pair; 1 if it is 0.
fn pair_size(free: vec2<f32>) -> f32 {
    let square = dot(free, free);
    return sqrt(select(1.0, square, square > 0.0));
}

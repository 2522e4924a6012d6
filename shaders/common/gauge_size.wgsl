/// √(P² + Q²), by which the pair is divided; a length of 0 is left alone.
fn gauge_size(free: vec2<f32>) -> f32 {
    let square = dot(free, free);
    return sqrt(select(1.0, square, square > 0.0));
}

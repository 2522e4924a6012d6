// Only a rational head has parameters of its own.
fn gradient_of_coefficients(at: u32, count: u32, lane: u32, out_at: u32) {}

/// The threshold of this step.
fn threshold() -> f32 { return params.tau_low; }

/// The random threshold of this step. Like all random numbers it uses the step counter after this step.
fn threshold() -> f32 {
    let counter = vec2<u32>(0u, stream_at(params.stream, control[0] + 1u));
    let share = unit(threefry(vec2<u32>(params.seed_low, params.seed_high), counter)).x;
    return share * (params.tau_high - params.tau_low) + params.tau_low;
}

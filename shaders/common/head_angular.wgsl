fn free_pair(z_at: u32, o: u32) -> vec2<f32> {
    let angle = params.scale * word(z_at, o);
    return vec2<f32>(cosine(angle), sine(angle));
}

// States in 16 bits: numbers of all keys, two in a word, then the numbers of their rows in 32 bits.
fn state_at(key: u32, i: u32) -> f32 {
    let at = key * params.width + i;
    let pair = unpack2x16float(states[at >> 1u]);
    return select(pair.x, pair.y, (at & 1u) == 1u);
}

fn id_of(key: u32) -> f32 { return bitcast<f32>(states[(params.keys * params.width + 1u) / 2u + key]); }

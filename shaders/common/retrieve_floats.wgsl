// States in 32 bits: numbers of a key, then the number of its row.
fn state_at(key: u32, i: u32) -> f32 { return bitcast<f32>(states[key * (params.width + 1u) + i]); }

fn id_of(key: u32) -> f32 { return state_at(key, params.width); }

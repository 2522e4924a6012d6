// Lanes that exchange values without a barrier: none, so SUBGROUP is 1 and nobody is beside anybody.

const SUBGROUP: u32 = 1u;

fn beside(value: f32, apart: u32) -> f32 {
    return value;
}

fn beside_word(value: u32, apart: u32) -> u32 {
    return value;
}

// Lanes that exchange values without a barrier: SUBGROUP of them, a power of two. The value of the lane whose number differs in bit `apart`.

fn beside(value: f32, apart: u32) -> f32 {
    return subgroupShuffleXor(value, apart);
}

fn beside_word(value: u32, apart: u32) -> u32 {
    return subgroupShuffleXor(value, apart);
}

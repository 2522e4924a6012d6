// Exchange of values between SUBGROUP lanes (a power of two) without a barrier: the value of the lane whose index differs in bit `apart`.

fn exchanged(value: f32, apart: u32) -> f32 {
    return subgroupShuffleXor(value, apart);
}

fn exchanged_word(value: u32, apart: u32) -> u32 {
    return subgroupShuffleXor(value, apart);
}

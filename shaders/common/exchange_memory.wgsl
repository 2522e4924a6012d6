// Exchange of values between lanes without a barrier: not available, so SUBGROUP is 1 and each lane only sees its own value.

const SUBGROUP: u32 = 1u;

fn exchanged(value: f32, apart: u32) -> f32 {
    return value;
}

fn exchanged_word(value: u32, apart: u32) -> u32 {
    return value;
}

//! SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators"): a hash of a word, and numbers from a counter.

/// What the generator adds to its state for each number: 2^64 divided by the golden ratio.
pub const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads every bit of a word over all bits; no two words give the same one.
pub const fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_numbers() {
        // The first numbers of Vigna's splitmix64.c from the state 1234567.
        let number = |at: u64| mixed(STEP.wrapping_mul(at).wrapping_add(1_234_567));
        assert_eq!([number(1), number(2)], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}

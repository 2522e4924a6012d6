//! Matrix products as libraries know them, and which ones a device leaves to a library.

use crate::error::{Error, Result};

/// What a launch computes that is a batched product and nothing else: out[z, i, j] = Σ a[z, i, p] · b[z, p, j], from its first two inputs into its output,
/// each row by row without gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Products in the batch, rows of a, columns of a, columns of b.
    pub sizes: [u32; 4],
    /// The operands.
    pub operands: [Factor; 2],
    /// The numbers of the output. Sums are in f32.
    pub out: Numbers,
}

/// An operand of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its numbers.
    pub numbers: Numbers,
    /// Whether each matrix is stored transposed.
    pub is_transposed: bool,
    /// Whether each product has its own; otherwise all have the same.
    pub is_batched: bool,
}

/// Numbers in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// 32 bits.
    F32,
    /// 16 bits, up to 65,504.
    F16,
    /// 16 bits with the exponent of f32.
    Bf16,
}

/// Which products are left to a library: cuBLAS on the device `cuda`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// Those for which it is faster, by a table of measurements. Without the library, none.
    #[default]
    Fastest,
    /// None.
    Own,
    /// All that it can compute.
    Library,
    /// The same, and factors in f32 are rounded to 10 bits of fraction (TF32), which tensor cores multiply.
    Tf32,
}

impl Products {
    /// Every value with its name.
    pub const ALL: [(&'static str, Self); 4] =
        [("fastest", Self::Fastest), ("own", Self::Own), ("library", Self::Library), ("tf32", Self::Tf32)];

    /// From its name.
    pub fn parse(text: &str) -> Result<Self> {
        Self::ALL.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
            let names = Self::ALL.map(|(name, _)| name).join(", ");
            Error::usage(format!("products: got \"{text}\", expected one of {names}"))
        })
    }

    /// Whether a device must have a library.
    pub fn needs_library(self) -> bool {
        matches!(self, Self::Library | Self::Tf32)
    }

    /// Whether a product is left to a library that is there.
    pub fn leaves(self, product: &Product) -> bool {
        let [a, b] = product.operands.map(|operand| operand.numbers);
        let is_able = a == b && (a == product.out || product.out == Numbers::F32);
        let [batch, m, k, n] = product.sizes.map(u64::from);
        is_able
            && batch * m * k * n > 0
            && match self {
                Self::Own => false,
                Self::Library | Self::Tf32 => true,
                Self::Fastest => {
                    let least = if a == Numbers::F32 { LEAST_OF_FLOATS } else { LEAST_OF_HALVES };
                    m.min(k).min(n) >= LEAST_SIDE && batch * m * k * n >= least
                }
            }
    }
}

/// Multiplications from which the library is faster: of floats, and of halves, for which it has tensor cores. Measured on an H100.
const LEAST_OF_FLOATS: u64 = 1 << 27;
const LEAST_OF_HALVES: u64 = 1 << 22;
/// Thinner matrices are read rather than multiplied.
const LEAST_SIDE: u64 = 32;

#[cfg(test)]
mod tests {
    use super::Numbers::{Bf16, F16, F32};
    use super::*;

    #[test]
    fn a_library_gets_what_it_can_compute_and_is_faster_at() {
        let product = |size: u32, numbers: [Numbers; 3]| {
            let factor = |numbers| Factor { numbers, is_transposed: false, is_batched: false };
            Product {
                sizes: [1, size, size, size],
                operands: [factor(numbers[0]), factor(numbers[1])],
                out: numbers[2],
            }
        };
        assert!(
            Products::Fastest.leaves(&product(1024, [F32; 3])) && !Products::Fastest.leaves(&product(64, [F32; 3]))
        );
        assert!(
            Products::Fastest.leaves(&product(256, [F16, F16, F32]))
                && Products::Library.leaves(&product(1, [Bf16; 3]))
        );
        for mixed in [[F16, F32, F32], [F16, Bf16, F32], [F32, F32, F16]] {
            assert!(!Products::Library.leaves(&product(1024, mixed)), "{mixed:?}");
        }
        assert!(!Products::Own.leaves(&product(4096, [F32; 3])) && !Products::Library.leaves(&product(0, [F32; 3])));
        let error = Products::parse("fast").expect_err("no such name").to_string();
        assert_eq!(error, "products: got \"fast\", expected one of fastest, own, library, tf32");
    }
}

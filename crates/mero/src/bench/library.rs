//! The product of the gemm library, which ours is compared with.

/// c = a · b (+ c if `accumulate`) over strided f32 matrices, by the library written for it.
///
/// Sizes: a is `m` x `k`, b is `k` x `n`, c is `m` x `n`; strides are (row, column) in elements.
#[allow(unsafe_code, reason = "the library takes raw pointers and strides")]
pub(super) fn product(
    m: usize,
    k: usize,
    n: usize,
    a: (&[f32], [usize; 2]),
    b: (&[f32], [usize; 2]),
    c: &mut [f32],
    threads: usize,
) {
    let last = |rows: usize, columns: usize, s: [usize; 2]| (rows - 1) * s[0] + (columns - 1) * s[1];
    if m == 0 || n == 0 {
        return;
    }
    if k == 0 {
        return c[..m * n].fill(0.0);
    }
    assert!(
        last(m, k, a.1) < a.0.len() && last(k, n, b.1) < b.0.len() && m * n <= c.len(),
        "product: operands too short"
    );
    let parallelism = if threads > 1 { gemm::Parallelism::Rayon(threads) } else { gemm::Parallelism::None };
    // SAFETY: the assertion above bounds every element that sizes and strides can reach.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            1,
            n as isize,
            false,
            a.0.as_ptr(),
            a.1[1] as isize,
            a.1[0] as isize,
            b.0.as_ptr(),
            b.1[1] as isize,
            b.1[0] as isize,
            0.0_f32,
            1.0_f32,
            false,
            false,
            false,
            parallelism,
        );
    }
}

//! Many products of one size: a few large ones each use all threads, many small ones are dealt
//! out among them.

use super::{MatRef, WORK_PER_THREAD, matmul};
use crate::{Float, Threads};

/// Writes `a · b` of every pair that `operands` gives for `0, 1, …` to `out`, one product after
/// the other. Each has the bits of [`matmul`].
///
/// **Shapes** a `[m, k]`, b `[k, n]` in each pair, out `[products, m, n]`; `[m, n, k]` in `size`.
///
/// # Panics
/// When m · n is 0, or the lengths do not fit: the tensor layer establishes that they do.
pub fn matmul_batched<'a, T: Float>(
    threads: &Threads,
    [m, n, k]: [usize; 3],
    operands: impl Fn(usize) -> [MatRef<'a, T>; 2] + Sync,
    out: &mut [T],
) {
    let each = m * n;
    assert!(each > 0 && out.len().is_multiple_of(each), "out is [products, m, n]");
    let products = out.len() / each;
    if products < threads.count() {
        for (i, out) in out.chunks_exact_mut(each).enumerate() {
            let [a, b] = operands(i);
            matmul(threads, a, b, None, out);
        }
        return;
    }
    let parts = threads.parts(out.len().saturating_mul(k), WORK_PER_THREAD);
    threads.split_mut(out, each, parts, |first, run| {
        for (i, out) in run.chunks_exact_mut(each).enumerate() {
            let [a, b] = operands(first + i);
            matmul(&Threads::serial(), a, b, None, out);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_product_of_a_batch_has_the_bits_of_the_product_alone() {
        let threads = Threads::new(3).unwrap();
        // Fewer products than threads; many; enough work for all threads.
        for (products, [m, n, k]) in
            [(2, [3, 5, 4]), (7, [1, 1, 3]), (5, [130, 120, 129]), (4, [2, 3, 0])]
        {
            let a: Vec<f32> = (0..products * m * k).map(|i| (0.3 * i as f32).sin()).collect();
            let b: Vec<f32> = (0..products * k * n).map(|i| (0.7 * i as f32).cos()).collect();
            let pair = |i: usize| {
                let a = MatRef::new(&a[i * m * k..], m, k, k, 1);
                [a, MatRef::new(&b[i * k * n..], k, n, n, 1)]
            };
            let mut all = vec![f32::NAN; products * m * n];
            matmul_batched(&threads, [m, n, k], pair, &mut all);
            for (i, product) in all.chunks(m * n).enumerate() {
                let mut alone = vec![f32::NAN; m * n];
                let [a, b] = pair(i);
                matmul(&Threads::serial(), a, b, None, &mut alone);
                assert_eq!(alone, product, "{products} {m} {n} {k}");
            }
        }
    }
}

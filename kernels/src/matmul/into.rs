//! Products of small blocks of larger things, for kernels that are made of several products.

use bytemuck::cast_slice_mut;

use super::cpu::{Path, Product, Registers};
use super::{MatRef, Strides, cast, turned_is_cheaper};
use crate::{DType, Float};

/// A matrix to write: rows without gaps inside a slice, each `stride` elements behind the last.
#[derive(Debug)]
pub(crate) struct RowsMut<'a, T> {
    data: &'a mut [T],
    stride: usize,
}

impl<'a, T> RowsMut<'a, T> {
    /// Rows that start at 0, `stride`, `2 · stride` … of `data`.
    pub(crate) fn new(data: &'a mut [T], stride: usize) -> Self {
        RowsMut { data, stride }
    }
}

/// Writes `a · b`, with the bits of [`matmul`](super::matmul), on the calling thread.
///
/// # Panics
/// When the shapes do not fit together, or the rows overlap or leave their slice: the kernel that
/// calls ensures that they do not.
pub(crate) fn matmul_into<T: Float>(a: MatRef<T>, b: MatRef<T>, out: RowsMut<'_, T>) {
    match T::DTYPE {
        DType::F32 => {
            let out = RowsMut::new(cast_slice_mut(out.data), out.stride);
            product::<f32>(cast(a), cast(b), out);
        }
        DType::F64 => {
            let out = RowsMut::new(cast_slice_mut(out.data), out.stride);
            product::<f64>(cast(a), cast(b), out);
        }
        other => unreachable!("{other} has no arithmetic"),
    }
}

fn product<T: Registers>(a: MatRef<T>, b: MatRef<T>, out: RowsMut<'_, T>) {
    let (m, n) = (a.rows, b.cols);
    assert_eq!(b.rows, a.cols, "the columns of a are the rows of b");
    if m == 0 || n == 0 {
        return;
    }
    let end = (m - 1).checked_mul(out.stride).and_then(|last| last.checked_add(n));
    assert!(end.is_some_and(|end| end <= out.data.len()), "the rows lie within their slice");
    assert!(m == 1 || out.stride >= n, "the rows do not overlap");
    let bias: Option<&[T]> = None;
    let product = Product {
        a,
        b,
        bias,
        bias_strides: Strides { row: 0, col: 1 },
        out: out.data.as_mut_ptr(),
        out_strides: Strides { row: out.stride, col: 1 },
    };
    let product = if turned_is_cheaper(&a, &b) { product.turned() } else { product };
    let path = Path::available().next().expect("the portable path is always there");
    let (rows, cols) = (0..product.a.rows, 0..product.b.cols);
    // SAFETY: the machine can take the path, which it was asked for; the ranges are the output;
    // and its elements are distinct and within a slice that is borrowed for writing, as asserted.
    unsafe { product.compute(path, rows, cols) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threads;
    use crate::matmul::matmul;

    fn check<T: Float>() {
        let numbers =
            |n: usize| -> Vec<T> { (0..n).map(|i| T::from_f64((1.3 * i as f64).sin())).collect() };
        let sizes = [(0, 3, 2), (1, 1, 0), (3, 17, 5), (16, 33, 8), (9, 64, 31)];
        for (m, n, k) in sizes {
            let (a, b) = (numbers(m * k), numbers(n * k));
            let a = MatRef::new(&a, m, k, k, 1);
            for b in [MatRef::new(&b, k, n, n, 1), MatRef::new(&b, n, k, k, 1).transposed()] {
                let mut whole = vec![T::ZERO; m * n];
                matmul(&Threads::serial(), a, b, None, &mut whole);
                let untouched = T::from_f64(7.0);
                let stride = n + 3;
                let mut out = vec![untouched; m * stride];
                matmul_into(a, b, RowsMut::new(&mut out, stride));
                for (row, out) in out.chunks(stride).enumerate() {
                    assert_eq!(out[..n], whole[row * n..(row + 1) * n], "{m} {n} {k}");
                    assert_eq!(out[n..], [untouched; 3]);
                }
            }
        }
    }

    #[test]
    fn a_block_has_the_bits_of_a_product_and_its_gaps_are_left_alone() {
        check::<f32>();
        check::<f64>();
    }
}

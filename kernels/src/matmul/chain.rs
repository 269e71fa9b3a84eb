//! The product as a link of longer chains, for kernels that cut k into pieces of their own.

use bytemuck::{cast_slice, cast_slice_mut};

use super::cpu::{Product, Registers};
use super::{MatRef, Strides, cast, fastest};
use crate::{DType, Float, Threads};

/// Where the chains of [`chain`] begin, and what is added at their end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<'a, T> {
    /// Go on from what the output holds; otherwise from +0.
    pub(crate) resume: bool,
    /// Added to each finished chain of a row, rounded once.
    pub(crate) row_bias: Option<&'a [T]>,
}

/// [`super::matmul`] with other ends: a product over k in pieces, each but the first resumed, has
/// the bits of the product over the whole k. Row i of the output begins at `out.0[i · out.1]`.
///
/// # Panics
/// When the shapes do not fit together, or rows of the output overlap.
pub(crate) fn chain<T: Float>(
    threads: &Threads,
    a: MatRef<T>,
    b: MatRef<T>,
    ends: Ends<T>,
    (out, pitch): (&mut [T], usize),
) {
    assert!(ends.row_bias.is_none_or(|bias| bias.len() == a.rows), "one bias for each row");
    match T::DTYPE {
        DType::F32 => {
            fastest::<f32>(threads, product(cast(a), cast(b), ends, (cast_slice_mut(out), pitch)))
        }
        DType::F64 => {
            fastest::<f64>(threads, product(cast(a), cast(b), ends, (cast_slice_mut(out), pitch)))
        }
        other => unreachable!("{other} has no arithmetic"),
    }
}

/// `U` is `T` by another name.
fn product<'a, T: Float, U: Registers>(
    a: MatRef<'a, U>,
    b: MatRef<'a, U>,
    ends: Ends<'a, T>,
    (out, pitch): (&'a mut [U], usize),
) -> Product<'a, U> {
    let (m, n) = (a.rows, b.cols);
    assert_eq!(b.rows, a.cols, "the columns of a are the rows of b");
    assert!(m <= 1 || n <= pitch, "rows of the output lie apart");
    let len = if m == 0 || n == 0 { 0 } else { (m - 1) * pitch + n };
    assert!(len <= out.len(), "the output lies within its slice");
    Product {
        a,
        b,
        resume: ends.resume,
        bias: ends.row_bias.map(cast_slice),
        bias_strides: Strides { row: 1, col: 0 },
        out: out.as_mut_ptr(),
        out_strides: Strides { row: pitch, col: 1 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmul::matmul;

    /// Pieces of k, each resumed, and a bias for each row; in both ways that a product may turn.
    fn check<T: Float>(turned: bool) {
        let serial = Threads::serial();
        let numbers = |n: usize| -> Vec<T> {
            (0..n).map(|i| T::from_f64((1.3 * i as f64 + 0.2).sin())).collect()
        };
        for (m, n, k, cut) in [(3, 37, 20, 7), (33, 5, 40, 1), (16, 64, 18, 17), (1, 1, 2, 1)] {
            let (x, y, bias) = (numbers(m * k), numbers(k * n), numbers(m));
            let strides = if turned { (1, k) } else { (n, 1) };
            let b = MatRef::new(&y, k, n, strides.0, strides.1);
            let a = MatRef::new(&x, m, k, k, 1);
            let mut want = vec![T::ZERO; m * n];
            matmul(&serial, a, b, None, &mut want);
            for (row, &bias) in want.chunks_mut(n).zip(&bias) {
                row.iter_mut().for_each(|x| *x += bias);
            }
            let pitch = n + 3;
            let mut got = vec![T::from_f64(9.0); m * pitch];
            let first = Ends { resume: false, row_bias: None };
            chain(&serial, a.block(0..m, 0..cut), b.block(0..cut, 0..n), first, (&mut got, pitch));
            let rest = Ends { resume: true, row_bias: Some(&bias) };
            chain(&serial, a.block(0..m, cut..k), b.block(cut..k, 0..n), rest, (&mut got, pitch));
            for (got, want) in got.chunks(pitch).zip(want.chunks(n)) {
                assert!(got[..n] == *want, "{m} {n} {k} turned: {turned}");
                assert!(got[n..] == [T::from_f64(9.0); 3], "between rows nothing is written");
            }
        }
    }

    #[test]
    fn a_chain_in_pieces_has_the_bits_of_the_whole() {
        for turned in [false, true] {
            check::<f32>(turned);
            check::<f64>(turned);
        }
    }
}

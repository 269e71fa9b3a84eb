//! The lower or the upper triangle of matrices: the other elements become 0.

use crate::Element;

/// Which side of a diagonal is kept, the diagonal included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangle {
    /// Columns up to `row + diagonal`.
    Lower,
    /// Columns from `row + diagonal` on.
    Upper,
}

/// Keeps a triangle of each matrix `[rows, columns]` of `x`.
///
/// # Panics
/// When `x` does not hold whole matrices, or `out` as many elements.
pub fn triangle<T: Element>(
    x: &[T],
    (rows, columns): (usize, usize),
    side: Triangle,
    diagonal: i64,
    out: &mut [T],
) {
    assert_eq!(x.len(), out.len(), "one result an element");
    assert!(x.is_empty() || x.len().is_multiple_of(rows * columns), "whole matrices");
    for (row, (out, x)) in out.chunks_mut(columns.max(1)).zip(x.chunks(columns.max(1))).enumerate()
    {
        let edge = (row % rows) as i128 + i128::from(diagonal);
        for (column, (out, &x)) in out.iter_mut().zip(x).enumerate() {
            let kept = match side {
                Triangle::Lower => column as i128 <= edge,
                Triangle::Upper => column as i128 >= edge,
            };
            *out = if kept { x } else { T::default() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_keeps_its_side_of_any_diagonal() {
        let run = |side, diagonal| {
            let mut out = [9; 6];
            triangle(&[1, 2, 3, 4, 5, 6i64], (2, 3), side, diagonal, &mut out);
            out
        };
        assert_eq!(run(Triangle::Lower, 0), [1, 0, 0, 4, 5, 0]);
        assert_eq!(run(Triangle::Lower, -1), [0, 0, 0, 4, 0, 0]);
        assert_eq!(run(Triangle::Lower, i64::MAX), [1, 2, 3, 4, 5, 6]);
        assert_eq!(run(Triangle::Upper, 1), [0, 2, 3, 0, 0, 6]);
        assert_eq!(run(Triangle::Upper, i64::MIN), [1, 2, 3, 4, 5, 6]);
        triangle::<i64>(&[], (0, 3), Triangle::Upper, 0, &mut []);
    }
}

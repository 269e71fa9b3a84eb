//! The lengths of a tensor's axes, and the one broadcasting rule.

use std::fmt::{self, Debug, Display};
use std::ops::Deref;

use crate::error::{Error, Result};

/// The lengths of up to eight axes, in elements; no axes is a scalar, which holds one element.
///
/// Held inline and `Copy`: making a view allocates nothing. The product of the lengths was
/// checked against `usize` when the shape was made.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    // Entries from `ndim` on are 0, so that derived equality is equality of shapes.
    lens: [usize; Shape::MAX_NDIM],
    ndim: usize,
}

impl Shape {
    /// The largest number of axes.
    pub const MAX_NDIM: usize = 8;

    /// The shape of a scalar.
    pub const SCALAR: Shape = Shape { lens: [0; Shape::MAX_NDIM], ndim: 0 };

    /// A shape of these lengths.
    ///
    /// # Errors
    /// More than [`Shape::MAX_NDIM`] axes, or more elements than `isize::MAX` bytes of f64.
    pub fn new(op: &'static str, lens: &[usize]) -> Result<Self> {
        let impossible = || Error::Size { op, lens: lens.to_vec() };
        if lens.len() > Shape::MAX_NDIM {
            return Err(impossible());
        }
        // Zero-length axes are left out: [huge, huge, 0] would otherwise pass here and
        // overflow in the strides.
        let product = lens.iter().filter(|&&len| len > 0).try_fold(1usize, |n, &len| {
            n.checked_mul(len).filter(|&n| n <= isize::MAX as usize / size_of::<f64>())
        });
        product.ok_or_else(impossible)?;
        let mut shape = Shape { ndim: lens.len(), ..Shape::SCALAR };
        shape.lens[..lens.len()].copy_from_slice(lens);
        Ok(shape)
    }

    /// Number of axes.
    pub fn ndim(&self) -> usize {
        self.ndim
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.iter().product()
    }

    /// Row-major strides, in elements.
    pub(crate) fn contiguous_strides(&self) -> [usize; Shape::MAX_NDIM] {
        let mut strides = [0; Shape::MAX_NDIM];
        let mut next = 1;
        for axis in (0..self.ndim).rev() {
            strides[axis] = next;
            next *= self.lens[axis].max(1);
        }
        strides
    }

    /// This shape with `axis` of length `len`. The axis exists and `len` is no longer than it or
    /// is 1: the caller ensures both.
    pub(crate) fn with_len(mut self, axis: usize, len: usize) -> Self {
        self.lens[axis] = len;
        self
    }

    /// This shape without `axis`, which exists.
    pub(crate) fn without(&self, axis: usize) -> Self {
        let mut shape = Shape { ndim: self.ndim - 1, ..Shape::SCALAR };
        shape.lens[..axis].copy_from_slice(&self[..axis]);
        shape.lens[axis..self.ndim - 1].copy_from_slice(&self[axis + 1..]);
        shape
    }

    /// Fails unless `axis` exists.
    pub(crate) fn check_axis(&self, op: &'static str, axis: usize) -> Result<()> {
        if axis < self.ndim { Ok(()) } else { Err(Error::Axis { op, axis, shape: *self }) }
    }
}

impl Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.lens[..self.ndim]
    }
}

impl Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self[..], f)
    }
}

impl Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// The shape of an elementwise operation over `left` and `right` (NumPy's rule).
///
/// Axes are aligned at the right; an axis that one side lacks counts as 1 there. Aligned lengths
/// must be equal, or one of them 1, and then the other is the result's:
///
/// | left | right | result |
/// | --- | --- | --- |
/// | n | n | n |
/// | 1 | n | n |
/// | n | 1 | n |
/// | 0 | 1 | 0 |
/// | 0 | n > 1 | error |
/// | m | n ≠ m, both > 1 | error |
///
/// # Errors
/// Lengths that do not fit, or a result with too many elements.
pub fn broadcast(op: &'static str, left: &Shape, right: &Shape) -> Result<Shape> {
    let ndim = left.ndim().max(right.ndim());
    let aligned = |shape: &Shape, axis: usize| {
        (axis + shape.ndim()).checked_sub(ndim).map_or(1, |axis| shape[axis])
    };
    let mut lens = [0; Shape::MAX_NDIM];
    for (axis, len) in lens[..ndim].iter_mut().enumerate() {
        *len = match (aligned(left, axis), aligned(right, axis)) {
            (l, r) if l == r => l,
            (1, r) => r,
            (l, 1) => l,
            _ => {
                let rule = "aligned at the right, two lengths must be equal or one of them 1";
                return Err(Error::Shapes { op, left: *left, right: *right, rule });
            }
        };
    }
    Shape::new(op, &lens[..ndim])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(lens: &[usize]) -> Shape {
        Shape::new("test", lens).unwrap()
    }

    #[test]
    fn broadcasting_follows_its_truth_table() {
        let check = |left: &[usize], right: &[usize], want: Option<&[usize]>| {
            for (l, r) in [(left, right), (right, left)] {
                let got = broadcast("add", &shape(l), &shape(r)).ok();
                assert_eq!(got, want.map(shape), "{l:?} {r:?}");
            }
        };
        check(&[3], &[3], Some(&[3]));
        check(&[1], &[3], Some(&[3]));
        check(&[0], &[1], Some(&[0]));
        check(&[0], &[0], Some(&[0]));
        check(&[0], &[2], None);
        check(&[2], &[3], None);
        check(&[], &[2, 3], Some(&[2, 3]));
        check(&[2, 1, 3], &[4, 1], Some(&[2, 4, 3]));
        check(&[2, 3], &[2], None);
        check(&[2, 0, 3], &[1, 3], Some(&[2, 0, 3]));
        check(&[5, 1], &[1, 7], Some(&[5, 7]));
    }

    #[test]
    fn a_broadcast_error_names_the_operation_both_shapes_and_the_rule() {
        let error = broadcast("add", &shape(&[2, 3]), &shape(&[2])).unwrap_err().to_string();
        assert!(error.starts_with("add: shapes [2, 3] and [2] do not fit"), "{error}");
        assert!(error.contains("equal or one of them 1"), "{error}");
    }

    #[test]
    fn impossible_shapes_are_refused() {
        assert!(Shape::new("zeros", &[1; 9]).is_err());
        assert!(Shape::new("zeros", &[usize::MAX, 2]).is_err());
        assert!(Shape::new("zeros", &[usize::MAX, 0, 3]).is_err());
        assert!(broadcast("add", &shape(&[1 << 40, 1]), &shape(&[1, 1 << 40])).is_err());
        assert_eq!(shape(&[4, 0, 2]).numel(), 0);
        assert_eq!(Shape::SCALAR.numel(), 1);
    }
}

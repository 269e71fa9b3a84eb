//! Which axes an operation reduces, and how a tensor lies for the kernel that does it.

use std::ops::RangeFull;

use kernels::Threads;
use kernels::reduce::Axis;

use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;

/// The axes that a reduction takes together: one number, some, or `..` for all of them.
///
/// In any order, each once; axes count from 0. An empty list names no axis: each element is
/// reduced by itself.
///
/// ```
/// use ringgrad_tensor::{Device, Tensor};
/// # fn main() -> Result<(), ringgrad_tensor::Error> {
/// let x = Tensor::full(&Device::cpu(), 1.0f32, &[2, 3, 4])?;
/// assert_eq!(x.sum(1, false)?.shape()[..], [2, 4]);
/// assert_eq!(x.sum([0, 2], true)?.shape()[..], [1, 3, 1]);
/// assert_eq!(x.sum(.., false)?.item::<f32>()?, 24.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axes {
    /// One place more than a shape has axes: of so many, one is a duplicate or does not exist.
    named: [usize; Shape::MAX_NDIM + 1],
    len: usize,
    all: bool,
}

/// How a row-major tensor of `shape` is read along one axis, which exists.
pub(crate) fn plain(shape: &[usize], axis: usize) -> Axis {
    Axis {
        outer: shape[..axis].iter().product(),
        len: shape[axis],
        inner: shape[axis + 1..].iter().product(),
    }
}

impl From<&[usize]> for Axes {
    fn from(axes: &[usize]) -> Self {
        let mut named = [0; Shape::MAX_NDIM + 1];
        let len = axes.len().min(named.len());
        named[..len].copy_from_slice(&axes[..len]);
        Axes { named, len, all: false }
    }
}

impl<const N: usize> From<[usize; N]> for Axes {
    fn from(axes: [usize; N]) -> Self {
        Axes::from(&axes[..])
    }
}

impl From<usize> for Axes {
    fn from(axis: usize) -> Self {
        Axes::from(&[axis][..])
    }
}

impl From<RangeFull> for Axes {
    fn from(_: RangeFull) -> Self {
        Axes { all: true, ..Axes::from(&[][..]) }
    }
}

impl Axes {
    /// The shape of what a reduction of a tensor of `shape` along these axes gives: without them,
    /// or with each of length 1.
    ///
    /// # Errors
    /// An axis that does not exist or is named twice.
    pub fn reduced(self, op: &'static str, shape: &Shape, keep_axes: bool) -> Result<Shape> {
        Ok(Along::new(op, shape, self)?.result(keep_axes))
    }

    /// How many elements of a tensor of `shape` are reduced to one.
    ///
    /// # Errors
    /// An axis that does not exist or is named twice.
    pub fn count(self, op: &'static str, shape: &Shape) -> Result<usize> {
        Ok(Along::new(op, shape, self)?.axis.len)
    }
}

/// How a tensor is reduced along some axes.
///
/// Reduced axes that are neighbours count as one. Otherwise they are moved together, in their
/// order, to the place of the last one: `[a, b, c, d]` along a and c becomes `[b, a, c, d]`. The
/// kernel reads the result as `[outer, len, inner]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Along {
    pub(crate) axis: Axis,
    shape: Shape,
    /// The order of the axes that the kernel reads.
    order: [usize; Shape::MAX_NDIM],
    /// The shape of the result, with reduced axes of length 1 …
    kept: Shape,
    /// … and without them.
    dropped: Shape,
}

impl Along {
    /// `axes` of a tensor of `shape`.
    ///
    /// # Errors
    /// An axis that does not exist or is named twice.
    pub(crate) fn new(op: &'static str, shape: &Shape, axes: Axes) -> Result<Self> {
        let mut reduced = [axes.all; Shape::MAX_NDIM];
        for &axis in &axes.named[..axes.len] {
            shape.check_axis(op, axis)?;
            if reduced[axis] {
                return Err(Error::Axis { op, axis, shape: *shape });
            }
            reduced[axis] = true;
        }
        let ndim = shape.ndim();
        // Behind the last reduced axis; without one, behind all.
        let end = (0..ndim).rev().find(|&axis| reduced[axis]).map_or(ndim, |last| last + 1);
        let before = (0..end).filter(|&axis| !reduced[axis]);
        let within = (0..end).filter(|&axis| reduced[axis]);
        let mut order = [0; Shape::MAX_NDIM];
        let all = before.clone().chain(within.clone()).chain(end..ndim);
        order.iter_mut().zip(all).for_each(|(to, axis)| *to = axis);
        let (mut kept, mut dropped) = (*shape, *shape);
        for axis in within.clone().rev() {
            kept = kept.with_len(axis, 1);
            dropped = dropped.without(axis);
        }
        let axis = Axis {
            outer: before.map(|axis| shape[axis]).product(),
            len: within.map(|axis| shape[axis]).product(),
            inner: shape[end..].iter().product(),
        };
        Ok(Along { axis, shape: *shape, order, kept, dropped })
    }

    /// One axis, which a scan or a sort goes along.
    ///
    /// # Errors
    /// An axis that does not exist.
    pub(crate) fn one(op: &'static str, shape: &Shape, axis: usize) -> Result<Self> {
        Along::new(op, shape, axis.into())
    }

    /// Fails when the reduced axes hold no element.
    pub(crate) fn check_some(&self, op: &'static str) -> Result<()> {
        let rule = "the reduced axes must not be empty: no element is the largest or smallest of \
                    none";
        if self.axis.len > 0 { Ok(()) } else { Err(Error::Shape { op, shape: self.shape, rule }) }
    }

    /// The shape of the result.
    pub(crate) fn result(&self, keep_axes: bool) -> Shape {
        if keep_axes { self.kept } else { self.dropped }
    }

    /// `x` in the order that the kernel reads.
    fn moved(&self, op: &'static str, x: &Tensor) -> Result<Tensor> {
        x.permute(&self.order[..self.shape.ndim()])?.contiguous_for(op)
    }

    /// What `kernel` makes of `x`, whose shape this was made for.
    pub(crate) fn reduce<X: Stored, A: Stored>(
        &self,
        op: &'static str,
        x: &Tensor,
        keep_axes: bool,
        kernel: impl FnOnce(&Threads, &[X], Axis, &mut [A]),
    ) -> Result<Tensor> {
        let x = self.moved(op, x)?;
        let view = x.typed::<X>(op)?;
        let (device, shape) = (x.device(), self.result(keep_axes));
        Tensor::computed(op, device, shape, |out| kernel(device.threads(), view, self.axis, out))
    }

    /// What `kernel` makes of `x`, whose shape this was made for, and of tensors that have one
    /// element a result; a tensor of the shape of x.
    ///
    /// # Errors
    /// Results of another shape or type.
    pub(crate) fn spread<X: Stored, const N: usize>(
        &self,
        op: &'static str,
        x: &Tensor,
        results: [&Tensor; N],
        kernel: impl FnOnce(&Threads, &[X], [&[X]; N], &mut [X]),
    ) -> Result<Tensor> {
        let x = self.moved(op, x)?;
        let mut whole = results.map(Tensor::clone);
        for result in &mut whole {
            if ![self.kept, self.dropped].contains(result.shape()) {
                let rule = "a result has the shape of x without the reduced axes, or has them \
                            with length 1";
                let (left, right) = (self.shape, *result.shape());
                return Err(Error::Shapes { op, left, right, rule });
            }
            *result = result.contiguous_for(op)?;
        }
        let mut views: [&[X]; N] = [&[]; N];
        for (view, result) in views.iter_mut().zip(&whole) {
            *view = result.typed(op)?;
        }
        let view = x.typed::<X>(op)?;
        let threads = x.device().threads();
        let dx = Tensor::computed(op, x.device(), *x.shape(), |dx| {
            kernel(threads, view, views, dx);
        })?;
        let mut inverse = [0; Shape::MAX_NDIM];
        for (to, &from) in self.order[..self.shape.ndim()].iter().enumerate() {
            inverse[from] = to;
        }
        dx.permute(&inverse[..self.shape.ndim()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn along(lens: &[usize], axes: impl Into<Axes>) -> Result<Along> {
        Along::new("sum", &Shape::new("test", lens).unwrap(), axes.into())
    }

    #[test]
    fn neighbours_stay_and_others_move_to_the_last() {
        let check = |axes: Axes, want: [usize; 3], order: [usize; 4]| {
            let along = along(&[2, 3, 5, 7], axes).unwrap();
            let Axis { outer, len, inner } = along.axis;
            assert_eq!(([outer, len, inner], &along.order[..4]), (want, &order[..]), "{axes:?}");
        };
        check(0.into(), [1, 2, 105], [0, 1, 2, 3]);
        check(3.into(), [30, 7, 1], [0, 1, 2, 3]);
        check([2, 1].into(), [2, 15, 7], [0, 1, 2, 3]);
        check([0, 2].into(), [3, 10, 7], [1, 0, 2, 3]);
        check([3, 0, 1].into(), [5, 42, 1], [2, 0, 1, 3]);
        check((..).into(), [1, 210, 1], [0, 1, 2, 3]);
        check([].into(), [210, 1, 1], [0, 1, 2, 3]);
    }

    #[test]
    fn results_keep_or_drop_the_reduced_axes() {
        let along = along(&[2, 3, 5], [2, 0]).unwrap();
        assert_eq!((&along.result(true)[..], &along.result(false)[..]), (&[1, 3, 1][..], &[3][..]));
    }

    #[test]
    fn missing_and_repeated_axes_are_named() {
        let message = |axes: &[usize]| along(&[2, 3], axes).unwrap_err().to_string();
        assert!(message(&[0, 2]).starts_with("sum: axis 2 does not exist in shape [2, 3]"));
        assert!(message(&[1, 1]).contains("axis 1") && message(&[1, 1]).contains("named once"));
        assert!(message(&[0; 20]).contains("axis 0"));
    }
}

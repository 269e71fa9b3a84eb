//! Where a tensor's elements lie in its storage.

use crate::error::{Error, Result};
use crate::shape::Shape;

/// Shape, strides and offset, all in elements.
///
/// Invariants, which the constructors establish and every view keeps:
/// 1. `strides` has one entry per axis; entries beyond are 0.
/// 2. Every element `offset + Σ ik · strides[k]` lies in the storage that the layout was made for.
/// 3. Strides are not negative; a stride of 0 repeats one element, which is then never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    strides: [usize; Shape::MAX_NDIM],
    offset: usize,
}

impl Layout {
    /// Row-major from the storage's element `offset` on, which holds at least
    /// `offset + shape.numel()` elements: the caller ensures it.
    pub(crate) fn contiguous(shape: Shape, offset: usize) -> Self {
        Layout { shape, strides: shape.contiguous_strides(), offset }
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Elements between neighbours along each axis.
    pub fn strides(&self) -> &[usize] {
        &self.strides[..self.shape.ndim()]
    }

    /// Where element `(0, 0, …)` lies.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Row-major without gaps. Axes of length 1 may have any stride, and so may every axis of an
    /// empty tensor.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1;
        let mut gapped = false;
        for (&len, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if len == 0 {
                return true;
            }
            gapped |= len != 1 && stride != expected;
            expected *= len;
        }
        !gapped
    }

    /// The axes in the order that `axes` names them.
    pub(crate) fn permute(&self, op: &'static str, axes: &[usize]) -> Result<Self> {
        if axes.len() != self.shape.ndim() {
            let rule = "name every axis exactly once";
            return Err(Error::Shape { op, shape: self.shape, rule });
        }
        let mut lens = [0; Shape::MAX_NDIM];
        let mut strides = [0; Shape::MAX_NDIM];
        for (to, &from) in axes.iter().enumerate() {
            self.shape.check_axis(op, from)?;
            if axes[..to].contains(&from) {
                return Err(Error::Axis { op, axis: from, shape: self.shape });
            }
            lens[to] = self.shape[from];
            strides[to] = self.strides[from];
        }
        let shape = Shape::new(op, &lens[..axes.len()])?;
        Ok(Layout { shape, strides, offset: self.offset })
    }

    /// Elements `start .. start + len` of `axis`.
    pub(crate) fn narrow(&self, axis: usize, start: usize, len: usize) -> Result<Self> {
        let op = "narrow";
        self.shape.check_axis(op, axis)?;
        let have = self.shape[axis];
        if start.checked_add(len).is_none_or(|end| end > have) {
            return Err(Error::Range { op, start, len, axis, have });
        }
        let offset = self.offset + if len == 0 { 0 } else { start * self.strides[axis] };
        Ok(Layout { shape: self.shape.with_len(axis, len), strides: self.strides, offset })
    }

    /// Every `step`-th element of `axis`, from the first one; `step` is at least 1 and the axis
    /// exists: the caller ensures both.
    pub(crate) fn stepped(&self, axis: usize, step: usize) -> Self {
        let len = self.shape[axis].div_ceil(step);
        let mut strides = self.strides;
        // With one element there is no neighbour, and the product may not fit.
        strides[axis] = if len > 1 { strides[axis] * step } else { 1 };
        Layout { shape: self.shape.with_len(axis, len), strides, offset: self.offset }
    }

    /// Repeats axes of length 1, and adds axes at the left, until the shape is `shape`.
    pub(crate) fn broadcast_to(&self, shape: Shape) -> Result<Self> {
        let op = "broadcast_to";
        let mismatch = || Error::Shapes {
            op,
            left: self.shape,
            right: shape,
            rule: "aligned at the right, each length must be the target's or 1",
        };
        let added = shape.ndim().checked_sub(self.shape.ndim()).ok_or_else(mismatch)?;
        let mut strides = [0; Shape::MAX_NDIM];
        for (axis, &len) in self.shape.iter().enumerate() {
            strides[axis + added] = match (len, shape[axis + added]) {
                (have, want) if have == want => self.strides[axis],
                (1, _) => 0,
                _ => return Err(mismatch()),
            };
        }
        Ok(Layout { shape, strides, offset: self.offset })
    }
}

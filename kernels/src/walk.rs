//! The rows of strided views that share a shape: neighbouring axes merged, then one call for
//! each run of elements along the last axis. What is contiguous in every view, or repeated as a
//! whole, becomes a single long row.

use std::ops::Range;

use crate::Strided;

/// Axes that a view may have.
const NDIM_MAX: usize = 8;

/// `N` views of one shape, in row-major order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk<const N: usize> {
    ndim: usize,
    shape: [usize; NDIM_MAX],
    strides: [[usize; N]; NDIM_MAX],
    offsets: [usize; N],
}

impl<const N: usize> Walk<N> {
    /// The walk over `views`.
    ///
    /// # Panics
    /// When their shapes differ or have more than 8 axes: the tensor layer has broadcast them,
    /// and bounds the axes of a shape.
    pub(crate) fn new<T: Copy>(views: [Strided<'_, T>; N]) -> Self {
        let shape = views[0].shape();
        assert!(shape.len() <= NDIM_MAX, "at most {NDIM_MAX} axes");
        assert!(views.iter().all(|view| view.shape() == shape), "views of one shape");
        // A row of one element is contiguous.
        let (ndim, offsets) = (0, views.map(|view| view.offset()));
        let mut walk = Walk { ndim, shape: [1; NDIM_MAX], strides: [[1; N]; NDIM_MAX], offsets };
        for (axis, &len) in shape.iter().enumerate() {
            if len != 1 {
                walk.push(len, views.map(|view| view.strides()[axis]));
            }
        }
        walk.ndim = walk.ndim.max(1);
        walk
    }

    /// Adds an axis inside the others, as part of the last one where no view can tell.
    fn push(&mut self, len: usize, strides: [usize; N]) {
        if let Some(last) = self.ndim.checked_sub(1) {
            let spans = strides.map(|stride| stride * len);
            if self.strides[last] == spans {
                self.shape[last] *= len;
                self.strides[last] = strides;
                return;
            }
        }
        self.shape[self.ndim] = len;
        self.strides[self.ndim] = strides;
        self.ndim += 1;
    }

    /// Lengths of the merged axes, at least one.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape[..self.ndim]
    }

    /// The stride of each view along a merged axis.
    pub(crate) fn strides(&self, axis: usize) -> [usize; N] {
        self.strides[axis]
    }

    /// Calls `body(offsets, part)` for consecutive parts of `elements`: each part lies in one
    /// row, counted from the start of `elements`, and its first element is at `offsets`.
    #[inline(always)]
    pub(crate) fn each_run(
        &self,
        elements: Range<usize>,
        mut body: impl FnMut([usize; N], Range<usize>),
    ) {
        if elements.is_empty() {
            return;
        }
        let last = self.ndim - 1;
        let len = self.shape[last];
        let (mut row, mut column) = (elements.start / len, elements.start % len);
        let mut done = 0;
        while done < elements.len() {
            let count = (len - column).min(elements.len() - done);
            let mut offsets = self.row_offsets(row);
            for (offset, stride) in offsets.iter_mut().zip(self.strides[last]) {
                *offset += column * stride;
            }
            body(offsets, done..done + count);
            done += count;
            row += 1;
            column = 0;
        }
    }

    /// Where a row starts in each view.
    #[inline(always)]
    pub(crate) fn row_offsets(&self, mut row: usize) -> [usize; N] {
        let mut offsets = self.offsets;
        for axis in (0..self.ndim - 1).rev() {
            // The outermost axis needs no remainder: there are no rows beyond it.
            let index = if axis == 0 { row } else { row % self.shape[axis] };
            if axis > 0 {
                row /= self.shape[axis];
            }
            for (offset, stride) in offsets.iter_mut().zip(self.strides[axis]) {
                *offset += index * stride;
            }
        }
        offsets
    }
}

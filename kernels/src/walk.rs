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

#[cfg(test)]
mod tests {
    use super::*;

    /// The offset of every element by the definition, in row-major order.
    fn offsets(shape: &[usize], strides: &[usize]) -> Vec<usize> {
        let numel = shape.iter().product();
        let offset = |mut i: usize| {
            let mut offset = 0;
            for (&len, &stride) in shape.iter().zip(strides).rev() {
                offset += i % len * stride;
                i /= len;
            }
            offset
        };
        (0..numel).map(offset).collect()
    }

    #[test]
    fn runs_reach_every_element_at_its_offsets_in_any_parts() {
        let cases: [(&[usize], &[usize], &[usize]); 7] = [
            (&[], &[], &[]),
            (&[5], &[3], &[0]),
            (&[3, 4], &[4, 1], &[0, 1]),
            (&[3, 4], &[1, 3], &[1, 0]),
            (&[2, 1, 3, 5], &[15, 7, 5, 1], &[0, 0, 5, 1]),
            (&[2, 3, 4, 2], &[1, 2, 6, 24], &[24, 8, 2, 1]),
            (&[3, 0, 2], &[2, 2, 1], &[0, 0, 0]),
        ];
        let data = vec![0u8; 100];
        for (shape, xs, ys) in cases {
            let views = [Strided::new(&data, 7, shape, xs), Strided::new(&data, 1, shape, ys)];
            let (walk, numel) = (Walk::new(views), views[0].numel());
            let last = walk.shape().len() - 1;
            let [sx, sy] = walk.strides(last);
            for cut in 0..=numel {
                let mut found = [Vec::new(), Vec::new()];
                for part in [0..cut, cut..numel] {
                    walk.each_run(part, |[x, y], run| {
                        found[0].extend(run.clone().enumerate().map(|(i, _)| x - 7 + i * sx));
                        found[1].extend(run.enumerate().map(|(i, _)| y - 1 + i * sy));
                    });
                }
                assert_eq!(found, [offsets(shape, xs), offsets(shape, ys)], "{shape:?}");
            }
        }
    }

    #[test]
    fn axes_merge_only_where_no_view_can_tell() {
        let data = [0u8; 64];
        let view = |strides| Strided::new(&data, 0, &[2, 3, 4], strides);
        assert_eq!(Walk::new([view(&[12, 4, 1])]).shape(), [24]);
        assert_eq!(Walk::new([view(&[12, 4, 1]), view(&[0, 0, 0])]).shape(), [24]);
        assert_eq!(Walk::new([view(&[12, 4, 1]), view(&[0, 4, 1])]).shape(), [2, 12]);
        assert_eq!(Walk::new([view(&[12, 4, 1]), view(&[3, 1, 0])]).shape(), [6, 4]);
    }
}

//! Views: other layouts over the same elements. No element moves, but for a reshape of a tensor
//! whose elements do not lie in row-major order.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::tensor::Tensor;

impl Tensor {
    /// The same elements in row-major order under another shape. A view where the elements lie
    /// without gaps, a copy otherwise.
    ///
    /// # Errors
    /// When the shapes hold different numbers of elements, or a copy does not fit in memory.
    pub fn reshape(&self, shape: &[usize]) -> Result<Tensor> {
        let op = "reshape";
        let shape = Shape::new(op, shape)?;
        if shape.numel() != self.numel() {
            return Err(Error::Count { op, len: self.numel(), shape });
        }
        let whole = self.contiguous_for(op)?;
        Ok(whole.with_layout(Layout::contiguous(shape, whole.layout().offset())))
    }

    /// The axes in another order: axis `k` of the result is axis `axes[k]`.
    ///
    /// # Errors
    /// When `axes` does not name every axis exactly once.
    pub fn permute(&self, axes: &[usize]) -> Result<Tensor> {
        Ok(self.with_layout(self.layout().permute("permute", axes)?))
    }

    /// Two axes exchanged.
    ///
    /// # Errors
    /// An axis that does not exist.
    pub fn transpose(&self, first: usize, second: usize) -> Result<Tensor> {
        let op = "transpose";
        self.shape().check_axis(op, first)?;
        self.shape().check_axis(op, second)?;
        let mut axes = std::array::from_fn::<_, { Shape::MAX_NDIM }, _>(|axis| axis);
        axes.swap(first, second);
        Ok(self.with_layout(self.layout().permute(op, &axes[..self.ndim()])?))
    }

    /// Elements `start .. start + len` of `axis`.
    ///
    /// # Errors
    /// An axis or range that does not exist.
    pub fn narrow(&self, axis: usize, start: usize, len: usize) -> Result<Tensor> {
        Ok(self.with_layout(self.layout().narrow(axis, start, len)?))
    }

    /// [`Tensor::reshape`] with at most one length left open: `None` is whatever is left.
    ///
    /// # Errors
    /// As there, more than one open length, or one that no number fits.
    pub fn reshape_infer(&self, lens: &[Option<usize>]) -> Result<Tensor> {
        let op = "reshape_infer";
        let known = lens.iter().flatten().try_fold(1usize, |n, &len| n.checked_mul(len));
        let open = lens.iter().filter(|len| len.is_none()).count();
        let left = known.filter(|&known| known > 0).map(|known| self.numel() / known);
        if open > 1 || (open == 1 && left.is_none()) {
            let rule = "at most one length may be open, and the others must not multiply to 0";
            return Err(Error::Shape { op, shape: *self.shape(), rule });
        }
        let lens = lens.iter().map(|len| len.or(left).unwrap_or(0));
        self.reshape(&lens.collect::<Vec<_>>())
    }

    /// Without `axis`, whose length is 1.
    ///
    /// # Errors
    /// An axis that does not exist or is longer or empty.
    pub fn squeeze(&self, axis: usize) -> Result<Tensor> {
        let op = "squeeze";
        self.shape().check_axis(op, axis)?;
        if self.shape()[axis] != 1 {
            let rule = "only an axis of length 1 can be squeezed: narrow or reduce it first";
            return Err(Error::Shape { op, shape: *self.shape(), rule });
        }
        self.narrow(axis, 0, 1)?.reshape(&self.shape().without(axis))
    }

    /// With a new axis of length 1 before `axis`, or behind the last.
    ///
    /// # Errors
    /// An axis beyond the number of axes, or too many axes.
    pub fn unsqueeze(&self, axis: usize) -> Result<Tensor> {
        let op = "unsqueeze";
        if axis > self.ndim() {
            return Err(Error::Axis { op, axis, shape: *self.shape() });
        }
        let (before, behind) = self.shape().split_at(axis);
        self.reshape(&Shape::new(op, &[before, &[1], behind].concat())?)
    }

    /// Axes `first..=last` as one.
    ///
    /// # Errors
    /// Axes that do not exist, or the last before the first.
    pub fn flatten(&self, first: usize, last: usize) -> Result<Tensor> {
        let op = "flatten";
        self.shape().check_axis(op, last)?;
        if first > last {
            return Err(Error::Axis { op, axis: first, shape: *self.shape() });
        }
        let shape = self.shape();
        let len = shape[first..=last].iter().product();
        self.reshape(&[&shape[..first], &[len], &shape[last + 1..]].concat())
    }

    /// Every `step`-th of the elements `range` of `axis`, from the first one.
    ///
    /// # Errors
    /// An axis or range that does not exist, or a step of 0.
    pub fn slice(&self, axis: usize, range: Range<usize>, step: usize) -> Result<Tensor> {
        if step == 0 || range.start > range.end {
            let rule = "a slice goes forwards, in steps of at least 1";
            return Err(Error::Shape { op: "slice", shape: *self.shape(), rule });
        }
        let range = self.narrow(axis, range.start, range.end - range.start)?;
        Ok(range.with_layout(range.layout().stepped(axis, step)))
    }

    /// Element `index` of `axis`, which is dropped.
    ///
    /// # Errors
    /// An axis or index that does not exist.
    pub fn select(&self, axis: usize, index: usize) -> Result<Tensor> {
        self.narrow(axis, index, 1)?.squeeze(axis)
    }

    /// The elements `repeats[k]` times one after the other along each axis k, as tiles; more
    /// repeats than axes add axes at the left.
    ///
    /// # Errors
    /// Fewer repeats than axes, more than 4 axes, or a result that does not fit in memory.
    pub fn repeat(&self, repeats: &[usize]) -> Result<Tensor> {
        let op = "repeat";
        let Some(added) = repeats.len().checked_sub(self.ndim()) else {
            let rule = "give one number of repeats for each axis";
            return Err(Error::Shape { op, shape: *self.shape(), rule });
        };
        let lens = [&vec![1; added][..], self.shape()].concat();
        let (mut ones, mut wide, mut result) = (Vec::new(), Vec::new(), Vec::new());
        for (&len, &count) in lens.iter().zip(repeats) {
            ones.extend([1, len]);
            wide.extend([count, len]);
            result.push(len.saturating_mul(count));
        }
        Shape::new(op, &result)?;
        self.reshape(&Shape::new(op, &ones)?)?.broadcast_to(&wide)?.reshape(&result)
    }

    /// Axes of length 1 repeated, and axes added at the left, until the shape is `shape`.
    ///
    /// # Errors
    /// A length that is neither the target's nor 1.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Tensor> {
        let shape = Shape::new("broadcast_to", shape)?;
        Ok(self.with_layout(self.layout().broadcast_to(shape)?))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Device, Tensor};

    fn counting(shape: &[usize]) -> Tensor {
        let n: usize = shape.iter().product();
        Tensor::from_vec(&Device::cpu(), (0..n as i64).collect(), shape).unwrap()
    }

    fn values(x: &Tensor) -> Vec<i64> {
        x.to_vec().unwrap()
    }

    #[test]
    fn views_read_the_elements_that_their_name_says() {
        let x = counting(&[2, 3]);
        assert_eq!(values(&x.transpose(0, 1).unwrap()), [0, 3, 1, 4, 2, 5]);
        assert_eq!(values(&x.narrow(1, 1, 2).unwrap()), [1, 2, 4, 5]);
        let row = x.narrow(0, 1, 1).unwrap();
        assert_eq!(values(&row.broadcast_to(&[2, 2, 3]).unwrap()), [3, 4, 5].repeat(4));
        assert_eq!(values(&x.reshape(&[3, 2]).unwrap()), [0, 1, 2, 3, 4, 5]);
        let moved = x.transpose(0, 1).unwrap().reshape(&[6]).unwrap();
        assert_eq!(values(&moved), [0, 3, 1, 4, 2, 5]);
        let y = counting(&[2, 3, 4]).permute(&[2, 0, 1]).unwrap();
        assert_eq!(y.shape()[..], [4, 2, 3]);
        assert_eq!(values(&y)[..6], [0, 4, 8, 12, 16, 20]);
    }

    #[test]
    fn only_a_reshape_of_a_gapped_view_moves_elements() {
        let x = counting(&[2, 3]);
        let views = [
            x.transpose(0, 1).unwrap(),
            x.narrow(1, 0, 2).unwrap(),
            x.broadcast_to(&[5, 2, 3]).unwrap(),
            x.reshape(&[6]).unwrap(),
            x.narrow(0, 1, 1).unwrap().reshape(&[3]).unwrap(),
        ];
        assert_eq!(x.views(), 1 + views.len());
        let copy = views[0].reshape(&[6]).unwrap();
        assert_eq!(copy.views(), 1);
    }

    #[test]
    fn zero_sized_and_scalar_views_work() {
        let empty = counting(&[2, 0, 3]);
        assert_eq!(empty.transpose(0, 2).unwrap().shape()[..], [3, 0, 2]);
        assert_eq!(empty.reshape(&[0]).unwrap().numel(), 0);
        let none = counting(&[3]).narrow(0, 3, 0).unwrap();
        assert_eq!(values(&none), []);
        assert_eq!(none.broadcast_to(&[2, 0]).unwrap().numel(), 0);
        let scalar = counting(&[1]).reshape(&[]).unwrap();
        assert_eq!(scalar.item::<i64>().unwrap(), 0);
        assert_eq!(values(&scalar.broadcast_to(&[2, 2]).unwrap()), [0; 4]);
        assert_eq!(scalar.permute(&[]).unwrap().ndim(), 0);
    }

    #[test]
    fn impossible_views_name_the_operation_the_shape_and_the_rule() {
        let x = counting(&[2, 3]);
        let check = |result: crate::Result<Tensor>, parts: &[&str]| {
            let message = result.unwrap_err().to_string();
            assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        };
        check(x.reshape(&[4]), &["reshape", "6 elements", "[4]"]);
        check(x.permute(&[0]), &["permute", "[2, 3]", "every axis exactly once"]);
        check(x.permute(&[0, 0]), &["permute", "axis 0", "once"]);
        check(x.permute(&[0, 2]), &["permute", "axis 2", "[2, 3]"]);
        check(x.transpose(0, 7), &["transpose", "axis 7"]);
        check(x.narrow(1, 2, 2), &["narrow", "axis 1", "0..3"]);
        check(x.narrow(1, usize::MAX, 2), &["narrow", "0..3"]);
        check(x.broadcast_to(&[3]), &["broadcast_to", "[2, 3]", "[3]"]);
        check(x.broadcast_to(&[2, 4]), &["broadcast_to", "[2, 4]", "or 1"]);
    }
}

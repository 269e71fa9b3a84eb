//! Views: other layouts over the same elements. No element moves, but for a reshape of a tensor
//! whose elements do not lie in row-major order.

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

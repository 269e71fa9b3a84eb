//! `y = Σ x` over every axis that a broadcast repeated: the adjoint of `broadcast_to`.

use kernels::reduce::Axis;

use super::cast::in_f32;
use crate::error::{Error, Result};
use crate::shape::{Shape, broadcast};
use crate::tensor::Tensor;

impl Tensor {
    /// The sum over the axes along which a tensor of `shape` would be repeated to become this
    /// one: first the axes that `shape` lacks at the left, as one, then those of length 1, from
    /// left to right.
    ///
    /// # Errors
    /// A `shape` that does not broadcast to this tensor's, elements that are not floats,
    /// or no memory for the result.
    pub fn sum_to(&self, shape: &Shape) -> Result<Tensor> {
        let op = "sum_to";
        if broadcast(op, shape, self.shape()).ok() != Some(*self.shape()) {
            let rule = "the second must broadcast to the first";
            return Err(Error::Shapes { op, left: *self.shape(), right: *shape, rule });
        }
        if !self.dtype().is_float() {
            return Err(Error::DType { op, found: self.dtype(), wanted: "floats" });
        }
        if self.dtype().is_half() {
            return in_f32([self], |[x]| x.sum_to(shape));
        }
        let mut sum = self.clone();
        let added = self.ndim() - shape.ndim();
        if added > 0 {
            let (outer, kept) = self.shape().split_at(added);
            let (len, inner) = (outer.iter().product(), kept.iter().product());
            sum = sum.sum_along(op, Axis { outer: 1, len, inner }, Shape::new(op, kept)?)?;
        }
        for (axis, &len) in shape.iter().enumerate() {
            if len == 1 && sum.shape()[axis] != 1 {
                sum = sum.sum_axes(op, axis.into(), true)?;
            }
        }
        Ok(sum)
    }
}

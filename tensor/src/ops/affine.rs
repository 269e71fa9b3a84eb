//! The weight and the bias that an operation may have: their checks, and halves.

use kernels::DType;

use crate::error::{Error, Result};
use crate::ops::cast::in_f32;
use crate::shape::Shape;
use crate::tensor::Tensor;

/// Fails unless the weight and the bias that there are have the type of `x` and the shape that
/// `rule` states.
pub(super) fn check(
    op: &'static str,
    x: &Tensor,
    affine: [Option<&Tensor>; 2],
    (shape, rule): (&[usize], &'static str),
) -> Result<()> {
    for parameter in affine.into_iter().flatten() {
        if parameter.shape()[..] != *shape {
            let (left, right) = (*x.shape(), *parameter.shape());
            return Err(Error::Shapes { op, left, right, rule });
        }
        if parameter.dtype() != x.dtype() {
            return Err(Error::DTypes { op, left: x.dtype(), right: parameter.dtype() });
        }
    }
    Ok(())
}

/// Fails unless `dy` is a gradient of something like `x`: its shape and type.
pub(super) fn check_like(op: &'static str, x: &Tensor, dy: &Tensor) -> Result<()> {
    let (left, right): (Shape, Shape) = (*x.shape(), *dy.shape());
    if left != right {
        return Err(Error::Shapes { op, left, right, rule: "x and dy must have one shape" });
    }
    if x.dtype() != dy.dtype() {
        return Err(Error::DTypes { op, left: x.dtype(), right: dy.dtype() });
    }
    Ok(())
}

/// [`in_f32`] of `x` and of the weight and the bias that there are.
pub(super) fn affine_in_f32(
    x: &Tensor,
    affine: [Option<&Tensor>; 2],
    compute: impl FnOnce(&Tensor, [Option<&Tensor>; 2]) -> Result<Tensor>,
) -> Result<Tensor> {
    let y = match affine {
        [Some(w), Some(b)] => in_f32([x, w, b], |[x, w, b]| compute(x, [Some(w), Some(b)])),
        [Some(w), None] => in_f32([x, w], |[x, w]| compute(x, [Some(w), None])),
        [None, Some(b)] => in_f32([x, b], |[x, b]| compute(x, [None, Some(b)])),
        [None, None] => in_f32([x], |[x]| compute(x, [None, None])),
    }?;
    // A weight in f32 beside halves is usual; the result has the type of x.
    if x.dtype().is_half() && y.dtype() == DType::F32 { y.cast(x.dtype()) } else { Ok(y) }
}

/// Whether any of the operands has elements of a half's size.
pub(super) fn any_half(x: &Tensor, affine: [Option<&Tensor>; 2]) -> bool {
    affine.into_iter().flatten().chain([x]).any(|x| x.dtype().is_half())
}

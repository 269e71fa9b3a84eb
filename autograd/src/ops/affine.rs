//! The weight and the bias that an operation may have, where halves are widened.

use tensor::DType;

use crate::error::Result;
use crate::ops::cast::in_f32;
use crate::var::Var;

/// The values of the weight and the bias that there are.
pub(super) fn values(affine: [Option<&Var>; 2]) -> [Option<&tensor::Tensor>; 2] {
    affine.map(|parameter| parameter.map(Var::value))
}

/// Whether any of the operands has elements of a half's size.
pub(super) fn any_half(x: &Var, affine: [Option<&Var>; 2]) -> bool {
    affine.into_iter().flatten().chain([x]).any(|x| x.value().dtype().is_half())
}

/// [`in_f32`] of `x` and of the weight and the bias that there are.
pub(super) fn affine_in_f32(
    x: &Var,
    affine: [Option<&Var>; 2],
    compute: impl FnOnce(&Var, [Option<&Var>; 2]) -> Result<Var>,
) -> Result<Var> {
    let y = match affine {
        [Some(w), Some(b)] => in_f32([x, w, b], |[x, w, b]| compute(x, [Some(w), Some(b)])),
        [Some(w), None] => in_f32([x, w], |[x, w]| compute(x, [Some(w), None])),
        [None, Some(b)] => in_f32([x, b], |[x, b]| compute(x, [None, Some(b)])),
        [None, None] => in_f32([x], |[x]| compute(x, [None, None])),
    }?;
    // A weight in f32 beside halves is usual; the result has the type of x.
    let (from, to) = (y.value().dtype(), x.value().dtype());
    if to.is_half() && from == DType::F32 { y.cast(to) } else { Ok(y) }
}

/// The inputs of a node: `x`, then the weight and the bias that there are.
pub(super) fn inputs<'a>(x: &'a Var, affine: [Option<&'a Var>; 2]) -> Vec<&'a Var> {
    [Some(x)].into_iter().chain(affine).flatten().collect()
}

/// The mean of each row of `[rows, n]`, as `[rows, 1]`.
pub(super) fn row_means(x: &Var, n: usize) -> Result<Var> {
    &x.sum(1, true)? / &constant(x, n as f64)?
}

/// A scalar of the type of `x`.
pub(super) fn constant(x: &Var, value: f64) -> Result<Var> {
    let scalar = tensor::Tensor::scalar(x.value().device(), value);
    Ok(Var::constant(scalar.cast(x.value().dtype())?))
}

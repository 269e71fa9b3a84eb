//! `z = f(x, y)` elementwise with broadcasting, for every `f` of [`BinaryOp`], and the operators
//! `+ − × ÷` on references.

use std::ops::{Add, Div, Mul, Sub};

use kernels::binary::{BinaryOp, Side, binary, binary_vjp};
use kernels::{DType, Float};

use crate::error::{Error, Result};
use crate::shape::broadcast;
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// `op` of each pair of elements, after broadcasting (see [`broadcast`]).
    ///
    /// # Errors
    /// Shapes that do not broadcast, two element types, or elements that are not f32 or f64.
    pub fn binary(&self, op: BinaryOp, y: &Tensor) -> Result<Tensor> {
        match common_dtype(op.name(), self, y)? {
            DType::F32 => forward::<f32>(self, op, y),
            DType::F64 => forward::<f64>(self, op, y),
            found => Err(Error::DType { op: op.name(), found, wanted: "f32 or f64" }),
        }
    }

    /// The derivative of [`Tensor::binary`] with respect to one side, times `dz`, in the shape of
    /// `dz`: the broadcasting is not undone (see [`Tensor::sum_to`]).
    ///
    /// # Errors
    /// As [`Tensor::binary`], and a `dz` that has not the result's shape and type.
    pub fn binary_vjp(&self, op: BinaryOp, side: Side, y: &Tensor, dz: &Tensor) -> Result<Tensor> {
        let name = vjp_name(op);
        common_dtype(name, self, dz)?;
        match common_dtype(name, self, y)? {
            DType::F32 => backward::<f32>(self, op, side, y, dz),
            DType::F64 => backward::<f64>(self, op, side, y, dz),
            found => Err(Error::DType { op: name, found, wanted: "f32 or f64" }),
        }
    }
}

fn common_dtype(op: &'static str, x: &Tensor, y: &Tensor) -> Result<DType> {
    let (left, right) = (x.dtype(), y.dtype());
    if left == right { Ok(left) } else { Err(Error::DTypes { op, left, right }) }
}

fn forward<T: Stored + Float>(x: &Tensor, op: BinaryOp, y: &Tensor) -> Result<Tensor> {
    let name = op.name();
    let shape = broadcast(name, x.shape(), y.shape())?;
    let (xs, ys) = (x.broadcast_to(&shape)?, y.broadcast_to(&shape)?);
    let (xv, yv) = (xs.strided::<T>(name)?, ys.strided::<T>(name)?);
    let threads = x.device().threads();
    Tensor::computed(name, x.device(), shape, |out| binary(threads, op, xv, yv, out))
}

fn backward<T: Stored + Float>(
    x: &Tensor,
    op: BinaryOp,
    side: Side,
    y: &Tensor,
    dz: &Tensor,
) -> Result<Tensor> {
    let name = vjp_name(op);
    let shape = broadcast(name, x.shape(), y.shape())?;
    if shape != *dz.shape() {
        let rule = "the upstream gradient must have the shape of the result";
        return Err(Error::Shapes { op: name, left: shape, right: *dz.shape(), rule });
    }
    let (xs, ys) = (x.broadcast_to(&shape)?, y.broadcast_to(&shape)?);
    let (xv, yv, dv) = (xs.strided::<T>(name)?, ys.strided::<T>(name)?, dz.strided::<T>(name)?);
    let threads = x.device().threads();
    Tensor::computed(name, x.device(), shape, |out| {
        binary_vjp(threads, op, side, [xv, yv, dv], out);
    })
}

/// What an error calls a derivative of `op`.
fn vjp_name(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add_vjp",
        BinaryOp::Sub => "sub_vjp",
        BinaryOp::Mul => "mul_vjp",
        BinaryOp::Div => "div_vjp",
        BinaryOp::Max => "max_vjp",
        BinaryOp::Min => "min_vjp",
    }
}

impl Add for &Tensor {
    type Output = Result<Tensor>;
    fn add(self, y: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::Add, y)
    }
}

impl Sub for &Tensor {
    type Output = Result<Tensor>;
    fn sub(self, y: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::Sub, y)
    }
}

impl Mul for &Tensor {
    type Output = Result<Tensor>;
    fn mul(self, y: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::Mul, y)
    }
}

impl Div for &Tensor {
    type Output = Result<Tensor>;
    fn div(self, y: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::Div, y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derivative_is_called_by_its_operation() {
        for op in BinaryOp::ALL {
            assert_eq!(vjp_name(op), format!("{}_vjp", op.name()));
        }
    }
}

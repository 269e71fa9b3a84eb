//! `z = f(x, y)` elementwise with broadcasting, for every `f` of [`BinaryOp`], and the operators
//! `+ − × ÷` on references, also with a number on the right, which takes the tensor's type; beside
//! integers it is an f32.

use std::ops::{Add, Div, Mul, Neg, Sub};

use kernels::binary::{BinaryOp, Side, binary, binary_vjp, integer};
use kernels::unary::UnaryOp;
use kernels::{DType, Float};

use super::cast::in_f32;
use crate::error::{Error, Result};
use crate::shape::broadcast;
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// `op` of each pair of elements, after broadcasting (see [`broadcast`]) and promotion (see
    /// [`DType::promote`]). Halves are widened to f32 and rounded once. Sums, differences and
    /// products of integers, and the larger and smaller one, are integers modulo 2⁶⁴ (of masks
    /// modulo 256); their other functions are f32.
    ///
    /// # Errors
    /// Shapes that do not broadcast, or no memory for the result.
    pub fn binary(&self, op: BinaryOp, y: &Tensor) -> Result<Tensor> {
        let dtype = self.dtype().promote(y.dtype());
        if self.dtype() != y.dtype() {
            return self.cast(dtype)?.binary(op, &y.cast(dtype)?);
        }
        match dtype {
            DType::F32 => forward::<f32>(self, op, y),
            DType::F64 => forward::<f64>(self, op, y),
            DType::F16 | DType::BF16 => in_f32([self, y], |[x, y]| x.binary(op, y)),
            DType::I64 => integers(self, op, y),
            DType::U8 => {
                let z = integers(&self.cast(DType::I64)?, op, &y.cast(DType::I64)?)?;
                if z.dtype().is_float() { Ok(z) } else { low_bytes(op.name(), &z) }
            }
        }
    }

    /// The derivative of [`Tensor::binary`] with respect to one side, times `dz`, in the shape of
    /// `dz`: the broadcasting is not undone (see [`Tensor::sum_to`]).
    ///
    /// # Errors
    /// Two element types, elements that are not f32 or f64, shapes that do not broadcast, and a
    /// `dz` that has not the result's shape and type.
    pub fn binary_vjp(&self, op: BinaryOp, side: Side, y: &Tensor, dz: &Tensor) -> Result<Tensor> {
        let name = op.vjp_name();
        common_dtype(name, self, dz)?;
        match common_dtype(name, self, y)? {
            DType::F32 => backward::<f32>(self, op, side, y, dz),
            DType::F64 => backward::<f64>(self, op, side, y, dz),
            found => Err(Error::DType { op: name, found, wanted: "f32 or f64" }),
        }
    }

    /// The larger of each pair; a NaN wins. See [`BinaryOp::Max`].
    ///
    /// # Errors
    /// As [`Tensor::binary`].
    pub fn maximum(&self, y: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::Max, y)
    }

    /// The smaller of each pair; a NaN wins. See [`BinaryOp::Min`].
    ///
    /// # Errors
    /// As [`Tensor::binary`].
    pub fn minimum(&self, y: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::Min, y)
    }

    /// `xʸ` of each pair. See [`BinaryOp::Pow`].
    ///
    /// # Errors
    /// As [`Tensor::binary`].
    pub fn pow(&self, y: &Tensor) -> Result<Tensor> {
        self.binary(BinaryOp::Pow, y)
    }
}

fn common_dtype(op: &'static str, x: &Tensor, y: &Tensor) -> Result<DType> {
    let (left, right) = (x.dtype(), y.dtype());
    if left == right { Ok(left) } else { Err(Error::DTypes { op, left, right }) }
}

fn integers(x: &Tensor, op: BinaryOp, y: &Tensor) -> Result<Tensor> {
    let name = op.name();
    let shape = broadcast(name, x.shape(), y.shape())?;
    let (xs, ys) = (x.broadcast_to(&shape)?, y.broadcast_to(&shape)?);
    let (xs, ys) = (xs.contiguous_for(name)?, ys.contiguous_for(name)?);
    let (xv, yv) = (xs.typed::<i64>(name)?, ys.typed::<i64>(name)?);
    let mut known = Some(());
    let z = Tensor::computed(name, x.device(), shape, |out| known = integer(op, xv, yv, out))?;
    match known {
        Some(()) => Ok(z),
        None => x.cast(DType::F32)?.binary(op, &y.cast(DType::F32)?),
    }
}

/// i64 modulo 256.
fn low_bytes(op: &'static str, x: &Tensor) -> Result<Tensor> {
    let values = x.typed::<i64>(op)?;
    Tensor::computed(op, x.device(), *x.shape(), |out| {
        out.iter_mut().zip(values).for_each(|(out, &x)| *out = x as u8);
    })
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
    let name = op.vjp_name();
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

impl Add<&Tensor> for Result<Tensor> {
    type Output = Result<Tensor>;
    fn add(self, y: &Tensor) -> Result<Tensor> {
        self.and_then(|x| &x + y)
    }
}

impl Add<f64> for &Tensor {
    type Output = Result<Tensor>;
    fn add(self, y: f64) -> Result<Tensor> {
        self.unary(UnaryOp::Shift(y))
    }
}

impl Sub<&Tensor> for Result<Tensor> {
    type Output = Result<Tensor>;
    fn sub(self, y: &Tensor) -> Result<Tensor> {
        self.and_then(|x| &x - y)
    }
}

impl Sub<f64> for &Tensor {
    type Output = Result<Tensor>;
    fn sub(self, y: f64) -> Result<Tensor> {
        self.unary(UnaryOp::Shift(-y))
    }
}

impl Mul<&Tensor> for Result<Tensor> {
    type Output = Result<Tensor>;
    fn mul(self, y: &Tensor) -> Result<Tensor> {
        self.and_then(|x| &x * y)
    }
}

impl Mul<f64> for &Tensor {
    type Output = Result<Tensor>;
    fn mul(self, y: f64) -> Result<Tensor> {
        self.unary(UnaryOp::Scale(y))
    }
}

impl Div<&Tensor> for Result<Tensor> {
    type Output = Result<Tensor>;
    fn div(self, y: &Tensor) -> Result<Tensor> {
        self.and_then(|x| &x / y)
    }
}

impl Div<f64> for &Tensor {
    type Output = Result<Tensor>;
    fn div(self, y: f64) -> Result<Tensor> {
        // A quotient of integers is f32, and a divisor need not be whole.
        let dtype = if self.dtype().is_float() { self.dtype() } else { DType::F32 };
        self.binary(BinaryOp::Div, &Tensor::scalar(self.device(), y).cast(dtype)?)
    }
}

impl Neg for &Tensor {
    type Output = Result<Tensor>;
    fn neg(self) -> Result<Tensor> {
        self.unary(UnaryOp::Neg)
    }
}

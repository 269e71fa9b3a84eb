//! Masks of u8: 1 where something holds, 0 where it does not.

use kernels::DType;
use kernels::compare::{CompareOp, LogicalOp, compare, is_finite, is_nan, logical, logical_not};

use crate::error::Result;
use crate::shape::broadcast;
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// The mask of the pairs for which the comparison holds, after broadcasting and promotion.
    ///
    /// # Errors
    /// Shapes that do not broadcast.
    pub fn compare(&self, op: CompareOp, y: &Tensor) -> Result<Tensor> {
        let dtype = self.dtype().promote(y.dtype());
        // Halves and masks are exact in the wider types.
        let wide = match dtype {
            DType::F16 | DType::BF16 => DType::F32,
            DType::U8 => DType::I64,
            dtype => dtype,
        };
        let (x, y) = (self.cast(wide)?, y.cast(wide)?);
        match wide {
            DType::F64 => compared::<f64>(&x, op, &y),
            DType::I64 => compared::<i64>(&x, op, &y),
            _ => compared::<f32>(&x, op, &y),
        }
    }

    /// Where this equals `y`; see [`Tensor::compare`].
    ///
    /// # Errors
    /// As there.
    pub fn eq(&self, y: &Tensor) -> Result<Tensor> {
        self.compare(CompareOp::Eq, y)
    }

    /// Where this differs from `y`; see [`Tensor::compare`].
    ///
    /// # Errors
    /// As there.
    pub fn ne(&self, y: &Tensor) -> Result<Tensor> {
        self.compare(CompareOp::Ne, y)
    }

    /// Where this is below `y`; see [`Tensor::compare`].
    ///
    /// # Errors
    /// As there.
    pub fn lt(&self, y: &Tensor) -> Result<Tensor> {
        self.compare(CompareOp::Lt, y)
    }

    /// Where this is not above `y`; see [`Tensor::compare`].
    ///
    /// # Errors
    /// As there.
    pub fn le(&self, y: &Tensor) -> Result<Tensor> {
        self.compare(CompareOp::Le, y)
    }

    /// Where this is above `y`; see [`Tensor::compare`].
    ///
    /// # Errors
    /// As there.
    pub fn gt(&self, y: &Tensor) -> Result<Tensor> {
        self.compare(CompareOp::Gt, y)
    }

    /// Where this is not below `y`; see [`Tensor::compare`].
    ///
    /// # Errors
    /// As there.
    pub fn ge(&self, y: &Tensor) -> Result<Tensor> {
        self.compare(CompareOp::Ge, y)
    }

    /// A function of two masks, after broadcasting.
    ///
    /// # Errors
    /// Shapes that do not broadcast, or elements that are not u8.
    pub fn logical(&self, op: LogicalOp, y: &Tensor) -> Result<Tensor> {
        let name = op.name();
        let [x, y] = broadcast_pair(name, self, y)?;
        let (xs, ys) = (x.typed::<u8>(name)?, y.typed::<u8>(name)?);
        Tensor::computed(name, x.device(), *x.shape(), |out| logical(op, xs, ys, out))
    }

    /// Where a mask is 0.
    ///
    /// # Errors
    /// Elements that are not u8.
    pub fn logical_not(&self) -> Result<Tensor> {
        let op = "logical_not";
        let x = self.contiguous_for(op)?;
        let xs = x.typed::<u8>(op)?;
        Tensor::computed(op, x.device(), *x.shape(), |out| logical_not(xs, out))
    }

    /// Where an element is not a number. Integers always are.
    ///
    /// # Errors
    /// No memory for the result.
    pub fn is_nan(&self) -> Result<Tensor> {
        self.tested("is_nan", is_nan)
    }

    /// Where an element is neither infinite nor NaN. Integers always are.
    ///
    /// # Errors
    /// No memory for the result.
    pub fn is_finite(&self) -> Result<Tensor> {
        self.tested("is_finite", is_finite)
    }

    /// Every type's elements are in f64 what they are: a number, an infinity or a NaN.
    fn tested(&self, op: &'static str, test: fn(&[f64], &mut [u8])) -> Result<Tensor> {
        let x = self.cast(DType::F64)?.contiguous_for(op)?;
        let xs = x.typed::<f64>(op)?;
        Tensor::computed(op, x.device(), *x.shape(), |out| test(xs, out))
    }
}

/// Both sides in the shape of the result, row-major.
fn broadcast_pair(op: &'static str, x: &Tensor, y: &Tensor) -> Result<[Tensor; 2]> {
    let shape = broadcast(op, x.shape(), y.shape())?;
    Ok([x.broadcast_to(&shape)?.contiguous_for(op)?, y.broadcast_to(&shape)?.contiguous_for(op)?])
}

fn compared<T: Stored + PartialOrd>(x: &Tensor, op: CompareOp, y: &Tensor) -> Result<Tensor> {
    let name = op.name();
    let [x, y] = broadcast_pair(name, x, y)?;
    let (xs, ys) = (x.typed::<T>(name)?, y.typed::<T>(name)?);
    Tensor::computed(name, x.device(), *x.shape(), |out| compare(op, xs, ys, out))
}

//! Rows of a table by number.

use half::{bf16, f16};
use kernels::DType;
use kernels::embedding::{embedding, embedding_vjp};

use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;
use crate::tensor_mut::{Differentiable, TensorMut};

const OP: &str = "embedding";
const VJP: &str = "embedding_vjp";

impl Tensor {
    /// Rows of this table `[n, d]` by number: ids `[..]` of i64 give `[.., d]`.
    ///
    /// # Errors
    /// A table that has not two axes, ids that are not i64 or lie outside `0..n`, or no memory.
    pub fn embedding(&self, ids: &Tensor) -> Result<Tensor> {
        match self.dtype() {
            DType::F16 => rows::<f16>(self, ids),
            DType::BF16 => rows::<bf16>(self, ids),
            DType::F32 => rows::<f32>(self, ids),
            DType::F64 => rows::<f64>(self, ids),
            DType::I64 => rows::<i64>(self, ids),
            DType::U8 => rows::<u8>(self, ids),
        }
    }

    /// The derivative of [`Tensor::embedding`] with respect to the table, written into `out` of
    /// its shape, from this gradient `[.., d]`: each row is the sum over its uses, in their order.
    ///
    /// # Errors
    /// Shapes that do not fit, ids outside the table, or elements that are not f32 or f64.
    pub fn embedding_vjp_into(&self, ids: &Tensor, out: &mut TensorMut<'_>) -> Result<()> {
        match self.dtype() {
            DType::F32 => backward::<f32>(self, ids, out),
            DType::F64 => backward::<f64>(self, ids, out),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

/// The width of a table, and ids that all lie in it.
fn checked(op: &'static str, table: &Shape, ids: &Tensor) -> Result<(usize, Tensor)> {
    if table.ndim() != 2 {
        let rule = "a table has the axes [n, d]: reshape it";
        return Err(Error::Shape { op, shape: *table, rule });
    }
    let (ids, len) = (ids.contiguous_for(op)?, table[0]);
    let outside = |&&id: &&i64| usize::try_from(id).map_or(true, |id| id >= len);
    match ids.typed::<i64>(op)?.iter().find(outside) {
        Some(&index) => Err(Error::Index { op, index, axis: 0, len }),
        None => Ok((table[1], ids)),
    }
}

fn rows<T: Stored>(table: &Tensor, ids: &Tensor) -> Result<Tensor> {
    let (d, ids) = checked(OP, table.shape(), ids)?;
    let shape = Shape::new(OP, &[&ids.shape()[..], &[d]].concat())?;
    let table = table.contiguous_for(OP)?;
    let (values, numbers) = (table.typed::<T>(OP)?, ids.typed::<i64>(OP)?);
    Tensor::computed(OP, table.device(), shape, |out| {
        embedding(table.device().threads(), values, d, numbers, out);
    })
}

fn backward<T: Differentiable>(dy: &Tensor, ids: &Tensor, out: &mut TensorMut<'_>) -> Result<()> {
    let table = *out.shape();
    let (d, ids) = checked(VJP, &table, ids)?;
    let shape = Shape::new(VJP, &[&ids.shape()[..], &[d]].concat())?;
    if *dy.shape() != shape {
        let rule = "the gradient has the axes of the ids, then the width of the table";
        return Err(Error::Shapes { op: VJP, left: shape, right: *dy.shape(), rule });
    }
    let dy = dy.contiguous_for(VJP)?;
    let (slice, numbers) = (dy.typed::<T>(VJP)?, ids.typed::<i64>(VJP)?);
    embedding_vjp(slice, d, numbers, out.typed::<T>(VJP, &table)?);
    Ok(())
}

//! The lower or upper triangle of matrices.

use half::{bf16, f16};
use kernels::DType;
use kernels::band::{Triangle, triangle};

use crate::error::{Error, Result};
use crate::storage::Stored;
use crate::tensor::Tensor;

impl Tensor {
    /// The lower triangle of each matrix `[.., rows, columns]`: columns up to `row + diagonal`;
    /// zeros elsewhere.
    ///
    /// # Errors
    /// Fewer than two axes.
    pub fn tril(&self, diagonal: i64) -> Result<Tensor> {
        self.triangle(Triangle::Lower, diagonal)
    }

    /// The upper triangle: columns from `row + diagonal` on.
    ///
    /// # Errors
    /// Fewer than two axes.
    pub fn triu(&self, diagonal: i64) -> Result<Tensor> {
        self.triangle(Triangle::Upper, diagonal)
    }

    /// Either triangle of each matrix.
    ///
    /// # Errors
    /// Fewer than two axes.
    pub fn triangle(&self, side: Triangle, diagonal: i64) -> Result<Tensor> {
        match self.dtype() {
            DType::F16 => kept::<f16>(self, side, diagonal),
            DType::BF16 => kept::<bf16>(self, side, diagonal),
            DType::F32 => kept::<f32>(self, side, diagonal),
            DType::F64 => kept::<f64>(self, side, diagonal),
            DType::I64 => kept::<i64>(self, side, diagonal),
            DType::U8 => kept::<u8>(self, side, diagonal),
        }
    }
}

fn kept<T: Stored>(x: &Tensor, side: Triangle, diagonal: i64) -> Result<Tensor> {
    let op = match side {
        Triangle::Lower => "tril",
        Triangle::Upper => "triu",
    };
    let [.., rows, columns] = x.shape()[..] else {
        let rule = "a matrix, or several of them, is needed";
        return Err(Error::Shape { op, shape: *x.shape(), rule });
    };
    let x = x.contiguous_for(op)?;
    let values = x.typed::<T>(op)?;
    Tensor::computed(op, x.device(), *x.shape(), |out| {
        triangle(values, (rows, columns), side, diagonal, out);
    })
}

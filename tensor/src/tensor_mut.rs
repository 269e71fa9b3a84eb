//! A place that an operation writes its result into, owned by someone else: how a gradient gets
//! straight into its bucket.

use kernels::DType;

use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;

/// A row-major destination of floating-point elements; what it held before does not matter.
#[derive(Debug)]
pub struct TensorMut<'a> {
    data: DataMut<'a>,
    shape: Shape,
    writes: usize,
}

/// A borrowed buffer of a type that gradients have.
#[derive(Debug)]
pub enum DataMut<'a> {
    /// Elements of type f32.
    F32(&'a mut [f32]),
    /// Elements of type f64.
    F64(&'a mut [f64]),
}

impl DataMut<'_> {
    fn len(&self) -> usize {
        match self {
            DataMut::F32(slice) => slice.len(),
            DataMut::F64(slice) => slice.len(),
        }
    }
}

/// An element type that gradients and parameters can have: f32 or f64.
pub trait Differentiable: Stored + kernels::Float {
    /// Wraps a borrowed buffer of this type.
    fn wrap_mut(slice: &mut [Self]) -> DataMut<'_>;
    #[doc(hidden)]
    fn unwrap_mut<'a>(data: &'a mut DataMut<'_>) -> Option<&'a mut [Self]>;
}

impl Differentiable for f32 {
    fn wrap_mut(slice: &mut [Self]) -> DataMut<'_> {
        DataMut::F32(slice)
    }
    fn unwrap_mut<'a>(data: &'a mut DataMut<'_>) -> Option<&'a mut [Self]> {
        if let DataMut::F32(slice) = data { Some(slice) } else { None }
    }
}

impl Differentiable for f64 {
    fn wrap_mut(slice: &mut [Self]) -> DataMut<'_> {
        DataMut::F64(slice)
    }
    fn unwrap_mut<'a>(data: &'a mut DataMut<'_>) -> Option<&'a mut [Self]> {
        if let DataMut::F64(slice) = data { Some(slice) } else { None }
    }
}

impl<'a> TensorMut<'a> {
    /// `slice` as a destination of `shape`.
    ///
    /// # Errors
    /// When the shape does not hold exactly `slice.len()` elements.
    pub fn new<T: Differentiable>(slice: &'a mut [T], shape: Shape) -> Result<Self> {
        let data = T::wrap_mut(slice);
        if data.len() != shape.numel() {
            return Err(Error::Count { op: "TensorMut::new", len: data.len(), shape });
        }
        Ok(TensorMut { data, shape, writes: 0 })
    }

    /// The shape that the result must have.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The element type that the result must have.
    pub fn dtype(&self) -> DType {
        match self.data {
            DataMut::F32(_) => DType::F32,
            DataMut::F64(_) => DType::F64,
        }
    }

    /// How many operations have written this destination, each of them wholly.
    pub fn writes(&self) -> usize {
        self.writes
    }

    /// Copies the elements of `x`, of the same shape and type.
    ///
    /// # Errors
    /// Another shape or type.
    pub fn copy_from(&mut self, x: &Tensor) -> Result<()> {
        match self.data {
            DataMut::F32(_) => self.copy_typed::<f32>(x),
            DataMut::F64(_) => self.copy_typed::<f64>(x),
        }
    }

    fn copy_typed<T: Differentiable>(&mut self, x: &Tensor) -> Result<()> {
        let view = x.strided::<T>("copy_from")?;
        let out = self.typed::<T>("copy_from", x.shape())?;
        if !out.is_empty() {
            kernels::copy::copy(x.device().threads(), view, out);
        }
        Ok(())
    }

    /// The elements for writing a result of `shape` and type `T`: the caller writes all of them.
    pub(crate) fn typed<T: Differentiable>(
        &mut self,
        op: &'static str,
        shape: &Shape,
    ) -> Result<&mut [T]> {
        if self.shape != *shape {
            let rule = "the destination must have the shape of the result";
            return Err(Error::Shapes { op, left: *shape, right: self.shape, rule });
        }
        let found = self.dtype();
        let wanted = T::DTYPE.name();
        let slice = T::unwrap_mut(&mut self.data).ok_or(Error::DType { op, found, wanted })?;
        self.writes += 1;
        Ok(slice)
    }
}

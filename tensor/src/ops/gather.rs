//! One element of an axis for each index, and sums of elements at indices.

use half::{bf16, f16};
use kernels::DType;
use kernels::index::{gather, scatter_add};

use super::cast::in_f32;
use crate::axes::plain;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const GATHER: &str = "gather";
const SCATTER: &str = "scatter_add";

impl Tensor {
    /// Element `[.., j, ..]` of the result is element `[.., index[.., j, ..], ..]` along `axis`;
    /// the result has the shape of `index`, which may be shorter along the other axes.
    ///
    /// # Errors
    /// An axis that does not exist, an index tensor that is not i64 or has other axes or longer
    /// ones, or an index outside the axis.
    pub fn gather(&self, axis: usize, index: &Tensor) -> Result<Tensor> {
        let x = covered(GATHER, self, axis, index)?;
        let index = checked(GATHER, (axis, self.shape()[axis]), index)?;
        match self.dtype() {
            DType::F16 => picked::<f16>(&x, axis, &index),
            DType::BF16 => picked::<bf16>(&x, axis, &index),
            DType::F32 => picked::<f32>(&x, axis, &index),
            DType::F64 => picked::<f64>(&x, axis, &index),
            DType::I64 => picked::<i64>(&x, axis, &index),
            DType::U8 => picked::<u8>(&x, axis, &index),
        }
    }

    /// This tensor with element `[.., j, ..]` of `source` added at `[.., index[.., j, ..], ..]`
    /// along `axis`; elements that meet are added in the order of `source`. The other axes of
    /// `index` and `source` are as long as this tensor's.
    ///
    /// # Errors
    /// As [`Tensor::gather`], a source of another shape than the index or of another type, axes
    /// that are shorter, or elements that are no floats.
    pub fn scatter_add(&self, axis: usize, index: &Tensor, source: &Tensor) -> Result<Tensor> {
        let x = covered(SCATTER, self, axis, index)?;
        let (left, right) = (*index.shape(), *source.shape());
        if left != right || x.shape() != self.shape() {
            let rule = "index and source have one shape, which is the tensor's but for the axis";
            return Err(Error::Shapes { op: SCATTER, left, right, rule });
        }
        if self.dtype() != source.dtype() {
            let (left, right) = (self.dtype(), source.dtype());
            return Err(Error::DTypes { op: SCATTER, left, right });
        }
        match self.dtype() {
            DType::F32 => added::<f32>(self, axis, index, source),
            DType::F64 => added::<f64>(self, axis, index, source),
            DType::F16 | DType::BF16 => {
                in_f32([self, source], |[x, source]| x.scatter_add(axis, index, source))
            }
            found => Err(Error::DType { op: SCATTER, found, wanted: "floats" }),
        }
    }
}

/// The part of `x` that an index can reach: as long as the index along the other axes.
fn covered(op: &'static str, x: &Tensor, axis: usize, index: &Tensor) -> Result<Tensor> {
    x.shape().check_axis(op, axis)?;
    let (left, right) = (*x.shape(), *index.shape());
    let fits = |other: usize| other == axis || right[other] <= left[other];
    if left.ndim() != right.ndim() || !(0..left.ndim()).all(fits) {
        let rule = "the index has as many axes, none but the indexed one longer than the tensor's";
        return Err(Error::Shapes { op, left, right, rule });
    }
    let others = (0..left.ndim()).filter(|&other| other != axis);
    let mut others = others.collect::<Vec<_>>().into_iter();
    others.try_fold(x.clone(), |x, other| x.narrow(other, 0, right[other]))
}

/// Row-major indices, each within the axis.
fn checked(op: &'static str, (axis, len): (usize, usize), index: &Tensor) -> Result<Tensor> {
    let index = index.contiguous_for(op)?;
    let outside = |&&i: &&i64| usize::try_from(i).map_or(true, |i| i >= len);
    match index.typed::<i64>(op)?.iter().find(outside) {
        Some(&index) => Err(Error::Index { op, index, axis, len }),
        None => Ok(index),
    }
}

fn picked<T: Stored>(x: &Tensor, axis: usize, index: &Tensor) -> Result<Tensor> {
    let x = x.contiguous_for(GATHER)?;
    let (values, index_values) = (x.typed::<T>(GATHER)?, index.typed::<i64>(GATHER)?);
    let along = plain(x.shape(), axis);
    Tensor::computed(GATHER, x.device(), *index.shape(), |out| {
        gather((values, along), index_values, out);
    })
}

fn added<T: Differentiable>(
    x: &Tensor,
    axis: usize,
    index: &Tensor,
    source: &Tensor,
) -> Result<Tensor> {
    let index = checked(SCATTER, (axis, x.shape()[axis]), index)?;
    let (x, source) = (x.contiguous_for(SCATTER)?, source.contiguous_for(SCATTER)?);
    let (values, terms) = (x.typed::<T>(SCATTER)?, source.typed::<T>(SCATTER)?);
    let (index, along) = (index.typed::<i64>(SCATTER)?, plain(x.shape(), axis));
    Tensor::computed(SCATTER, x.device(), *x.shape(), |out| {
        out.copy_from_slice(values);
        scatter_add((out, along), index, terms);
    })
}

impl Tensor {
    /// Classes `[..]` of i64 as `[.., classes]`: 1 at the class, 0 elsewhere.
    ///
    /// # Errors
    /// Elements that are not i64, or one outside `0..classes`.
    pub fn one_hot(&self, classes: usize, dtype: DType) -> Result<Tensor> {
        let op = "one_hot";
        let shape = Shape::new(op, &[self.shape(), &[classes][..]].concat())?;
        let labels = checked(op, (self.ndim(), classes), self)?;
        let labels = labels.typed::<i64>(op)?;
        let ones = Tensor::computed::<f32>(op, self.device(), shape, |out| {
            out.fill(0.0);
            for (row, &label) in labels.iter().enumerate() {
                out[row * classes + label as usize] = 1.0;
            }
        })?;
        ones.cast(dtype)
    }
}

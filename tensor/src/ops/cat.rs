//! Tensors side by side, and one tensor in parts.

use half::{bf16, f16};
use kernels::DType;
use kernels::remap::concatenate;

use crate::axes::plain;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;

const OP: &str = "cat";

impl Tensor {
    /// `parts` one after the other along `axis`; the other axes have one length. A part may be
    /// empty along `axis`.
    ///
    /// # Errors
    /// No parts, an axis that does not exist, or parts whose other axes or types differ.
    pub fn cat(parts: &[&Tensor], axis: usize) -> Result<Tensor> {
        let Some(&first) = parts.first() else {
            let rule = "at least one part is needed: an empty list has no type and no shape";
            return Err(Error::Shape { op: OP, shape: Shape::SCALAR, rule });
        };
        first.shape().check_axis(OP, axis)?;
        let mut lens = first.shape().to_vec();
        lens[axis] = 0;
        for part in parts {
            let (left, right) = (*first.shape(), *part.shape());
            let other = |k: usize| k == axis || left[k] == right[k];
            if left.ndim() != right.ndim() || !(0..left.ndim()).all(other) {
                let rule = "parts agree in all axes but the one along which they are joined";
                return Err(Error::Shapes { op: OP, left, right, rule });
            }
            if part.dtype() != first.dtype() {
                let (left, right) = (first.dtype(), part.dtype());
                return Err(Error::DTypes { op: OP, left, right });
            }
            lens[axis] = lens[axis].saturating_add(right[axis]);
        }
        let shape = Shape::new(OP, &lens)?;
        match first.dtype() {
            DType::F16 => joined::<f16>(parts, axis, shape),
            DType::BF16 => joined::<bf16>(parts, axis, shape),
            DType::F32 => joined::<f32>(parts, axis, shape),
            DType::F64 => joined::<f64>(parts, axis, shape),
            DType::I64 => joined::<i64>(parts, axis, shape),
            DType::U8 => joined::<u8>(parts, axis, shape),
        }
    }

    /// `parts` of one shape along a new axis.
    ///
    /// # Errors
    /// As [`Tensor::cat`], and parts of two shapes.
    pub fn stack(parts: &[&Tensor], axis: usize) -> Result<Tensor> {
        let rows = parts.iter().map(|part| part.unsqueeze(axis)).collect::<Result<Vec<_>>>()?;
        Tensor::cat(&rows.iter().collect::<Vec<_>>(), axis)
    }

    /// Start and length of each part when `axis` is cut into at most `chunks` parts of ⌈length /
    /// `chunks`⌉, as PyTorch cuts it: the last may be shorter, and there may be fewer.
    ///
    /// # Errors
    /// An axis that does not exist, or no chunks.
    pub fn chunk_ranges(&self, chunks: usize, axis: usize) -> Result<Vec<(usize, usize)>> {
        chunk_ranges(self.shape(), chunks, axis)
    }

    /// The tensor in the views that [`Tensor::chunk_ranges`] names.
    ///
    /// # Errors
    /// As there.
    pub fn chunk(&self, chunks: usize, axis: usize) -> Result<Vec<Tensor>> {
        let ranges = chunk_ranges(self.shape(), chunks, axis)?;
        ranges.into_iter().map(|(start, len)| self.narrow(axis, start, len)).collect()
    }

    /// The tensor in views of these lengths along `axis`.
    ///
    /// # Errors
    /// An axis that does not exist, or lengths that do not add up to its.
    pub fn split(&self, lens: &[usize], axis: usize) -> Result<Vec<Tensor>> {
        let op = "split";
        self.shape().check_axis(op, axis)?;
        if lens.iter().fold(0usize, |n, &len| n.saturating_add(len)) != self.shape()[axis] {
            let rule = "the lengths of the parts add up to the axis's";
            return Err(Error::Shape { op, shape: *self.shape(), rule });
        }
        let mut start = 0;
        let part = |&len: &usize| {
            start += len;
            self.narrow(axis, start - len, len)
        };
        lens.iter().map(part).collect()
    }
}

fn chunk_ranges(shape: &Shape, chunks: usize, axis: usize) -> Result<Vec<(usize, usize)>> {
    let op = "chunk";
    shape.check_axis(op, axis)?;
    if chunks == 0 {
        let rule = "a tensor is cut into at least one chunk";
        return Err(Error::Shape { op, shape: *shape, rule });
    }
    let len = shape[axis];
    let each = len.div_ceil(chunks).max(1);
    let starts = (0..len.max(1)).step_by(each);
    Ok(starts.map(|start| (start, each.min(len - start))).collect())
}

fn joined<T: Stored>(parts: &[&Tensor], axis: usize, shape: Shape) -> Result<Tensor> {
    let parts = parts.iter().map(|part| part.contiguous_for(OP)).collect::<Result<Vec<_>>>()?;
    let slices = parts.iter().map(|part| Ok((part.typed::<T>(OP)?, part.shape()[axis])));
    let slices = slices.collect::<Result<Vec<_>>>()?;
    let along = plain(&shape, axis);
    let device = parts[0].device();
    Tensor::computed(OP, device, shape, |out| {
        concatenate(&slices, (along.outer, along.inner), out);
    })
}

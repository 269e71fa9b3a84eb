//! Elements of one axis elsewhere: flips, rolls, pads, steps and selections by index.

use half::{bf16, f16};
use kernels::DType;
use kernels::reduce::Axis;
use kernels::remap::{FILL, remap, remap_vjp};

use crate::axes::plain;
use crate::axis_map::AxisMap;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

impl Tensor {
    /// Along `axis`, element j of the result is element `from[j]`, or `fill` where there is none.
    /// What an operation that moves whole slices is made of.
    ///
    /// # Errors
    /// An axis that does not exist, or an index beyond its end.
    pub fn remap(
        &self,
        op: &'static str,
        axis: usize,
        from: &AxisMap,
        fill: f64,
    ) -> Result<Tensor> {
        let from = checked(op, self.shape(), axis, from)?;
        match self.dtype() {
            DType::F16 => moved(op, self, axis, (&from, <f16 as kernels::Element>::from_f64(fill))),
            DType::BF16 => {
                moved(op, self, axis, (&from, <bf16 as kernels::Element>::from_f64(fill)))
            }
            DType::F32 => moved(op, self, axis, (&from, fill as f32)),
            DType::F64 => moved(op, self, axis, (&from, fill)),
            DType::I64 => moved(op, self, axis, (&from, fill as i64)),
            DType::U8 => moved(op, self, axis, (&from, fill as u8)),
        }
    }

    /// The derivative of [`Tensor::remap`] from an axis of length `len`, times this tensor: each
    /// element goes back to where it came from, and those that meet are added in index order.
    ///
    /// # Errors
    /// As there, a map of another length than the axis, or elements that are no floats.
    pub fn remap_vjp(
        &self,
        op: &'static str,
        (axis, len): (usize, usize),
        from: &AxisMap,
    ) -> Result<Tensor> {
        self.shape().check_axis(op, axis)?;
        let mut lens = self.shape().to_vec();
        lens[axis] = len;
        let shape = Shape::new(op, &lens)?;
        let from = checked(op, &shape, axis, from)?;
        if from.len() != self.shape()[axis] {
            let rule = "the map has one entry for each index of the axis";
            return Err(Error::Shape { op, shape: *self.shape(), rule });
        }
        match self.dtype() {
            DType::F32 => returned::<f32>(op, self, (axis, shape), &from),
            DType::F64 => returned::<f64>(op, self, (axis, shape), &from),
            half @ (DType::F16 | DType::BF16) => {
                returned::<f32>(op, &self.cast(DType::F32)?, (axis, shape), &from)?.cast(half)
            }
            found => Err(Error::DType { op, found, wanted: "floats" }),
        }
    }

    /// The elements in reverse order along each of `axes`.
    ///
    /// # Errors
    /// An axis that does not exist.
    pub fn flip(&self, axes: &[usize]) -> Result<Tensor> {
        axes.iter().try_fold(self.clone(), |x, &axis| {
            x.shape().check_axis("flip", axis)?;
            x.remap("flip", axis, &AxisMap::flipped(x.shape()[axis]), 0.0)
        })
    }

    /// The elements shifted by `shift` places along `axis`; those beyond the end come in again at
    /// the start.
    ///
    /// # Errors
    /// An axis that does not exist.
    pub fn roll(&self, axis: usize, shift: i64) -> Result<Tensor> {
        self.shape().check_axis("roll", axis)?;
        self.remap("roll", axis, &AxisMap::rolled(self.shape()[axis], shift), 0.0)
    }

    /// `value` around the elements: `[before, after]` of each axis, in the order of the axes.
    ///
    /// # Errors
    /// Not one pair an axis, a result that does not fit in memory, or a value that an integer
    /// tensor cannot hold.
    pub fn pad(&self, pads: &[[usize; 2]], value: f64) -> Result<Tensor> {
        let op = "pad";
        Error::check_number(op, self.dtype(), value)?;
        if pads.len() != self.ndim() {
            let rule = "give one [before, after] an axis, the first axis first";
            return Err(Error::Shape { op, shape: *self.shape(), rule });
        }
        let padded = self.shape().iter().zip(pads);
        let lens = padded.map(|(len, pad)| len.saturating_add(pad[0]).saturating_add(pad[1]));
        Shape::new(op, &lens.collect::<Vec<_>>())?;
        pads.iter().enumerate().try_fold(self.clone(), |x, (axis, &pad)| match pad {
            [0, 0] => Ok(x),
            _ => x.remap(op, axis, &AxisMap::padded(x.shape()[axis], pad), value),
        })
    }

    /// Slices `index[j]` of `axis`, in this order; one may be named twice.
    ///
    /// # Errors
    /// An axis that does not exist, indices that are no vector of i64, or one outside the axis.
    pub fn index_select(&self, axis: usize, index: &Tensor) -> Result<Tensor> {
        let op = "index_select";
        self.shape().check_axis(op, axis)?;
        self.remap(op, axis, &AxisMap::selected(op, (axis, self.shape()[axis]), index)?, 0.0)
    }
}

fn checked(op: &'static str, shape: &Shape, axis: usize, from: &AxisMap) -> Result<Vec<usize>> {
    shape.check_axis(op, axis)?;
    let len = shape[axis];
    let one = |from: &Option<usize>| match *from {
        None => Ok(FILL),
        Some(index) if index < len => Ok(index),
        Some(index) => {
            Err(Error::Index { op, index: i64::try_from(index).unwrap_or(i64::MAX), axis, len })
        }
    };
    from.entries().iter().map(one).collect()
}

fn moved<T: Stored>(
    op: &'static str,
    x: &Tensor,
    axis: usize,
    (from, fill): (&[usize], T),
) -> Result<Tensor> {
    let mut lens = x.shape().to_vec();
    lens[axis] = from.len();
    let (shape, x) = (Shape::new(op, &lens)?, x.contiguous_for(op)?);
    let (along, values): (Axis, _) = (plain(x.shape(), axis), x.typed::<T>(op)?);
    let threads = x.device().threads();
    Tensor::computed(op, x.device(), shape, |out| remap(threads, (values, along), from, fill, out))
}

fn returned<T: Differentiable>(
    op: &'static str,
    dy: &Tensor,
    (axis, shape): (usize, Shape),
    from: &[usize],
) -> Result<Tensor> {
    let dy = dy.contiguous_for(op)?;
    let (values, threads) = (dy.typed::<T>(op)?, dy.device().threads());
    Tensor::computed(op, dy.device(), shape, |dx| {
        remap_vjp(threads, values, plain(&shape, axis), from, dx);
    })
}

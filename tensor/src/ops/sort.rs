//! The elements in order along one axis, where they came from, and the first k of them.

use half::{bf16, f16};
use kernels::DType;
use kernels::sort::{order, take, take_vjp};

use crate::axes::Along;
use crate::error::{Error, Result};
use crate::shape::Shape;
use crate::storage::Stored;
use crate::tensor::Tensor;
use crate::tensor_mut::Differentiable;

const VJP: &str = "sort_vjp";

impl Tensor {
    /// The elements along `axis` in ascending or descending order, and their places, in i64.
    /// Equal elements keep their order; a NaN is larger than every number, and −0 equals +0.
    ///
    /// # Errors
    /// An axis that does not exist.
    pub fn sort(&self, axis: usize, descending: bool) -> Result<(Tensor, Tensor)> {
        self.ranked("sort", axis, None, descending)
    }

    /// The places of [`Tensor::sort`] alone.
    ///
    /// # Errors
    /// As there.
    pub fn argsort(&self, axis: usize, descending: bool) -> Result<Tensor> {
        self.places("argsort", axis, None, descending)
    }

    /// The `k` largest or smallest elements along `axis`, and their places: the first ones of
    /// [`Tensor::sort`], in its order.
    ///
    /// # Errors
    /// An axis that does not exist or is shorter than `k`.
    pub fn topk(&self, k: usize, axis: usize, largest: bool) -> Result<(Tensor, Tensor)> {
        self.ranked("topk", axis, Some(k), largest)
    }

    fn ranked(
        &self,
        op: &'static str,
        axis: usize,
        k: Option<usize>,
        descending: bool,
    ) -> Result<(Tensor, Tensor)> {
        let places = self.places(op, axis, k, descending)?;
        let values = match self.dtype() {
            DType::F16 => taken::<f16>(op, self, axis, &places),
            DType::BF16 => taken::<bf16>(op, self, axis, &places),
            DType::F32 => taken::<f32>(op, self, axis, &places),
            DType::F64 => taken::<f64>(op, self, axis, &places),
            DType::I64 => taken::<i64>(op, self, axis, &places),
            DType::U8 => taken::<u8>(op, self, axis, &places),
        };
        Ok((values?, places))
    }

    fn places(
        &self,
        op: &'static str,
        axis: usize,
        k: Option<usize>,
        descending: bool,
    ) -> Result<Tensor> {
        self.shape().check_axis(op, axis)?;
        let have = self.shape()[axis];
        let k = k.unwrap_or(have);
        if k > have {
            return Err(Error::Range { op, start: 0, len: k, axis, have });
        }
        match self.dtype() {
            DType::F16 => ordered::<f16>(op, self, (axis, k), descending),
            DType::BF16 => ordered::<bf16>(op, self, (axis, k), descending),
            DType::F32 => ordered::<f32>(op, self, (axis, k), descending),
            DType::F64 => ordered::<f64>(op, self, (axis, k), descending),
            DType::I64 => ordered::<i64>(op, self, (axis, k), descending),
            DType::U8 => ordered::<u8>(op, self, (axis, k), descending),
        }
    }

    /// The derivative of the values of [`Tensor::sort`] or [`Tensor::topk`], times this tensor:
    /// each element goes back to its place in a tensor whose axis is `len` long, where those of
    /// one place are added.
    ///
    /// # Errors
    /// An axis that does not exist, places of another shape or outside `0..len`, or elements that
    /// are not f32 or f64.
    pub fn sort_vjp(&self, axis: usize, places: &Tensor, len: usize) -> Result<Tensor> {
        self.shape().check_axis(VJP, axis)?;
        if self.shape() != places.shape() {
            let (left, right) = (*self.shape(), *places.shape());
            let rule = "each element needs one place";
            return Err(Error::Shapes { op: VJP, left, right, rule });
        }
        let places = places.contiguous_for(VJP)?;
        let outside = |&&at: &&i64| usize::try_from(at).map_or(true, |at| at >= len);
        if let Some(&index) = places.typed::<i64>(VJP)?.iter().find(outside) {
            return Err(Error::Index { op: VJP, index, axis, len });
        }
        match self.dtype() {
            DType::F32 => backward::<f32>(self, axis, &places, len),
            DType::F64 => backward::<f64>(self, axis, &places, len),
            found => Err(Error::DType { op: VJP, found, wanted: "f32 or f64" }),
        }
    }
}

/// `shape` with another length of `axis`.
fn resized(op: &'static str, shape: &Shape, axis: usize, len: usize) -> Result<Shape> {
    let mut lens = shape.to_vec();
    lens[axis] = len;
    Shape::new(op, &lens)
}

fn ordered<T: Stored + PartialOrd>(
    op: &'static str,
    x: &Tensor,
    (axis, k): (usize, usize),
    descending: bool,
) -> Result<Tensor> {
    let along = Along::one(op, x.shape(), axis)?;
    let x = x.contiguous_for(op)?;
    let view = x.typed::<T>(op)?;
    Tensor::computed(op, x.device(), resized(op, x.shape(), axis, k)?, |out| {
        order(x.device().threads(), view, (along.axis, k), descending, out);
    })
}

/// `places` are those of elements of `x`, in row-major order.
fn taken<T: Stored>(op: &'static str, x: &Tensor, axis: usize, places: &Tensor) -> Result<Tensor> {
    let along = Along::one(op, x.shape(), axis)?;
    let x = x.contiguous_for(op)?;
    let (view, indices) = (x.typed::<T>(op)?, places.typed::<i64>(op)?);
    Tensor::computed(op, x.device(), *places.shape(), |out| take(view, along.axis, indices, out))
}

fn backward<T: Differentiable>(
    dy: &Tensor,
    axis: usize,
    places: &Tensor,
    len: usize,
) -> Result<Tensor> {
    let shape = resized(VJP, dy.shape(), axis, len)?;
    let along = Along::one(VJP, &shape, axis)?;
    let dy = dy.contiguous_for(VJP)?;
    let (dys, indices) = (dy.typed::<T>(VJP)?, places.typed::<i64>(VJP)?);
    Tensor::computed(VJP, dy.device(), shape, |dx| take_vjp(dys, indices, along.axis, dx))
}

//! `C = A · B`, the matrix product, also of batches of matrices.

use kernels::matmul::{MatRef, matmul, matmul_batched};
use kernels::{DType, Float};

use super::cast::in_f32;
use crate::error::{Error, Result};
use crate::shape::{Shape, broadcast};
use crate::storage::Stored;
use crate::tensor::Tensor;
use crate::tensor_mut::{Differentiable, TensorMut};

const OP: &str = "matmul";

impl Tensor {
    /// The matrix product `[m, k] · [k, n] -> [m, n]`. Views (transposed, narrowed, repeated)
    /// are read in place.
    ///
    /// Axes before the last two are a batch of products, broadcast together:
    /// `[2, 1, m, k] · [5, k, n] -> [2, 5, m, n]`. A left operand `[k]` is a row and a right
    /// operand `[k]` a column, whose axis of length 1 the result does not have:
    /// `[m, k] · [k] -> [m]` and `[k] · [k] -> []`.
    ///
    /// Each element is the chain of fused multiply-adds over `k` in index order, so a row of the
    /// result does not depend on the rows beside it; without a `k` it is +0. Halves are widened
    /// to f32, and the result is rounded once.
    ///
    /// # Errors
    /// Operands without axes, inner lengths that differ, batches that do not broadcast, two
    /// element types other than halves, integers, or a result that does not fit in memory.
    pub fn matmul(&self, b: &Tensor) -> Result<Tensor> {
        if self.dtype().is_half() || b.dtype().is_half() {
            return in_f32([self, b], |[a, b]| a.matmul(b));
        }
        let plan = Plan::new(OP, self, b)?;
        match self.dtype() {
            DType::F32 => allocated::<f32>(self, b, &plan),
            DType::F64 => allocated::<f64>(self, b, &plan),
            found => Err(Error::DType { op: OP, found, wanted: "a float" }),
        }
    }

    /// [`Tensor::matmul`] of f32 or f64, written into `out`.
    ///
    /// # Errors
    /// As [`Tensor::matmul`], and a destination of another shape or type.
    pub fn matmul_into(&self, b: &Tensor, out: &mut TensorMut<'_>) -> Result<()> {
        let op = "matmul_into";
        let plan = Plan::new(op, self, b)?;
        match self.dtype() {
            DType::F32 => product::<f32>(op, [self, b], &plan, out.typed(op, &plan.shape)?),
            DType::F64 => product::<f64>(op, [self, b], &plan, out.typed(op, &plan.shape)?),
            found => Err(Error::DType { op, found, wanted: "f32 or f64" }),
        }
    }
}

/// A stack of matrices in a tensor: the axes before the last two number the matrices.
#[derive(Clone, Copy)]
struct Stack {
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
    /// Strides of the numbering axes, aligned at the right with those of the result; an axis that
    /// is missing or repeated has the stride 0.
    strides: [usize; Shape::MAX_NDIM],
}

impl Stack {
    /// Of at least one axis. A tensor of one axis is a row on the left and a column on the right.
    fn new(x: &Tensor, left: bool) -> Self {
        let (shape, strides) = (x.shape(), x.layout().strides());
        let mut stack =
            Stack { rows: 1, cols: 1, row_stride: 0, col_stride: 0, strides: [0; Shape::MAX_NDIM] };
        match (&shape[..], strides) {
            (&[len], &[stride]) if left => (stack.cols, stack.col_stride) = (len, stride),
            (&[len], &[stride]) => (stack.rows, stack.row_stride) = (len, stride),
            (&[ref lens @ .., rows, cols], &[ref strides @ .., row_stride, col_stride]) => {
                stack = Stack { rows, cols, row_stride, col_stride, ..stack };
                let first = Shape::MAX_NDIM - lens.len();
                for (i, (&len, &stride)) in lens.iter().zip(strides).enumerate() {
                    stack.strides[first + i] = if len == 1 { 0 } else { stride };
                }
            }
            _ => {}
        }
        stack
    }

    /// The stride of the rows of all matrices, one below the other, where there is one; `lens`
    /// are those of the result.
    fn row_stride_of_all(&self, lens: &[usize; Shape::MAX_NDIM]) -> Option<usize> {
        let (mut stride, mut rows) = (self.row_stride, self.rows);
        for (&len, &own) in lens.iter().zip(&self.strides).rev() {
            match len {
                1 => {}
                _ if rows == 1 => (stride, rows) = (own, len),
                _ if own == stride.checked_mul(rows)? => rows *= len,
                _ => return None,
            }
        }
        Some(stride)
    }

    /// Where matrix number `index` of the result's batch starts.
    fn offset(&self, lens: &[usize; Shape::MAX_NDIM], mut index: usize) -> usize {
        let mut offset = 0;
        for (&len, &stride) in lens.iter().zip(&self.strides).rev() {
            if len > 1 {
                offset += index % len * stride;
                index /= len;
            }
        }
        offset
    }

    fn matrix<'a, T>(&self, data: &'a [T], offset: usize) -> MatRef<'a, T> {
        let data = if self.rows == 0 || self.cols == 0 { &[] } else { &data[offset..] };
        MatRef::new(data, self.rows, self.cols, self.row_stride, self.col_stride)
    }
}

/// What a product is made of.
struct Plan {
    left: Stack,
    right: Stack,
    /// Lengths of the batch's axes, aligned at the right.
    batch: [usize; Shape::MAX_NDIM],
    /// The shape of the result.
    shape: Shape,
}

impl Plan {
    fn new(op: &'static str, a: &Tensor, b: &Tensor) -> Result<Self> {
        let (left, right) = (*a.shape(), *b.shape());
        let mismatch = |rule| Error::Shapes { op, left, right, rule };
        if left.ndim() == 0 || right.ndim() == 0 {
            return Err(mismatch(
                "both operands must be matrices, rows, columns or batches of matrices: reshape \
                 first, or multiply a scalar with `*`",
            ));
        }
        let (l, r) = (Stack::new(a, true), Stack::new(b, false));
        if l.cols != r.rows {
            return Err(mismatch(match (left.ndim(), right.ndim()) {
                (2, 2) => "axis 1 of the left must be as long as axis 0 of the right",
                (_, 1) => "the last axis of the left must be as long as axis 0 of the right",
                (1, _) => "axis 0 of the left must be as long as the last but one of the right",
                _ => "the last axis of the left must be as long as the last but one of the right",
            }));
        }
        if a.dtype() != b.dtype() {
            return Err(Error::DTypes { op, left: a.dtype(), right: b.dtype() });
        }
        let leading = |shape: &Shape| Shape::new(op, &shape[..shape.ndim().saturating_sub(2)]);
        let lead =
            broadcast(op, &leading(&left)?, &leading(&right)?).map_err(|error| match error {
                Error::Shapes { .. } => mismatch(
                    "the axes before the last two, aligned at the right, must be equal or one of \
                 them 1",
                ),
                other => other,
            })?;
        let mut lens = lead.to_vec();
        lens.extend((left.ndim() > 1).then_some(l.rows));
        lens.extend((right.ndim() > 1).then_some(r.cols));
        let mut batch = [1; Shape::MAX_NDIM];
        batch[Shape::MAX_NDIM - lead.ndim()..].copy_from_slice(&lead);
        Ok(Plan { left: l, right: r, batch, shape: Shape::new(op, &lens)? })
    }
}

fn allocated<T: Differentiable>(a: &Tensor, b: &Tensor, plan: &Plan) -> Result<Tensor> {
    let mut done = Ok(());
    let out = Tensor::computed(OP, a.device(), plan.shape, |out| {
        done = product::<T>(OP, [a, b], plan, out);
    })?;
    done.map(|()| out)
}

fn product<T: Differentiable>(
    op: &'static str,
    [a, b]: [&Tensor; 2],
    plan: &Plan,
    out: &mut [T],
) -> Result<()> {
    let (a_view, b_view) = (a.strided::<T>(op)?, b.strided::<T>(op)?);
    if out.is_empty() {
        return Ok(());
    }
    let (threads, Plan { left, right, batch, .. }) = (a.device().threads(), plan);
    let rows = left.row_stride_of_all(batch);
    if let Some(row_stride) = rows.filter(|_| right.strides == [0; Shape::MAX_NDIM]) {
        // One right operand for all: the rows of all matrices are those of one.
        let rows = out.len() / right.cols;
        let left = Stack { rows, row_stride, ..*left };
        let left = left.matrix(a_view.data(), a_view.offset());
        matmul(threads, left, right.matrix(b_view.data(), b_view.offset()), None, out);
        return Ok(());
    }
    let operands = |index| {
        let left_at = a_view.offset() + left.offset(batch, index);
        let right_at = b_view.offset() + right.offset(batch, index);
        [left.matrix(a_view.data(), left_at), right.matrix(b_view.data(), right_at)]
    };
    matmul_batched(threads, [left.rows, right.cols, left.cols], operands, out);
    Ok(())
}

/// A two-dimensional tensor as a kernel's operand.
pub(super) fn matrix<'a, T: Stored + Float>(
    op: &'static str,
    x: &'a Tensor,
) -> Result<MatRef<'a, T>> {
    let view = x.strided::<T>(op)?;
    let (shape, strides) = (x.shape(), x.layout().strides());
    // An empty matrix may lie behind the end of its storage.
    let data = if x.numel() == 0 { &[] } else { &view.data()[view.offset()..] };
    Ok(MatRef::new(data, shape[0], shape[1], strides[0], strides[1]))
}

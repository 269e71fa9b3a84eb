//! `C = A · B`, also of batches of matrices.
//!
//! From `dC · δ(A·B)`: `dA = dC · Bᵀ` and `dB = Aᵀ · dC`, in each product of a batch. A matrix
//! that broadcasting repeated took part in several products, so its gradient is the sum over them;
//! for one right operand of a whole batch, that sum is the product of all rows at once. Both
//! operands are kept.

use tensor::{Shape, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::ops::cast::in_f32;
use crate::var::Var;

struct Matmul {
    a: Tensor,
    b: Tensor,
}

/// The shapes of the operands and of the result as stacks of matrices: a row on the left and a
/// column on the right with their axes of length 1.
struct Stacked {
    a: Vec<usize>,
    b: Vec<usize>,
    c: Vec<usize>,
}

impl Stacked {
    fn new(a: &Shape, b: &Shape, c: &Shape) -> Self {
        let (mut rows, mut cols, mut all) = (a.to_vec(), b.to_vec(), c.to_vec());
        if b.ndim() == 1 {
            cols.push(1);
            all.push(1);
        }
        if a.ndim() == 1 {
            rows.insert(0, 1);
            all.insert(all.len() - 1, 1);
        }
        Stacked { a: rows, b: cols, c: all }
    }
}

/// The last two axes exchanged, of which there are at least two.
fn transposed(x: &Tensor) -> tensor::Result<Tensor> {
    x.transpose(x.ndim() - 2, x.ndim() - 1)
}

/// `[.., n] -> [rows, n]`.
fn as_rows(x: &Tensor) -> tensor::Result<Tensor> {
    let (n, rows) = x.shape().split_last().map_or((1, 1), |(&n, lead)| (n, lead.iter().product()));
    x.reshape(&[rows, n])
}

impl Op for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn vjp(&self, dc: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        let shapes = Stacked::new(self.a.shape(), self.b.shape(), dc.shape());
        let (a, b) = (self.a.reshape(&shapes.a)?, self.b.reshape(&shapes.b)?);
        let dc = dc.reshape(&shapes.c)?;
        if grads.wanted(0) {
            give(grads, 0, [&dc, &transposed(&b)?], &self.a)?;
        }
        if !grads.wanted(1) {
            return Ok(());
        }
        if b.ndim() == 2 {
            give(grads, 1, [&transposed(&as_rows(&a)?)?, &as_rows(&dc)?], &self.b)
        } else {
            give(grads, 1, [&transposed(&a)?, &dc], &self.b)
        }
    }

    fn vjp_var(&self, dc: &Var, inputs: &Inputs<'_>) -> Result<Vec<Var>> {
        let shapes = Stacked::new(self.a.shape(), self.b.shape(), dc.value().shape());
        let (a, b) = (inputs.var(0, &self.a), inputs.var(1, &self.b));
        let (a, b) = (a.reshape(&shapes.a)?, b.reshape(&shapes.b)?);
        let dc = dc.reshape(&shapes.c)?;
        let turned = |x: &Var| x.transpose(x.value().ndim() - 2, x.value().ndim() - 1);
        let da = summed_to(dc.matmul(&turned(&b)?)?, &shapes.a)?;
        let db = summed_to(turned(&a)?.matmul(&dc)?, &shapes.b)?;
        Ok(vec![da.reshape(self.a.shape())?, db.reshape(self.b.shape())?])
    }
}

/// Gives `left · right`, summed over what broadcasting repeated, as the gradient of `operand`; a
/// product of its shape is written in place.
fn give(
    grads: &mut InputGrads<'_>,
    input: usize,
    [left, right]: [&Tensor; 2],
    operand: &Tensor,
) -> Result<()> {
    if operand.ndim() == 2 && left.ndim() == 2 && right.ndim() == 2 {
        return grads.write(input, |out| left.matmul_into(right, out));
    }
    let full = left.matmul(right)?;
    if full.shape() == operand.shape() {
        return grads.give(input, full);
    }
    let shape = match operand.ndim() {
        1 => Shape::new("matmul", &full.shape()[full.ndim() - 2..])?,
        _ => *operand.shape(),
    };
    grads.give(input, full.sum_to(&shape)?.reshape(operand.shape())?)
}

/// The sum over what a tensor of `shape` repeats to become one of the shape of `x`.
fn summed_to(mut x: Var, shape: &[usize]) -> Result<Var> {
    while x.value().ndim() > shape.len() {
        x = x.sum(0, false)?;
    }
    for (axis, &len) in shape.iter().enumerate() {
        if len == 1 && x.value().shape()[axis] != 1 {
            x = x.sum(axis, true)?;
        }
    }
    Ok(x)
}

impl Var {
    /// The matrix product, also of batches; see [`Tensor::matmul`].
    ///
    /// # Errors
    /// As there.
    pub fn matmul(&self, b: &Var) -> Result<Var> {
        if self.value().dtype().is_half() || b.value().dtype().is_half() {
            return in_f32([self, b], |[a, b]| a.matmul(b));
        }
        let c = self.value().matmul(b.value())?;
        let saved = Matmul { a: self.value().clone(), b: b.value().clone() };
        Ok(Var::from_op(c, &[self, b], saved))
    }
}

//! `y = x` in another element type.
//!
//! A conversion between floats is the identity up to rounding, so `dx` is `dy` in the type of x. A
//! conversion to integers has slope 0 where it has one: its result is a constant.

use tensor::{DType, Tensor};

use crate::error::Result;
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

struct Cast {
    x_dtype: DType,
}

impl Op for Cast {
    fn name(&self) -> &'static str {
        "cast"
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, dy.cast(self.x_dtype)?)
    }

    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        Ok(vec![dy.cast(self.x_dtype)?])
    }
}

impl Var {
    /// The elements in another type; see [`Tensor::cast`]. Integers and masks are constants.
    ///
    /// # Errors
    /// As there.
    pub fn cast(&self, dtype: DType) -> Result<Var> {
        let x_dtype = self.value().dtype();
        if dtype == x_dtype {
            return Ok(self.clone());
        }
        let y = self.value().cast(dtype)?;
        if !dtype.is_float() {
            return Ok(Var::constant(y));
        }
        Ok(Var::from_op(y, &[self], Cast { x_dtype }))
    }
}

/// The value in f32 when it is a half: losses of halves are sums in f32, and stay there.
pub(crate) fn wide(x: &Var) -> Result<Var> {
    if x.value().dtype().is_half() { x.cast(DType::F32) } else { Ok(x.clone()) }
}

/// What `compute` makes of the operands when halves are widened to f32 and the result is rounded
/// once, to the halves' type; left in f32 when they are of both types, or stand beside f32.
/// Operations that begin with it never see a half, nor do their vjps.
pub(crate) fn in_f32<const N: usize>(
    operands: [&Var; N],
    compute: impl FnOnce([&Var; N]) -> Result<Var>,
) -> Result<Var> {
    let mut wide = operands.map(Var::clone);
    let mut halves = None;
    for x in &mut wide {
        let dtype = x.value().dtype();
        if dtype == DType::F32 {
            halves = Some(dtype);
        } else if dtype.is_half() {
            let mixed = halves.is_some_and(|half| half != dtype);
            halves = Some(if mixed { DType::F32 } else { dtype });
            *x = x.cast(DType::F32)?;
        }
    }
    let y = compute(wide.each_ref())?;
    match halves {
        Some(dtype) if y.value().dtype() == DType::F32 => y.cast(dtype),
        _ => Ok(y),
    }
}

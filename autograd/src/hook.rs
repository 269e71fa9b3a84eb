//! Hooks: functions that see, and may replace, the gradient of a value on its way.

use tensor::Tensor;

use crate::error::{Error, Result};
use crate::input_grads::InputGrads;
use crate::inputs::Inputs;
use crate::node::Op;
use crate::var::Var;

const HOOK: &str = "hook";

/// The identity, with a function on the gradient's way back.
struct Hook<F> {
    hook: F,
}

impl<F> Op for Hook<F>
where
    F: Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
{
    fn name(&self) -> &'static str {
        HOOK
    }

    fn vjp(&self, dy: &Tensor, grads: &mut InputGrads<'_>) -> Result<()> {
        grads.give(0, (self.hook)(dy)?.unwrap_or_else(|| dy.clone()))
    }

    /// A hook that only looks sees these gradients too. What one puts in their place was computed
    /// without a graph, so there is nothing to differentiate.
    fn vjp_var(&self, dy: &Var, _: &Inputs<'_>) -> Result<Vec<Var>> {
        match (self.hook)(dy.value())? {
            None => Ok(vec![dy.clone()]),
            Some(_) => Err(Error::NotTwiceDifferentiable { op: HOOK }),
        }
    }
}

impl Var {
    /// The same value with a hook on its gradient: in every backward, `hook` is called once with
    /// the sum of what all uses of the *returned* variable contribute, and what it returns goes on
    /// in its place; `None` leaves it as it is. Works for leaves and for results of operations.
    /// The hook lives in the graph and goes with it. For a constant it is never called.
    ///
    /// ```
    /// use ringgrad_autograd::Var;
    /// use tensor::{Device, Tensor};
    /// # fn main() -> Result<(), ringgrad_autograd::Error> {
    /// let device = Device::cpu();
    /// let w = Var::leaf("w", Tensor::from_vec(&device, vec![2.0f32, -3.0], &[2])?);
    /// let halved = w.with_hook(|gradient| {
    ///     Ok(Some((gradient * &Tensor::scalar(gradient.device(), 0.5f32))?))
    /// });
    /// let gradients = (&halved * &halved)?.sum_all()?.backward()?;
    /// assert_eq!(gradients.get(&w)?.to_vec::<f32>()?, [2.0, -3.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A backward fails with the hook's error, or when the replacement has not the gradient's
    /// shape and type. [`Var::gradients`] passes a hook that only looks, and refuses one that
    /// replaces.
    pub fn with_hook(
        &self,
        hook: impl Fn(&Tensor) -> Result<Option<Tensor>> + Send + Sync + 'static,
    ) -> Var {
        Var::from_op(self.value().clone(), &[self], Hook { hook })
    }
}

//! What a forward needs besides its input: the mode, and where in the run it stands.

use autograd::Var;

use crate::error::Result;
use crate::module::Module;
use crate::parameter::Parameter;

/// Whether a forward trains or evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Gradients will be wanted; layers with a training behaviour show it.
    Train,
    /// The model as it is used.
    Eval,
}

/// Passed down through every forward; nothing of it is ambient.
#[derive(Clone, Debug)]
pub struct Context {
    mode: Mode,
    step: u64,
    first_position: u64,
    gradients: bool,
}

impl Context {
    /// A training forward of the samples from `first_position` of the run's sample stream on, in
    /// step `step`. Randomness is keyed by both, so it does not depend on who computes.
    pub fn train(step: u64, first_position: u64) -> Self {
        Context { mode: Mode::Train, step, first_position, gradients: true }
    }

    /// An evaluating forward.
    pub fn eval() -> Self {
        Context { mode: Mode::Eval, step: 0, first_position: 0, gradients: true }
    }

    /// The same with parameters as constants: no graph is built for them, and values go as soon as
    /// they are used.
    pub fn no_grad(self) -> Self {
        Context { gradients: false, ..self }
    }

    /// The value that a layer computes with: a leaf, or a constant under [`Context::no_grad`].
    pub fn var(&self, parameter: &Parameter) -> Var {
        if self.gradients { parameter.var().clone() } else { parameter.var().detach() }
    }

    /// Runs a part of a model: how a module calls those that it is made of, so that the context
    /// sees them.
    ///
    /// # Errors
    /// As [`Module::forward`].
    pub fn run(&self, module: &dyn Module, x: &Var) -> Result<Var> {
        module.forward(self, x)
    }

    /// Train or evaluate.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The step, counted from 0.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The place of the input's first sample in the run's sample stream.
    pub fn first_position(&self) -> u64 {
        self.first_position
    }
}

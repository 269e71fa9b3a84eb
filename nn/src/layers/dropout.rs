//! Dropout, with masks that do not depend on who computes.

use autograd::Var;
use kernels::random::Stream;

use crate::context::{Context, Mode};
use crate::error::Result;
use crate::init::Init;
use crate::module::Module;
use crate::parameter::Parameter;

/// In training, drops each element with probability p and divides the others by 1 − p; in
/// evaluation the identity (Srivastava et al. 2014, "Dropout").
///
/// The mask is a function of the run's seed, the layer's path, the step and the sample's place in
/// the run's stream: a batch has the masks of its shards, whoever computes them. Axis 0 of the
/// input is the samples.
#[derive(Clone, Debug)]
pub struct Dropout {
    p: f64,
    path: String,
}

impl Dropout {
    /// A layer at the place of `init`, which tells its masks from those of other layers. A `p`
    /// outside `[0, 1]` is refused by the forward.
    pub fn new(init: &Init, p: f64) -> Self {
        Dropout { p, path: init.path().to_owned() }
    }
}

impl Module for Dropout {
    fn describe(&self) -> String {
        format!("Dropout({})", self.p)
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        if cx.mode() == Mode::Eval {
            return Ok(x.clone());
        }
        let samples = x.value().shape().first().copied().unwrap_or(1);
        let each = x.value().numel().checked_div(samples).unwrap_or(0) as u64;
        let stream = Stream::new(cx.seed(), &self.path, cx.step());
        Ok(x.dropout(self.p, &stream, cx.first_position().wrapping_mul(each))?)
    }

    fn visit(&self, _: &mut dyn FnMut(&Parameter)) {}

    fn visit_mut(&mut self, _: &mut dyn FnMut(&mut Parameter)) {}
}

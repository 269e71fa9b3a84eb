//! What a forward needs besides its input: the mode, and where in the run it stands.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use autograd::{BatchReduce, LocalBatch, Var};

use crate::buffer::{Buffer, Record};
use crate::error::Result;
use crate::module::Module;
use crate::parameter::Parameter;
use crate::summary::Recorder;

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
    seed: u64,
    batch_reduce: Arc<dyn BatchReduce>,
    /// What the forward found out for buffers; clones of a context share it.
    records: Arc<Mutex<Vec<Record>>>,
    /// Notes the modules that run; set by a summary.
    recorder: Option<Arc<Recorder>>,
}

impl Context {
    /// A training forward of the samples from `first_position` of the run's sample stream on, in
    /// step `step`. Randomness is keyed by both, so it does not depend on who computes.
    pub fn train(step: u64, first_position: u64) -> Self {
        Context::new(Mode::Train, step, first_position)
    }

    /// An evaluating forward.
    pub fn eval() -> Self {
        Context::new(Mode::Eval, 0, 0)
    }

    fn new(mode: Mode, step: u64, first_position: u64) -> Self {
        Context {
            mode,
            step,
            first_position,
            gradients: true,
            seed: 0,
            batch_reduce: Arc::new(LocalBatch),
            records: Arc::default(),
            recorder: None,
        }
    }

    /// The same in a run of this seed, which keys all randomness of a forward; 0 unless set.
    pub fn with_seed(self, seed: u64) -> Self {
        Context { seed, ..self }
    }

    /// The same for a shard of a larger batch, whose sums `batch_reduce` adds up. Unless set, the
    /// input is the whole batch.
    pub fn with_batch_reduce(self, batch_reduce: Arc<dyn BatchReduce>) -> Self {
        Context { batch_reduce, ..self }
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
        match &self.recorder {
            Some(recorder) => recorder.run(self, module, x),
            None => module.forward(self, x),
        }
    }

    /// The same with a recorder that notes each module that runs.
    pub(crate) fn recording(self) -> (Self, Arc<Recorder>) {
        let recorder = Arc::<Recorder>::default();
        (Context { recorder: Some(Arc::clone(&recorder)), ..self }, recorder)
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

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Adds up the sums of the step's global batch.
    pub fn batch_reduce(&self) -> &Arc<dyn BatchReduce> {
        &self.batch_reduce
    }

    /// Notes what the batch was like, for [`update_buffers`](crate::update_buffers) to move
    /// `buffer` the share `momentum` of the way there once the step has been taken. `found` has
    /// the elements of the buffer.
    pub fn record(&self, buffer: &Buffer, found: Vec<f64>, momentum: f64) {
        let record = Record { name: buffer.name().to_owned(), found, momentum };
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }

    /// For a second run of a forward that was recorded: what it finds out is known already.
    pub(crate) fn again(&self) -> Self {
        Context { records: Arc::default(), recorder: None, ..self.clone() }
    }

    pub(crate) fn take_records(&self) -> Vec<Record> {
        mem::take(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

//! What a vjp gives its gradients to: it adds up contributions, and emits a leaf's gradient when
//! the last one arrives.

use tensor::{Tensor, TensorMut};

use crate::error::{Error, Result};
use crate::node::{Kind, Node};
use crate::order::{Order, Visit};
use crate::sink::{Gradient, Sink, Source, written};
use crate::var::LeafId;

/// The gradients that have arrived so far in a backward walk, open for the inputs of the
/// operation that is being walked.
pub struct InputGrads<'a> {
    order: &'a Order,
    sink: &'a mut dyn Sink,
    /// By visit: the sum of the contributions so far.
    sums: Vec<Option<Tensor>>,
    /// By visit: edges from which a contribution may still come; 0 once a leaf was emitted.
    pending: Vec<usize>,
    /// The visit of the operation whose vjp runs.
    current: usize,
    /// The gradient of the loss with respect to itself; tells the device.
    seed: Tensor,
}

impl<'a> InputGrads<'a> {
    /// At the start of a walk: the root has received `seed`.
    pub(crate) fn new(order: &'a Order, sink: &'a mut dyn Sink, seed: Tensor) -> Result<Self> {
        let sums = order.visits.iter().map(|_| None).collect();
        let pending = order.visits.iter().map(|visit| visit.uses).collect();
        let mut grads = InputGrads { order, sink, sums, pending, current: 0, seed: seed.clone() };
        grads.sums[0] = Some(seed);
        grads.edge_done(0)?;
        Ok(grads)
    }

    /// Walks to an operation: runs its vjp if it received anything, and closes its edges.
    pub(crate) fn walk(&mut self, visit: usize) -> Result<()> {
        self.current = visit;
        let order = self.order;
        let Visit { node, inputs, .. } = &order.visits[visit];
        if let (Kind::Op(op), Some(dy)) = (&node.kind, self.sums[visit].take()) {
            op.vjp(&dy, self)?;
        }
        inputs.iter().flatten().try_for_each(|&edge| self.edge_done(edge))
    }

    /// Whether a gradient for this input is wanted; computing one that is not is wasted work.
    pub fn wanted(&self, input: usize) -> bool {
        self.visit_of(input).is_some()
    }

    /// Gives the gradient of `input`. One that is not wanted is dropped.
    ///
    /// # Errors
    /// A gradient whose shape or type is not the input's.
    pub fn give(&mut self, input: usize, gradient: Tensor) -> Result<()> {
        let Some(visit) = self.visit_of(input) else { return Ok(()) };
        let Node { shape, dtype, .. } = *self.node(visit);
        let (found, found_dtype) = (*gradient.shape(), gradient.dtype());
        if (found, found_dtype) != (shape, dtype) {
            let op = self.current_op();
            return Err(Error::Vjp { op, found, found_dtype, shape, dtype });
        }
        self.sums[visit] = Some(match self.sums[visit].take() {
            None => gradient,
            Some(sum) => (&sum + &gradient)?,
        });
        Ok(())
    }

    /// Lets `write` write the gradient of `input` where it is wanted: for a leaf that is used
    /// once, straight into the sink's memory, which makes it final; otherwise into a new tensor.
    /// Does nothing when no gradient is wanted.
    ///
    /// # Errors
    /// The errors of `write` and of the sink.
    pub fn write(
        &mut self,
        input: usize,
        mut write: impl FnMut(&mut TensorMut<'_>) -> tensor::Result<()>,
    ) -> Result<()> {
        let Some(visit) = self.visit_of(input) else { return Ok(()) };
        let node = self.node(visit);
        if self.pending[visit] == 1 && self.order.visits[visit].uses == 1 && node.is_leaf() {
            return self.emit(visit, Source::Write(&mut write));
        }
        let gradient = written(self.seed.device(), node.shape, node.dtype, &mut write)?;
        self.give(input, gradient)
    }

    /// One edge less from which `visit` may receive. At the last, a leaf is final: one that was
    /// reached but received nothing has gradient zero.
    fn edge_done(&mut self, visit: usize) -> Result<()> {
        // A leaf whose only contribution was written in place has been emitted.
        if self.pending[visit] == 0 {
            return Ok(());
        }
        self.pending[visit] -= 1;
        let node = self.node(visit);
        if self.pending[visit] > 0 || !node.is_leaf() {
            return Ok(());
        }
        let sum = match self.sums[visit].take() {
            Some(sum) => sum,
            None => Tensor::zeros(self.seed.device(), node.dtype, &node.shape)?,
        };
        self.emit(visit, Source::Ready(sum))
    }

    fn emit(&mut self, visit: usize, source: Source<'_>) -> Result<()> {
        self.pending[visit] = 0;
        let leaf = &self.order.visits[visit].node;
        let device = self.seed.device().clone();
        let gradient = Gradient { source, shape: leaf.shape, dtype: leaf.dtype, device };
        self.sink
            .emit(LeafId::of(leaf), gradient)
            .map_err(|source| Error::Sink { leaf: leaf.name().to_owned(), source })
    }

    fn visit_of(&self, input: usize) -> Option<usize> {
        self.order.visits[self.current].inputs.get(input).copied().flatten()
    }

    fn node(&self, visit: usize) -> &'a Node {
        &self.order.visits[visit].node
    }

    fn current_op(&self) -> &'static str {
        match &self.node(self.current).kind {
            Kind::Op(op) => op.name(),
            Kind::Leaf { .. } => "leaf",
        }
    }
}

//! What a vjp gives its gradients to: it adds up contributions, and emits a leaf's gradient when
//! the last one arrives.

use std::sync::Arc;

use tensor::{Tensor, TensorMut};

use crate::anomaly;
use crate::backward::Checks;
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
    /// By visit: edges from which a contribution is still to come.
    pending: Vec<usize>,
    /// The visit of the operation whose vjp runs.
    current: usize,
    /// By input of that operation: gradients that its vjp has given.
    given: Vec<usize>,
    /// The gradient of the loss with respect to itself; tells the device.
    seed: Tensor,
    checks: Checks,
}

impl<'a> InputGrads<'a> {
    /// At the start of a walk: the root has received `seed`.
    pub(crate) fn new(
        order: &'a Order,
        sink: &'a mut dyn Sink,
        seed: Tensor,
        checks: Checks,
    ) -> Result<Self> {
        let sums = order.visits.iter().map(|_| None).collect();
        let pending = order.visits.iter().map(|visit| visit.uses).collect();
        let mut grads = InputGrads {
            order,
            sink,
            sums,
            pending,
            current: 0,
            given: Vec::new(),
            seed: seed.clone(),
            checks,
        };
        grads.sums[0] = Some(seed);
        grads.edge_done(0)?;
        Ok(grads)
    }

    /// Walks to an operation: runs its vjp and closes its edges. The operation has received its
    /// gradient, since all its consumers were walked and each gave one.
    pub(crate) fn walk(&mut self, visit: usize) -> Result<()> {
        self.current = visit;
        let order = self.order;
        let Visit { node, inputs, .. } = &order.visits[visit];
        if let (Kind::Op(op), Some(dy)) = (&node.kind, self.sums[visit].take()) {
            if order.visits[visit].target {
                self.emit(visit, Source::Ready(dy.clone()))?;
            }
            if inputs.iter().all(Option::is_none) {
                return Ok(());
            }
            self.given.clear();
            self.given.resize(inputs.len(), 0);
            op.vjp(&dy, self)?;
            let mut given = self.given.iter().zip(inputs);
            if let Some(input) = given.position(|(&n, input)| input.is_some() && n != 1) {
                return Err(self.miscounted(input, self.given[input]));
            }
        }
        inputs.iter().flatten().try_for_each(|&edge| self.edge_done(edge))
    }

    /// Whether a gradient for this input is wanted; computing one that is not is wasted work.
    pub fn wanted(&self, input: usize) -> bool {
        self.visit_of(input).is_some()
    }

    /// The operation's inputs; `None` for a constant.
    pub(crate) fn inputs(&self) -> &'a [Option<Arc<Node>>] {
        &self.node(self.current).inputs
    }

    /// What this walk checks, for a walk inside a vjp.
    pub(crate) fn checks(&self) -> Checks {
        self.checks
    }

    /// Gives the gradient of `input`. One that is not wanted is dropped.
    ///
    /// # Errors
    /// A gradient whose shape or type is not the input's, a second one for the same input, or an
    /// input that the operation does not have.
    pub fn give(&mut self, input: usize, gradient: Tensor) -> Result<()> {
        let Some(visit) = self.receive(input)? else { return Ok(()) };
        self.add(input, visit, gradient)
    }

    fn add(&mut self, input: usize, visit: usize, gradient: Tensor) -> Result<()> {
        let Node { shape, dtype, .. } = *self.node(visit);
        let (found, found_dtype) = (*gradient.shape(), gradient.dtype());
        if (found, found_dtype) != (shape, dtype) {
            let op = self.current_op();
            return Err(Error::Vjp { op, input, found, found_dtype, shape, dtype });
        }
        if self.checks == Checks::Finite {
            anomaly::check(&gradient, self.order, self.current, input)?;
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
    /// `write` fills the whole place, with [`TensorMut::copy_from`] or an operation that ends in
    /// `_into`; what the place held before does not matter.
    ///
    /// # Errors
    /// The errors of `write` and of the sink, a `write` that writes nothing, a second gradient
    /// for the same input, or an input that the operation does not have.
    pub fn write(
        &mut self,
        input: usize,
        mut write: impl FnMut(&mut TensorMut<'_>) -> tensor::Result<()>,
    ) -> Result<()> {
        let Some(visit) = self.receive(input)? else { return Ok(()) };
        let (op, node) = (self.current_op(), self.node(visit));
        let mut silent = false;
        // The sink must not take a place that nobody wrote for a gradient: hence an error inside.
        let mut watched = |out: &mut TensorMut<'_>| {
            let before = out.writes();
            write(out)?;
            silent = out.writes() == before;
            let unwritten = || tensor::Error::Unwritten { op, shape: *out.shape() };
            if silent { Err(unwritten()) } else { Ok(()) }
        };
        // What is to be checked is looked at before a sink gets it.
        let direct = self.order.visits[visit].uses == 1 && self.checks == Checks::Contract;
        let done = if direct && node.is_leaf() {
            self.emit(visit, Source::Write(&mut watched))
        } else {
            let written = written(self.seed.device(), node, &mut watched);
            written.map_err(Error::from).and_then(|gradient| self.add(input, visit, gradient))
        };
        if silent { Err(self.miscounted(input, 0)) } else { done }
    }

    /// Counts a gradient for `input`, and tells the visit that it goes to if it is wanted.
    fn receive(&mut self, input: usize) -> Result<Option<usize>> {
        let inputs = self.given.len();
        let Some(given) = self.given.get_mut(input) else {
            return Err(Error::VjpInput { op: self.current_op(), input, inputs });
        };
        *given += 1;
        let count = *given;
        match self.visit_of(input) {
            Some(_) if count > 1 => Err(self.miscounted(input, count)),
            visit => Ok(visit),
        }
    }

    fn miscounted(&self, input: usize, count: usize) -> Error {
        Error::VjpCount { op: self.current_op(), input, count }
    }

    /// One edge less from which `visit` receives. At the last, a leaf is final; one whose only
    /// contribution was written in place has been emitted and left no sum.
    fn edge_done(&mut self, visit: usize) -> Result<()> {
        self.pending[visit] -= 1;
        if self.pending[visit] > 0 || !self.node(visit).is_leaf() {
            return Ok(());
        }
        match self.sums[visit].take() {
            Some(sum) => self.emit(visit, Source::Ready(sum)),
            None => Ok(()),
        }
    }

    fn emit<'s>(&mut self, visit: usize, source: Source<'s>) -> Result<()>
    where
        'a: 's,
    {
        let leaf = &self.order.visits[visit].node;
        let gradient = Gradient { source, leaf, device: self.seed.device().clone() };
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

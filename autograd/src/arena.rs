//! Parameters in flat memory, in two buffer sets.
//!
//! A step reads the live set and writes the next one; `flip` exchanges them. Until then nothing
//! that a forward, a backward or a peer may read has changed, so a step that fails anywhere
//! leaves the parameters of the last one whole. The addresses of both sets never change.
//!
//! Leaves lie in the order in which they were given. Callers that reduce gradients in buckets
//! give them in backward order (the last layer first), so that a bucket is one range.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use kernels::update::{Update, UpdateRule, update};
use tensor::{DType, Device, Differentiable, Shape, Tensor};

use crate::error::{Error, Result};
use crate::node::Node;
use crate::var::{LeafId, Var};

/// The leaves of a model, and the optimizer's state beside them.
pub struct LeafArena {
    leaves: Vec<ArenaLeaf>,
    live: BufferSet,
    next: BufferSet,
    steps: u64,
}

struct ArenaLeaf {
    node: Arc<Node>,
    range: Range<usize>,
}

/// One value of everything that a step changes: flat tensors of equal length.
struct BufferSet {
    params: Tensor,
    state: Vec<Tensor>,
}

impl BufferSet {
    /// Parameters `params` and `count` state buffers of zeros like it.
    fn new(params: Tensor, count: usize) -> Result<Self> {
        let zeros = || Tensor::zeros(params.device(), params.dtype(), params.shape());
        let state = (0..count).map(|_| zeros()).collect::<tensor::Result<_>>()?;
        Ok(BufferSet { params, state })
    }
}

impl LeafArena {
    /// An arena that holds copies of `values` under their names, and `state_buffers` buffers of
    /// zeros for the optimizer.
    ///
    /// # Errors
    /// No leaf, two of one name, or element types that differ or are not f32 or f64.
    pub fn new(device: &Device, values: &[(String, Tensor)], state_buffers: usize) -> Result<Self> {
        check_names(values)?;
        let dtype = common_dtype(values)?;
        match dtype {
            DType::F64 => Self::typed::<f64>(device, values, state_buffers),
            _ => Self::typed::<f32>(device, values, state_buffers),
        }
    }

    fn typed<T: Differentiable>(
        device: &Device,
        values: &[(String, Tensor)],
        state_buffers: usize,
    ) -> Result<Self> {
        let (mut flat, mut leaves) = (Vec::<T>::new(), Vec::new());
        for (name, value) in values {
            let start = flat.len();
            flat.extend(value.to_vec::<T>()?);
            leaves.push(ArenaLeaf { node: Node::leaf(name, value), range: start..flat.len() });
        }
        let len = [flat.len()];
        let copy = Tensor::from_slice(device, &flat, &len)?;
        let live = BufferSet::new(Tensor::from_vec(device, flat, &len)?, state_buffers)?;
        let next = BufferSet::new(copy, state_buffers)?;
        Ok(LeafArena { leaves, live, next, steps: 0 })
    }

    /// Number of leaves.
    pub fn len(&self) -> usize {
        self.leaves.len()
    }

    /// Never: an arena has at least one leaf.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Elements of all leaves together.
    pub fn numel(&self) -> usize {
        self.live.params.numel()
    }

    /// The element type of every leaf.
    pub fn dtype(&self) -> DType {
        self.live.params.dtype()
    }

    /// Where the parameters are.
    pub fn device(&self) -> &Device {
        self.live.params.device()
    }

    /// The name of a leaf, by its number in the order of the arena.
    pub fn name(&self, leaf: usize) -> &str {
        self.leaves[leaf].node.name()
    }

    /// The shape of a leaf.
    pub fn shape(&self, leaf: usize) -> &Shape {
        &self.leaves[leaf].node.shape
    }

    /// Where a leaf lies in the flat memory, in elements.
    pub fn range(&self, leaf: usize) -> Range<usize> {
        self.leaves[leaf].range.clone()
    }

    /// Under which identity a sink receives the leaf's gradient. It stays over all steps.
    pub fn id(&self, leaf: usize) -> LeafId {
        LeafId::of(&self.leaves[leaf].node)
    }

    /// Committed steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// A leaf with its live value: a view of the arena, to be used in the next forward.
    ///
    /// # Errors
    /// None that a caller can cause.
    pub fn leaf(&self, leaf: usize) -> Result<Var> {
        let ArenaLeaf { node, range } = &self.leaves[leaf];
        let value = self.live.params.narrow(0, range.start, range.len())?.reshape(&node.shape)?;
        Ok(Var::with_node(value, Arc::clone(node)))
    }

    /// All parameters, flat, as they are now: a view.
    pub fn params(&self) -> &Tensor {
        &self.live.params
    }

    /// Replaces the live parameters, flat and in the order of the arena, before the first step
    /// or between two: how rank 0's values or a checkpoint's get in.
    ///
    /// # Errors
    /// Another length or type, or the live set is still read by a graph or a view.
    pub fn set_params<T: Differentiable>(&mut self, values: &[T]) -> Result<()> {
        let (shape, dtype) = (*self.live.params.shape(), self.dtype());
        if T::DTYPE != dtype || values.len() != shape.numel() {
            let name = "all parameters".to_owned();
            let found = Shape::new("set_params", &[values.len()])?;
            return Err(Error::LeafMismatch { name, found, found_dtype: T::DTYPE, shape, dtype });
        }
        let holders = self.live.params.views() - 1;
        match self.live.params.as_mut_slice::<T>() {
            Some(live) => live.copy_from_slice(values),
            None => return Err(still_held(&self.leaves, holders)),
        }
        Ok(())
    }

    /// Writes one range of the next set by the rule: `grad_sum` holds the gradients of `range`,
    /// summed over `count`. Nothing live changes. A step covers each element once.
    ///
    /// # Errors
    /// When a graph or a view still reads the next set, which the step before last filled.
    pub fn write_next<T: Differentiable>(
        &mut self,
        rule: &UpdateRule,
        count: f64,
        range: Range<usize>,
        grad_sum: &[T],
    ) -> Result<()> {
        let device = self.device().clone();
        let live = |flat: &Tensor| flat.narrow(0, range.start, range.len());
        let (param, state) =
            (live(&self.live.params)?, self.live.state.iter().map(live).collect::<Vec<_>>());
        let state = state.into_iter().collect::<tensor::Result<Vec<_>>>()?;
        let missing = || Error::LeafMismatch {
            name: "all parameters".to_owned(),
            found: *param.shape(),
            found_dtype: T::DTYPE,
            shape: *param.shape(),
            dtype: param.dtype(),
        };
        let state = state.iter().map(|s| s.as_slice::<T>().ok_or_else(missing));
        let state = state.collect::<Result<Vec<_>>>()?;
        let next = &mut self.next;
        let holders = next.params.views() - 1;
        let Some(param_out) = next.params.as_mut_slice::<T>() else {
            return Err(still_held(&self.leaves, holders));
        };
        let mut state_out = Vec::with_capacity(next.state.len());
        for buffer in &mut next.state {
            let whole = buffer.as_mut_slice::<T>().ok_or_else(missing)?;
            state_out.push(&mut whole[range.clone()]);
        }
        let param = param.as_slice::<T>().ok_or_else(missing)?;
        let job = Update { rule, step: self.steps, count, param, grad_sum, state: &state };
        update(device.threads(), &job, &mut param_out[range], &mut state_out);
        Ok(())
    }

    /// The names of leaves that something besides the arena and one model refers to.
    ///
    /// # Errors
    /// [`Error::StillHeld`] when there are any: a step would change values under a living graph.
    pub fn check_released(&self) -> Result<()> {
        let held = self.leaves.iter().any(|leaf| Arc::strong_count(&leaf.node) > HOLDERS);
        if held { Err(still_held(&self.leaves, self.live.params.views() - 1)) } else { Ok(()) }
    }

    /// Makes the next set the live one. Whoever calls has made sure that every rank does.
    pub fn flip(&mut self) {
        std::mem::swap(&mut self.live, &mut self.next);
        self.steps += 1;
    }
}

/// The arena's own reference to a leaf, and the model's.
const HOLDERS: usize = 2;

fn still_held(leaves: &[ArenaLeaf], holders: usize) -> Error {
    let held = leaves.iter().filter(|leaf| Arc::strong_count(&leaf.node) > HOLDERS);
    Error::StillHeld { holders, names: held.map(|leaf| leaf.node.name().to_owned()).collect() }
}

fn check_names(values: &[(String, Tensor)]) -> Result<()> {
    let mut count = HashMap::new();
    for (name, _) in values {
        *count.entry(name.as_str()).or_insert(0) += 1;
    }
    if values.is_empty() {
        return Err(Error::LeafNames { name: String::new(), count: 0 });
    }
    match values.iter().find(|(name, _)| count[name.as_str()] > 1) {
        Some((name, _)) => {
            Err(Error::LeafNames { name: name.clone(), count: count[name.as_str()] })
        }
        None => Ok(()),
    }
}

fn common_dtype(values: &[(String, Tensor)]) -> Result<DType> {
    let first = values.first().map_or(DType::F32, |(_, value)| value.dtype());
    let differs = |dtype: DType| dtype != first || !matches!(dtype, DType::F32 | DType::F64);
    match values.iter().find(|(_, value)| differs(value.dtype())) {
        Some((name, value)) => Err(Error::MixedLeaves {
            name: name.clone(),
            found: value.dtype(),
            first: values[0].0.clone(),
            wanted: first,
        }),
        None => Ok(first),
    }
}

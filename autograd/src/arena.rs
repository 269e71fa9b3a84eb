//! Parameters in flat memory, in two buffer sets.
//!
//! A step (`next_step.rs`) reads the live set and writes the next one; `flip` exchanges them. Until
//! then nothing that a forward, a backward or a peer may read has changed, so a step that fails
//! anywhere leaves the parameters of the last one whole. The addresses of both sets never change.
//!
//! Leaves lie in the order in which they were given. Callers that reduce gradients in buckets
//! give them in backward order (the last layer first), so that a bucket is one range.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use kernels::update::Recipe;
use tensor::{DType, Device, Differentiable, Shape, Tensor, TensorMut};

use crate::coverage::Coverage;
use crate::error::{Error, Result};
use crate::node::Node;
use crate::var::{LeafId, Var};

/// The leaves of a model, and the optimizer's state beside them.
pub struct LeafArena {
    leaves: Vec<ArenaLeaf>,
    pub(crate) live: BufferSet,
    pub(crate) next: BufferSet,
    pub(crate) steps: u64,
    /// What the step that is being written has covered.
    pub(crate) coverage: Coverage,
}

struct ArenaLeaf {
    node: Arc<Node>,
    range: Range<usize>,
}

/// One value of everything that a step changes: flat tensors of equal length.
pub(crate) struct BufferSet {
    pub(crate) params: Tensor,
    pub(crate) state: Vec<Tensor>,
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
    /// No leaf, two of one name, element types that differ or are not f32 or f64, or no memory of
    /// that size.
    pub fn new(device: &Device, values: &[(String, Tensor)], state_buffers: usize) -> Result<Self> {
        check_names(values)?;
        let dtype = common_dtype(values)?;
        match dtype {
            DType::F64 => Self::typed::<f64>(device, values, state_buffers),
            // `common_dtype` lets no third type through.
            _ => Self::typed::<f32>(device, values, state_buffers),
        }
    }

    fn typed<T: Differentiable>(
        device: &Device,
        values: &[(String, Tensor)],
        state_buffers: usize,
    ) -> Result<Self> {
        let (op, mut len, mut leaves) = ("parameters", 0usize, Vec::new());
        for (name, value) in values {
            let range = len..len.saturating_add(value.numel());
            len = range.end;
            leaves.push(ArenaLeaf { node: Node::leaf(name, value), range });
        }
        let shape = Shape::new(op, &[len])?;
        let mut done = Ok(());
        let params = Tensor::filled::<T>(op, device, shape, |flat| {
            done = leaves.iter().zip(values).try_for_each(|(leaf, (_, value))| {
                let place = &mut flat[leaf.range.clone()];
                TensorMut::new(place, *value.shape())?.copy_from(value)
            });
        })?;
        done?;
        let copy = Tensor::filled::<T>(op, device, shape, |flat| {
            flat.copy_from_slice(params.as_slice().unwrap_or_default());
        })?;
        let live = BufferSet::new(params, state_buffers)?;
        let next = BufferSet::new(copy, state_buffers)?;
        Ok(LeafArena { leaves, live, next, steps: 0, coverage: Coverage::default() })
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
    ///
    /// # Panics
    /// When there is no such leaf, as a slice does: numbers are below [`LeafArena::len`].
    pub fn name(&self, leaf: usize) -> &str {
        self.leaves[leaf].node.name()
    }

    /// The shape of a leaf.
    ///
    /// # Panics
    /// As [`LeafArena::name`].
    pub fn shape(&self, leaf: usize) -> &Shape {
        &self.leaves[leaf].node.shape
    }

    /// Where a leaf lies in the flat memory, in elements.
    ///
    /// # Panics
    /// As [`LeafArena::name`].
    pub fn range(&self, leaf: usize) -> Range<usize> {
        self.leaves[leaf].range.clone()
    }

    /// Under which identity a sink receives the leaf's gradient. It stays over all steps.
    ///
    /// # Panics
    /// As [`LeafArena::name`].
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
    /// A number that is not below [`LeafArena::len`].
    pub fn leaf(&self, leaf: usize) -> Result<Var> {
        let none = Error::LeafNumber { leaf, leaves: self.len() };
        let ArenaLeaf { node, range } = self.leaves.get(leaf).ok_or(none)?;
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
        if T::DTYPE != self.dtype() || values.len() != self.numel() {
            return Err(self.mismatch::<T>(values.len())?);
        }
        let views = self.live.params.views() - 1;
        match self.live.params.as_mut_slice::<T>() {
            Some(live) => live.copy_from_slice(values),
            None => return Err(self.still_held(views)),
        }
        Ok(())
    }

    /// Whether nothing but the arena and one model refers to a leaf.
    ///
    /// # Errors
    /// [`Error::StillHeld`] with the leaves that a living graph, or a second model, refers to: a
    /// step would leave it with values of one step and parameters of the next.
    pub fn check_released(&self) -> Result<()> {
        let held = self.leaves.iter().any(|leaf| Arc::strong_count(&leaf.node) > HOLDERS);
        if held { Err(self.still_held(self.live.params.views() - 1)) } else { Ok(()) }
    }

    /// Whether each group of `recipe` has a leaf.
    ///
    /// # Errors
    /// The first group that has none.
    pub fn check_groups(&self, recipe: &Recipe) -> Result<()> {
        let names: Vec<_> = self.leaves.iter().map(|leaf| leaf.node.name()).collect();
        Ok(recipe.check_names(&names)?)
    }

    /// The error of values that `views` tensors besides the arena's own see.
    pub(crate) fn still_held(&self, views: usize) -> Error {
        let held = self.leaves.iter().filter(|leaf| Arc::strong_count(&leaf.node) > HOLDERS);
        Error::StillHeld { views, names: held.map(|leaf| leaf.node.name().to_owned()).collect() }
    }

    /// The error of `len` values of type `T` that are not all parameters.
    pub(crate) fn mismatch<T: Differentiable>(&self, len: usize) -> Result<Error> {
        Ok(Error::LeafMismatch {
            name: "all parameters".to_owned(),
            found: Shape::new("parameters", &[len])?,
            found_dtype: T::DTYPE,
            shape: *self.live.params.shape(),
            dtype: self.dtype(),
        })
    }

    /// The name of the leaf that holds an element; there is none behind the last.
    pub(crate) fn name_at(&self, element: usize) -> &str {
        self.leaf_at(element).0
    }

    /// The name of the leaf that holds an element, and the element behind the leaf's last.
    pub(crate) fn leaf_at(&self, element: usize) -> (&str, usize) {
        let leaf = self.leaves.partition_point(|leaf| leaf.range.end <= element);
        let found = self.leaves.get(leaf);
        found.map_or(("no leaf", usize::MAX), |leaf| (leaf.node.name(), leaf.range.end))
    }
}

/// The arena's own reference to a leaf, and the model's.
const HOLDERS: usize = 2;

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
    let plain = |dtype: DType| !matches!(dtype, DType::F32 | DType::F64);
    if let Some((name, value)) = values.iter().find(|(_, value)| plain(value.dtype())) {
        return Err(Error::NotDifferentiable { name: name.clone(), dtype: value.dtype() });
    }
    let first = values.first().map_or(DType::F32, |(_, value)| value.dtype());
    match values.iter().find(|(_, value)| value.dtype() != first) {
        Some((name, value)) => Err(Error::MixedLeaves {
            name: name.clone(),
            found: value.dtype(),
            first: values[0].0.clone(),
            wanted: first,
        }),
        None => Ok(first),
    }
}

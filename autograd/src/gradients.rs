//! Gradients as a value: what `backward` returns when nobody waits for them one by one.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::sync::{Arc, Weak};

use tensor::Tensor;

use crate::error::{Error, Result};
use crate::node::Node;
use crate::sink::{Gradient, Sink};
use crate::var::{LeafId, Var};

/// One gradient for each leaf that a loss depends on. Plain tensors: they hold no graph and keep
/// no leaf alive.
///
/// As a sink it takes one backward. A second one that reaches a leaf again is refused with
/// [`Error::SecondGradient`], which comes back inside [`Error::Sink`].
#[derive(Debug, Default)]
pub struct Gradients {
    by_leaf: HashMap<LeafId, Held>,
}

/// A gradient, and the leaf that it belongs to.
#[derive(Debug)]
struct Held {
    gradient: Tensor,
    /// A [`LeafId`] is the address of this node. While something refers to it, even weakly, no
    /// later leaf gets the address, so no leaf finds the gradient of one that is gone.
    _leaf: Weak<Node>,
}

impl Gradients {
    /// The gradient of `leaf`.
    ///
    /// # Errors
    /// When the loss does not depend on it: a missing gradient is never silent.
    pub fn get(&self, leaf: &Var) -> Result<&Tensor> {
        let name = leaf.name();
        let found = leaf.id().and_then(|id| self.find(id));
        found.ok_or_else(|| Error::NoGradient { names: vec![name.to_owned()] })
    }

    pub(crate) fn find(&self, id: LeafId) -> Option<&Tensor> {
        self.by_leaf.get(&id).map(|held| &held.gradient)
    }

    /// The gradients of several leaves, in their order. Each comes with the name that an error
    /// calls it.
    ///
    /// # Errors
    /// When some of them got none; the error names them all.
    pub fn of<'a>(
        &self,
        leaves: impl IntoIterator<Item = (LeafId, &'a str)>,
    ) -> Result<Vec<&Tensor>> {
        let (mut found, mut names) = (Vec::new(), Vec::new());
        for (id, name) in leaves {
            match self.by_leaf.get(&id) {
                Some(held) => found.push(&held.gradient),
                None => names.push(name.to_owned()),
            }
        }
        if names.is_empty() { Ok(found) } else { Err(Error::NoGradient { names }) }
    }

    /// Number of leaves that got a gradient.
    pub fn len(&self) -> usize {
        self.by_leaf.len()
    }

    /// Whether no leaf got one.
    pub fn is_empty(&self) -> bool {
        self.by_leaf.is_empty()
    }
}

impl Sink for Gradients {
    fn emit(
        &mut self,
        leaf: LeafId,
        gradient: Gradient<'_>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>> {
        if self.by_leaf.contains_key(&leaf) {
            return Err(Error::SecondGradient { name: gradient.leaf.name().to_owned() }.into());
        }
        let _leaf = Arc::downgrade(gradient.leaf);
        self.by_leaf.insert(leaf, Held { gradient: gradient.into_tensor()?, _leaf });
        Ok(())
    }
}

//! A parameter: a leaf with the path that names it everywhere.

use autograd::Var;
use tensor::Tensor;

/// A trainable value. Its name is its path in the model, such as `layers.0.weight`: the key of
/// its random start, its entry in a checkpoint, and what errors call it.
#[derive(Debug)]
pub struct Parameter {
    name: String,
    var: Var,
}

impl Parameter {
    /// A parameter with this start.
    pub fn new(name: String, value: Tensor) -> Self {
        let var = Var::leaf(&name, value);
        Parameter { name, var }
    }

    /// The path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The leaf, to compute with.
    pub fn var(&self) -> &Var {
        &self.var
    }

    /// The value now.
    pub fn value(&self) -> &Tensor {
        self.var.value()
    }

    /// Lets another leaf of the same shape and type take this one's place: a trainer binds
    /// parameters to its arena with it, after each step anew. The parameter keeps its name.
    ///
    /// # Errors
    /// A leaf of another shape or type.
    pub fn bind(&mut self, leaf: Var) -> autograd::Result<()> {
        let (old, new) = (self.value(), leaf.value());
        if old.shape() != new.shape() || old.dtype() != new.dtype() {
            return Err(autograd::Error::LeafMismatch {
                name: self.name.clone(),
                found: *new.shape(),
                found_dtype: new.dtype(),
                shape: *old.shape(),
                dtype: old.dtype(),
            });
        }
        self.var = leaf;
        Ok(())
    }
}

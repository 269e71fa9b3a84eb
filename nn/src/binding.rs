//! The parameters of a model in an arena, last layer first, and the arena's leaves in the model.

use autograd::LeafArena;
use tensor::{Device, Tensor};

use crate::error::Result;
use crate::module::Module;

/// Names and values of a model's parameters in the order of its forward.
pub fn named_values(model: &dyn Module) -> Vec<(String, Tensor)> {
    let mut values = Vec::new();
    model.visit(&mut |p| values.push((p.name().to_owned(), p.value().clone())));
    values
}

/// An arena with a copy of the parameters of `model`, the last first: the order in which
/// backward finishes them.
///
/// # Errors
/// No parameters, two of one name, or mixed element types.
pub fn arena_of(model: &dyn Module, state_buffers: usize) -> Result<LeafArena> {
    let mut values = named_values(model);
    values.reverse();
    let device = values.first().map_or_else(Device::cpu, |(_, value)| value.device().clone());
    Ok(LeafArena::new(&device, &values, state_buffers)?)
}

/// Binds the parameters of `model` to the live values of the arena that was made from it.
///
/// # Errors
/// When the model's parameters are not those of the arena.
pub fn bind(model: &mut dyn Module, arena: &LeafArena) -> Result<()> {
    let mut leaves = (0..arena.len()).rev();
    let mut done = Ok(());
    model.visit_mut(&mut |parameter| {
        if done.is_ok() {
            let leaf = leaves.next().unwrap_or(0);
            done = arena.leaf(leaf).and_then(|leaf| parameter.bind(leaf));
        }
    });
    Ok(done?)
}

//! The parameters of a model in an arena, last layer first, and the arena's leaves in the model.

use autograd::LeafArena;
use tensor::{Device, Tensor};

use crate::error::{Error, Result};
use crate::module::Module;

/// Names and values of a model's parameters in the order of its forward.
pub fn named_values(model: &dyn Module) -> Vec<(String, Tensor)> {
    let mut values = Vec::new();
    model.visit(&mut |p| values.push((p.name().to_owned(), p.value().clone())));
    values
}

/// Names and values of a model's parameters, and behind them those of its buffers: what a file of
/// the model holds.
pub fn named_state(model: &dyn Module) -> Vec<(String, Tensor)> {
    let mut values = named_values(model);
    model.visit_buffers(&mut |b| values.push((b.name().to_owned(), b.value().clone())));
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
/// When the model's parameters are not those of the arena, by number and name; then no parameter
/// has changed.
pub fn bind(model: &mut dyn Module, arena: &LeafArena) -> Result<()> {
    check_bound(model, arena)?;
    let mut leaves = (0..arena.len()).rev();
    let mut done = Ok(());
    model.visit_mut(&mut |parameter| {
        // `check_bound` has seen to it that there are as many leaves as parameters.
        if let (Ok(()), Some(leaf)) = (&done, leaves.next()) {
            done = arena.leaf(leaf).and_then(|leaf| parameter.bind(leaf));
        }
    });
    Ok(done?)
}

/// Fails unless the parameters of `model` are those of the arena, by number and name.
pub(crate) fn check_bound(model: &dyn Module, arena: &LeafArena) -> Result<()> {
    let mut leaves = (0..arena.len()).rev();
    let mut done = Ok(());
    let mut compare = |parameter: Option<&str>| {
        let leaf = leaves.next().map(|leaf| arena.name(leaf));
        if done.is_ok() && parameter != leaf {
            let text = |name: Option<&str>| name.unwrap_or("none").to_owned();
            done = Err(Error::ForeignModel { found: text(parameter), wanted: text(leaf) });
        }
    };
    model.visit(&mut |parameter| compare(Some(parameter.name())));
    // A leaf that is left over has no parameter.
    compare(None);
    done
}

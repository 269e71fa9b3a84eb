//! Which operation made the first gradient that is not a finite number, and where it stands.

use std::collections::VecDeque;

use tensor::{DType, Tensor};

use crate::error::{Error, Result};
use crate::order::Order;

/// Fails when `gradient`, which the operation at `visit` gave for its input `input`, has an element
/// that is not finite.
pub(crate) fn check(gradient: &Tensor, order: &Order, visit: usize, input: usize) -> Result<()> {
    let Some((element, value)) = first_not_finite(gradient)? else { return Ok(()) };
    let op = order.visits[visit].node.name().to_owned();
    let leaf = nearest_leaf(order, visit).unwrap_or("no leaf").to_owned();
    Err(Error::Anomaly { op, leaf, input, element, value })
}

/// The first element that is NaN or infinite, in row-major order, and its value.
pub(crate) fn first_not_finite(x: &Tensor) -> Result<Option<(usize, f64)>> {
    let found = match x.dtype() {
        DType::F32 => {
            let values = x.to_vec::<f32>()?;
            values.iter().position(|x| !x.is_finite()).map(|i| (i, f64::from(values[i])))
        }
        _ => {
            let values = x.cast(DType::F64)?.to_vec::<f64>()?;
            values.iter().position(|x| !x.is_finite()).map(|i| (i, values[i]))
        }
    };
    Ok(found)
}

/// The name of the leaf that the fewest operations lie between; among equals, the one that inputs
/// in their order reach first.
fn nearest_leaf(order: &Order, visit: usize) -> Option<&str> {
    let mut seen = vec![false; order.visits.len()];
    let mut queue = VecDeque::from([visit]);
    while let Some(visit) = queue.pop_front() {
        let visit = &order.visits[visit];
        if visit.node.is_leaf() {
            return Some(visit.node.name());
        }
        for &input in visit.inputs.iter().flatten() {
            if !std::mem::replace(&mut seen[input], true) {
                queue.push_back(input);
            }
        }
    }
    None
}

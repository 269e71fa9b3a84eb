//! Compares what a checkpoint holds with what a model wants, and tells every difference at once.

use std::collections::HashMap;

use kernels::DType;

use super::Array;
use super::error::{Error, Problem, Result};

/// Checks that `found` are exactly the `wanted` arrays: name, shape and element type.
///
/// # Errors
/// All differences: missing, extra and misshapen arrays, and those of another type.
pub fn check_names(found: &[Array], wanted: &[(String, Vec<usize>, DType)]) -> Result<()> {
    // Looked up only, never walked: the order of the problems does not come from the map.
    let mut unmatched: HashMap<&str, &Array> =
        found.iter().map(|array| (array.name.as_str(), array)).collect();
    let mut problems = Vec::new();
    for (name, shape, dtype) in wanted {
        let Some(array) = unmatched.remove(name.as_str()) else {
            let (name, shape) = (name.clone(), shape.clone());
            problems.push(Problem::Missing { name, shape, dtype: *dtype });
            continue;
        };
        if array.shape != *shape {
            let (found, wanted) = (array.shape.clone(), shape.clone());
            problems.push(Problem::Shape { name: name.clone(), found, wanted });
        }
        if array.values.dtype() != *dtype {
            let (found, wanted) = (array.values.dtype(), *dtype);
            problems.push(Problem::DType { name: name.clone(), found, wanted });
        }
    }
    for Array { name, shape, .. } in found {
        if unmatched.contains_key(name.as_str()) {
            problems.push(Problem::Extra { name: name.clone(), shape: shape.clone() });
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Mismatch { problems }) }
}

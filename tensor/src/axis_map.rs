//! Which element of an axis each element of a result's axis comes from.

use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// For each index of a result's axis the index that it comes from, or `None` where a fill value
/// stands: what flips, rolls, pads, steps and selections differ in. See [`Tensor::remap`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisMap {
    from: Vec<Option<usize>>,
}

impl AxisMap {
    /// The elements in reverse order.
    pub fn flipped(len: usize) -> Self {
        AxisMap { from: (0..len).rev().map(Some).collect() }
    }

    /// The elements `shift` places further; those beyond the end come in at the start.
    pub fn rolled(len: usize, shift: i64) -> Self {
        let first = (-i128::from(shift)).rem_euclid(len.max(1) as i128) as usize;
        AxisMap { from: (0..len).map(|j| Some((first + j) % len)).collect() }
    }

    /// The elements with `before` and `after` fill values around them.
    pub fn padded(len: usize, [before, after]: [usize; 2]) -> Self {
        let mut from = vec![None; before];
        from.extend((0..len).map(Some));
        from.resize(before + len + after, None);
        AxisMap { from }
    }

    /// Every `step`-th element from `start` on, `len` of them.
    pub fn stepped(start: usize, len: usize, step: usize) -> Self {
        AxisMap { from: (0..len).map(|j| Some(start + j * step)).collect() }
    }

    /// The elements that `index` names, a vector of i64, of axis `axis` of length `len`.
    ///
    /// # Errors
    /// Indices that are no vector of i64, or one outside the axis.
    pub fn selected(op: &'static str, (axis, len): (usize, usize), index: &Tensor) -> Result<Self> {
        if index.ndim() != 1 {
            let rule = "indices are a vector";
            return Err(Error::Shape { op, shape: *index.shape(), rule });
        }
        let index = index.contiguous_for(op)?;
        let known = |&index: &i64| match usize::try_from(index) {
            Ok(at) if at < len => Ok(Some(at)),
            _ => Err(Error::Index { op, index, axis, len }),
        };
        let from = index.typed::<i64>(op)?.iter().map(known).collect::<Result<_>>()?;
        Ok(AxisMap { from })
    }

    /// By index of the result.
    pub fn entries(&self) -> &[Option<usize>] {
        &self.from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_name_the_elements_in_their_order() {
        let some = |list: &[usize]| list.iter().copied().map(Some).collect::<Vec<_>>();
        assert_eq!(AxisMap::flipped(3).from, some(&[2, 1, 0]));
        assert_eq!(AxisMap::rolled(4, 1).from, some(&[3, 0, 1, 2]));
        assert_eq!(AxisMap::rolled(4, -5).from, some(&[1, 2, 3, 0]));
        assert_eq!(AxisMap::rolled(3, i64::MIN).from.len(), 3);
        assert_eq!(AxisMap::rolled(0, 7).from, []);
        assert_eq!(AxisMap::padded(1, [2, 1]).from, [None, None, Some(0), None]);
        assert_eq!(AxisMap::stepped(1, 3, 2).from, some(&[1, 3, 5]));
    }
}

//! A read-only strided view of a slice: what a kernel gets in place of a tensor.

/// Element `(i0, i1, …)` is `data[offset + Σ ik · strides[k]]`. A stride of 0 repeats.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a, T> {
    data: &'a [T],
    offset: usize,
    shape: &'a [usize],
    strides: &'a [usize],
}

impl<'a, T> Strided<'a, T> {
    /// The view, when every element it names lies in `data`.
    ///
    /// # Panics
    /// When `shape` and `strides` differ in length or an element lies outside `data`: the tensor
    /// layer establishes both when it makes a layout.
    pub fn new(data: &'a [T], offset: usize, shape: &'a [usize], strides: &'a [usize]) -> Self {
        assert_eq!(shape.len(), strides.len(), "a view has one stride per axis");
        if shape.iter().all(|&len| len > 0) {
            let last: usize = shape.iter().zip(strides).map(|(&len, &s)| (len - 1) * s).sum();
            assert!(offset + last < data.len(), "a view lies within its data");
        }
        Strided { data, offset, shape, strides }
    }

    /// A row-major view of all of `data`.
    ///
    /// # Panics
    /// When `shape` does not hold exactly `data.len()` elements.
    pub fn contiguous(data: &'a [T], shape: &'a [usize], strides: &'a [usize]) -> Self {
        assert_eq!(shape.iter().product::<usize>(), data.len(), "a whole slice");
        Strided::new(data, 0, shape, strides)
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// Elements between neighbours along each axis.
    pub fn strides(&self) -> &'a [usize] {
        self.strides
    }

    /// Where element `(0, 0, …)` lies in the data.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The slice that the view reads.
    pub fn data(&self) -> &'a [T] {
        self.data
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        self.shape.iter().product()
    }

    /// The elements as one slice, when the view is row-major without gaps.
    pub fn as_slice(&self) -> Option<&'a [T]> {
        let mut expected = 1;
        let mut gapped = false;
        for (&len, &stride) in self.shape.iter().zip(self.strides).rev() {
            if len == 0 {
                return Some(&[]);
            }
            gapped |= len != 1 && stride != expected;
            expected *= len;
        }
        if gapped {
            return None;
        }
        Some(&self.data[self.offset..self.offset + expected])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_is_had_of_every_view_without_gaps_and_of_every_empty_one() {
        fn slice<'a>(
            data: &'a [i32],
            offset: usize,
            shape: &'a [usize],
            strides: &'a [usize],
        ) -> Option<&'a [i32]> {
            Strided::new(data, offset, shape, strides).as_slice()
        }
        let data = [1, 2, 3, 4, 5, 6];
        assert_eq!(slice(&data, 1, &[2, 2], &[2, 1]), Some(&data[1..5]));
        assert_eq!(slice(&data, 2, &[1, 3], &[9, 1]), Some(&data[2..5]));
        assert_eq!(slice(&data, 0, &[2, 2], &[3, 1]), None);
        assert_eq!(slice(&data, 0, &[0, 2], &[3, 1]), Some(&[][..]));
        assert_eq!(slice(&data, 6, &[2, 0], &[3, 7]), Some(&[][..]));
    }
}

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
        for (&len, &stride) in self.shape.iter().zip(self.strides).rev() {
            if len == 0 {
                return Some(&[]);
            }
            if len != 1 && stride != expected {
                return None;
            }
            expected *= len;
        }
        Some(&self.data[self.offset..self.offset + expected])
    }
}

//! A window that slides over a plane: the geometry that convolutions and pools share.
//!
//! Output (oy, ox) sees the inputs `y = oy · stride + ky · dilation − padding` (x alike) for the
//! places (ky, kx) of the kernel. A place outside the input is padding; what it counts as is said
//! by the operation.

/// A window: its size and how it moves, along height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// Places of the window.
    pub kernel: [usize; 2],
    /// Inputs between one output's window and the next one's.
    pub stride: [usize; 2],
    /// Places added on each side of the input.
    pub padding: [usize; 2],
    /// Inputs between neighbouring places of a window.
    pub dilation: [usize; 2],
}

impl Window {
    /// Places of the kernel.
    pub(crate) fn places(&self) -> usize {
        self.kernel[0] * self.kernel[1]
    }

    /// The length of the input along `axis` from the window's first place to its last; `None`
    /// when it is more than can be counted, or there is no place.
    pub fn extent(&self, axis: usize) -> Option<usize> {
        let gaps = self.kernel[axis].checked_sub(1)?;
        gaps.checked_mul(self.dilation[axis])?.checked_add(1)
    }
}

/// A window on planes of one size: every window lies within the padded input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sliding {
    input: [usize; 2],
    output: [usize; 2],
    window: Window,
}

impl Sliding {
    /// The window on inputs `[height, width]`, with as many outputs along each axis as fit:
    /// `(input + 2 · padding − extent) / stride + 1`, rounded down. `None` when not one fits, a
    /// setting is 0 that must not be, or a length is more than can be counted.
    pub fn new(input: [usize; 2], window: Window) -> Option<Self> {
        let mut output = [0; 2];
        for axis in 0..2 {
            if window.stride[axis] == 0 || window.dilation[axis] == 0 {
                return None;
            }
            let padded = input[axis].checked_add(window.padding[axis].checked_mul(2)?)?;
            let room = padded.checked_sub(window.extent(axis)?)?;
            output[axis] = room / window.stride[axis] + 1;
        }
        Some(Sliding { input, output, window })
    }

    /// Height and width of an input plane.
    pub fn input(&self) -> [usize; 2] {
        self.input
    }

    /// Height and width of an output plane.
    pub fn output(&self) -> [usize; 2] {
        self.output
    }

    /// The window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// Elements of an input plane.
    pub(crate) fn inputs(&self) -> usize {
        self.input[0] * self.input[1]
    }

    /// Elements of an output plane.
    pub(crate) fn outputs(&self) -> usize {
        self.output[0] * self.output[1]
    }

    /// Height and width with the padding.
    pub(crate) fn padded(&self) -> [usize; 2] {
        [0, 1].map(|axis| self.input[axis] + 2 * self.window.padding[axis])
    }

    /// Whether each output sees the one input at its own place.
    pub(crate) fn is_pointwise(&self) -> bool {
        let Window { kernel, stride, padding, .. } = self.window;
        (kernel, stride, padding) == ([1, 1], [1, 1], [0, 0])
    }

    /// Whether every output sees an input; one that sees padding alone has no largest input.
    pub fn sees_inputs(&self) -> bool {
        (0..2).all(|axis| (0..self.output[axis]).all(|at| !self.seen(axis, at).0.is_empty()))
    }

    /// The places of the kernel along `axis` whose input exists for output `at`, and the input of
    /// the first of them.
    pub(crate) fn seen(&self, axis: usize, at: usize) -> (std::ops::Range<usize>, usize) {
        let Window { kernel, stride, padding, dilation } = self.window;
        let (start, step) = (at * stride[axis], dilation[axis]);
        let first = padding[axis].saturating_sub(start).div_ceil(step).min(kernel[axis]);
        let room = (self.input[axis] + padding[axis]).saturating_sub(start);
        let end = room.div_ceil(step).min(kernel[axis]).max(first);
        (first..end, (start + first * step).saturating_sub(padding[axis]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seen_places_are_those_whose_input_exists() {
        for (len, kernel, stride, padding, dilation) in
            [(7, 3, 2, 1, 1), (5, 2, 3, 2, 4), (1, 1, 1, 0, 1), (6, 4, 1, 5, 2), (3, 3, 1, 7, 1)]
        {
            let window = Window {
                kernel: [1, kernel],
                stride: [1, stride],
                padding: [0, padding],
                dilation: [1, dilation],
            };
            let sliding = Sliding::new([1, len], window).unwrap();
            for at in 0..sliding.output()[1] {
                let inputs = (0..kernel).map(|k| at * stride + k * dilation);
                let inside = |x: &usize| (padding..len + padding).contains(x);
                let want: Vec<usize> = inputs.filter(inside).map(|x| x - padding).collect();
                let (places, first) = sliding.seen(1, at);
                let got: Vec<usize> =
                    (0..places.len()).map(|place| first + place * dilation).collect();
                assert_eq!(got, want, "{len} {window:?} {at}");
            }
        }
    }

    #[test]
    fn a_window_that_sees_padding_alone_is_told() {
        let gap = Window { kernel: [1, 2], stride: [1, 1], padding: [0, 2], dilation: [1, 4] };
        assert!(!Sliding::new([1, 1], gap).unwrap().sees_inputs());
        let two = Window { padding: [0, 1], dilation: [1, 1], ..gap };
        assert!(Sliding::new([1, 1], two).unwrap().sees_inputs());
    }

    #[test]
    fn impossible_windows_are_none() {
        let good = Window { kernel: [2, 3], stride: [1, 2], padding: [0, 1], dilation: [1, 1] };
        assert_eq!(Sliding::new([2, 3], good).unwrap().output(), [1, 2]);
        assert_eq!(Sliding::new([1, 3], good), None);
        for bad in [
            Window { kernel: [2, 0], ..good },
            Window { stride: [0, 1], ..good },
            Window { dilation: [1, 0], ..good },
            Window { padding: [usize::MAX, 0], ..good },
            Window { dilation: [usize::MAX, 1], kernel: [4, 1], ..good },
        ] {
            assert_eq!(Sliding::new([2, 3], bad), None, "{bad:?}");
        }
    }
}

//! How a tensor is printed: nested brackets, aligned, with a type and a shape.
//!
//! All elements shown have one format, as in NumPy. Floats have as many digits behind the point as
//! the longest of them needs, up to four, or exactly as many as the formatter's precision asks for
//! (`{:.2}`). They are written with an exponent when the largest magnitude is 1e8 or more, or the
//! smallest that is not 0 is below 1e-4 or a thousandth of the largest. Beyond 1,000 elements, each
//! axis of more than six shows its first and last three. Long rows are wrapped at 80 columns.

use std::fmt::{self, Display, Formatter};

use kernels::{DType, Element};

use crate::error::Result;
use crate::storage::Stored;
use crate::tensor::Tensor;

const DIGITS: usize = 4;
const SHOWN_WHOLE: usize = 1000;
const EDGE: usize = 3;
const COLUMNS: usize = 80;

/// One element.
#[derive(Clone, Copy)]
enum Cell {
    Float(f64),
    Int(i64),
}

/// The elements' common format.
enum Format {
    Int,
    Fixed(usize),
    Exponent(usize),
}

impl Display for Tensor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (dtype, shape) = (self.dtype(), self.shape());
        if self.numel() == 0 {
            return write!(f, "[]\n{dtype} {shape}");
        }
        let axes: Vec<Vec<Option<usize>>> =
            shape.iter().map(|&len| shown(len, self.numel() > SHOWN_WHOLE)).collect();
        let cells = match dtype {
            DType::F16 => cells::<half::f16>(self, &axes, float),
            DType::BF16 => cells::<half::bf16>(self, &axes, float),
            DType::F32 => cells::<f32>(self, &axes, float),
            DType::F64 => cells::<f64>(self, &axes, float),
            DType::I64 => cells::<i64>(self, &axes, Cell::Int),
            DType::U8 => cells::<u8>(self, &axes, |x| Cell::Int(i64::from(x))),
        };
        // An element type other than the tensor's own cannot come up here.
        let cells = cells.map_err(|_| fmt::Error)?;
        let format = Format::of(&cells, f.precision());
        let texts: Vec<String> = cells.iter().map(|cell| format.text(*cell)).collect();
        let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let mut page = Page { axes: &axes, texts: texts.iter(), width, column: 0 };
        page.write(f, 0)?;
        write!(f, "{}{dtype} {shape}", if axes.is_empty() { ' ' } else { '\n' })
    }
}

fn float<T: Element>(x: T) -> Cell {
    Cell::Float(x.to_f64())
}

/// Which elements of an axis are shown; `None` stands for those that are left out.
fn shown(len: usize, summarised: bool) -> Vec<Option<usize>> {
    if !summarised || len <= 2 * EDGE {
        return (0..len).map(Some).collect();
    }
    let edges = (0..EDGE).map(Some).chain([None]);
    edges.chain((len - EDGE..len).map(Some)).collect()
}

/// The shown elements in row-major order.
fn cells<T: Stored>(
    x: &Tensor,
    axes: &[Vec<Option<usize>>],
    cell: impl Fn(T) -> Cell,
) -> Result<Vec<Cell>> {
    let view = x.strided::<T>("display")?;
    let mut places = vec![view.offset()];
    for (axis, &stride) in axes.iter().zip(view.strides()) {
        let along = |&place: &usize| axis.iter().flatten().map(move |i| place + i * stride);
        places = places.iter().flat_map(along).collect();
    }
    Ok(places.into_iter().map(|place| cell(view.data()[place])).collect())
}

impl Format {
    fn of(cells: &[Cell], precision: Option<usize>) -> Self {
        let floats = cells.iter().filter_map(|cell| match cell {
            Cell::Float(x) => Some(*x),
            Cell::Int(_) => None,
        });
        if floats.clone().next().is_none() {
            return Format::Int;
        }
        let finite = floats.filter(|x| x.is_finite());
        let sizes = finite.clone().map(f64::abs).filter(|&x| x > 0.0);
        let largest = sizes.clone().fold(0.0, f64::max);
        let smallest = sizes.fold(f64::INFINITY, f64::min);
        let exponent = largest >= 1e8 || smallest < 1e-4 || smallest < largest / 1e3;
        let digits = |text: String| {
            let mantissa = text.split('e').next().unwrap_or_default();
            let fraction = mantissa.split('.').nth(1).unwrap_or_default();
            fraction.trim_end_matches('0').len().max(1)
        };
        let format = if exponent { Format::Exponent } else { Format::Fixed };
        let needed = finite.map(|x| digits(format(DIGITS).text(Cell::Float(x)))).max();
        format(precision.unwrap_or(needed.unwrap_or(1)))
    }

    fn text(&self, cell: Cell) -> String {
        match (cell, self) {
            (Cell::Float(x), Format::Exponent(digits)) if x.is_finite() => format!("{x:.digits$e}"),
            (Cell::Float(x), Format::Fixed(digits)) if x.is_finite() => format!("{x:.digits$}"),
            (Cell::Float(x), _) => format!("{x}"),
            (Cell::Int(x), _) => format!("{x}"),
        }
    }
}

/// The elements' texts, as they are laid out line by line.
struct Page<'a> {
    axes: &'a [Vec<Option<usize>>],
    texts: std::slice::Iter<'a, String>,
    width: usize,
    /// Where the line that is being written ends.
    column: usize,
}

impl Page<'_> {
    /// Writes the part of the tensor that lies inside the brackets of the first `depth` axes.
    fn write(&mut self, f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
        let Some(axis) = self.axes.get(depth) else {
            let text = self.texts.next().map_or("", String::as_str);
            self.column += self.width;
            return write!(f, "{text:>width$}", width = self.width);
        };
        f.write_str("[")?;
        self.column += 1;
        let innermost = depth + 1 == self.axes.len();
        for (i, element) in axis.iter().enumerate() {
            if i > 0 {
                self.separate(f, depth, innermost)?;
            }
            match element {
                Some(_) => self.write(f, depth + 1)?,
                None => {
                    self.column += 1;
                    f.write_str("…")?;
                }
            }
        }
        self.column += 1;
        f.write_str("]")
    }

    /// Between two elements of the axis at `depth`: a space, or as many line breaks as axes end.
    fn separate(&mut self, f: &mut Formatter<'_>, depth: usize, innermost: bool) -> fmt::Result {
        let brackets = self.axes.len();
        if innermost && self.column + 2 + self.width + brackets <= COLUMNS {
            self.column += 2;
            return f.write_str(", ");
        }
        let breaks = if innermost { 1 } else { brackets - 1 - depth };
        self.column = depth + 1;
        write!(f, ",{:\n<breaks$}{:indent$}", "", "", indent = depth + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    fn tensor<T: Stored>(values: &[T], shape: &[usize]) -> Tensor {
        Tensor::from_slice(&Device::cpu(), values, shape).unwrap()
    }

    #[test]
    fn elements_are_aligned_inside_nested_brackets() {
        let x = tensor(&[1.0f32, -2.5, 0.125, 10.0], &[2, 2]);
        assert_eq!(x.to_string(), "[[ 1.000, -2.500],\n [ 0.125, 10.000]]\nf32 [2, 2]");
        let y = tensor(&[1i64, -20, 3, 4, 5, 6, 7, 8], &[2, 2, 2]);
        let wanted =
            "[[[  1, -20],\n  [  3,   4]],\n\n [[  5,   6],\n  [  7,   8]]]\ni64 [2, 2, 2]";
        assert_eq!(y.to_string(), wanted);
        assert_eq!(
            y.transpose(0, 2).unwrap().narrow(0, 1, 1).unwrap().to_string(),
            "[[[-20,   6],\n  [  4,   8]]]\ni64 [1, 2, 2]"
        );
    }

    #[test]
    fn every_type_and_the_smallest_shapes_print() {
        assert_eq!(tensor(&[0.1f32], &[]).to_string(), "0.1 f32 []");
        assert_eq!(tensor(&[3u8, 255], &[2]).to_string(), "[  3, 255]\nu8 [2]");
        assert_eq!(
            tensor(&[i64::MIN, i64::MAX], &[2]).to_string(),
            "[-9223372036854775808,  9223372036854775807]\ni64 [2]"
        );
        assert_eq!(tensor::<f64>(&[], &[0]).to_string(), "[]\nf64 [0]");
        assert_eq!(tensor::<f64>(&[], &[1 << 40, 0]).to_string(), "[]\nf64 [1099511627776, 0]");
        for dtype in [DType::F16, DType::BF16] {
            let x = tensor(&[1.5f32, -0.25], &[2]).cast(dtype).unwrap();
            assert_eq!(x.to_string(), format!("[ 1.50, -0.25]\n{dtype} [2]"));
        }
    }

    #[test]
    fn what_is_no_number_keeps_its_name_and_zero_its_sign() {
        let x = tensor(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0], &[5]);
        assert_eq!(x.to_string(), "[ NaN,  inf, -inf, -0.0,  0.0]\nf64 [5]");
        assert_eq!(tensor(&[f32::NAN], &[1]).to_string(), "[NaN]\nf32 [1]");
    }

    #[test]
    fn digits_are_as_many_as_needed_up_to_four_or_as_asked() {
        let thirds = tensor(&[1.0f64 / 3.0, 2.0], &[2]);
        assert_eq!(thirds.to_string(), "[0.3333, 2.0000]\nf64 [2]");
        assert_eq!(format!("{thirds:.2}"), "[0.33, 2.00]\nf64 [2]");
        assert_eq!(format!("{thirds:.0}"), "[0, 2]\nf64 [2]");
        assert_eq!(tensor(&[1.0f32, 2.0], &[2]).to_string(), "[1.0, 2.0]\nf32 [2]");
        assert_eq!(format!("{:.2}", tensor(&[7i64], &[1])), "[7]\ni64 [1]");
    }

    #[test]
    fn very_large_very_small_and_far_apart_numbers_have_exponents() {
        assert_eq!(tensor(&[1e8f64, 1e7], &[2]).to_string(), "[1.0e8, 1.0e7]\nf64 [2]");
        assert_eq!(tensor(&[9e-5f64, 0.0], &[2]).to_string(), "[9.0e-5,  0.0e0]\nf64 [2]");
        assert_eq!(tensor(&[1234.5f64, 1.0], &[2]).to_string(), "[1.2345e3, 1.0000e0]\nf64 [2]");
        assert_eq!(tensor(&[1000.5f64, 1.5], &[2]).to_string(), "[1000.5,    1.5]\nf64 [2]");
        assert_eq!(format!("{:.1}", tensor(&[1.25e-7f64], &[1])), "[1.2e-7]\nf64 [1]");
    }

    #[test]
    fn beyond_a_thousand_elements_the_middle_is_left_out_also_of_huge_views() {
        let x = tensor(&(0..1001).collect::<Vec<i64>>(), &[1001]);
        assert_eq!(x.to_string(), "[   0,    1,    2, …,  998,  999, 1000]\ni64 [1001]");
        let huge = tensor(&[0.5f32], &[1, 1]).broadcast_to(&[1 << 20, 1 << 20]).unwrap();
        let row = "[0.5, 0.5, 0.5, …, 0.5, 0.5, 0.5]";
        let text = huge.to_string();
        assert_eq!(text.lines().count(), 8);
        assert!(text.starts_with(&format!("[{row},\n {row},")), "{text}");
        assert!(text.contains(&format!("{row},\n …,\n {row}")), "{text}");
        let whole = tensor(&(0..1000).collect::<Vec<i64>>(), &[1000]).to_string();
        assert!(whole.contains("500") && !whole.contains('…'));
    }

    #[test]
    fn rows_are_wrapped_before_the_edge_of_the_page() {
        let x = tensor(&(0..60).map(|i| i64::from(i) * 7).collect::<Vec<_>>(), &[2, 30]);
        let text = x.to_string();
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        assert_eq!(text.lines().count(), 5);
        assert_eq!(text.matches(',').count(), 60);
    }
}

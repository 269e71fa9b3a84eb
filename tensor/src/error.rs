//! What can be wrong with a tensor operation, told with the operation, the shapes and the rule.

use kernels::DType;

use crate::shape::Shape;

/// A refused tensor operation. The message says what was brought, the rule, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two operands do not fit together.
    #[error("{op}: shapes {left} and {right} do not fit; {rule}")]
    Shapes {
        /// The operation.
        op: &'static str,
        /// Shape of the first operand.
        left: Shape,
        /// Shape of the second operand.
        right: Shape,
        /// What must hold, and how to get there.
        rule: &'static str,
    },
    /// One operand does not have the form that the operation needs.
    #[error("{op}: a tensor of shape {shape} was given; {rule}")]
    Shape {
        /// The operation.
        op: &'static str,
        /// The shape that was brought.
        shape: Shape,
        /// What must hold, and how to get there.
        rule: &'static str,
    },
    /// More axes than a shape can hold, or more elements than memory can address.
    #[error(
        "{op}: {lens:?} is not a possible shape; a shape has at most {max} axes and its element \
         count fits in memory: use fewer axes or shorter ones",
        max = Shape::MAX_NDIM
    )]
    Size {
        /// The operation.
        op: &'static str,
        /// The lengths that were asked for.
        lens: Vec<usize>,
    },
    /// A result that the system has no memory for.
    #[error(
        "{op}: a tensor {dtype} {shape} takes {bytes} bytes, which the system does not give; a \
         result must fit in memory: use a smaller shape, or drop tensors first",
        bytes = shape.numel() * dtype.size_bytes()
    )]
    Memory {
        /// The operation.
        op: &'static str,
        /// The result's shape.
        shape: Shape,
        /// The result's element type.
        dtype: DType,
    },
    /// The number of elements does not match the shape.
    #[error(
        "{op}: {len} elements do not fill shape {shape}, which holds {numel}; bring exactly as \
         many elements as the shape holds",
        numel = shape.numel()
    )]
    Count {
        /// The operation.
        op: &'static str,
        /// Elements that were brought.
        len: usize,
        /// The shape they should fill.
        shape: Shape,
    },
    /// An axis that the tensor does not have.
    #[error(
        "{op}: axis {axis} does not exist in shape {shape} of {ndim} axes; axes count from 0, \
         each may be named once",
        ndim = shape.ndim()
    )]
    Axis {
        /// The operation.
        op: &'static str,
        /// The axis that was named.
        axis: usize,
        /// The tensor's shape.
        shape: Shape,
    },
    /// A range of elements beyond the end of an axis.
    #[error(
        "{op}: elements {start}..{end} were asked for, axis {axis} has 0..{have}; a range ends at \
         the axis's length or before: move or shorten it",
        end = *start as u128 + *len as u128
    )]
    Range {
        /// The operation.
        op: &'static str,
        /// The first element.
        start: usize,
        /// How many were asked for.
        len: usize,
        /// The axis.
        axis: usize,
        /// Its length.
        have: usize,
    },
    /// A destination that was handed out to be written and came back as it was.
    #[error(
        "{op}: nothing was written into the destination of shape {shape}; whoever is given one \
         fills it: with `TensorMut::copy_from` or an operation that ends in `_into`"
    )]
    Unwritten {
        /// The operation.
        op: &'static str,
        /// The destination's shape.
        shape: Shape,
    },
    /// An index beyond the end of an axis.
    #[error(
        "{op}: index {index} lies outside 0..{len} on axis {axis}; every index must name an \
         existing element"
    )]
    Index {
        /// The operation.
        op: &'static str,
        /// The index that was brought; negative indices are not counted from the end.
        index: i64,
        /// The axis that is indexed.
        axis: usize,
        /// Its length.
        len: usize,
    },
    /// A target that is no class.
    #[error(
        "{op}: the target of row {row} is class {label}; the logits have {classes} classes, \
         numbered from 0: correct the label, or give the logits as many columns as there are \
         classes"
    )]
    Label {
        /// The operation.
        op: &'static str,
        /// The row: the sample, or the token of one.
        row: usize,
        /// Its target.
        label: i64,
        /// How many classes there are.
        classes: usize,
    },
    /// An element type that the operation does not take.
    #[error("{op}: elements of type {found} were given; the operation takes {wanted}: cast first")]
    DType {
        /// The operation.
        op: &'static str,
        /// The type that was brought.
        found: DType,
        /// The types that are taken.
        wanted: &'static str,
    },
    /// A number among the settings of an operation that it cannot work with.
    #[error("{op}: {name} is {value}; {rule}")]
    Setting {
        /// The operation.
        op: &'static str,
        /// The setting.
        name: &'static str,
        /// What was brought.
        value: f64,
        /// What must hold, and what to bring.
        rule: &'static str,
    },
    /// Two operands of different element types.
    #[error(
        "{op}: element types {left} and {right} differ; both operands must have one type: cast \
         one of them"
    )]
    DTypes {
        /// The operation.
        op: &'static str,
        /// Type of the first operand.
        left: DType,
        /// Type of the second operand.
        right: DType,
    },
    /// The operating system refused threads.
    #[error(
        "device: {count} threads could not be started ({cause}); ask for fewer threads or raise \
         the limit"
    )]
    Threads {
        /// Threads that were asked for.
        count: usize,
        /// The system's reason.
        cause: String,
    },
}

impl Error {
    /// Fails unless elements of `dtype` can be `value`, which for integers is a whole number in
    /// their range; floats round it.
    pub(crate) fn check_number(op: &'static str, dtype: DType, value: f64) -> Result<()> {
        let (least, most) = match dtype {
            DType::I64 => (-(2f64.powi(63)), 2f64.powi(63) - 1024.0),
            DType::U8 => (0.0, 255.0),
            _ => return Ok(()),
        };
        if value.trunc() == value && (least..=most).contains(&value) {
            return Ok(());
        }
        let rule = "an integer tensor holds whole numbers in the range of its type: bring one, or \
                    cast the tensor to a float first";
        Err(Error::Setting { op, name: "the value", value, rule })
    }

    /// Fails unless `eps` can be added to a variance.
    pub(crate) fn check_eps(op: &'static str, eps: f64) -> Result<()> {
        if eps >= 0.0 && eps.is_finite() {
            return Ok(());
        }
        let rule = "it is added to a variance: bring a small number that is not negative";
        Err(Error::Setting { op, name: "eps", value: eps, rule })
    }
}

/// The result of a tensor operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

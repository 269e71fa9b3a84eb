//! Loops that are compiled once for each op.

/// What is done alike for every op of a family, each time with the op known at compile time.
///
/// A formula that matches on the op inside a loop would be compiled whole, for all ops, in the loop
/// of each. With the number as a parameter of the type, every op's loop is a small function.
pub(crate) trait PerOp {
    type Output;
    /// For the op with the number `OP`.
    fn run<const OP: u32>(self) -> Self::Output;
}

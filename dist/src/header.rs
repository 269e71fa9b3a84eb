//! What a rank says of a collective before it takes part: enough to notice that two ranks are not
//! in the same one.

use std::fmt::{self, Display};

use kernels::DType;
use kernels::hash::fnv1a_words;

/// Up to here a second wait costs more than the arithmetic that it spares.
const SMALL_BYTES: usize = 8 << 10;

/// Bytes by which the memory of a label grows.
const LABEL_STEP: usize = 256;

/// How the contributions of the ranks become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReduceOp {
    /// The sum. Sums of integers wrap.
    Sum,
    /// The largest value; NaN if any is NaN.
    Max,
}

/// In which order contributions are added up, and how they travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Along the canonical tree over shards (`kernels::tree`): the same bits at every number of
    /// ranks. Every rank reads the others' contributions directly.
    #[default]
    Tree,
    /// Around the ring (`kernels::ring_all_reduce`): the same bits on every rank and in every run;
    /// another number of ranks has other bits. Buffers travel from rank to rank.
    Ring,
}

/// Which collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Gradients: the sum over shards.
    Gradients,
    /// The reduction over ranks.
    AllReduce,
    ReduceScatter,
    AllGather,
    Broadcast,
    ShareSmall,
    Barrier,
    Commit,
}

/// The header of a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) dtype: DType,
    /// Elements that the rank brings; of one buffer, if it brings several.
    pub(crate) count: usize,
    pub(crate) op: ReduceOp,
    pub(crate) algorithm: Algorithm,
    /// Whose values a broadcast spreads.
    pub(crate) root: usize,
    /// What the collective is for, or empty.
    pub(crate) label: String,
}

impl Header {
    pub(crate) fn new(kind: Kind, dtype: DType, count: usize) -> Self {
        Header {
            kind,
            dtype,
            count,
            op: ReduceOp::Sum,
            algorithm: Algorithm::Tree,
            root: 0,
            label: String::new(),
        }
    }

    /// Whether contributions are combined.
    pub(crate) fn reduces(&self) -> bool {
        matches!(self.kind, Kind::Gradients | Kind::AllReduce | Kind::ReduceScatter)
    }

    /// Whether buffers travel around the ring.
    pub(crate) fn is_ring(&self) -> bool {
        self.algorithm == Algorithm::Ring && self.reduces()
    }

    /// Whether every rank folds the whole instead of its chunk: that takes one wait and not two,
    /// and is the same expression.
    pub(crate) fn is_small(&self) -> bool {
        let whole = matches!(self.kind, Kind::Gradients | Kind::AllReduce) && !self.is_ring();
        whole && self.count.saturating_mul(self.dtype.size_bytes()) <= SMALL_BYTES
    }

    /// Overwrites this header, keeping its label's memory. That is taken in steps, so that a label
    /// with a number in it needs no more of it when the number grows by a digit.
    pub(crate) fn copy_from(&mut self, other: &Header) {
        let mut label = std::mem::take(&mut self.label);
        label.clear();
        if label.capacity() < other.label.len() {
            label.reserve_exact(other.label.len().next_multiple_of(LABEL_STEP));
        }
        label.push_str(&other.label);
        let Header { kind, dtype, count, op, algorithm, root, .. } = *other;
        *self = Header { kind, dtype, count, op, algorithm, root, label };
    }

    /// A hash of all that ranks must agree in. Headers of ranks that disagree
    /// have the same signature by accident once in 2⁶⁴ times.
    pub(crate) fn signature(&self) -> u64 {
        // What is gathered may differ in length from rank to rank.
        let free = matches!(self.kind, Kind::AllGather | Kind::ShareSmall);
        let count = if free { 0 } else { self.count };
        let numbers = [
            self.kind as u64,
            self.dtype as u64,
            count as u64,
            self.op as u64,
            self.algorithm as u64,
            self.root as u64,
        ];
        fnv1a_words(numbers.into_iter().chain(self.label.bytes().map(u64::from)))
    }
}

impl Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { kind, dtype, count, op, algorithm, root, label } = self;
        let (op, by) = (format!("{op:?}").to_lowercase(), format!("{algorithm:?}").to_lowercase());
        match kind {
            Kind::Gradients => write!(f, "all_reduce ({op}, {by}) of {count} {dtype} gradients")?,
            Kind::AllReduce => write!(f, "all_reduce ({op}, {by}) of {count} {dtype}")?,
            Kind::ReduceScatter => write!(f, "reduce_scatter ({op}, {by}) of {count} {dtype}")?,
            Kind::AllGather => write!(f, "all_gather of {count} {dtype}")?,
            Kind::Broadcast => write!(f, "broadcast of {count} {dtype} from rank {root}")?,
            Kind::ShareSmall => write!(f, "share_small of {count} {dtype}")?,
            Kind::Barrier => f.write_str("barrier")?,
            Kind::Commit => f.write_str("commit")?,
        }
        if label.is_empty() { Ok(()) } else { write!(f, " [{label}]") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_differ_in_anything_have_different_signatures() {
        let base = Header::new(Kind::AllReduce, DType::F32, 5);
        let variants = [
            base.clone(),
            Header { kind: Kind::ReduceScatter, ..base.clone() },
            Header { dtype: DType::F64, ..base.clone() },
            Header { count: 6, ..base.clone() },
            Header { op: ReduceOp::Max, ..base.clone() },
            Header { algorithm: Algorithm::Ring, ..base.clone() },
            Header { root: 1, ..base.clone() },
            Header { label: "w".to_owned(), ..base.clone() },
        ];
        for (i, left) in variants.iter().enumerate() {
            for (j, right) in variants.iter().enumerate() {
                assert_eq!(left.signature() == right.signature(), i == j, "{left} and {right}");
            }
        }
        let gather = |count| Header::new(Kind::AllGather, DType::I64, count).signature();
        assert_eq!(gather(3), gather(4));
    }

    #[test]
    fn a_header_reads_as_what_was_called() {
        let mut header = Header::new(Kind::Gradients, DType::F32, 12);
        header.label = "0.weight, 0.bias".to_owned();
        let wanted = "all_reduce (sum, tree) of 12 f32 gradients [0.weight, 0.bias]";
        assert_eq!(header.to_string(), wanted);
        let mut copy = Header::new(Kind::Barrier, DType::F64, 0);
        assert_eq!(copy.to_string(), "barrier");
        copy.copy_from(&header);
        assert_eq!(copy, header);
    }
}

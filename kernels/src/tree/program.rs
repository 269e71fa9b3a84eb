//! The additions that lead from a row of subtrees to the tree above them, as a postfix program.

use std::ops::Range;

use super::mid;

/// One instruction of a postfix program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeOp {
    /// Puts the sum with this number on the stack.
    Push(usize),
    /// Takes the two topmost sums and puts `left + right` in their place; the right one lay on top.
    Add,
}

/// The program that adds the nodes `from`, which tile `to` in order, to the node `to`.
///
/// # Panics
/// When `from` does not tile `to`, or one of them is no node below `to`. [`super::roots`] of
/// ranges that tile `to` always are.
pub fn program(from: &[Range<usize>], to: &Range<usize>) -> Vec<TreeOp> {
    /// A node that is still to be summed, or the addition after both its halves were.
    enum Open {
        Node(Range<usize>),
        Add,
    }
    let mut program = Vec::with_capacity(2 * from.len());
    let mut open = vec![Open::Node(to.clone())];
    let mut pushed = 0;
    while let Some(top) = open.pop() {
        match top {
            Open::Add => program.push(TreeOp::Add),
            Open::Node(node) if from.get(pushed) == Some(&node) => {
                program.push(TreeOp::Push(pushed));
                pushed += 1;
            }
            Open::Node(node) => {
                assert!(node.len() > 1, "{from:?} do not tile {to:?} with nodes of the tree");
                let mid = mid(&node);
                open.push(Open::Add);
                open.push(Open::Node(mid..node.end));
                open.push(Open::Node(node.start..mid));
            }
        }
    }
    assert_eq!(pushed, from.len(), "{from:?} reach beyond {to:?}");
    program
}

#[cfg(test)]
mod tests {
    use super::super::{roots, shard_range};
    use super::*;
    use TreeOp::{Add, Push};

    #[test]
    fn programs_are_known_by_hand() {
        assert_eq!(program(&[2..4], &(2..4)), [Push(0)]);
        assert_eq!(program(&[0..1, 1..2], &(0..2)), [Push(0), Push(1), Add]);
        // Three workers over eight shards: 0..3, 3..6, 6..8.
        let from = [0..2, 2..3, 3..4, 4..6, 6..8];
        let wanted = [Push(0), Push(1), Push(2), Add, Add, Push(3), Push(4), Add, Add];
        assert_eq!(program(&from, &(0..8)), wanted);
    }

    /// The expression that a program builds from the given terms.
    fn expression(program: &[TreeOp], terms: &[String]) -> String {
        let mut stack = Vec::new();
        for op in program {
            match *op {
                Push(i) => stack.push(terms[i].clone()),
                Add => {
                    let (right, left) = (stack.pop().unwrap(), stack.pop().unwrap());
                    stack.push(format!("({left}+{right})"));
                }
            }
        }
        assert_eq!(stack.len(), 1);
        stack.remove(0)
    }

    #[test]
    fn any_number_of_workers_builds_the_same_expression() {
        for shards in 1..=33 {
            let leaves: Vec<_> = (0..shards).map(|i| i..i + 1).collect();
            let names: Vec<_> = (0..shards).map(|i| i.to_string()).collect();
            let whole = expression(&program(&leaves, &(0..shards)), &names);
            for world_size in 1..=shards {
                let mut from = Vec::new();
                let mut terms = Vec::new();
                for rank in 0..world_size {
                    for root in roots(shard_range(rank, world_size, shards), shards) {
                        let leaves: Vec<_> = root.clone().map(|i| i..i + 1).collect();
                        terms.push(expression(&program(&leaves, &root), &names[root.clone()]));
                        from.push(root);
                    }
                }
                assert_eq!(expression(&program(&from, &(0..shards)), &terms), whole);
            }
        }
    }

    #[test]
    #[should_panic(expected = "do not tile")]
    fn sums_that_are_no_nodes_are_refused() {
        program(&[0..3, 3..4], &(0..4));
    }
}

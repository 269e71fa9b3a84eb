//! The order of a backward walk: every node after all that consume it, the deepest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use crate::node::Node;

/// The nodes that a result depends on, numbered as they were discovered.
pub(crate) struct Order {
    pub(crate) visits: Vec<Visit>,
    /// The visits of operations, in the order of the walk.
    pub(crate) operations: Vec<usize>,
}

/// One node of a walk.
pub(crate) struct Visit {
    pub(crate) node: Arc<Node>,
    /// The visit of each input; `None` for a constant.
    pub(crate) inputs: Vec<Option<usize>>,
    /// How many edges of this walk lead here.
    pub(crate) uses: usize,
}

impl Order {
    /// The walk from `root`.
    ///
    /// A node is deeper than its inputs, so when it is the deepest of those discovered, all its
    /// consumers have been walked. Nodes of one depth are walked in the order of discovery: the
    /// order is a function of the graph, not of addresses.
    pub(crate) fn from_root(root: &Arc<Node>) -> Self {
        let mut order = Order { visits: Vec::new(), operations: Vec::new() };
        let mut number = HashMap::new();
        let mut frontier = BinaryHeap::new();
        order.discover(root, &mut number, &mut frontier);
        order.visits[0].uses = 1;
        while let Some((_, Reverse(visit))) = frontier.pop() {
            let node = Arc::clone(&order.visits[visit].node);
            let mut edges = Vec::with_capacity(node.inputs.len());
            for input in &node.inputs {
                edges.push(input.as_ref().map(|input| {
                    let edge = order.discover(input, &mut number, &mut frontier);
                    order.visits[edge].uses += 1;
                    edge
                }));
            }
            if !edges.is_empty() {
                order.operations.push(visit);
            }
            order.visits[visit].inputs = edges;
        }
        order
    }

    fn discover(
        &mut self,
        node: &Arc<Node>,
        number: &mut HashMap<*const Node, usize>,
        frontier: &mut BinaryHeap<(usize, Reverse<usize>)>,
    ) -> usize {
        *number.entry(Arc::as_ptr(node)).or_insert_with(|| {
            let visit = self.visits.len();
            self.visits.push(Visit { node: Arc::clone(node), inputs: Vec::new(), uses: 0 });
            frontier.push((node.depth, Reverse(visit)));
            visit
        })
    }
}

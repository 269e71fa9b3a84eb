//! The order of a backward walk: every node after all that consume it, the deepest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
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
    /// How many edges of this walk lead here; 0 for a node that [`Order::towards`] left out.
    pub(crate) uses: usize,
    /// Whether the gradient of this operation's result is asked for.
    pub(crate) target: bool,
}

impl Order {
    /// The walk from `root`.
    ///
    /// A node is deeper than its inputs, so when it is the deepest of those discovered, all its
    /// consumers have been walked. Nodes of one depth are walked in the order of discovery: the
    /// order is a function of the graph, not of addresses.
    pub(crate) fn from_root(root: &Arc<Node>) -> Self {
        Order::until(root, &[])
    }

    /// The walk from `root` that goes not beyond `stops`.
    pub(crate) fn until(root: &Arc<Node>, stops: &[&Arc<Node>]) -> Self {
        let mut order = Order { visits: Vec::new(), operations: Vec::new() };
        let mut number = HashMap::new();
        let mut frontier = BinaryHeap::new();
        order.discover(root, &mut number, &mut frontier);
        order.visits[0].uses = 1;
        while let Some((_, Reverse(visit))) = frontier.pop() {
            let node = Arc::clone(&order.visits[visit].node);
            if stops.iter().any(|stop| Arc::ptr_eq(stop, &node)) {
                continue;
            }
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

    /// The same walk without the parts that lead to none of `targets`, whose gradients it then
    /// hands out.
    pub(crate) fn towards(mut self, targets: &[&Arc<Node>]) -> Self {
        let targets: HashSet<_> = targets.iter().map(|node| Arc::as_ptr(node)).collect();
        let is_target = |visit: &Visit| targets.contains(&Arc::as_ptr(&visit.node));
        let mut needed: Vec<bool> = self.visits.iter().map(is_target).collect();
        // Inputs are walked after their consumers, so from the end each input is known first.
        for &visit in self.operations.iter().rev() {
            let leads = self.visits[visit].inputs.iter().flatten().any(|&input| needed[input]);
            self.visits[visit].target = needed[visit];
            needed[visit] |= leads;
        }
        self.operations.retain(|&visit| needed[visit]);
        for (visit, &kept) in self.visits.iter_mut().zip(&needed) {
            if !kept {
                visit.uses = 0;
            }
            for input in &mut visit.inputs {
                *input = input.filter(|&input| needed[input]);
            }
        }
        self
    }

    /// Where `node` was visited.
    pub(crate) fn find(&self, node: &Arc<Node>) -> Option<usize> {
        self.visits.iter().position(|visit| visit.uses > 0 && Arc::ptr_eq(&visit.node, node))
    }

    fn discover(
        &mut self,
        node: &Arc<Node>,
        number: &mut HashMap<*const Node, usize>,
        frontier: &mut BinaryHeap<(usize, Reverse<usize>)>,
    ) -> usize {
        let depth = node.depth;
        *number.entry(Arc::as_ptr(node)).or_insert_with(|| {
            let visit = self.visits.len();
            let (node, inputs) = (Arc::clone(node), Vec::new());
            self.visits.push(Visit { node, inputs, uses: 0, target: false });
            frontier.push((depth, Reverse(visit)));
            visit
        })
    }
}

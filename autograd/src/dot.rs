//! A graph as text for Graphviz.

use std::fmt::Write;

use crate::node::Node;
use crate::order::Order;
use crate::var::Var;

impl Var {
    /// The graph of this value in Graphviz's language: operations as boxes with the type and shape
    /// of their result, leaves as ellipses with their names, edges from inputs to results. Inputs
    /// that are constants are not drawn. Numbers and order depend on the graph alone.
    ///
    /// ```
    /// use ringgrad_autograd::Var;
    /// use tensor::{Device, Tensor};
    /// # fn main() -> Result<(), ringgrad_autograd::Error> {
    /// let w = Var::leaf("w", Tensor::from_vec(&Device::cpu(), vec![2.0f32, -3.0], &[2])?);
    /// let dot = (&w * &w)?.to_dot();
    /// assert!(dot.contains(r#"n0 [shape=box, label="mul\nf32 [2]"];"#), "{dot}");
    /// assert!(dot.contains(r#"n1 [shape=ellipse, label="w\nf32 [2]"];"#), "{dot}");
    /// assert_eq!(dot.matches("n1 -> n0;").count(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_dot(&self) -> String {
        let mut dot = String::from("digraph ringgrad {\n  rankdir=BT;\n");
        let order = self.node().map(Order::from_root);
        let visits = order.iter().flat_map(|order| &order.visits).enumerate();
        for (to, visit) in visits {
            let Node { shape, dtype, .. } = *visit.node;
            let form = if visit.node.is_leaf() { "ellipse" } else { "box" };
            let name = escaped(visit.node.name());
            // Writing to a string does not fail.
            let _ = writeln!(dot, "  n{to} [shape={form}, label=\"{name}\\n{dtype} {shape}\"];");
            for from in visit.inputs.iter().flatten() {
                let _ = writeln!(dot, "  n{from} -> n{to};");
            }
        }
        dot.push_str("}\n");
        dot
    }
}

/// A name inside a quoted label.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}

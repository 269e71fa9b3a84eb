//! Gradients: a graph made by computing, walked backwards, and emitted leaf by leaf.
//!
//! `cargo run --release --example 02_autograd`

use std::error::Error as StdError;

use ringgrad::autograd::{Gradient, LeafId, Sink, gradcheck};
use ringgrad::{Device, Result, Tensor, Var};

fn main() -> Result<()> {
    let device = Device::cpu();
    let w = Var::leaf("w", Tensor::from_vec(&device, vec![0.5f32, -1.0], &[1, 2])?);
    let b = Var::leaf("b", Tensor::from_vec(&device, vec![0.25f32], &[1])?);
    let x = Var::constant(Tensor::from_vec(&device, vec![2.0f32, 1.0, 4.0, 3.0], &[2, 2])?);

    // y = x·wᵀ + b is [0.25, -0.75]; the loss is the sum of its squares.
    let y = x.linear(&w, Some(&b))?;
    let loss = (&y * &y)?.sum_all()?;
    assert_eq!(loss.value().item::<f32>()?, 0.625);

    // d loss/dy = 2y, so dw = 2y·x and db = Σ 2y.
    let gradients = loss.backward()?;
    assert_eq!(gradients.get(&w)?.to_vec::<f32>()?, [-5.0, -4.0]);
    assert_eq!(gradients.get(&b)?.to_vec::<f32>()?, [-1.0]);

    // A leaf that the loss does not depend on is an error with its name, never a silent zero.
    let unused = Var::leaf("unused", Tensor::scalar(&device, 1.0f32));
    println!("{}", gradients.get(&unused).unwrap_err());

    // Instead of a map at the end, a sink can have each gradient at the moment when it is final:
    // this is how gradients leave for the other ranks while backward goes on.
    let mut names = Names { known: vec![(w.id(), "w"), (b.id(), "b")], order: Vec::new() };
    loss.backward_into(&mut names)?;
    assert_eq!(names.order, ["b", "w"]);

    // Is a gradient right? Central differences know. The check says where it is not.
    let mismatches = gradcheck(&[(vec![0.3, -0.7, 1.1], vec![3])], |x| {
        (&x[0].exp()? * &x[0])?.relu()?.sum_all()
    })?;
    assert_eq!(mismatches, []);
    Ok(())
}

/// A sink that notes who arrives when.
struct Names {
    known: Vec<(Option<LeafId>, &'static str)>,
    order: Vec<&'static str>,
}

impl Sink for Names {
    fn emit(
        &mut self,
        leaf: LeafId,
        gradient: Gradient<'_>,
    ) -> std::result::Result<(), Box<dyn StdError + Send + Sync>> {
        let known = self.known.iter().find(|(id, _)| *id == Some(leaf));
        let (_, name) = known.ok_or("a leaf that was not expected")?;
        println!("{name}: {:?}", gradient.into_tensor()?.to_vec::<f32>()?);
        self.order.push(name);
        Ok(())
    }
}

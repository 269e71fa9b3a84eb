//! Random chains of views against a model that moves every element, and operations on them
//! against the same operations on copies: no layout changes a value or a bit.

use proptest::prelude::*;
use ringgrad_tensor::{Device, Tensor};

/// A tensor as plain data: the model that the views are compared with.
#[derive(Clone, Debug)]
struct Model {
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl Model {
    /// Element by element: `value` maps a result's index to an index of this model.
    fn moved(&self, shape: Vec<usize>, index: impl Fn(&[usize]) -> Vec<usize>) -> Model {
        let mut values = Vec::new();
        for flat in 0..shape.iter().product() {
            let at = index(&unflatten(flat, &shape));
            values.push(self.values[flatten(&at, &self.shape)]);
        }
        Model { shape, values }
    }
}

fn unflatten(mut flat: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for axis in (0..shape.len()).rev() {
        index[axis] = flat % shape[axis];
        flat /= shape[axis];
    }
    index
}

fn flatten(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |flat, (i, len)| flat * len + i)
}

/// One view, with numbers that are reduced to what the shape allows.
#[derive(Clone, Debug)]
enum View {
    Transpose(usize, usize),
    Narrow(usize, usize, usize),
    Repeat(usize),
    Flatten,
}

fn view() -> impl Strategy<Value = View> {
    prop_oneof![
        (0usize..4, 0usize..4).prop_map(|(a, b)| View::Transpose(a, b)),
        (0usize..4, 0usize..5, 0usize..5).prop_map(|(axis, s, l)| View::Narrow(axis, s, l)),
        (1usize..3).prop_map(View::Repeat),
        Just(View::Flatten),
    ]
}

/// Applies the view to both; leaves them alone where it does not fit.
fn apply(view: &View, x: &Tensor, model: &Model) -> (Tensor, Model) {
    let ndim = model.shape.len();
    match *view {
        View::Transpose(a, b) if ndim > 0 => {
            let (a, b) = (a % ndim, b % ndim);
            let mut shape = model.shape.clone();
            shape.swap(a, b);
            let moved = model.moved(shape, |index| {
                let mut index = index.to_vec();
                index.swap(a, b);
                index
            });
            (x.transpose(a, b).unwrap(), moved)
        }
        View::Narrow(axis, start, len) if ndim > 0 => {
            let axis = axis % ndim;
            let start = start.min(model.shape[axis]);
            let len = len.min(model.shape[axis] - start);
            let mut shape = model.shape.clone();
            shape[axis] = len;
            let moved = model.moved(shape, |index| {
                let mut index = index.to_vec();
                index[axis] += start;
                index
            });
            (x.narrow(axis, start, len).unwrap(), moved)
        }
        View::Repeat(count) if ndim < 5 => {
            let shape = [&[count], &model.shape[..]].concat();
            let moved = model.moved(shape.clone(), |index| index[1..].to_vec());
            (x.broadcast_to(&shape).unwrap(), moved)
        }
        View::Flatten => {
            let shape = vec![model.values.len()];
            let flat = Model { shape: shape.clone(), values: model.values.clone() };
            (x.reshape(&shape).unwrap(), flat)
        }
        _ => (x.clone(), model.clone()),
    }
}

proptest! {
    #[test]
    fn views_show_what_a_model_that_moves_elements_shows(
        shape in prop::collection::vec(0usize..5, 0..4),
        views in prop::collection::vec(view(), 0..6),
    ) {
        let numel = shape.iter().product();
        let values: Vec<f64> = (0..numel).map(|i| (i as f64).sin()).collect();
        let mut model = Model { shape: shape.clone(), values: values.clone() };
        let mut x = Tensor::from_vec(&Device::cpu(), values, &shape).unwrap();
        for view in &views {
            (x, model) = apply(view, &x, &model);
            prop_assert_eq!(&x.shape()[..], &model.shape[..]);
            prop_assert_eq!(x.to_vec::<f64>().unwrap(), model.values.clone());
        }
        let copy = Tensor::from_vec(&Device::cpu(), model.values.clone(), &model.shape).unwrap();
        let bits = |x: Tensor| {
            x.to_vec::<f64>().unwrap().into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        prop_assert_eq!(bits((&x + &x).unwrap()), bits((&copy + &copy).unwrap()));
        prop_assert_eq!(bits(x.exp().unwrap()), bits(copy.exp().unwrap()));
        prop_assert_eq!(bits(x.sum_all().unwrap()), bits(copy.sum_all().unwrap()));
        for axis in 0..x.ndim() {
            let (viewed, copied) = (x.sum(axis, false).unwrap(), copy.sum(axis, false).unwrap());
            prop_assert_eq!(bits(viewed), bits(copied));
        }
    }
}

//! The language model and the layers that it is made of.

use autograd::Var;
use ringgrad_nn::optim::{Optimizer, adamw};
use ringgrad_nn::{
    Context, Embedding, GptSettings, Init, Module, MultiHeadAttention, cross_entropy, gpt,
    named_values,
};
use tensor::{DType, Device, Tensor};

const SETTINGS: GptSettings =
    GptSettings { vocabulary: 7, context: 6, dim: 8, heads: 2, layers: 2 };

fn init() -> Init {
    Init::new(&Device::cpu(), 3)
}

fn tokens(rows: usize, len: usize) -> Tensor {
    let values = (0..rows * len).map(|i| (i * i % 7) as i64).collect();
    Tensor::from_vec(&Device::cpu(), values, &[rows, len]).unwrap()
}

fn values(x: &Var) -> Vec<f32> {
    x.value().to_vec().unwrap()
}

#[test]
fn parameters_have_their_names() {
    let model = gpt(&init(), &SETTINGS).unwrap();
    let names: Vec<String> = named_values(&model).into_iter().map(|(name, _)| name).collect();
    let block = |i| {
        ["ln1", "qkv", "proj", "ln2", "up", "down"]
            .into_iter()
            .flat_map(move |layer| ["weight", "bias"].map(|p| format!("blocks.{i}.{layer}.{p}")))
    };
    let first = ["tok.weight", "pos.weight"].map(str::to_owned);
    let last = ["ln.weight", "ln.bias", "head.weight"].map(str::to_owned);
    let want: Vec<String> = first.into_iter().chain(block(0)).chain(block(1)).chain(last).collect();
    assert_eq!(names, want);
}

#[test]
fn a_position_does_not_see_what_follows() {
    let model = gpt(&init(), &SETTINGS).unwrap();
    let cx = Context::eval();
    let long = tokens(2, 6);
    let short = Var::constant(long.narrow(1, 0, 4).unwrap());
    let whole = model.forward(&cx, &Var::constant(long)).unwrap();
    assert_eq!(whole.value().shape()[..], [2, 6, 7]);
    let part = model.forward(&cx, &short).unwrap();
    // The length of a chain changes with the length of the sequence, so not to the bit.
    for (a, b) in values(&part).iter().zip(values(&whole.narrow(1, 0, 4).unwrap())) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

#[test]
fn it_learns_a_text_by_heart_and_writes_it() {
    let text: Vec<i64> = (0..7).cycle().take(60).collect();
    let mut model = gpt(&init(), &SETTINGS).unwrap();
    let mut optimizer = Optimizer::new(&mut model, adamw(0.01)).unwrap();
    let rows = |shift: usize| {
        let rows: Vec<i64> = (0..8).flat_map(|i| text[i + shift..i + shift + 6].to_vec()).collect();
        Tensor::from_vec(&Device::cpu(), rows, &[8, 6]).unwrap()
    };
    let (x, y) = (Var::constant(rows(0)), rows(1));
    for step in 0..150 {
        let gradients = {
            let logits = model.forward(&Context::train(step, 0), &x).unwrap();
            let loss = cross_entropy(&logits, &y).unwrap();
            assert_eq!(loss.count(), 48.0);
            loss.backward().unwrap()
        };
        optimizer.step(&mut model, &gradients, 48.0).unwrap();
    }
    assert_eq!(model.sample(&[2, 3], 12, 0.0, 1).unwrap(), text[4..16]);
    let drawn = |seed| model.sample(&[2, 3], 12, 3.0, seed).unwrap();
    assert_eq!(drawn(5), drawn(5));
    assert_ne!(drawn(5), drawn(6));
}

#[test]
fn padding_takes_no_part() {
    let layer = MultiHeadAttention::new(&init().at("attention"), 8, 2).unwrap();
    let cx = Context::eval();
    let input = |padding: f32| {
        let values = (0..2 * 3 * 8).map(|i| if i % 24 < 16 { (i as f32).sin() } else { padding });
        let x = Tensor::from_vec(&Device::cpu(), values.collect(), &[2, 3, 8]).unwrap();
        Var::constant(x)
    };
    let mask = Tensor::from_vec(&Device::cpu(), vec![1u8, 1, 0, 1, 1, 0], &[2, 3]).unwrap();
    let run = |padding| {
        let y = layer.masked(&cx, &input(padding), Some(&mask)).unwrap();
        values(&y.narrow(1, 0, 2).unwrap())
    };
    assert_eq!(run(0.5), run(-9.0));
    let all = layer.forward(&cx, &input(0.5)).unwrap();
    assert_ne!(values(&all.narrow(1, 0, 2).unwrap()), run(0.5));
    let hidden = Tensor::zeros(&Device::cpu(), DType::U8, &[2, 3]).unwrap();
    let y = layer.masked(&cx, &input(0.5), Some(&hidden)).unwrap();
    assert!(values(&y).iter().all(|y| y.is_finite()));
}

#[test]
fn impossible_sizes_and_inputs_are_refused_with_their_numbers() {
    for broken in [
        GptSettings { vocabulary: 0, ..SETTINGS },
        GptSettings { layers: 0, ..SETTINGS },
        GptSettings { heads: 0, ..SETTINGS },
    ] {
        let text = gpt(&init(), &broken).err().unwrap().to_string();
        assert!(text.contains("describes no network"), "{text}");
    }
    let uneven = gpt(&init(), &GptSettings { heads: 3, ..SETTINGS }).err().unwrap().to_string();
    assert!(uneven.contains("8 features do not fall into 3 heads"), "{uneven}");
    let model = gpt(&init(), &SETTINGS).unwrap();
    let refused = |ids: Tensor| {
        model.forward(&Context::eval(), &Var::constant(ids)).err().unwrap().to_string()
    };
    assert!(refused(tokens(1, 7)).contains("at most the context, 6"));
    assert!(refused(tokens(1, 6).reshape(&[6]).unwrap()).contains("[b, l]"));
    let outside = Tensor::full(&Device::cpu(), 7i64, &[1, 2]).unwrap();
    assert!(refused(outside).contains("index 7 lies outside 0..7"));
    assert!(model.sample(&[], 1, 1.0, 1).is_err());
    for temperature in [-1.0, f64::NAN, f64::INFINITY] {
        let text = model.sample(&[1], 1, temperature, 1).unwrap_err().to_string();
        assert!(text.contains("the temperature is"), "{text}");
    }
}

#[test]
fn an_embedding_describes_itself_and_learns_only_its_rows() {
    let table = Embedding::new(&init().at("tok"), 5, 3).unwrap();
    assert_eq!(table.describe(), "Embedding(5 x 3)");
    let ids = Tensor::from_vec(&Device::cpu(), vec![1i64, 4, 1], &[3]).unwrap();
    let y = table.rows(&Context::train(0, 0), &ids).unwrap();
    assert_eq!(y.value().shape()[..], [3, 3]);
    let gradients = y.sum_all().unwrap().backward().unwrap();
    table.visit(&mut |weight| {
        let gradient: Vec<f32> = gradients.get(weight.var()).unwrap().to_vec().unwrap();
        let want = [0.0, 2.0, 0.0, 0.0, 1.0].into_iter().flat_map(|row| [row; 3]);
        assert_eq!(gradient, want.collect::<Vec<f32>>());
    });
}

//! Attention and embeddings: gradients, values where known, and what is refused.

mod common;

use common::{check, check_batched, input, tensor_bits};
use ringgrad_autograd::{Var, gradcheck_twice};
use tensor::{AttentionSettings, DType, Device, Tensor};

fn mask(shape: [usize; 2], values: &[u8]) -> AttentionSettings {
    let key_mask = Tensor::from_slice(&Device::cpu(), values, &shape).unwrap();
    AttentionSettings { key_mask: Some(key_mask), ..Default::default() }
}

/// [`input`] as a tensor.
fn numbers(shape: &[usize], phase: f64) -> Tensor {
    let (values, shape) = input(shape, phase);
    Tensor::from_vec(&Device::cpu(), values, &shape).unwrap()
}

fn causal() -> AttentionSettings {
    AttentionSettings { causal: true, ..Default::default() }
}

#[test]
fn attention_gradients_agree() {
    for (lens, settings) in [
        ([2, 2, 3, 4, 5], AttentionSettings::default()),
        ([2, 2, 4, 4, 3], causal()),
        ([1, 1, 18, 18, 2], causal()),
        ([2, 1, 2, 5, 3], causal()),
        ([1, 2, 1, 1, 1], AttentionSettings::default()),
    ] {
        let [b, h, lq, lk, d] = lens;
        let (q, k) = (input(&[b, h, lq, d], 0.3), input(&[b, h, lk, d], 0.9));
        let inputs = [q, k, input(&[b, h, lk, d], 1.7)];
        check_batched("attention", &inputs, 3, |x| x[0].attention(&x[1], &x[2], &settings));
    }
    let inputs = [input(&[2, 1, 3, 2], 0.3), input(&[2, 1, 4, 2], 0.9), input(&[2, 1, 4, 2], 1.7)];
    let settings = mask([2, 4], &[1, 0, 1, 1, 0, 0, 0, 0]);
    check("attention with a mask", &inputs, |x| x[0].attention(&x[1], &x[2], &settings));
}

#[test]
fn self_attention_gradients_agree() {
    for settings in [AttentionSettings::default(), causal()] {
        check_batched("self_attention", &[input(&[2, 5, 12], 0.3)], 1, |x| {
            x[0].self_attention(2, &settings)
        });
    }
}

#[test]
fn self_attention_is_attention_of_its_parts() {
    let x = Var::leaf("x", numbers(&[2, 5, 18], 0.4));
    let parts = x.reshape(&[2, 5, 3, 2, 3]).unwrap().permute(&[2, 0, 3, 1, 4]).unwrap();
    let [q, k, v] = [0, 1, 2].map(|part| parts.select(0, part).unwrap());
    let y = q.attention(&k, &v, &causal()).unwrap().permute(&[0, 2, 1, 3]).unwrap();
    let y = y.reshape(&[2, 5, 6]).unwrap();
    let fused = x.self_attention(2, &causal()).unwrap();
    assert_eq!(tensor_bits(y.value()), tensor_bits(fused.value()));
    let gradient = |y: &Var| {
        let loss = (y * y).unwrap().sum_all().unwrap();
        tensor_bits(loss.backward().unwrap().get(&x).unwrap())
    };
    assert_eq!(gradient(&y), gradient(&fused));
}

#[test]
fn attention_has_second_derivatives() {
    let inputs = [input(&[1, 2, 3, 2], 0.3), input(&[1, 2, 3, 2], 0.9), input(&[1, 2, 3, 2], 1.7)];
    for settings in [AttentionSettings::default(), causal(), mask([1, 3], &[1, 0, 1])] {
        let attended = |x: &[Var]| x[0].attention(&x[1], &x[2], &settings)?.sum_all();
        assert_eq!(gradcheck_twice(&inputs, attended).unwrap(), []);
    }
    let x = [input(&[1, 3, 12], 0.3)];
    let attended = |x: &[Var]| x[0].self_attention(2, &causal())?.sum_all();
    assert_eq!(gradcheck_twice(&x, attended).unwrap(), []);
}

#[test]
fn a_query_that_sees_nothing_has_zeros_and_gives_no_gradient() {
    let leaf = |name, phase| Var::leaf(name, numbers(&[1, 1, 2, 3], phase));
    let [q, k, v] = [leaf("q", 0.3), leaf("k", 0.9), leaf("v", 1.7)];
    let y = q.attention(&k, &v, &mask([1, 2], &[0, 0])).unwrap();
    assert_eq!(y.value().to_vec::<f64>().unwrap(), [0.0; 6]);
    let gradients = y.sum_all().unwrap().backward().unwrap();
    for x in [&q, &k, &v] {
        assert_eq!(gradients.get(x).unwrap().to_vec::<f64>().unwrap(), [0.0; 6]);
    }
}

#[test]
fn empty_attention_has_zeros() {
    let settings = AttentionSettings::default();
    for [b, h, lq, lk, d] in [[0, 1, 2, 2, 3], [1, 2, 0, 3, 2], [1, 2, 3, 0, 2], [1, 1, 2, 2, 0]] {
        let leaf = |name, l| Var::leaf(name, numbers(&[b, h, l, d], 0.3));
        let [q, k, v] = [leaf("q", lq), leaf("k", lk), leaf("v", lk)];
        let y = q.attention(&k, &v, &settings).unwrap();
        assert!(y.value().to_vec::<f64>().unwrap().iter().all(|&y| y == 0.0));
        let gradients = y.sum_all().unwrap().backward().unwrap();
        for x in [&q, &k, &v] {
            let gradient = gradients.get(x).unwrap();
            assert_eq!(gradient.shape(), x.value().shape());
            assert!(gradient.to_vec::<f64>().unwrap().iter().all(|&g| g == 0.0));
        }
    }
}

#[test]
fn halves_are_widened_once() {
    let wide = numbers(&[1, 2, 3, 4], 0.3).cast(DType::F16).unwrap();
    let y = wide.attention(&wide, &wide, &causal()).unwrap();
    let x = wide.cast(DType::F32).unwrap();
    let want = x.attention(&x, &x, &causal()).unwrap().cast(DType::F16).unwrap();
    assert_eq!(y.to_vec::<half::f16>().unwrap(), want.to_vec::<half::f16>().unwrap());
}

#[test]
fn attention_says_what_does_not_fit() {
    let zeros = |shape: &[usize]| Tensor::zeros(&Device::cpu(), DType::F32, shape).unwrap();
    let (q, k) = (zeros(&[2, 3, 4, 5]), zeros(&[2, 3, 6, 5]));
    let said = |k: &Tensor, v: &Tensor, settings: &AttentionSettings| {
        q.attention(k, v, settings).unwrap_err().to_string()
    };
    let settings = AttentionSettings::default();
    let text = said(&zeros(&[2, 3, 6, 4]), &k, &settings);
    assert!(text.contains("[2, 3, 4, 5] and [2, 3, 6, 4] do not fit; queries are"), "{text}");
    assert!(said(&k, &zeros(&[2, 3, 7, 5]), &settings).contains("keys and values"));
    assert!(said(&k, &k.cast(DType::F64).unwrap(), &settings).contains("f32 and f64 differ"));
    assert!(said(&k, &k, &mask([2, 4], &[1; 8])).contains("[b, lk]"));
    let text = zeros(&[2, 5, 12]).self_attention(3, &settings).unwrap_err().to_string();
    assert!(text.contains("[2, 5, 12]"), "{text}");
    assert!(zeros(&[2, 5, 12]).self_attention(0, &settings).is_err());
}

#[test]
fn embedding_gradients_agree() {
    let ids = Tensor::from_slice(&Device::cpu(), &[2i64, 0, 2, 3, 3, 2], &[2, 3]).unwrap();
    check("embedding", &[input(&[5, 4], 0.3)], |x| x[0].embedding(&ids));
    let cubes = |x: &[Var]| {
        let y = x[0].embedding(&ids)?;
        (&(&y * &y)? * &y)?.sum_all()
    };
    assert_eq!(gradcheck_twice(&[input(&[5, 2], 0.3)], cubes).unwrap(), []);
    let none = Tensor::zeros(&Device::cpu(), DType::I64, &[0]).unwrap();
    let table = Var::leaf("table", numbers(&[5, 4], 0.3));
    let gradients = table.embedding(&none).unwrap().sum_all().unwrap().backward().unwrap();
    assert_eq!(gradients.get(&table).unwrap().to_vec::<f64>().unwrap(), [0.0; 20]);
}

#[test]
fn embedding_names_an_id_outside_the_table() {
    let table = numbers(&[5, 4], 0.3);
    for id in [5i64, -1] {
        let ids = Tensor::from_slice(&Device::cpu(), &[0, id], &[2]).unwrap();
        let text = table.embedding(&ids).unwrap_err().to_string();
        assert!(text.contains(&format!("index {id} lies outside 0..5")), "{text}");
    }
}

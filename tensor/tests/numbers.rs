//! Numbers beside tensors, and halves beside wider floats.

use half::f16;
use ringgrad_tensor::{DType, Device, Tensor};

fn integers(values: &[i64]) -> Tensor {
    Tensor::from_slice(&Device::cpu(), values, &[values.len()]).unwrap()
}

#[test]
fn an_integer_tensor_is_divided_by_the_number_that_was_written() {
    let x = integers(&[7, -5]);
    assert_eq!((&x / 2.5).unwrap().to_vec::<f32>().unwrap(), [2.8, -2.0]);
    assert_eq!((&x / 0.5).unwrap().to_vec::<f32>().unwrap(), [14.0, -10.0]);
    assert_eq!((&x * 0.5).unwrap().to_vec::<f32>().unwrap(), [3.5, -2.5]);
}

#[test]
fn a_fill_that_integers_cannot_hold_is_refused() {
    let x = integers(&[1, 2]);
    let mask = Tensor::from_slice(&Device::cpu(), &[1u8, 0], &[2]).unwrap();
    assert_eq!(x.masked_fill(&mask, -9.0).unwrap().to_vec::<i64>().unwrap(), [-9, 2]);
    assert_eq!(x.pad(&[[1, 0]], 3.0).unwrap().to_vec::<i64>().unwrap(), [3, 1, 2]);
    for value in [0.5, f64::NAN, f64::INFINITY, 1e19] {
        let text = x.masked_fill(&mask, value).unwrap_err().to_string();
        assert!(text.starts_with(&format!("masked_fill: the value is {value}")), "{text}");
        assert!(x.pad(&[[0, 1]], value).is_err());
    }
    assert!(mask.masked_fill(&mask, 256.0).is_err() && mask.masked_fill(&mask, -1.0).is_err());
}

#[test]
fn a_product_of_halves_and_f32_is_f32() {
    let x = Tensor::full(&Device::cpu(), f16::from_f32(0.1), &[2, 2]).unwrap();
    let y = Tensor::full(&Device::cpu(), 1.0f32 / 3.0, &[2, 2]).unwrap();
    for (x, y) in [(&x, &y), (&y, &x)] {
        let z = x.matmul(y).unwrap();
        let wide = x.cast(DType::F32).unwrap().matmul(&y.cast(DType::F32).unwrap()).unwrap();
        assert_eq!(z.to_vec::<f32>().unwrap(), wide.to_vec::<f32>().unwrap());
    }
    assert_eq!(x.matmul(&x).unwrap().dtype(), DType::F16);
}

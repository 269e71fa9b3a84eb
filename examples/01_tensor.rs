//! Tensors: making, viewing, computing, and what an error says.
//!
//! `cargo run --release --example 01_tensor`

use ringgrad::tensor::DType;
use ringgrad::{Device, Result, Tensor};

fn main() -> Result<()> {
    // A device is a value. There is no current device that a library could change behind you.
    let device = Device::cpu();
    let x = Tensor::from_vec(&device, vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3])?;
    assert_eq!((x.shape()[..].to_vec(), x.dtype()), (vec![2, 3], DType::F32));

    // A view has other strides over the same elements: nothing was copied.
    let columns = x.transpose(0, 1)?;
    assert_eq!(columns.layout().strides(), [1, 3]);
    assert_eq!(columns.to_vec::<f32>()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    assert_eq!(x.views(), 2);
    let last = x.narrow(1, 2, 1)?;
    assert_eq!(last.to_vec::<f32>()?, [3.0, 6.0]);

    // Operators broadcast as NumPy does: aligned at the right, a length of 1 repeats.
    let row = Tensor::from_vec(&device, vec![10.0f32, 20.0, 30.0], &[3])?;
    assert_eq!((&x + &row)?.to_vec::<f32>()?, [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);

    // Reductions say which axis; the order of their additions is fixed by the shape alone.
    assert_eq!(x.sum(0, false)?.to_vec::<f32>()?, [5.0, 7.0, 9.0]);
    assert_eq!(x.sum_all()?.item::<f32>()?, 21.0);

    // Any view can be an operand of a matrix product.
    let product = x.matmul(&columns)?;
    assert_eq!(product.to_vec::<f32>()?, [14.0, 32.0, 32.0, 77.0]);

    // A row of a product does not depend on the rows beside it, to the last bit.
    let first = x.narrow(0, 0, 1)?.matmul(&columns)?;
    assert_eq!(first.to_vec::<f32>()?, product.narrow(0, 0, 1)?.to_vec::<f32>()?);

    // A mistake is an error that quotes operation, shapes and rule. Nothing panics.
    let error = x.matmul(&x).unwrap_err();
    println!("{error}");
    assert!(error.to_string().contains("[2, 3] and [2, 3]"));

    // Memory goes back to the device's pool when the last view is gone.
    let before = device.live_bytes();
    drop(product);
    assert_eq!(device.live_bytes(), before - 4 * size_of::<f32>());
    Ok(())
}

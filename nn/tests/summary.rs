//! The table of a model's parts.

use autograd::Var;
use ringgrad_nn::{Context, GptSettings, Init, Summary, cnn, gpt, mlp, numel, summary};
use tensor::{DType, Device, Tensor};

fn init() -> Init {
    Init::new(&Device::cpu(), 1)
}

fn zeros(dtype: DType, shape: &[usize]) -> Var {
    Var::constant(Tensor::zeros(&Device::cpu(), dtype, shape).unwrap())
}

#[test]
fn a_summary_prints_as_a_table() {
    let model = mlp(&init(), &[8, 5, 3]).unwrap();
    let found = summary(&model, &Context::eval(), &zeros(DType::F32, &[2, 8])).unwrap();
    let want = "\
module              path      output  parameters
Mlp                 layers    [2, 3]          63
  Sequential        layers    [2, 3]          63
    Linear(8 -> 5)  layers.0  [2, 5]          45
    Relu                      [2, 5]           0
    Linear(5 -> 3)  layers.1  [2, 3]          18
63 parameters";
    assert_eq!(found.to_string(), want);
}

#[test]
fn parts_have_their_depth_path_and_shape() {
    let model = cnn(&init(), [1, 8, 8], &[4, 6], 10).unwrap();
    let found = summary(&model, &Context::eval(), &zeros(DType::F32, &[3, 1, 8, 8])).unwrap();
    assert_eq!(found.parameters(), numel(&model));
    let conv = found.parts.iter().find(|part| part.path == "conv2").unwrap();
    assert_eq!((conv.depth, &conv.output[..]), (2, &[3, 6, 4, 4][..]));
    assert_eq!(conv.parameters, 6 * 4 * 9 + 6);
}

#[test]
fn blocks_stand_within_the_model_and_a_failed_forward_is_an_error() {
    let settings = GptSettings { vocabulary: 7, context: 6, dim: 8, heads: 2, layers: 2 };
    let model = gpt(&init(), &settings).unwrap();
    let run = |len| summary(&model, &Context::eval(), &zeros(DType::I64, &[1, len]));
    let found: Summary = run(6).unwrap();
    let paths = found.parts.iter().filter(|part| part.depth == 1).map(|part| part.path.as_str());
    assert_eq!(paths.collect::<Vec<_>>(), ["tok", "blocks.0", "blocks.1", "ln", "head"]);
    assert!(run(7).is_err());
}

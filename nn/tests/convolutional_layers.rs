//! The layers of convolutional networks: names, starts, shapes, and what is refused.

use autograd::Var;
use ringgrad_nn::{
    AdaptiveAvgPool2d, AvgPool2d, Context, Conv1d, Conv2d, ConvTranspose2d, Error, Flatten, Init,
    MaxPool2d, Module, Upsample, cnn, named_values,
};
use tensor::{ConvSettings, DType, Device, Sampling, Tensor, Window};

fn init() -> Init {
    Init::new(&Device::cpu(), 3)
}

fn shape_of(module: &dyn Module, x: &[usize]) -> Vec<usize> {
    let x = Var::constant(Tensor::zeros(&Device::cpu(), DType::F32, x).unwrap());
    module.forward(&Context::eval(), &x).unwrap().value().shape().to_vec()
}

fn parameters(module: &dyn Module) -> Vec<(String, Vec<usize>)> {
    named_values(module).into_iter().map(|(n, v)| (n, v.shape().to_vec())).collect()
}

#[test]
fn the_cnn_carries_pytorch_names_and_shapes() {
    let model = cnn(&init(), [1, 8, 8], &[8, 16], 10).unwrap();
    let wanted: [(&str, &[usize]); 6] = [
        ("conv1.weight", &[8, 1, 3, 3]),
        ("conv1.bias", &[8]),
        ("conv2.weight", &[16, 8, 3, 3]),
        ("conv2.bias", &[16]),
        ("fc.weight", &[10, 64]),
        ("fc.bias", &[10]),
    ];
    assert_eq!(parameters(&model), wanted.map(|(n, s)| (n.to_owned(), s.to_vec())));
    assert_eq!(shape_of(&model, &[5, 1, 8, 8]), [5, 10]);
    assert_eq!(shape_of(&cnn(&init(), [3, 9, 17], &[2, 2, 2], 4).unwrap(), &[2, 3, 9, 17]), [2, 4]);
    for (input, channels, classes) in
        [([1, 8, 8], &[][..], 10), ([1, 3, 8], &[2, 2], 10), ([1, 8, 8], &[2], 0)]
    {
        let refused = cnn(&init(), input, channels, classes);
        assert!(matches!(refused, Err(Error::Cnn { .. })), "{input:?} {channels:?}");
    }
}

#[test]
fn layers_say_what_they_are_and_give_the_shapes_of_their_settings() {
    let settings =
        ConvSettings { stride: [2, 2], padding: [1, 1], groups: 2, ..Default::default() };
    let layer = Conv2d::new(&init(), [4, 6], [3, 3], settings).unwrap();
    assert_eq!(layer.describe(), "Conv2d(4 -> 6, 3x3, stride 2, padding 1, groups 2)");
    assert_eq!(shape_of(&layer, &[2, 4, 5, 7]), [2, 6, 3, 4]);
    let layer = ConvTranspose2d::new(&init(), [4, 6], [3, 3], settings).unwrap();
    let layer = layer.output_padding([0, 1]);
    assert_eq!(layer.describe(), "ConvTranspose2d(4 -> 6, 3x3, stride 2, padding 1, groups 2)");
    assert_eq!(shape_of(&layer, &[2, 4, 3, 4]), [2, 6, 5, 8]);
    assert_eq!(parameters(&layer)[0].1, [4, 3, 3, 3]);
    let layer = Conv1d::new(&init(), [2, 3], 5, Default::default()).unwrap().without_bias();
    assert_eq!((layer.describe(), parameters(&layer).len()), ("Conv1d(2 -> 3, 5)".to_owned(), 1));
    assert_eq!(shape_of(&layer, &[2, 2, 9]), [2, 3, 5]);
    let window = Window { stride: [2, 1], padding: [1, 1], ..Window::new([3, 3]) };
    let pool = MaxPool2d::new(window);
    assert_eq!(pool.describe(), "MaxPool2d(3x3, stride [2, 1], padding [1, 1])");
    assert_eq!(shape_of(&pool, &[1, 2, 5, 5]), [1, 2, 3, 5]);
    assert_eq!(shape_of(&AvgPool2d::new(Window::new([2, 2])), &[1, 2, 5, 5]), [1, 2, 2, 2]);
    assert_eq!(shape_of(&AdaptiveAvgPool2d::new([1, 3]), &[1, 2, 5, 5]), [1, 2, 1, 3]);
    assert_eq!(shape_of(&Flatten, &[3, 2, 5, 1]), [3, 10]);
    let double = Upsample::by([2, 3], Sampling::Nearest);
    assert_eq!(double.describe(), "Upsample(times 2x3, nearest)");
    assert_eq!(shape_of(&double, &[1, 2, 5, 4]), [1, 2, 10, 12]);
    let bilinear = Upsample::to([7, 2], Sampling::Bilinear { align_corners: false });
    assert_eq!(shape_of(&bilinear, &[1, 2, 5, 4]), [1, 2, 7, 2]);
}

#[test]
fn a_mean_counts_padding_or_leaves_it_out() {
    let window = Window { padding: [1, 1], ..Window::new([2, 2]) };
    let x = Var::constant(Tensor::full(&Device::cpu(), 4.0f32, &[1, 1, 2, 2]).unwrap());
    let means = |pool: AvgPool2d| {
        pool.forward(&Context::eval(), &x).unwrap().value().to_vec::<f32>().unwrap()
    };
    assert_eq!(means(AvgPool2d::new(window)), [1.0; 4]);
    assert_eq!(means(AvgPool2d::new(window).without_padding_in_the_mean()), [4.0; 4]);
}

#[test]
fn starts_are_uniform_within_one_over_the_root_of_the_fan_in() {
    let layer = Conv2d::new(&init(), [8, 40], [5, 5], Default::default()).unwrap();
    let bound = 1.0 / 200f32.sqrt();
    for (name, value) in named_values(&layer) {
        let values = value.to_vec::<f32>().unwrap();
        let largest = values.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        assert!(largest <= bound && largest > 0.85 * bound, "{name}: {largest} of {bound}");
    }
}

#[test]
fn impossible_layers_are_refused_with_their_sizes() {
    let settings = |groups| ConvSettings { groups, ..Default::default() };
    for (channels, kernel, groups) in
        [([4, 6], [3, 3], 4), ([4, 6], [3, 3], 0), ([0, 6], [3, 3], 1), ([4, 6], [0, 3], 1)]
    {
        let layer = Conv2d::new(&init(), channels, kernel, settings(groups)).map(drop);
        let message = layer.unwrap_err().to_string();
        assert!(message.contains(&format!("{groups} groups")), "{message}");
        assert!(ConvTranspose2d::new(&init(), channels, kernel, settings(groups)).is_err());
    }
}

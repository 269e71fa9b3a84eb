//! The network of a run: what `--model` asks for, fitted to the data.

use nn::data::Split;
use nn::{GptSettings, Init, Module, Sequential, Unflatten};

use super::values::ModelSpec;

/// Units of the hidden layer of a perceptron that nobody described.
const HIDDEN: usize = 48;

/// A network that fits its data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Network {
    /// Linear layers with rectifiers between them.
    Mlp {
        /// From the features to the classes.
        sizes: Vec<usize>,
    },
    /// Convolutions and pools over square pictures of one channel, and a linear layer.
    Cnn {
        /// Pixels of a side.
        side: usize,
        /// Of each convolution.
        channels: Vec<usize>,
        /// Logits.
        classes: usize,
    },
    /// A transformer that predicts the next character.
    Gpt(GptSettings),
}

/// Networks that usually train with the same settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Mlp,
    Cnn,
    Gpt,
}

impl Network {
    pub(crate) fn family(&self) -> Family {
        match self {
            Network::Mlp { .. } => Family::Mlp,
            Network::Cnn { .. } => Family::Cnn,
            Network::Gpt(_) => Family::Gpt,
        }
    }

    /// What `spec` asks for, or the usual network for this kind of data.
    pub(crate) fn fitted(spec: Option<&ModelSpec>, data: &Split) -> Result<Self, String> {
        let (features, classes) = (data.train.features_per_sample(), data.train.classes());
        if data.train.is_text() {
            return Network::for_text(spec, features, classes);
        }
        match spec {
            None => Ok(Network::Mlp { sizes: vec![features, HIDDEN, classes] }),
            Some(ModelSpec::Mlp { sizes }) => {
                if sizes.first() != Some(&features) || sizes.last() != Some(&classes) {
                    return Err(format!(
                        "--model {sizes:?} does not fit the data of {features} features and \
                         {classes} classes; the first size is the number of features and the last \
                         that of classes"
                    ));
                }
                Ok(Network::Mlp { sizes: sizes.clone() })
            }
            Some(ModelSpec::Cnn { channels }) => {
                let side = features.isqrt();
                let pools = u32::try_from(channels.len()).unwrap_or(u32::MAX);
                if side * side != features || side.checked_shr(pools).unwrap_or(0) == 0 {
                    return Err(format!(
                        "--model cnn of {} convolutions does not fit samples of {features} \
                         features; they must make a square picture that can be halved as often: \
                         use an mlp, or fewer convolutions",
                        channels.len()
                    ));
                }
                Ok(Network::Cnn { side, channels: channels.clone(), classes })
            }
            Some(ModelSpec::Gpt { .. }) => Err(format!(
                "--model gpt does not fit samples of {features} features; it reads text: use \
                 --data text:FILE, or an mlp or cnn"
            )),
        }
    }

    fn for_text(
        spec: Option<&ModelSpec>,
        context: usize,
        vocabulary: usize,
    ) -> Result<Self, String> {
        match spec.unwrap_or(&ModelSpec::GPT) {
            &ModelSpec::Gpt { dim, heads, layers, .. } => {
                Ok(Network::Gpt(GptSettings { vocabulary, context, dim, heads, layers }))
            }
            _ => Err("--data text needs a network that reads text, gpt:D,HEADS,LAYERS,CTX: leave \
                      --model out or use one of these"
                .to_owned()),
        }
    }

    /// The network with its random start.
    pub(crate) fn build(&self, init: &Init) -> nn::Result<Box<dyn Module>> {
        Ok(match self {
            Network::Mlp { sizes } => Box::new(nn::mlp(init, sizes)?),
            Network::Cnn { side, channels, classes } => {
                let cnn = nn::cnn(init, [1, *side, *side], channels, *classes)?;
                Box::new(Sequential::new().then(Unflatten::new(&[1, *side, *side])).then(cnn))
            }
            Network::Gpt(settings) => Box::new(nn::gpt(init, settings)?),
        })
    }

    /// Its parameters, when a `usize` can count them.
    pub(crate) fn parameters(&self) -> Option<usize> {
        let layer = |inputs: usize, outputs: usize| inputs.checked_add(1)?.checked_mul(outputs);
        match self {
            Network::Mlp { sizes } => {
                let mut pairs = sizes.windows(2);
                pairs.try_fold(0usize, |n, pair| n.checked_add(layer(pair[0], pair[1])?))
            }
            Network::Cnn { side, channels, classes } => {
                let (mut n, mut inputs, mut side) = (0usize, 1usize, *side);
                for &outputs in channels {
                    n = n.checked_add(layer(inputs.checked_mul(9)?, outputs)?)?;
                    (inputs, side) = (outputs, side / 2);
                }
                n.checked_add(layer(inputs.checked_mul(side * side)?, *classes)?)
            }
            Network::Gpt(GptSettings { vocabulary, context, dim, layers, .. }) => {
                // A block: 4·d² of attention, 8·d² of the perceptron, 9·d biases, 4·d norms.
                let block = dim.checked_mul(12)?.checked_add(13)?.checked_mul(*dim)?;
                let tables = vocabulary.checked_mul(2)?.checked_add(*context)?.checked_add(2)?;
                tables.checked_mul(*dim)?.checked_add(block.checked_mul(*layers)?)
            }
        }
    }

    /// Numbers that one sample's forward keeps, inputs and outputs among them; about.
    pub(crate) fn activations(&self) -> Option<usize> {
        match self {
            Network::Mlp { sizes } => sizes.iter().try_fold(0usize, |n, &size| n.checked_add(size)),
            Network::Cnn { side, channels, classes } => {
                let (mut n, mut pixels) = (side.checked_mul(*side)?, side.checked_mul(*side)?);
                for &outputs in channels {
                    // The convolution, its rectifier, and the pool of a quarter.
                    n = n.checked_add(outputs.checked_mul(pixels)?.checked_mul(9)?.div_ceil(4))?;
                    pixels /= 4;
                }
                n.checked_add(*classes)
            }
            Network::Gpt(GptSettings { vocabulary, context, dim, heads, layers }) => {
                // A token's row in a block: 16·d of values, and its weights over the context.
                let row = dim.checked_mul(16)?.checked_add(heads.checked_mul(*context)?)?;
                let token = row.checked_mul(*layers)?.checked_add(vocabulary.checked_mul(2)?)?;
                token.checked_mul(*context)
            }
        }
    }

    /// How errors and reports call it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Network::Mlp { sizes } => format!("mlp of sizes {sizes:?}"),
            Network::Cnn { channels, .. } => format!("cnn of channels {channels:?}"),
            Network::Gpt(GptSettings { dim, heads, layers, context, .. }) => {
                format!("gpt of {layers} layers, {dim} features, {heads} heads, context {context}")
            }
        }
    }

    /// Samples of one evaluating forward, over all ranks: bounds the memory, not the result.
    pub(crate) fn evaluation_batch(&self) -> usize {
        match self {
            Network::Gpt(_) => 64,
            _ => 1024,
        }
    }
}

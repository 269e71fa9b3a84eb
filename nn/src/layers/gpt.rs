//! A small language model, and text that it makes.

use autograd::Var;
use kernels::random::Stream;
use tensor::{DType, Tensor};

use crate::context::Context;
use crate::error::{Error, Result};
use crate::init::Init;
use crate::layers::transformer_block::START;
use crate::layers::{Embedding, LayerNorm, Linear, TransformerBlock};
use crate::module::Module;
use crate::parameter::Parameter;

/// The sizes of a [`Gpt`], none of them 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GptSettings {
    /// Different tokens.
    pub vocabulary: usize,
    /// The longest sequence.
    pub context: usize,
    /// Features of a position.
    pub dim: usize,
    /// Heads of attention, which divide `dim`.
    pub heads: usize,
    /// Transformer blocks.
    pub layers: usize,
}

/// `[b, l]` token numbers `-> [b, l, vocabulary]` logits of the token that follows; see [`gpt`].
pub struct Gpt {
    settings: GptSettings,
    tok: Embedding,
    pos: Parameter,
    blocks: Vec<TransformerBlock>,
    ln: LayerNorm,
    head: Linear,
}

/// A decoder-only transformer (Radford et al. 2019, "Language models are unsupervised multitask
/// learners"): tokens and positions embedded and added, blocks, a layer norm, and a linear layer
/// without bias. Its parameters are `tok.weight`, `pos.weight`, `blocks.I.*`, `ln.*` and
/// `head.weight`. Weights start normal with the standard deviation 0.02.
///
/// ```
/// use ringgrad_nn::{GptSettings, Init, gpt};
/// use tensor::Device;
/// # fn main() -> Result<(), ringgrad_nn::Error> {
/// let settings = GptSettings { vocabulary: 65, context: 16, dim: 32, heads: 4, layers: 1 };
/// let model = gpt(&Init::new(&Device::cpu(), 1), &settings)?;
/// let text = model.sample(&[20, 43], 8, 1.0, 7)?;
/// assert!(text.len() == 8 && text.iter().all(|&token| token < 65));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A size of 0, heads that do not divide `dim`, or sizes beyond the memory.
pub fn gpt(init: &Init, settings: &GptSettings) -> Result<Gpt> {
    let &GptSettings { vocabulary, context, dim, heads, layers } = settings;
    if [vocabulary, context, dim, heads, layers].contains(&0) {
        return Err(Error::Gpt { settings: settings.clone() });
    }
    let table = |name: &str, rows| init.at(name).normal("weight", &[rows, dim], START);
    let at = init.at("blocks");
    let blocks = (0..layers).map(|i| TransformerBlock::new(&at.at(i), dim, heads, layers));
    Ok(Gpt {
        settings: settings.clone(),
        tok: Embedding::from_weight(table("tok", vocabulary)?),
        pos: table("pos", context)?,
        blocks: blocks.collect::<Result<_>>()?,
        ln: LayerNorm::new(&init.at("ln"), dim)?,
        head: Linear::from_weight(table("head", vocabulary)?),
    })
}

impl Gpt {
    /// The sizes that it was made with.
    pub fn settings(&self) -> &GptSettings {
        &self.settings
    }

    /// `count` tokens that follow `prompt`, each drawn from the softmax of the logits divided by
    /// `temperature`; at 0 the most probable. The same seed draws the same tokens. The model sees
    /// the last `context` tokens.
    ///
    /// # Errors
    /// A prompt that is empty or has tokens outside the vocabulary, or a temperature that is
    /// negative or not finite.
    pub fn sample(
        &self,
        prompt: &[i64],
        count: usize,
        temperature: f64,
        seed: u64,
    ) -> Result<Vec<i64>> {
        if prompt.is_empty() {
            return Err(Error::EmptyPrompt);
        }
        if !(temperature >= 0.0 && temperature.is_finite()) {
            let rule = "logits are divided by it: bring a positive number, or 0 for the most \
                        probable token";
            let (op, name) = ("sample", "the temperature");
            return Err(tensor::Error::Setting { op, name, value: temperature, rule }.into());
        }
        let (cx, stream) = (Context::eval().no_grad(), Stream::new(seed, "sample", 0));
        let device = self.pos.value().device();
        let mut tokens = prompt.to_vec();
        for i in 0..count {
            let window = &tokens[tokens.len().saturating_sub(self.settings.context)..];
            let ids = Tensor::from_slice(device, window, &[1, window.len()])?;
            let logits = self.forward(&cx, &Var::constant(ids))?;
            let last = logits.value().select(0, 0)?.select(0, window.len() - 1)?;
            let logits = last.cast(DType::F64)?.to_vec::<f64>()?;
            tokens.push(draw(&logits, temperature, stream.uniform(i as u64)));
        }
        Ok(tokens.split_off(prompt.len()))
    }
}

/// The number whose share of the softmax `uniform` of [0, 1) falls into.
fn draw(logits: &[f64], temperature: f64, uniform: f64) -> i64 {
    let largest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let first = logits.iter().position(|&x| x == largest).unwrap_or(0) as i64;
    if temperature == 0.0 {
        return first;
    }
    let share = |&x: &f64| ((x - largest) / temperature).exp();
    let mut rest = uniform * logits.iter().map(share).sum::<f64>();
    for (token, share) in logits.iter().map(share).enumerate() {
        rest -= share;
        if rest < 0.0 {
            return token as i64;
        }
    }
    // Rounding ate the last share, or a logit is NaN.
    first
}

impl Module for Gpt {
    fn describe(&self) -> String {
        "Gpt".to_owned()
    }

    fn forward(&self, cx: &Context, x: &Var) -> Result<Var> {
        let shape = *x.value().shape();
        let context = self.settings.context;
        if shape.ndim() != 2 || shape[1] > context {
            return Err(Error::Sequence { shape, context });
        }
        let positions = cx.var(&self.pos).narrow(0, 0, shape[1])?;
        let mut x = (&cx.run(&self.tok, x)? + &positions)?;
        for block in &self.blocks {
            x = cx.run(block, &x)?;
        }
        cx.run(&self.head, &cx.run(&self.ln, &x)?)
    }

    fn visit(&self, visitor: &mut dyn FnMut(&Parameter)) {
        self.tok.visit(visitor);
        visitor(&self.pos);
        self.blocks.iter().for_each(|block| block.visit(visitor));
        self.ln.visit(visitor);
        self.head.visit(visitor);
    }

    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut Parameter)) {
        self.tok.visit_mut(visitor);
        visitor(&mut self.pos);
        self.blocks.iter_mut().for_each(|block| block.visit_mut(visitor));
        self.ln.visit_mut(visitor);
        self.head.visit_mut(visitor);
    }
}

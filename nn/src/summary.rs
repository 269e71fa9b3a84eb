//! What a model is made of: its parts, the shapes of their outputs, and their parameters.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use autograd::Var;
use tensor::Shape;

use crate::context::Context;
use crate::error::Result;
use crate::module::{Module, numel};

/// One part of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Part {
    /// How many parts it lies within; 0 for the model itself.
    pub depth: usize,
    /// What all names of its parameters begin with, such as `layers.0`; empty without parameters.
    pub path: String,
    /// What it says of itself.
    pub description: String,
    /// The shape of its output.
    pub output: Shape,
    /// Its parameter elements, those of the parts within it included.
    pub parameters: usize,
}

/// The parts of a model in the order of a forward; see [`summary`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The parts; the model itself is the first.
    pub parts: Vec<Part>,
}

/// Runs `model` on `x` and tells what it is made of: the modules that it calls through
/// [`Context::run`], each as often as it is called. Printed, it is a table.
///
/// ```
/// use autograd::Var;
/// use ringgrad_nn::{Context, Init, mlp, summary};
/// use tensor::{DType, Device, Tensor};
/// # fn main() -> Result<(), ringgrad_nn::Error> {
/// let device = Device::cpu();
/// let model = mlp(&Init::new(&device, 1), &[8, 5, 3])?;
/// let x = Var::constant(Tensor::zeros(&device, DType::F32, &[2, 8])?);
/// let summary = summary(&model, &Context::eval(), &x)?;
/// assert_eq!(summary.parameters(), 8 * 5 + 5 + 5 * 3 + 3);
/// println!("{summary}");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As the model's forward.
pub fn summary(model: &dyn Module, cx: &Context, x: &Var) -> Result<Summary> {
    let (cx, recorder) = cx.clone().recording();
    cx.run(model, x)?;
    let parts = std::mem::take(&mut recorder.lock().parts);
    Ok(Summary { parts })
}

impl Summary {
    /// Parameter elements of the model.
    pub fn parameters(&self) -> usize {
        self.parts.first().map_or(0, |model| model.parameters)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<[String; 4]> = self.parts.iter().map(cells).collect();
        let heading = ["module", "path", "output", "parameters"].map(str::to_owned);
        let width = |column: usize| {
            let cells = rows.iter().chain([&heading]).map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let [a, b, c, d] = [0, 1, 2, 3].map(width);
        for [module, path, output, parameters] in [&heading].into_iter().chain(&rows) {
            writeln!(f, "{module:a$}  {path:b$}  {output:c$}  {parameters:>d$}")?;
        }
        write!(f, "{} parameters", self.parameters())
    }
}

fn cells(part: &Part) -> [String; 4] {
    let module = format!("{:indent$}{}", "", part.description, indent = 2 * part.depth);
    [module, part.path.clone(), part.output.to_string(), part.parameters.to_string()]
}

/// Notes the modules that a context runs.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Modules that are running.
    depth: usize,
    parts: Vec<Part>,
}

impl Recorder {
    /// A poisoned lock is used on: a part is pushed or changed whole.
    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The forward of `module`, noted.
    pub(crate) fn run(&self, cx: &Context, module: &dyn Module, x: &Var) -> Result<Var> {
        let place = {
            let mut notes = self.lock();
            let part = Part {
                depth: notes.depth,
                path: path_of(module),
                description: module.describe(),
                output: Shape::SCALAR,
                parameters: numel(module),
            };
            notes.depth += 1;
            notes.parts.push(part);
            notes.parts.len() - 1
        };
        let y = module.forward(cx, x);
        let mut notes = self.lock();
        notes.depth -= 1;
        if let (Ok(y), Some(part)) = (&y, notes.parts.get_mut(place)) {
            part.output = *y.value().shape();
        }
        y
    }
}

/// The levels of a name that all parameters share, without the parameter's own.
fn path_of(module: &dyn Module) -> String {
    let mut shared: Option<Vec<String>> = None;
    module.visit(&mut |parameter| {
        let mut levels: Vec<String> = parameter.name().split('.').map(str::to_owned).collect();
        levels.pop();
        let same =
            |known: &Vec<String>| known.iter().zip(&levels).take_while(|(a, b)| a == b).count();
        if let Some(known) = &shared {
            levels.truncate(same(known));
        }
        shared = Some(levels);
    });
    shared.unwrap_or_default().join(".")
}

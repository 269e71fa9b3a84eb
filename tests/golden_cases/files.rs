//! Reads the golden files: a list in JSON, and arrays by name in safetensors.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ringgrad::hash::NamedValues;
use ringgrad::tensor::DType;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;

/// One array, its values in f64, which holds every type's exactly.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

/// `NAME.json` and `NAME.safetensors`.
pub(crate) struct Golden {
    pub(crate) list: Value,
    arrays: BTreeMap<String, Array>,
}

/// The project's own files, or those that the variable names.
fn folder() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    std::env::var_os("RINGGRAD_GOLDEN").map_or(own, PathBuf::from)
}

impl Golden {
    pub(crate) fn open(name: &str) -> Golden {
        let read = |ending: &str| {
            let path = folder().join(format!("{name}.{ending}"));
            std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        let bytes = read("safetensors");
        let arrays = SafeTensors::deserialize(&bytes).unwrap();
        let arrays = arrays.iter().map(|(name, view)| (name.to_owned(), decoded(name, &view)));
        Golden { list: serde_json::from_slice(&read("json")).unwrap(), arrays: arrays.collect() }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Array> {
        self.arrays.get(name)
    }

    pub(crate) fn array(&self, name: &str) -> &Array {
        self.find(name).unwrap_or_else(|| panic!("no array {name}"))
    }

    pub(crate) fn values(&self, name: &str) -> &[f64] {
        &self.array(name).values
    }

    /// The arrays under `prefix`, named without it.
    pub(crate) fn under(&self, prefix: &str) -> Vec<NamedValues> {
        let inside = |(name, array): (&String, &Array)| {
            let name = name.strip_prefix(prefix)?.to_owned();
            let Array { shape, values, .. } = array.clone();
            Some(NamedValues { name, shape, values })
        };
        self.arrays.iter().filter_map(inside).collect()
    }
}

fn decoded(name: &str, view: &TensorView<'_>) -> Array {
    let eight = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).unwrap();
    let four = |bytes: &[u8]| <[u8; 4]>::try_from(bytes).unwrap();
    let data = view.data();
    let (dtype, values) = match view.dtype() {
        Dtype::F64 => (DType::F64, data.chunks(8).map(|b| f64::from_le_bytes(eight(b))).collect()),
        Dtype::I64 => {
            (DType::I64, data.chunks(8).map(|b| i64::from_le_bytes(eight(b)) as f64).collect())
        }
        Dtype::F32 => {
            (DType::F32, data.chunks(4).map(|b| f64::from(f32::from_le_bytes(four(b)))).collect())
        }
        Dtype::U8 => (DType::U8, data.iter().map(|&b| f64::from(b)).collect()),
        other => panic!("{name}: an array of {other:?}"),
    };
    Array { dtype, shape: view.shape().to_vec(), values }
}

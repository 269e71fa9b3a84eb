//! Fingerprints of parameters: equal bits, equal hash.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// SHA-256 over the names, shapes and values of named parameters in order, in hexadecimal. Values
/// count as their little-endian bytes; every NaN counts as one and the same.
pub fn params_sha256(params: &[NamedValues]) -> String {
    let mut hasher = Sha256::new();
    for param in params {
        hasher.update(param.name.as_bytes());
        hasher.update([0]);
        param.shape.iter().for_each(|&len| hasher.update((len as u64).to_le_bytes()));
        for value in &param.values {
            let bits = if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
            hasher.update(bits.to_le_bytes());
        }
    }
    hasher.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A parameter as it is compared and saved. f32 values are held exactly, as f64.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedValues {
    /// Its path.
    pub name: String,
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its values in row-major order.
    pub values: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(values: &[f64]) -> Vec<NamedValues> {
        vec![NamedValues { name: "w".into(), shape: vec![values.len()], values: values.to_vec() }]
    }

    #[test]
    fn the_hash_sees_every_bit_but_not_which_nan() {
        let hash = |values: &[f64]| params_sha256(&one(values));
        assert_eq!(hash(&[1.0, 2.0]).len(), 64);
        assert_eq!(hash(&[1.0, 2.0]), hash(&[1.0, 2.0]));
        assert_ne!(hash(&[1.0, 2.0]), hash(&[2.0, 1.0]));
        assert_ne!(hash(&[0.0]), hash(&[-0.0]));
        assert_ne!(hash(&[1.0]), hash(&[1.0 + f64::EPSILON]));
        assert_eq!(hash(&[f64::NAN]), hash(&[-f64::NAN]));
    }
}

//! Hashes that tell things apart: the same function wherever ranks compare what they hold or bring.

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

fn mix(hash: u64, next: u64) -> u64 {
    (hash ^ next).wrapping_mul(PRIME)
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(OFFSET, |hash, &byte| mix(hash, byte.into()))
}

/// The mixing of [`fnv1a`] over whole words, one multiplication a word. Two lists that differ in
/// one word never have the same hash; others do by accident once in 2⁶⁴ times.
pub fn fnv1a_words(words: impl IntoIterator<Item = u64>) -> u64 {
    let hash = words.into_iter().fold(OFFSET, mix);
    // Multiplying carries differences upwards only; this brings them down again.
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_published_hashes() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn words_differ_by_value_order_and_number() {
        let lists: [&[u64]; 7] =
            [&[], &[0], &[0, 0], &[1, 2], &[2, 1], &[1 << 63, 2], &[1, 2 | 1 << 63]];
        for (i, left) in lists.iter().enumerate() {
            for (j, right) in lists.iter().enumerate() {
                let hash = |list: &[u64]| fnv1a_words(list.iter().copied());
                assert_eq!(hash(left) == hash(right), i == j, "{left:?} {right:?}");
            }
        }
    }
}

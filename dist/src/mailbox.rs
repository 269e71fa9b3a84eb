//! One buffer on its way from a rank of the ring to the next.

use crate::sync::{AtomicBool, Mutex, Ordering, Padded, lock};

/// A place for one buffer. One rank sends, one receives; both look before they act, and wake the
/// other afterwards.
#[derive(Debug)]
pub(crate) struct Mailbox<T> {
    /// So that looking needs no lock.
    full: Padded<AtomicBool>,
    buffer: Mutex<Vec<T>>,
}

impl<T> Mailbox<T> {
    pub(crate) fn new() -> Self {
        Mailbox { full: Padded(AtomicBool::new(false)), buffer: Mutex::new(Vec::new()) }
    }

    /// Whether the receiver has not yet taken what was sent last.
    pub(crate) fn is_full(&self) -> bool {
        // Acquire: pairs with the stores in `send` and `receive`.
        self.full.load(Ordering::Acquire)
    }

    /// Moves `buffer` in, unless the one before is still there: then it stays where it is.
    pub(crate) fn send(&self, buffer: &mut Option<Vec<T>>) -> bool {
        if buffer.is_none() || self.is_full() {
            return false;
        }
        *lock(&self.buffer) = buffer.take().unwrap_or_default();
        // Release: pairs with the load in `is_full`.
        self.full.store(true, Ordering::Release);
        true
    }

    /// Takes the buffer out, if there is one.
    pub(crate) fn receive(&self) -> Option<Vec<T>> {
        if !self.is_full() {
            return None;
        }
        let buffer = std::mem::take(&mut *lock(&self.buffer));
        // Release: pairs with the load in `is_full`.
        self.full.store(false, Ordering::Release);
        Some(buffer)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_second_buffer_waits_until_the_first_was_taken() {
        let mailbox = Mailbox::new();
        let (mut first, mut second) = (Some(vec![1, 2]), Some(vec![3]));
        assert!(mailbox.receive().is_none());
        assert!(mailbox.send(&mut first) && first.is_none());
        assert!(!mailbox.send(&mut second) && second.is_some());
        assert_eq!(mailbox.receive(), Some(vec![1, 2]));
        assert!(mailbox.send(&mut second));
        assert_eq!(mailbox.receive(), Some(vec![3]));
    }
}

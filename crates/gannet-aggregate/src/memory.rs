//! The bytes that a run holds, each asked for before it is taken.

use std::mem::size_of;

/// Makes the reservation of a run so many bytes large, or says that it cannot be.
pub type Reserve<'m> = Box<dyn FnMut(usize) -> bool + Send + 'm>;

/// The answer that there is no more memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// The bytes that are held now.
pub(crate) struct Ledger<'m> {
    held: usize,
    most: usize,
    /// The bytes that would have been held when memory was short last.
    rejected: usize,
    reserve: Reserve<'m>,
}

impl<'m> Ledger<'m> {
    pub(crate) fn new(reserve: Reserve<'m>) -> Ledger<'m> {
        Ledger {
            held: 0,
            most: 0,
            rejected: 0,
            reserve,
        }
    }

    /// Returns the bytes that are held.
    pub(crate) fn held(&self) -> usize {
        self.held
    }

    /// Returns what would have been held when memory was short last.
    pub(crate) fn rejected(&self) -> usize {
        self.rejected
    }

    /// Returns the most bytes that were ever held.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Full> {
        let held = self.held.checked_add(bytes).ok_or(Full)?;
        if bytes > 0 && !(self.reserve)(held) {
            self.rejected = held;
            return Err(Full);
        }
        self.held = held;
        self.most = self.most.max(held);
        Ok(())
    }

    pub(crate) fn give_back(&mut self, bytes: usize) {
        self.held = self.held.saturating_sub(bytes);
        // Less than what was granted is granted too.
        let _ = (self.reserve)(self.held);
    }

    /// Adds to a list, which grows by half. While it does, the old and the new one are both held.
    pub(crate) fn push<T>(&mut self, list: &mut Vec<T>, value: T) -> Result<(), Full> {
        if list.len() == list.capacity() {
            let capacity = list.capacity() + list.capacity() / 2 + 16;
            self.grow(list, capacity)?;
        }
        list.push(value);
        Ok(())
    }

    /// Makes a list at least so long.
    pub(crate) fn fill<T: Clone>(
        &mut self,
        list: &mut Vec<T>,
        length: usize,
        value: T,
    ) -> Result<(), Full> {
        if length > list.capacity() {
            let capacity = length.max(list.capacity() + list.capacity() / 2);
            self.grow(list, capacity)?;
        }
        if length > list.len() {
            list.resize(length, value);
        }
        Ok(())
    }

    fn grow<T>(&mut self, list: &mut Vec<T>, capacity: usize) -> Result<(), Full> {
        let old = list.capacity();
        self.add(capacity.checked_mul(size_of::<T>()).ok_or(Full)?)?;
        list.reserve_exact(capacity - list.len());
        self.give_back(old * size_of::<T>());
        Ok(())
    }

    /// Empties a list and gives its bytes back.
    pub(crate) fn release<T>(&mut self, list: &mut Vec<T>) {
        let bytes = list.capacity() * size_of::<T>();
        *list = Vec::new();
        self.give_back(bytes);
    }
}

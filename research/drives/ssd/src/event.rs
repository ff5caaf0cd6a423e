//! What happens in a drive.

/// An event of the virtual clock, with the number of what it happens to.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// The link has carried a job in this direction.
    Linked(usize),
    /// A plane has read, programmed or erased.
    Worked(usize),
    /// A channel has carried a page.
    Carried(usize),
    /// The request at this place is answered.
    Answered(usize),
}

//! The frames of an index.

use crate::Index;

/// Lets go of all frames of an index, so that its next query asks the device for all of its pages.
pub fn empty_frames(index: &Index) {
    index.shared().pool.empty();
}

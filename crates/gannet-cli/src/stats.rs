//! `gannet stats`.
use crate::{arguments::*, failure::Outcome, output::Output};
pub fn run(_: &Common, _: &IndexPath, _: &mut Output) -> Outcome<()> {
    Ok(())
}

//! `gannet inspect`.
use crate::{arguments::*, failure::Outcome, output::Output};
pub fn run(_: &Common, _: &InspectArguments, _: &mut Output) -> Outcome<()> {
    Ok(())
}

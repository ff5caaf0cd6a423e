//! Modelled drives that run programs, by their profiles.

use std::path::Path;
use std::sync::Arc;

use gannet_offload::{Choice, Planner};
use gannet_ssd::smart::SmartProfile;

use crate::failure::{Failure, Outcome};
use crate::opening::is_url;

/// A planner for the drive of a profile, on which the index in `folder` stands.
pub fn planner(profile: &str, folder: &Path) -> Outcome<Arc<Planner>> {
    planner_that(Choice::Cheaper, profile, folder)
}

/// The same with another way to choose.
pub fn planner_that(choice: Choice, profile: &str, folder: &Path) -> Outcome<Arc<Planner>> {
    let profile = SmartProfile::find(profile)?;
    if is_url(folder) {
        return Err(Failure::caller(format!(
            "--device models a drive that has the index, and {} is a URL: give the folder of an index",
            folder.display()
        )));
    }
    Ok(Arc::new(Planner::new(&profile, folder, choice)?))
}

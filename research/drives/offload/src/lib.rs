//! Gannet's lists read inside a drive that runs programs, here a modelled one.
//!
//! [`Planner`] is what an index is opened with. The engine gives it the lists of a query; it weighs
//! by a profile what the host and the drive would take (`estimate`), has the drive do what pays
//! (`session`), and tells what it decided and why. `task` is the form in which the program of the
//! drive gets lists; the program itself, in C, is in `programs/`. `folder` puts an index on the
//! modelled drive. `compare` answers queries with the drive and without; `trials` counts what each
//! way takes, to be priced by many profiles.
//!
//! What always holds: an answer never depends on the drive. All times and energies are *modelled*;
//! operators, accesses, pages and bytes of programs that ran are counted.

mod compare;
mod estimate;
mod folder;
mod planner;
mod session;
mod task;
mod trials;

pub use compare::{Class, Comparison, HostRead};
pub use estimate::{Cost, Estimate, Steps, Way};
pub use folder::Folder;
pub use planner::{Choice, Decision, Plan, Planner, Weighed, add_ranking};
pub use session::{Drive, DriveRun};
pub use trials::{Trial, Trials, Tried};

//! Writes the seeds of every target into a folder, a folder for each target.

use std::path::PathBuf;
use std::{env, fs, io};

use gannet_testkit::fuzz::TARGETS;

fn main() -> io::Result<()> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| "target/fuzz-seeds".into());
    for target in &TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder)?;
        for (number, seed) in target.seeds().iter().enumerate() {
            fs::write(folder.join(number.to_string()), seed)?;
        }
    }
    Ok(())
}

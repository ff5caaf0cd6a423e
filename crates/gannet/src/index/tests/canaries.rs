//! The crash tests must notice a broken promise: here it is broken on purpose.

use std::sync::Arc;

use super::crashes::judge_crashes;
use super::workload;
use super::world::World;
use crate::device::RecordingDevice;

/// Violations that are enough to believe that a canary sings.
const ENOUGH: usize = 3;

#[test]
fn a_dropped_sync_is_noticed() {
    let steps = workload::short(1);
    let syncs = World::of(&steps).device.syncs();
    let noticed: Vec<u64> = (0..syncs)
        .filter(|dropped| {
            let device = Arc::new(RecordingDevice::new());
            device.drop_sync(*dropped);
            let mut world = World::new(device);
            world.run(&steps).expect("nothing fails");
            !judge_crashes(&world, 150, 1).violations.is_empty()
        })
        .take(ENOUGH)
        .collect();
    println!("canary: of {syncs} syncs, dropping {noticed:?} was noticed");
    assert_eq!(noticed.len(), ENOUGH);
}

#[test]
fn an_acknowledgement_before_the_log_is_durable_is_noticed() {
    let mut world = World::new(Arc::default());
    world.trusts_writes = true;
    world.run(&workload::short(1)).expect("nothing fails");
    let violations = judge_crashes(&world, 150, 1).violations;
    println!(
        "canary: {} violations by early acknowledgements",
        violations.len()
    );
    assert!(violations.len() >= ENOUGH);
}

//! Tests of a whole index under crashes, faults and damage.
//!
//! `world` runs a workload beside an oracle, which lists the states that the index went through. It
//! tells whether an index that was opened again is in a state that it may be in. The other
//! modules make the devices to open: after power losses (`crashes`), after failures (`faults`),
//! with bytes changed (`damage`); on full devices (`full`, `space`); `backups` copies it. `checks`
//! asks whether a check finds all damage. `canaries` break the engine's promise on purpose and
//! expect to be told. `declared` compares declared fields with plain ones. `closing` asks what a
//! close writes. `logs` are those that nobody flushed.
//! `long_documents` are as long as a budget allows. `memory` is scarce, also for `patterns`.
//! `pausing` is of writes that are slowed down. `sharing` is of threads that have something the
//! writer needs, or end it.

mod backups;
mod canaries;
mod checks;
mod closing;
mod columns;
mod crashes;
mod damage;
mod damage_costs;
mod declared;
mod faults;
mod full;
mod logs;
mod long_documents;
mod memory;
mod patterns;
mod pausing;
mod random;
mod replays;
mod sharing;
mod space;
mod workload;
mod world;

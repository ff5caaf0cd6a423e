//! Removing what no publication names any more.
//!
//! An object that the publication before named is *retired*: readers may need it until they
//! refresh, so it stays for the time to keep. An object that no publication ever named is what a
//! publisher has left that was killed or lost; it is removed once it is as old. Its publisher may
//! still be at work, but it would lose in any case, since a superblock was written meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use gannet::Result;

use crate::catalog::Catalog;
use crate::extent::Object;
use crate::folder::LOCK;
use crate::objects::Objects;
use crate::publication::{Published, Retired, SUPERBLOCK, is_of_index, objects_of};

/// The objects that are retired once the next publication is there: those that were, unless their
/// time is over, and those that it does not name.
pub(crate) fn retired(
    catalog: &Catalog,
    is_named: impl Fn(&str) -> bool,
    keep: Duration,
) -> Vec<Retired> {
    let now = now();
    let packs = catalog.publication.as_ref().map(|of| of.packs.as_slice());
    let objects = objects_of(&catalog.head.extents, packs.unwrap_or_default());
    let names = objects.iter().map(Object::name);
    let fresh = names
        .filter(|name| !is_named(name))
        .map(|name| Retired { name, since: now });
    let before = catalog.head.retired.iter();
    let kept = before.filter(|retired| !is_over(retired.since, now, keep));
    kept.cloned().chain(fresh).collect()
}

/// Removes the objects whose time is over, and counts them.
pub(crate) fn remove(objects: &Objects, published: &Published, keep: Duration) -> Result<u64> {
    let now = now();
    let retired = published.head.retired.iter();
    let retired: BTreeMap<&str, u64> = retired
        .map(|retired| (retired.name.as_str(), retired.since))
        .collect();
    let known = objects_of(&published.head.extents, &published.publication.packs);
    let fixed = [SUPERBLOCK.to_owned(), LOCK.to_owned()];
    let named: BTreeSet<String> = known.iter().map(Object::name).chain(fixed).collect();
    let listed = objects.list()?.into_iter();
    let over = listed.filter(|object| {
        let since = retired.get(object.name.as_str()).copied();
        !named.contains(&object.name)
            && is_of_index(&object.name)
            && is_over(since.unwrap_or(object.written), now, keep)
    });
    let over: Vec<String> = over.map(|object| object.name).collect();
    if over.is_empty() {
        Ok(0)
    } else {
        objects.remove(over)
    }
}

fn is_over(since: u64, now: u64, keep: Duration) -> bool {
    since.saturating_add(keep.as_secs()) <= now
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

//! Parts of zones that a publication puts into its pack instead of objects of their own.
//!
//! A small publication mostly has pages that an opening reads: root records, ends of tables, nodes
//! of trees. A part of a zone with enough of them goes into the pack, where its other pages follow
//! those that an opening reads. So each page is sent once, in fewer objects. Parts with few such
//! pages have objects of their own, and these pages are sent twice: their list would grow by more
//! entries than it is worth, and long-lived documents would keep the pack. What always holds: the
//! parts that are set aside take no more memory than [`Aside::new`] was given.

use std::collections::{BTreeMap, BTreeSet};

use gannet::device::{PAGE_SIZE, ZoneNumber};

use crate::extent::{Extent, Object};

/// A part goes into the pack if at least one of so many of its pages is read by an opening. What is
/// sent twice of other parts is less than that.
const OPENING_ONE_OF: usize = 16;

/// The parts of zones that are set aside.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    opening: BTreeSet<(ZoneNumber, u32)>,
    room: usize,
    /// The bytes of each part, by its zone and its first page.
    parts: BTreeMap<(ZoneNumber, u32), Vec<u8>>,
}

impl Aside {
    /// Creates an empty set for a publication with these pages for openings.
    pub(crate) fn new(opening: &[(ZoneNumber, u32)], room: usize) -> Aside {
        Aside {
            opening: opening.iter().copied().collect(),
            room,
            parts: BTreeMap::new(),
        }
    }

    /// Takes a part of a zone, or gives it back for an object of its own.
    pub(crate) fn take(&mut self, zone: ZoneNumber, first: u32, part: Vec<u8>) -> Option<Vec<u8>> {
        let pages = part.len() / PAGE_SIZE;
        let all = (zone, first)..(zone, first + pages as u32);
        let opening = self.opening.range(all).count();
        if part.len() > self.room || opening * OPENING_ONE_OF < pages || opening == 0 {
            return Some(part);
        }
        self.room -= part.len();
        self.parts.insert((zone, first), part);
        None
    }

    /// Forgets a zone.
    pub(crate) fn forget(&mut self, zone: ZoneNumber) {
        self.parts.retain(|(of, _), _| *of != zone);
    }

    fn pages(&self) -> impl Iterator<Item = ((ZoneNumber, u32), &[u8])> {
        self.parts.iter().flat_map(|((zone, first), part)| {
            let pages = (*first..).zip(part.chunks(PAGE_SIZE));
            pages.map(move |(page, bytes)| ((*zone, page), bytes))
        })
    }

    /// Returns the pages that are not in the directory of the pack, sorted.
    pub(crate) fn others(&self, directory: &[(ZoneNumber, u32)]) -> impl Iterator<Item = &[u8]> {
        let others = self.pages();
        let others = others.filter(move |(address, _)| directory.binary_search(address).is_err());
        others.map(|(_, bytes)| bytes)
    }

    /// Returns the places of all pages in a pack, where those of the directory come first.
    pub(crate) fn extents(&self, directory: &[(ZoneNumber, u32)], pack: Object) -> Vec<Extent> {
        let mut extents: Vec<Extent> = Vec::new();
        let mut others = directory.len() as u32;
        for ((zone, page), _) in self.pages() {
            let at = match directory.binary_search(&(zone, page)) {
                Ok(at) => at as u32,
                Err(_) => {
                    others += 1;
                    others - 1
                }
            };
            match extents.last_mut() {
                Some(last) if last.zone == zone && last.end() == page && last.place(page) == at => {
                    last.pages += 1;
                }
                _ => extents.push(Extent {
                    zone,
                    first: page,
                    pages: 1,
                    object: pack,
                    at,
                }),
            }
        }
        extents
    }
}

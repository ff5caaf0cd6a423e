//! The pages of zones in objects, and the list of them in the head of a pack.
//!
//! Pages that an opening reads stand in a pack. The others of the same part of a zone stand behind
//! them in the same object, so that each page is sent once. So an object has pages of one zone or
//! of several, and a run of pages in it is an *extent*. What always holds: an extent that is
//! decoded lies within its object.

use std::collections::BTreeMap;

use gannet::device::{PAGE_SIZE, ZoneNumber};

use crate::coding::{Origin, Reader, put, put_origin};

/// The number that stands for a pack: zones are numbered from below.
const PACK: ZoneNumber = u32::MAX;

/// An object with pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Object {
    pub(crate) kind: ObjectKind,
    pub(crate) origin: Origin,
    /// The bytes before its pages.
    pub(crate) start: u32,
    pub(crate) pages: u32,
}

/// The kinds of objects, which have names of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ObjectKind {
    /// Consecutive pages of a zone.
    Zone { zone: ZoneNumber, first: u32 },
    /// A head, and pages of any zones.
    Pack,
}

/// Consecutive pages of a zone that stand one behind the other in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) zone: ZoneNumber,
    pub(crate) first: u32,
    pub(crate) pages: u32,
    pub(crate) object: Object,
    /// The first page among those of the object.
    pub(crate) at: u32,
}

impl Object {
    pub(crate) fn name(&self) -> String {
        let Origin { number, token } = self.origin;
        match self.kind {
            ObjectKind::Zone { zone, first } => {
                format!("zone-{zone:08}/{first:08}-{number:08}-{token:016x}")
            }
            ObjectKind::Pack => format!("packs/{number:08}-{token:016x}"),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.offset(self.pages)
    }

    /// Returns the place of its page of this number.
    pub(crate) fn offset(&self, page: u32) -> u64 {
        self.start as u64 + page as u64 * PAGE_SIZE as u64
    }
}

impl Extent {
    /// Returns the pages of a zone that are a whole object.
    pub(crate) fn of_zone(zone: ZoneNumber, first: u32, pages: u32, origin: Origin) -> Extent {
        Extent {
            zone,
            first,
            pages,
            object: Object {
                kind: ObjectKind::Zone { zone, first },
                origin,
                start: 0,
                pages,
            },
            at: 0,
        }
    }

    /// Returns the page behind the last.
    pub(crate) fn end(&self) -> u32 {
        self.first + self.pages
    }

    /// Returns the number of a page of this extent among those of the object.
    pub(crate) fn place(&self, page: u32) -> u32 {
        self.at + (page - self.first)
    }

    fn is_within(&self) -> bool {
        let ends = (
            self.first.checked_add(self.pages),
            self.at.checked_add(self.pages),
        );
        matches!(ends, (Some(_), Some(end)) if end <= self.object.pages)
    }
}

/// Appends the objects, each once, and the extents in them.
pub(crate) fn encode_extents(extents: &[Extent], out: &mut Vec<u8>) {
    let mut numbers: BTreeMap<Object, u32> =
        extents.iter().map(|extent| (extent.object, 0)).collect();
    put(out, numbers.len() as u32);
    for (number, (object, assigned)) in (0..).zip(&mut numbers) {
        *assigned = number;
        let (zone, first) = match object.kind {
            ObjectKind::Zone { zone, first } => (zone, first),
            ObjectKind::Pack => (PACK, 0),
        };
        put(out, zone);
        put(out, first);
        put_origin(out, object.origin);
        put(out, object.start);
        put(out, object.pages);
    }
    put(out, extents.len() as u32);
    for extent in extents {
        put(out, extent.zone);
        put(out, extent.first);
        put(out, extent.pages);
        put(
            out,
            numbers.get(&extent.object).copied().unwrap_or_default(),
        );
        put(out, extent.at);
    }
}

/// Reads what [`encode_extents`] has written.
pub(crate) fn decode_extents(reader: &mut Reader<'_>) -> Result<Vec<Extent>, String> {
    let objects = reader.many(|reader| {
        let (zone, first) = (reader.u32()?, reader.u32()?);
        let kind = if zone == PACK {
            ObjectKind::Pack
        } else {
            ObjectKind::Zone { zone, first }
        };
        Ok(Object {
            kind,
            origin: reader.origin()?,
            start: reader.u32()?,
            pages: reader.u32()?,
        })
    })?;
    reader.many(|reader| {
        let (zone, first, pages) = (reader.u32()?, reader.u32()?, reader.u32()?);
        let number = reader.u32()?;
        let object = objects.get(number as usize).ok_or_else(|| {
            format!(
                "expected one of {} objects, found number {number}",
                objects.len()
            )
        })?;
        let extent = Extent {
            zone,
            first,
            pages,
            object: *object,
            at: reader.u32()?,
        };
        if extent.is_within() {
            Ok(extent)
        } else {
            Err(format!(
                "expected pages within the {} of an object, found {} from {} on",
                object.pages, extent.pages, extent.at
            ))
        }
    })
}

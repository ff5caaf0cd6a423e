//! The parts of a publication as bytes: the superblock object and the head of a pack.
//!
//! The superblock object is the only one that is replaced. It has the two root slots of an index,
//! and behind them a record of the publication, which names its packs, the newest last. The head of
//! the newest pack lists all objects that hold pages (`extent.rs`). Both end with a checksum, so
//! that what was cut short or is of something else is found out. `docs/format.md` has every byte.

use std::collections::BTreeSet;
use std::time::Duration;

use gannet::device::{PAGE_SIZE, ZoneNumber};

use crate::coding::{Origin, Reader, put, put_origin, seal, unseal};
use crate::extent::{Extent, Object, ObjectKind, decode_extents, encode_extents};

/// The publication that readers find from now on.
pub(crate) struct Published {
    pub(crate) publication: Publication,
    pub(crate) head: Head,
}

/// The object that is replaced.
pub(crate) const SUPERBLOCK: &str = "superblock";

/// The root slots of a superblock.
pub(crate) const SLOTS: usize = 2;

/// More bytes than a superblock object may have.
pub(crate) const SUPERBLOCK_MOST: u64 = 64 << 10;

const MARK: &[u8; 8] = b"GANNETPB";
const VERSION: u32 = 2;

/// The page of a root slot.
pub(crate) type Slot = [u8; PAGE_SIZE];

/// The contents of the superblock object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Publication {
    pub(crate) slots: Vec<Slot>,
    pub(crate) origin: Origin,
    /// The time that objects stay which a later publication does not name.
    pub(crate) keep: Duration,
    /// The newest last.
    pub(crate) packs: Vec<Pack>,
}

/// An object with pages that an opening reads. Its head comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pack {
    pub(crate) origin: Origin,
    pub(crate) head_bytes: u32,
    /// The pages of its directory, which openings read together with the head.
    pub(crate) pages: u32,
    /// The pages behind these, which are read like those of zones.
    pub(crate) others: u32,
}

/// An object that an earlier publication named, and since when none does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Retired {
    pub(crate) name: String,
    /// Seconds of the epoch.
    pub(crate) since: u64,
}

/// The head of a pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// All objects with pages of zones, sorted by zone and page.
    pub(crate) extents: Vec<Extent>,
    pub(crate) retired: Vec<Retired>,
    /// The pages in this pack, sorted, in the order in which they follow the head.
    pub(crate) directory: Vec<(ZoneNumber, u32)>,
}

impl Pack {
    pub(crate) fn name(&self) -> String {
        self.object().name()
    }

    /// Returns the bytes that an opening reads.
    pub(crate) fn bytes(&self) -> u64 {
        self.head_bytes as u64 + self.pages as u64 * PAGE_SIZE as u64
    }

    /// Returns the object that it is, with all its pages.
    pub(crate) fn object(&self) -> Object {
        Object {
            kind: ObjectKind::Pack,
            origin: self.origin,
            start: self.head_bytes,
            pages: self.pages.saturating_add(self.others),
        }
    }
}

/// Returns the objects that a publication names. Pages of zones may stand in packs that it does not
/// name themselves any more.
pub(crate) fn objects_of(extents: &[Extent], packs: &[Pack]) -> BTreeSet<Object> {
    let of_zones = extents.iter().map(|extent| extent.object);
    of_zones.chain(packs.iter().map(Pack::object)).collect()
}

/// Returns true if a publication may have an object of this name.
pub(crate) fn is_of_index(name: &str) -> bool {
    let is_part = |folder: &str, rest: &str| {
        (folder == "packs" || folder.starts_with("zone-")) && !rest.contains('/')
    };
    let parts = name.split_once('/');
    name == SUPERBLOCK || parts.is_some_and(|(folder, rest)| is_part(folder, rest))
}

impl Publication {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = self.slots.concat();
        out.extend_from_slice(MARK);
        put(&mut out, VERSION);
        put_origin(&mut out, self.origin);
        out.extend_from_slice(&self.keep.as_secs().to_le_bytes());
        put(&mut out, self.packs.len() as u32);
        for pack in &self.packs {
            put_origin(&mut out, pack.origin);
            put(&mut out, pack.head_bytes);
            put(&mut out, pack.pages);
            put(&mut out, pack.others);
        }
        seal(out)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Publication, String> {
        let body = unseal(bytes)?;
        let mut reader = Reader { rest: body };
        let mut slot = || -> Result<Slot, String> {
            let bytes = reader.take(PAGE_SIZE)?;
            bytes.try_into().map_err(|_| "no page".to_owned())
        };
        let slots = vec![slot()?, slot()?];
        if reader.take(MARK.len())? != MARK {
            return Err("expected the mark of a publication, found other bytes".to_owned());
        }
        let version = reader.u32()?;
        if version != VERSION {
            return Err(format!(
                "expected a publication of format {VERSION}, found {version}: use the gannet that published it, or publish the \
                 index again to an empty place"
            ));
        }
        let origin = reader.origin()?;
        let keep = Duration::from_secs(reader.u64()?);
        let count = reader.u32()?;
        let packs = (0..count).map(|_| {
            Ok(Pack {
                origin: reader.origin()?,
                head_bytes: reader.u32()?,
                pages: reader.u32()?,
                others: reader.u32()?,
            })
        });
        Ok(Publication {
            slots,
            origin,
            keep,
            packs: packs.collect::<Result<_, String>>()?,
        })
    }
}

impl Head {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        encode_extents(&self.extents, &mut out);
        put(&mut out, self.retired.len() as u32);
        for retired in &self.retired {
            put(&mut out, retired.name.len() as u32);
            out.extend_from_slice(retired.name.as_bytes());
            out.extend_from_slice(&retired.since.to_le_bytes());
        }
        put(&mut out, self.directory.len() as u32);
        for (zone, page) in &self.directory {
            put(&mut out, *zone);
            put(&mut out, *page);
        }
        seal(out)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Head, String> {
        let mut reader = Reader {
            rest: unseal(bytes)?,
        };
        let extents = decode_extents(&mut reader)?;
        let retired = reader.many(|reader| {
            let length = reader.u32()? as usize;
            let name = reader.take(length)?.to_vec();
            let name = String::from_utf8(name).map_err(|error| error.to_string())?;
            let since = reader.u64()?;
            Ok(Retired { name, since })
        })?;
        let directory = reader.many(|reader| Ok((reader.u32()?, reader.u32()?)))?;
        Ok(Head {
            extents,
            retired,
            directory,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publication() -> Publication {
        let origin = Origin {
            number: 7,
            token: 0xfeed,
        };
        let pack = Pack {
            origin,
            head_bytes: 100,
            pages: 3,
            others: 2,
        };
        Publication {
            slots: vec![[1; PAGE_SIZE], [2; PAGE_SIZE]],
            origin,
            keep: Duration::from_secs(3_600),
            packs: vec![pack; 2],
        }
    }

    fn head() -> Head {
        let origin = publication().origin;
        let own = Extent::of_zone(3, 4, 5, origin);
        let packed = Extent {
            zone: 7,
            first: 9,
            pages: 2,
            object: publication().packs[0].object(),
            at: 3,
        };
        Head {
            extents: vec![own, packed, own],
            retired: vec![Retired {
                name: own.object.name(),
                since: 1,
            }],
            directory: vec![(3, 4), (3, 6)],
        }
    }

    #[test]
    fn what_was_encoded_is_decoded() {
        let (publication, head) = (publication(), head());
        assert_eq!(Publication::decode(&publication.encode()), Ok(publication));
        assert_eq!(Head::decode(&head.encode()), Ok(head));
    }

    #[test]
    fn cut_and_flipped_bytes_are_found_out() {
        let (publication, head) = (publication().encode(), head().encode());
        for end in [0, 3, 4, 100, 8_191, 8_192, 8_200, publication.len() - 1] {
            assert!(Publication::decode(&publication[..end]).is_err(), "{end}");
        }
        (0..head.len()).for_each(|end| assert!(Head::decode(&head[..end]).is_err(), "{end}"));
        for at in 0..head.len() {
            let mut flipped = head.clone();
            flipped[at] ^= 1;
            assert!(Head::decode(&flipped).is_err(), "{at}");
        }
        let mut flipped = publication.clone();
        flipped[9_000.min(publication.len() - 5)] ^= 1;
        assert!(Publication::decode(&flipped).is_err());
    }

    #[test]
    fn objects_of_other_programs_are_told_apart() {
        let extent = head().extents[0];
        for name in [
            SUPERBLOCK,
            &extent.object.name(),
            &publication().packs[0].name(),
        ] {
            assert!(is_of_index(name), "{name}");
        }
        for name in ["readme.txt", "photos/1.jpg", "zone-00000001", "packs/a/b"] {
            assert!(!is_of_index(name), "{name}");
        }
    }
}

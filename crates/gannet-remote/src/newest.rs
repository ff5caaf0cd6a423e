//! Looking for the newest publication, and reading what an opening needs of it.
//!
//! The superblock is read first, and then all packs that are not at hand, side by side. What always
//! holds: a catalog is made of one publication whole, so that readers never see a mixture.

use std::sync::{Arc, mpsc};
use std::time::Instant;

use bytes::Bytes;
use gannet::device::FileId;
use gannet::{Error, IndexIdentity, Result, prove_page};

use crate::catalog::{LoadedPack, identity_in};
use crate::coding::Origin;
use crate::device::{RemoteDevice, lock};
use crate::fault::{Answer, Fault};
use crate::link::{Got, Wanted};
use crate::publication::{Head, Pack, Publication, SUPERBLOCK, SUPERBLOCK_MOST};

/// The number of attempts to read a publication that is replaced meanwhile, or that is not what was
/// written.
const LOOKS: u32 = 4;

/// The memory of a head, as a multiple of its bytes: an extent has 20 bytes in it, 56 once it is
/// decoded, and about 128 in the catalog.
const HEAD_GROWTH: usize = 11;

impl RemoteDevice {
    /// Looks at the superblock if the last look is old.
    pub(crate) fn refresh(&self) -> Result<()> {
        let mut looked = lock(&self.looked);
        if looked.elapsed() < self.refresh {
            return Ok(());
        }
        self.look()?;
        *looked = Instant::now();
        Ok(())
    }

    /// Takes in the newest publication.
    pub(crate) fn look(&self) -> Result<()> {
        for _ in 0..LOOKS {
            let Some((version, publication)) = self.newest()? else {
                return Ok(());
            };
            let newest = publication.packs.last();
            newest.map_or(Ok(()), |pack| self.check_head(pack))?;
            match self.take(version, publication) {
                Err(Fault::Missing) => {}
                done => return done.map_err(|fault| self.failed(fault, "packs")),
            }
        }
        Err(self.failed(Fault::Missing, "packs"))
    }

    /// Fails if the head of a pack, which lists all objects, would take more memory than there is
    /// for it. It says its length itself, and whoever wrote it may be anybody.
    pub(crate) fn check_head(&self, pack: &Pack) -> Result<()> {
        let needed = (pack.head_bytes as usize).saturating_mul(HEAD_GROWTH);
        if needed <= self.heads {
            Ok(())
        } else {
            Err(Error::Memory {
                what: format!("the list of objects of {}", self.objects.url()).into(),
                needed,
                free: self.heads,
                budget: self.budget,
            })
        }
    }

    /// The superblock, if it is another than the one that is known.
    pub(crate) fn newest(&self) -> Result<Option<(Option<String>, Publication)>> {
        let mut wrong = String::new();
        for look in 0..LOOKS {
            if look > 0 {
                self.objects.link().count_retry();
            }
            let Some(got) = self.superblock()? else {
                return Ok(None);
            };
            match Publication::decode(&got.bytes) {
                Ok(publication) => return Ok(Some((got.version, publication))),
                Err(reason) => wrong = reason,
            }
        }
        Err(Error::damaged(self.objects.url_of(SUPERBLOCK), wrong))
    }

    /// The superblock object, if it is another than the one that is known.
    fn superblock(&self) -> Result<Option<Got>> {
        let known = self.catalog().version.clone();
        let got = self.objects.get(Wanted {
            name: SUPERBLOCK.to_owned(),
            range: None,
            most: SUPERBLOCK_MOST,
            known: known.clone(),
        });
        match got {
            Err(Fault::Same) => Ok(None),
            Err(Fault::Missing) if known.is_none() => Ok(None),
            Err(Fault::Missing) => Err(self.removed()),
            // Stores may answer with what is known all the same.
            Ok(got) if known.is_some() && got.version == known => Ok(None),
            Ok(got) => Ok(Some(got)),
            Err(fault) => Err(self.failed(fault, SUPERBLOCK)),
        }
    }

    /// Reads what is not at hand of the packs of a publication, all at once, and makes it the
    /// catalog.
    fn take(&self, version: Option<String>, publication: Publication) -> Answer<()> {
        let before = self.catalog();
        let is_named = |origin: Origin| publication.packs.iter().any(|of| of.origin == origin);
        let kept = before.without_packs(is_named);
        self.set_catalog(kept);
        drop(before);
        let before = self.catalog();
        let mut room = self.packs;
        let mut wanted: Vec<(Pack, Wanted)> = Vec::new();
        for (age, pack) in publication.packs.iter().rev().enumerate() {
            let fits = pack.bytes() <= room as u64;
            room -= if fits { pack.bytes() as usize } else { 0 };
            if age == 0 || fits && before.pack(pack.origin).is_none() {
                wanted.push((*pack, wanted_of(pack, fits)));
            }
        }
        let newest = publication.packs.last().map(|pack| pack.origin);
        let (mut head, mut packs) = (Head::default(), Vec::new());
        for (pack, bytes) in self.get_all(wanted, identity_in(&publication.slots))? {
            let end = (pack.head_bytes as usize).min(bytes.len());
            let found = Head::decode(&bytes[..end]).map_err(Fault::Failed)?;
            packs.push(Arc::new(LoadedPack::new(&pack, &found, &bytes)));
            if Some(pack.origin) == newest {
                head = found;
            }
        }
        let named = publication.packs.iter().map(|pack| pack.origin);
        let at_hand = named.filter_map(|origin| before.pack(origin));
        packs.extend(at_hand.cloned());
        self.set_catalog(before.followed_by(version, publication, head, packs));
        Ok(())
    }

    /// Reads some objects side by side.
    fn get_all(
        &self,
        wanted: Vec<(Pack, Wanted)>,
        identity: Option<IndexIdentity>,
    ) -> Answer<Vec<(Pack, Bytes)>> {
        self.objects.count_round();
        let deadline = self.objects.deadline();
        let (sender, receiver) = mpsc::channel();
        let count = wanted.len();
        for (pack, wanted) in wanted {
            let (link, sender) = (self.objects.link(), sender.clone());
            self.objects.begin(async move {
                let check = |bytes: &[u8]| prove_pack(&pack, identity, bytes);
                let got = link.get(&wanted, deadline, check).await;
                let _ = sender.send(got.map(|got| (pack, got.bytes)));
            });
        }
        drop(sender);
        let got = receiver.into_iter().collect::<Answer<Vec<_>>>()?;
        if got.len() == count {
            Ok(got)
        } else {
            Err(Fault::Failed("a request ended early".to_owned()))
        }
    }
}

/// Returns the part of a pack to read: all of it, or its head if there is no room.
fn wanted_of(pack: &Pack, whole: bool) -> Wanted {
    let bytes = if whole {
        pack.bytes()
    } else {
        pack.head_bytes as u64
    };
    Wanted {
        name: pack.name(),
        range: Some(0..bytes),
        most: bytes,
        known: None,
    }
}

/// Fails unless the head of a pack, and each page that came with it, prove themselves.
fn prove_pack(
    pack: &Pack,
    identity: Option<IndexIdentity>,
    bytes: &[u8],
) -> std::result::Result<(), String> {
    let (head, pages) = bytes.split_at((pack.head_bytes as usize).min(bytes.len()));
    let head = Head::decode(head)?;
    let Some(identity) = identity else {
        return Ok(());
    };
    for ((zone, page), bytes) in head.directory.iter().zip(pages.as_chunks().0) {
        prove_page(bytes, identity, FileId::Zone(*zone), *page)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

//! The superblock: two root slots that checkpoints write in turn.
//!
//! A slot names the newest root record, which stands in a zone like everything else. A checkpoint
//! makes all it refers to durable, then overwrites the older slot; whichever slot is whole and
//! newer counts. Once that is durable, the other slot gets the same content, for what the older
//! root refers to is about to be removed: a slot that is damaged later must not bring it back.
//! These two pages are the only ones that are ever overwritten.
//!
//! A slot also says whether what it belongs to is an index that its own writer has written, a
//! backup, or a copy that is not whole. While a copy is made for the first time, the slots say so;
//! the real ones come last.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::history::History;
use super::replay::LogReach;
use super::seal::{self, IndexIdentity, PageKind, SealAddress};
use crate::base::{ByteReader, Error, PAGE_PAYLOAD, PAGE_SIZE, Result, Span, put_u32, put_u64};
use crate::device::{Device, FileId, PageBuffer, PagePool, Transfer};

/// The format that this program writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 13;

const MAGIC: &[u8; 8] = b"GANNETIX";
const SLOTS: u32 = 2;

/// The remedy for an index that an older program wrote.
pub const EXPORT_FIRST: &str = "export its documents with the gannet that wrote it, as by `gannet export INDEX > FILE`, and index FILE \
     with this one";

/// The remedy for one slot that is damaged.
const REMEDY: &str = "open the index for writing, which writes it anew from the other slot";

/// The content of a root slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootSlot {
    /// The identity of the index.
    pub identity: IndexIdentity,
    /// Ascending with each checkpoint.
    pub generation: u64,
    /// The root record.
    pub root: Span,
    /// The kind of its owner.
    pub kind: SlotKind,
    /// The openings for writing that led to it.
    pub history: History,
}

/// The owner of a root slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SlotKind {
    /// An index as its own writer left it: the log goes on behind the root.
    Index = 0,
    /// A backup: whatever stands behind the root belongs to a later backup that is not whole.
    Backup = 1,
    /// A first copy that is not whole: there is no root yet.
    Unfinished = 2,
}

impl SlotKind {
    fn from_number(number: u8) -> Option<SlotKind> {
        use SlotKind::*;
        [Index, Backup, Unfinished]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}

impl RootSlot {
    /// Returns the reach of the log behind this root.
    pub fn log_reach(&self) -> LogReach {
        match self.kind {
            SlotKind::Backup => LogReach::Known,
            SlotKind::Index | SlotKind::Unfinished => LogReach::Written,
        }
    }
}

/// The result of opening the superblock.
#[derive(Debug)]
pub enum Found {
    /// No index: the superblock is missing, or was never completed.
    Nothing,
    /// The newest root.
    Root(RootSlot),
    /// A first copy of the index with this identity, which is not whole.
    Unfinished(IndexIdentity),
}

/// Looks for the newest root on a device. `path` is for error messages.
pub fn find_root(device: &Arc<dyn Device>, path: &Path) -> Result<Found> {
    let pages = device
        .list()?
        .into_iter()
        .find_map(|(file, pages)| (file == FileId::Superblock).then_some(pages));
    let Some(pages @ 1..) = pages else {
        return nothing(device);
    };
    let slots = read_slots(device, pages.min(SLOTS))?;
    let empty = |page: &PageBuffer| page.iter().all(|byte| *byte == 0);
    if slots.iter().all(empty) {
        return nothing(device);
    }
    check_version(&slots, path)?;
    let mut newest: Option<RootSlot> = None;
    let mut problem = None;
    for (number, page) in (0..).zip(&slots) {
        match decode_slot(page, number) {
            Ok(slot) if is_newer(&slot, newest.as_ref()) => newest = Some(slot),
            Ok(_) => {}
            Err(error) => problem = Some(error),
        }
    }
    match (newest, problem) {
        (Some(slot), _) if slot.kind == SlotKind::Unfinished => {
            Ok(Found::Unfinished(slot.identity))
        }
        (Some(slot), _) => Ok(Found::Root(slot)),
        (None, Some(_)) if slots.first().is_some_and(empty) && !has_log(device)? => {
            Ok(Found::Nothing)
        }
        (None, Some(error)) => Err(error),
        (None, None) => nothing(device),
    }
}

/// There is no root. Where there is a log all the same, there was one, and nothing may be made in
/// its place.
fn nothing(device: &Arc<dyn Device>) -> Result<Found> {
    if has_log(device)? {
        Err(Error::damaged(
            FileId::Superblock.name(),
            "expected a root, since there are zones of an index, got none",
        ))
    } else {
        Ok(Found::Nothing)
    }
}

/// Fails if a slot belongs to an index of another format. A slot of another version counts if it
/// proves itself, since the mark, the version, the identity and the proof stand in the same place
/// in every format; else its version is damaged, unless all slots have the same.
fn check_version(slots: &[PageBuffer], path: &Path) -> Result<()> {
    let versions: Vec<Option<u32>> = slots.iter().map(|page| version_of(page)).collect();
    let agree = versions.len() > 1 && versions.iter().all(|version| *version == versions[0]);
    for (number, (page, version)) in (0..).zip(slots.iter().zip(&versions)) {
        match version {
            Some(version)
                if *version != FORMAT_VERSION && (agree || proves_itself(page, number)) =>
            {
                return Err(other_format(*version, path));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The version that a slot says, if it is the slot of an index.
fn version_of(page: &[u8; PAGE_SIZE]) -> Option<u32> {
    let mut reader = ByteReader::new(page, "the superblock");
    let is_marked = reader.take(MAGIC.len()).is_ok_and(|mark| mark == MAGIC);
    reader.u32().ok().filter(|_| is_marked)
}

/// The identity of the index that the root slot `number` belongs to, if these bytes are one.
pub fn identity_of_slot(bytes: &[u8; PAGE_SIZE], number: u32) -> Option<IndexIdentity> {
    decode_slot(bytes, number).ok().map(|slot| slot.identity)
}

fn proves_itself(page: &[u8; PAGE_SIZE], number: u32) -> bool {
    let mut reader = ByteReader::new(&page[MAGIC.len() + size_of::<u32>()..], "the superblock");
    let identity = reader.u64();
    identity.is_ok_and(|identity| seal::verify(page, identity, seal_address(number)).is_ok())
}

fn other_format(version: u32, path: &Path) -> Error {
    let remedy = if version > FORMAT_VERSION {
        "use a newer gannet"
    } else {
        EXPORT_FIRST
    };
    Error::Format {
        path: PathBuf::from(path).join(FileId::Superblock.name()),
        reason: format!(
            "the index has format {version}, this program reads format {FORMAT_VERSION}: {remedy}"
        ),
    }
}

fn is_newer(slot: &RootSlot, other: Option<&RootSlot>) -> bool {
    other.is_none_or(|other| other.generation < slot.generation)
}

/// Returns true if there are more zones than the one with the first root. If not, an index was
/// being made when power was lost, its first slot is torn, and nothing was ever written to it.
fn has_log(device: &Arc<dyn Device>) -> Result<bool> {
    let files = device.list()?;
    let zones = files.iter().filter(|(file, _)| *file != FileId::Superblock);
    Ok(zones.count() > 1)
}

/// Makes an empty superblock.
pub fn create_superblock(device: &Arc<dyn Device>) -> Result<()> {
    let exists = device
        .list()?
        .iter()
        .any(|(file, _)| *file == FileId::Superblock);
    if !exists {
        device.create(FileId::Superblock)?;
    }
    device.sync_directory()
}

/// Makes a superblock that says that a copy of the index with this identity is being made, and
/// makes that durable. Until a root is written, nothing else can be read there.
pub fn begin_copy(device: &Arc<dyn Device>, identity: IndexIdentity) -> Result<()> {
    create_superblock(device)?;
    let slot = RootSlot {
        identity,
        generation: 0,
        root: Span {
            zone: 0,
            page: 0,
            offset: 0,
            length: 0,
        },
        kind: SlotKind::Unfinished,
        history: History::default(),
    };
    // The first page comes last: while it is empty, what is torn in the other counts as nothing.
    write_page(device, &slot, 1)?;
    write_page(device, &slot, 0)
}

/// Writes a root into the older slot, then into the other, and makes each durable in turn. All that
/// it refers to must be durable already.
pub fn write_slot(device: &Arc<dyn Device>, slot: &RootSlot) -> Result<()> {
    let older = (slot.generation % SLOTS as u64) as u32;
    write_page(device, slot, older)?;
    write_page(device, slot, 1 - older)
}

/// Makes a root that was found durable and writes it into the other slot, too: it may have been
/// written by a process that died before it had synced it.
pub fn settle_slot(device: &Arc<dyn Device>, slot: &RootSlot) -> Result<()> {
    device.sync(&[FileId::Superblock])?;
    let pages = device.list()?;
    let written = pages.contains(&(FileId::Superblock, SLOTS));
    let slots = if written {
        read_slots(device, SLOTS)?
    } else {
        Vec::new()
    };
    let whole = (0..)
        .zip(&slots)
        .filter(|(page, bytes)| decode_slot(bytes, *page).is_ok_and(|found| found == *slot));
    let whole: Vec<u32> = whole.map(|(page, _)| page).collect();
    let missing = (0..SLOTS).filter(|page| !whole.contains(page));
    missing
        .into_iter()
        .try_for_each(|page| write_page(device, slot, page))
}

/// The faults of the root slots, of which one that is whole is enough to open the index.
#[derive(Clone, Debug, Default)]
pub struct SlotFaults {
    /// Slots that are damaged.
    pub damaged: Vec<String>,
    /// Slots that look like a write that was cut short.
    pub torn: Vec<String>,
}

/// Reads both root slots. One that was never written, since power was lost while the index was
/// made, is not wrong.
pub fn check_slots(device: &Arc<dyn Device>) -> Result<SlotFaults> {
    let files = device.list()?.into_iter();
    let superblock = files.filter(|(file, _)| *file == FileId::Superblock);
    let pages = superblock.map(|(_, pages)| pages.min(SLOTS)).sum();
    let slots = read_slots(device, pages)?;
    let decode = |(number, page): (u32, &PageBuffer)| decode_slot(page, number);
    let decoded: Vec<Result<RootSlot>> = (0..).zip(&slots).map(decode).collect();
    let whole = decoded.iter().filter_map(|slot| slot.as_ref().ok());
    let mut faults = SlotFaults::default();
    let Some(newest) = whole.max_by_key(|slot| slot.generation).cloned() else {
        return Ok(faults);
    };
    if newest.generation > 1 && pages < SLOTS {
        faults.damaged.push(format!(
            "expected {SLOTS} root slots, got {pages}; {REMEDY}"
        ));
    }
    for ((number, page), slot) in (0..).zip(&slots).zip(decoded) {
        let is_empty = page.iter().all(|byte| *byte == 0);
        if let Err(Error::Damaged { reason, .. }) = slot
            && (newest.generation > 1 || !is_empty)
        {
            if is_torn(page, number, &newest)? {
                faults
                    .torn
                    .push(format!("root slot {number}: {reason}; {REMEDY}"))
            } else {
                faults
                    .damaged
                    .push(format!("damaged root slot {number}: {reason}; {REMEDY}"))
            }
        }
    }
    Ok(faults)
}

/// Returns true if a slot that does not prove itself looks as if a root was being written over an
/// older one: its content is of an older root or a newer, or is all of the newest but for a
/// checksum that is not nearly the right one.
fn is_torn(page: &PageBuffer, number: u32, newest: &RootSlot) -> Result<bool> {
    let mut written = take(&PagePool::new(1))?;
    encode_slot(newest, number, &mut written);
    let sum = PAGE_SIZE - 4;
    let others = page[sum..].iter().zip(&written[sum..]);
    let others = others.filter(|(got, expected)| got != expected).count();
    let is_other =
        |slot: RootSlot| slot.identity == newest.identity && slot.generation != newest.generation;
    let all_but_sum = page[..sum] == written[..sum] && others > 1;
    Ok(all_but_sum || decode_unproved(page).is_ok_and(is_other))
}

fn write_page(device: &Arc<dyn Device>, slot: &RootSlot, page: u32) -> Result<()> {
    let pool = PagePool::new(1);
    let mut buffer = take(&pool)?;
    encode_slot(slot, page, &mut buffer);
    let transfer = Transfer {
        file: FileId::Superblock,
        page,
        buffers: vec![buffer],
    };
    device.write(&mut [transfer])?;
    device.sync(&[FileId::Superblock])
}

fn take(pool: &PagePool) -> Result<PageBuffer> {
    pool.take()
        .ok_or_else(|| Error::internal("no page buffer for the superblock"))
}

fn read_slots(device: &Arc<dyn Device>, pages: u32) -> Result<Vec<PageBuffer>> {
    let pool = PagePool::new(pages as usize);
    let buffers = (0..pages)
        .map(|_| take(&pool))
        .collect::<Result<Vec<_>>>()?;
    let mut batch = [Transfer {
        file: FileId::Superblock,
        page: 0,
        buffers,
    }];
    device.read(&mut batch)?;
    let [transfer] = batch;
    Ok(transfer.buffers)
}

fn encode_slot(slot: &RootSlot, page: u32, buffer: &mut PageBuffer) {
    let mut bytes = MAGIC.to_vec();
    put_u32(&mut bytes, FORMAT_VERSION);
    put_u64(&mut bytes, slot.identity);
    put_u64(&mut bytes, slot.generation);
    slot.root.encode(&mut bytes);
    bytes.push(slot.kind as u8);
    slot.history.encode(&mut bytes);
    buffer.fill(0);
    buffer[..bytes.len()].copy_from_slice(&bytes);
    debug_assert!(decode_unproved(buffer).is_ok_and(|read| read.root == slot.root));
    seal::seal(
        buffer,
        slot.identity,
        seal_address(page),
        PageKind::RootSlot,
    );
}

fn seal_address(page: u32) -> SealAddress {
    SealAddress {
        file: FileId::Superblock,
        page,
    }
}

fn decode_slot(page: &[u8; PAGE_SIZE], number: u32) -> Result<RootSlot> {
    let slot = decode_unproved(page)?;
    seal::verify(page, slot.identity, seal_address(number))?;
    Ok(slot)
}

/// Decodes a slot, even if it does not prove itself.
pub(crate) fn decode_unproved(page: &[u8; PAGE_SIZE]) -> Result<RootSlot> {
    let mut reader = ByteReader::new(&page[..PAGE_PAYLOAD], "the superblock");
    if reader.take(MAGIC.len())? != MAGIC {
        return Err(reader.damaged("the mark of a Gannet index", "other bytes"));
    }
    let version = reader.u32()?;
    if version != FORMAT_VERSION {
        return Err(reader.damaged(&format!("format {FORMAT_VERSION}"), version));
    }
    let identity = reader.u64()?;
    let (generation, root) = (reader.u64()?, Span::decode(&mut reader)?);
    let kind = reader.u8()?;
    let kind = SlotKind::from_number(kind)
        .ok_or_else(|| reader.damaged("the kind of a root slot, 0 to 2", kind))?;
    Ok(RootSlot {
        identity,
        generation,
        root,
        kind,
        history: History::decode(&mut reader)?,
    })
}

//! Reads headers of blocks, and answers that prove themselves.

use std::sync::Arc;

use super::block::{AnswerBlock, BLOCK_PAGES};
use super::places::{AnswerPlaces, PlaceOfAnswer};
use crate::base::{Error, PAGE_SIZE, Result};
use crate::device::{Device, FileId, PageBuffer, PagePool, Transfer};

const ANSWERS: FileId = FileId::Answers;

/// Headers that are read at once.
const AT_ONCE: usize = BLOCK_PAGES;

/// Makes the file ready for a writer: one that is missing or longer than it may be is made anew.
pub(super) fn make_ready(device: &Arc<dyn Device>, blocks: usize) -> Result<()> {
    match pages_of_file(device)? {
        Some(pages) if pages <= blocks * BLOCK_PAGES => Ok(()),
        Some(_) => {
            device.remove(ANSWERS)?;
            device.create(ANSWERS)
        }
        None => device.create(ANSWERS),
    }
}

/// Fails unless the file is there.
pub(super) fn check_there(device: &Arc<dyn Device>) -> Result<()> {
    match pages_of_file(device)? {
        Some(_) => Ok(()),
        None => Err(Error::Device {
            operation: "write",
            file: ANSWERS.name(),
            reason: "expected the file that was opened, found none: it was removed meanwhile"
                .to_owned(),
            full: false,
        }),
    }
}

fn pages_of_file(device: &Arc<dyn Device>) -> Result<Option<usize>> {
    let files = device.list()?;
    let file = files.into_iter().find(|(file, _)| *file == ANSWERS);
    Ok(file.map(|(_, pages)| pages as usize))
}

/// Takes in the headers of all blocks that the file has. Gives that of the block begun last.
pub(super) fn scan(
    device: &Arc<dyn Device>,
    places: &mut AnswerPlaces,
    buffers: &PagePool,
) -> Option<AnswerBlock> {
    let pages = pages_of_file(device).ok().flatten().unwrap_or(0);
    let blocks = pages.div_ceil(BLOCK_PAGES).min(places.blocks()) as u32;
    let mut newest: Option<AnswerBlock> = None;
    for first in (0..blocks).step_by(AT_ONCE) {
        let some = first..blocks.min(first + AT_ONCE as u32);
        for header in headers(device, some, buffers).into_iter().flatten() {
            places.take_in(&header);
            let known = newest.as_ref().map_or(0, |known| known.name.sequence);
            if header.name.sequence > known {
                newest = Some(header);
            }
        }
    }
    newest
}

/// The headers of some blocks, as far as they prove themselves.
fn headers(
    device: &Arc<dyn Device>,
    blocks: std::ops::Range<u32>,
    buffers: &PagePool,
) -> Vec<Option<AnswerBlock>> {
    let take = |block: u32| Some(transfer(block, 0, vec![buffers.take()?]));
    let batch: Option<Vec<Transfer>> = blocks.clone().map(take).collect();
    let Some(mut batch) = batch else {
        return Vec::new();
    };
    if device.read(&mut batch).is_ok() {
        let read = blocks.zip(batch);
        return read
            .map(|(block, transfer)| decode(block, &transfer))
            .collect();
    }
    drop(batch);
    blocks.map(|block| header(device, block, buffers)).collect()
}

/// The header of a block, if it proves itself.
pub(super) fn header(
    device: &Arc<dyn Device>,
    block: u32,
    buffers: &PagePool,
) -> Option<AnswerBlock> {
    let mut batch = [transfer(block, 0, vec![buffers.take()?])];
    device.read(&mut batch).ok()?;
    decode(block, &batch[0])
}

fn decode(block: u32, transfer: &Transfer) -> Option<AnswerBlock> {
    AnswerBlock::decode(transfer.buffers.first()?, block)
}

/// Bytes of memory that reading the answer at a place takes at most.
pub(super) fn reading_bytes(place: &PlaceOfAnswer) -> usize {
    (2 * place.pages + 2) * PAGE_SIZE
}

/// The bytes of the answer at a place, if they prove themselves by the header that is there now.
pub(super) fn answer(device: &Arc<dyn Device>, place: &PlaceOfAnswer) -> Option<Vec<u8>> {
    let buffers = PagePool::try_new(place.pages + 1)?;
    let pages = (0..place.pages).map(|_| buffers.take());
    let pages: Option<Vec<PageBuffer>> = pages.collect();
    let mut batch = [
        transfer(place.block, 0, vec![buffers.take()?]),
        transfer(place.block, place.first_page, pages?),
    ];
    device.read(&mut batch).ok()?;
    let header = decode(place.block, &batch[0])?;
    let (_, slot) = header
        .valid_slots()
        .find(|(number, _)| *number == place.number)?;
    if slot.span() != (place.first_page, place.pages) {
        return None;
    }
    let mut bytes = Vec::with_capacity(place.pages * PAGE_SIZE);
    batch[1]
        .buffers
        .iter()
        .for_each(|page| bytes.extend_from_slice(&page[..]));
    let from = slot.offset as usize - place.first_page * PAGE_SIZE;
    bytes.truncate(from + slot.length as usize);
    bytes.drain(..from);
    (header.name.sum(&bytes) == slot.sum).then_some(bytes)
}

/// A transfer of pages of a block.
pub(super) fn transfer(block: u32, page: usize, buffers: Vec<PageBuffer>) -> Transfer {
    Transfer {
        file: ANSWERS,
        page: block * BLOCK_PAGES as u32 + page as u32,
        buffers,
    }
}

//! Plans the ranges of objects that a batch of reads needs.
//!
//! Pages of one object become one request where what lies between them costs less to read than
//! another request: the gap that the link justifies. What always holds: a page is in one request,
//! and no request is longer than the most that is read at once.

use gannet::device::{FileId, PAGE_SIZE, Transfer};
use gannet::{Error, Result};

use crate::catalog::{Catalog, Found};
use crate::extent::Object;

/// A page of a batch that a request brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) file: FileId,
    pub(crate) page: u32,
    /// Its number among the pages of the object.
    pub(crate) at: u32,
    /// The transfer of the batch, and the buffer in it.
    pub(crate) transfer: usize,
    pub(crate) buffer: usize,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) object: Object,
    /// The first page of the object, and the one behind the last.
    pub(crate) first: u32,
    pub(crate) end: u32,
    pub(crate) pieces: Vec<Piece>,
}

impl Request {
    /// The bytes of the object.
    pub(crate) fn range(&self) -> std::ops::Range<u64> {
        self.object.offset(self.first)..self.object.offset(self.end)
    }

    /// Returns the range of a piece in the body.
    pub(crate) fn place(&self, piece: &Piece) -> std::ops::Range<usize> {
        let at = (piece.at - self.first) as usize * PAGE_SIZE;
        at..at + PAGE_SIZE
    }
}

/// The rules for joining requests, in pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joining {
    pub(crate) gap: u32,
    pub(crate) most: u32,
}

/// Fills the pages of a batch that are in memory and plans requests for the others. `missing` is
/// the error for a page that is nowhere.
pub(crate) fn plan(
    catalog: &Catalog,
    batch: &mut [Transfer],
    joining: Joining,
    missing: impl Fn(FileId, u32) -> Error,
) -> Result<Vec<Request>> {
    let mut wanted: Vec<(Object, Piece)> = Vec::new();
    for (number, transfer) in batch.iter_mut().enumerate() {
        let file = transfer.file;
        for (at, buffer) in transfer.buffers.iter_mut().enumerate() {
            let page = transfer.page.checked_add(at as u32);
            let page = page.ok_or_else(|| missing(file, transfer.page))?;
            match catalog.find(file, page) {
                Some(Found::Page(bytes)) => buffer.copy_from_slice(bytes),
                Some(Found::In(extent)) => {
                    let piece = Piece {
                        file,
                        page,
                        at: extent.place(page),
                        transfer: number,
                        buffer: at,
                    };
                    wanted.push((extent.object, piece));
                }
                None => return Err(missing(file, page)),
            }
        }
    }
    wanted.sort_by_key(|(object, piece)| (*object, piece.at));
    Ok(join(wanted, joining))
}

fn join(wanted: Vec<(Object, Piece)>, joining: Joining) -> Vec<Request> {
    let mut requests: Vec<Request> = Vec::new();
    for (object, piece) in wanted {
        match requests.last_mut() {
            Some(last) if last.object == object && follows(last, piece.at, joining) => {
                last.end = last.end.max(piece.at + 1);
                last.pieces.push(piece);
            }
            _ => requests.push(Request {
                object,
                first: piece.at,
                end: piece.at + 1,
                pieces: vec![piece],
            }),
        }
    }
    requests
}

fn follows(last: &Request, page: u32, joining: Joining) -> bool {
    page.saturating_sub(last.end) <= joining.gap && page - last.first < joining.most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::Origin;
    use crate::extent::Extent;

    fn ranges(pages: &[u32], gap: u32, most: u32) -> Vec<(u32, u32)> {
        let origin = Origin {
            number: 1,
            token: 1,
        };
        let object = Extent::of_zone(1, 0, 1_000, origin).object;
        let piece = |page: &u32| Piece {
            file: FileId::Zone(1),
            page: *page,
            at: *page,
            transfer: 0,
            buffer: 0,
        };
        let wanted = pages.iter().map(|page| (object, piece(page))).collect();
        let requests = join(wanted, Joining { gap, most });
        requests.iter().map(|of| (of.first, of.end)).collect()
    }

    #[test]
    fn requests_are_joined_across_small_gaps_only() {
        assert_eq!(ranges(&[1, 2, 3], 0, 64), [(1, 4)]);
        assert_eq!(ranges(&[1, 3], 0, 64), [(1, 2), (3, 4)]);
        assert_eq!(ranges(&[1, 3, 9], 1, 64), [(1, 4), (9, 10)]);
        assert_eq!(ranges(&[1, 9], 7, 64), [(1, 10)]);
        assert_eq!(ranges(&[1, 1, 2], 0, 64), [(1, 3)]);
    }

    #[test]
    fn no_request_is_longer_than_the_most() {
        assert_eq!(ranges(&[0, 1, 2, 3, 4], 0, 2), [(0, 2), (2, 4), (4, 5)]);
        assert_eq!(ranges(&[0, 5], 100, 4), [(0, 1), (5, 6)]);
    }
}

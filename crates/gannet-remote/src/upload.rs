//! One object of consecutive pages on its way: small ones in one request, large ones in parts.

use gannet::Result;
use gannet::device::{PAGE_SIZE, PageBuffer, ZoneNumber};
use object_store::MultipartUpload;

use crate::coding::Origin;
use crate::extent::Extent;
use crate::objects::Objects;

/// Bytes of a part: the least that S3 takes, a whole number of pages.
pub(crate) const PART: usize = 5 << 20;

/// An object that is being written.
pub(crate) struct Upload {
    pub(crate) zone: ZoneNumber,
    pub(crate) first: u32,
    pages: u32,
    origin: Origin,
    buffer: Vec<u8>,
    parts: Option<Box<dyn MultipartUpload>>,
}

impl Upload {
    /// An object of a zone that begins with this page, and has no pages yet.
    pub(crate) fn new(zone: ZoneNumber, first: u32, origin: Origin) -> Upload {
        Upload {
            zone,
            first,
            pages: 0,
            origin,
            buffer: Vec::new(),
            parts: None,
        }
    }

    /// Adds pages.
    pub(crate) fn add(&mut self, objects: &Objects, pages: &[PageBuffer]) -> Result<()> {
        for page in pages {
            if self.buffer.len() + PAGE_SIZE > PART {
                self.send_part(objects)?;
            }
            self.buffer.extend_from_slice(&page[..]);
            self.pages += 1;
        }
        Ok(())
    }

    fn send_part(&mut self, objects: &Objects) -> Result<()> {
        let name = self.extent().object.name();
        let parts = match &mut self.parts {
            Some(parts) => parts,
            parts => parts.insert(objects.begin_parts(&name)?),
        };
        let part = std::mem::take(&mut self.buffer);
        objects.put_part(&name, parts, part)
    }

    fn extent(&self) -> Extent {
        Extent::of_zone(self.zone, self.first, self.pages, self.origin)
    }

    /// Returns the pages if none was sent yet.
    pub(crate) fn unsent(&mut self) -> Option<&mut Vec<u8>> {
        let is_unsent = self.parts.is_none() && self.pages > 0;
        is_unsent.then_some(&mut self.buffer)
    }

    /// Ends the object; nothing if it has no pages.
    pub(crate) fn finish(mut self, objects: &Objects) -> Result<Option<Extent>> {
        if self.pages == 0 {
            return Ok(None);
        }
        let name = self.extent().object.name();
        if self.parts.is_none() {
            objects.put(&name, std::mem::take(&mut self.buffer))?;
            return Ok(Some(self.extent()));
        }
        self.send_part(objects)?;
        if let Some(parts) = self.parts.take() {
            objects.complete_parts(&name, parts)?;
        }
        Ok(Some(self.extent()))
    }
}

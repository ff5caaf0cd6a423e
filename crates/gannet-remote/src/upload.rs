//! One object of consecutive pages on its way: small ones in one request, large ones in parts.

use gannet::Result;
use gannet::device::{PAGE_SIZE, PageBuffer};
use object_store::MultipartUpload;

use crate::objects::Objects;
use crate::publication::Extent;

/// Bytes of a part: the least that S3 takes, a whole number of pages.
pub(crate) const PART: usize = 5 << 20;

/// An object that is being written.
pub(crate) struct Upload {
    extent: Extent,
    buffer: Vec<u8>,
    parts: Option<Box<dyn MultipartUpload>>,
}

impl Upload {
    /// An object that begins where `extent` does, and has no pages yet.
    pub(crate) fn new(extent: Extent) -> Upload {
        Upload {
            extent,
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
            self.extent.pages += 1;
        }
        Ok(())
    }

    fn send_part(&mut self, objects: &Objects) -> Result<()> {
        let name = self.extent.name();
        let parts = match &mut self.parts {
            Some(parts) => parts,
            parts => parts.insert(objects.begin_parts(&name)?),
        };
        let part = std::mem::take(&mut self.buffer);
        objects.put_part(&name, parts, part)
    }

    /// Ends the object; nothing if it has no pages.
    pub(crate) fn finish(mut self, objects: &Objects) -> Result<Option<Extent>> {
        if self.extent.pages == 0 {
            return Ok(None);
        }
        let name = self.extent.name();
        if self.parts.is_none() {
            objects.put(&name, std::mem::take(&mut self.buffer))?;
            return Ok(Some(self.extent));
        }
        self.send_part(objects)?;
        if let Some(parts) = self.parts.take() {
            objects.complete_parts(&name, parts)?;
        }
        Ok(Some(self.extent))
    }
}

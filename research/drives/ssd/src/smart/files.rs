//! The pages inside a modelled Smart SSD: their contents, and what reading and writing them takes.
//!
//! The model of drives has no contents, so they stand beside it. There are two ways to a page. From
//! inside, its bytes cross planes and channels; from the host, also the link. The same drive is
//! modelled twice for this, once with a link that costs nothing.
//!
//! Files may also come from a source outside, such as the folder of an index. Their pages get a
//! place on the drive when they are first read, by whole extents, and cannot be written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gannet::device::{FileId, PageSpan};
use gannet::{Error, Result};

use super::profile::SmartProfile;
use crate::clock::Nanos;
use crate::drive::Drive;
use crate::layout::Layout;
use crate::medium::Medium;
use crate::profile::Link;
use crate::request::{PAGE_BYTES, Request};

/// Pages of the largest request that the model is given at a time.
const REQUEST_PAGES: u32 = 256;

/// Pages of a file of a source that get their place together: an extent of the layout.
const PART_PAGES: u32 = 256;

/// Files that stand outside the model.
pub trait PageSource: Send + Sync {
    /// Whole pages of a file; nothing if there is no such file.
    fn pages(&self, file: FileId) -> Option<u32>;

    /// Fills `bytes` with the pages of a span.
    fn read(&self, span: &PageSpan, bytes: &mut [u8]) -> Result<()>;
}

/// From where pages are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By a program in the drive.
    Inside,
    /// By the host.
    Host,
}

/// Files on a modelled drive.
pub struct Files {
    contents: BTreeMap<FileId, Vec<u8>>,
    source: Option<Arc<dyn PageSource>>,
    /// Parts of files of the source that have a place.
    placed: BTreeSet<(FileId, u32)>,
    /// What was read of the source last.
    read: Vec<u8>,
    layout: Layout,
    inside: Medium,
    host: Medium,
}

impl Files {
    /// A drive with the files of a source, if there is one.
    pub fn new(profile: &SmartProfile, source: Option<Arc<dyn PageSource>>) -> Result<Files> {
        let drive = profile.drive()?;
        let mut free = drive;
        free.link = Link {
            rate: None,
            command: 0,
            ..drive.link
        };
        let inside = Medium::from(Drive::new(&free)?);
        Ok(Files {
            contents: BTreeMap::new(),
            source,
            placed: BTreeSet::new(),
            read: Vec::new(),
            layout: Layout::new(&inside),
            inside,
            host: Medium::from(Drive::new(&drive)?),
        })
    }

    /// Pages of a file.
    pub fn pages(&self, file: FileId) -> Option<u32> {
        match (self.contents.get(&file), &self.source) {
            (Some(content), _) => Some((content.len() / PAGE_BYTES as usize) as u32),
            (None, Some(source)) => source.pages(file),
            (None, None) => None,
        }
    }

    /// Gives a file its content without any time; the last page is filled with zeros.
    pub fn store(&mut self, file: FileId, bytes: &[u8]) -> Result<u32> {
        let pages = u32::try_from(bytes.len().div_ceil(PAGE_BYTES as usize)).map_err(|_| {
            Error::invalid(format!(
                "{file} has {} bytes: expected fewer pages",
                bytes.len()
            ))
        })?;
        for run in self.layout.allocate(file, 0, pages)? {
            let (page, pages) = (run.start, (run.end - run.start) as u32);
            self.inside.preload(page, pages)?;
            self.host.preload(page, pages)?;
        }
        let mut content = bytes.to_vec();
        content.resize(pages as usize * PAGE_BYTES as usize, 0);
        self.contents.insert(file, content);
        Ok(pages)
    }

    /// The content of a span, and what it takes to bring it where it is wanted.
    pub fn read(&mut self, span: &PageSpan, way: Way) -> Result<(&[u8], Nanos)> {
        self.place(span)?;
        let requests = self.requests(span, Request::read)?;
        let nanos = match way {
            Way::Inside => self.inside.serve(&requests)?,
            Way::Host => self.host.serve(&requests)?,
        };
        let start = span.page as usize * PAGE_BYTES as usize;
        let end = start + span.pages as usize * PAGE_BYTES as usize;
        if let Some(content) = self.contents.get(&span.file) {
            return Ok((&content[start..end], nanos));
        }
        self.read.resize(end - start, 0);
        if let Some(source) = &self.source {
            source.read(span, &mut self.read)?;
        }
        Ok((&self.read, nanos))
    }

    /// Gives pages of the source their place, without any time.
    fn place(&mut self, span: &PageSpan) -> Result<()> {
        self.check(span)?;
        if self.contents.contains_key(&span.file) || span.pages == 0 {
            return Ok(());
        }
        let last = span.page + (span.pages - 1);
        for part in span.page / PART_PAGES..=last / PART_PAGES {
            if self.placed.contains(&(span.file, part)) {
                continue;
            }
            for run in self
                .layout
                .allocate(span.file, part * PART_PAGES, PART_PAGES)?
            {
                let (page, pages) = (run.start, (run.end - run.start) as u32);
                self.inside.preload(page, pages)?;
                self.host.preload(page, pages)?;
            }
            self.placed.insert((span.file, part));
        }
        Ok(())
    }

    /// Replaces the content of a span; gives what the host waits.
    pub fn write(&mut self, span: &PageSpan, bytes: &[u8]) -> Result<Nanos> {
        if !self.contents.contains_key(&span.file) {
            return Err(Error::invalid(format!(
                "{} is not a file of the modelled drive: it can only be read",
                span.file
            )));
        }
        let requests = self.requests(span, Request::write)?;
        self.inside.serve(&requests)?;
        let nanos = self.host.serve(&requests)?;
        let start = span.page as usize * PAGE_BYTES as usize;
        if let Some(content) = self.contents.get_mut(&span.file) {
            content[start..start + bytes.len()].copy_from_slice(bytes);
        }
        Ok(nanos)
    }

    fn requests(&self, span: &PageSpan, make: fn(u64, u32) -> Request) -> Result<Vec<Request>> {
        self.check(span)?;
        let mut requests = Vec::new();
        for run in self.layout.find(span.file, span.page, span.pages) {
            let mut page = run.start;
            while page < run.end {
                let pages = (run.end - page).min(u64::from(REQUEST_PAGES)) as u32;
                requests.push(make(page, pages));
                page += u64::from(pages);
            }
        }
        Ok(requests)
    }

    /// Fails unless a span lies in its file.
    pub fn check(&self, span: &PageSpan) -> Result<()> {
        let PageSpan { file, page, pages } = *span;
        let found = self.pages(file);
        match found {
            Some(found) if u64::from(page) + u64::from(pages) <= u64::from(found) => Ok(()),
            Some(found) => Err(Error::invalid(format!(
                "{pages} pages from page {page} of {file}, which has {found}: expected pages in it"
            ))),
            None => Err(Error::invalid(format!("the drive has no file {file}"))),
        }
    }
}

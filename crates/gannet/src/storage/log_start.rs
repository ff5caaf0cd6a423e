//! A place in the log.

use crate::base::{ByteReader, PAGE_PAYLOAD, Result, Span, ZoneNumber, put_varint};

/// The start of a replay: the first record that begins in a page, or the end of a zone, from where
/// the link to the next zone is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogStart {
    /// The zone; `None` before the first log zone was made.
    pub zone: Option<ZoneNumber>,
    /// The page in it.
    pub page: u32,
}

impl LogStart {
    /// Before anything was logged.
    pub const BEGINNING: LogStart = LogStart {
        zone: None,
        page: 0,
    };

    /// The first page from which all records behind this one can be read. Some before it may begin
    /// there, too.
    pub(super) fn behind(record: Span) -> LogStart {
        let end = record.offset as u64 + record.length as u64;
        LogStart {
            zone: Some(record.zone),
            page: record.page + (end / PAGE_PAYLOAD as u64) as u32,
        }
    }

    /// Appends the place.
    pub fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.zone.map_or(0, |zone| zone as u64 + 1));
        put_varint(out, self.page as u64);
    }

    /// Reads a place.
    pub fn decode(reader: &mut ByteReader<'_>) -> Result<LogStart> {
        let zone = match reader.varint()?.checked_sub(1) {
            None => None,
            Some(zone) => {
                Some(u32::try_from(zone).map_err(|_| reader.damaged("a zone number", zone))?)
            }
        };
        Ok(LogStart {
            zone,
            page: reader.varint_u32()?,
        })
    }
}

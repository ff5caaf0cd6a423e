//! An answer before it is one of HTTP.

use gannet::Reservation;
use serde::Serialize;

use crate::fault::Fault;

/// The answer to a request: a status with a body.
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// The body; nothing where the status says it all.
    pub body: String,
    /// The media type of a body that is not JSON.
    pub media: Option<&'static str>,
    /// Memory of budgets that the body takes.
    pub held: Vec<Reservation>,
    /// Sentences on how the request was carried out where that is not as it was written.
    pub warnings: Vec<String>,
}

impl Answer {
    /// JSON that is ready.
    pub fn json(status: u16, body: String) -> Answer {
        Answer {
            status,
            body,
            media: None,
            held: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// A value as JSON.
    pub fn of<T: Serialize>(value: &T) -> Answer {
        let body = serde_json::to_string(value);
        body.map_or_else(
            |error| Answer::of_fault(&Fault::internal(error.to_string()), false),
            |body| Answer::json(200, body),
        )
    }

    /// A text.
    pub fn text(body: String) -> Answer {
        Answer {
            media: Some("text/plain; charset=UTF-8"),
            ..Answer::json(200, body)
        }
    }

    /// A file.
    pub fn of_media(media: &'static str, body: &str) -> Answer {
        Answer {
            media: Some(media),
            ..Answer::json(200, body.to_owned())
        }
    }

    /// A status alone.
    pub fn empty(status: u16) -> Answer {
        Answer {
            status,
            ..Answer::text(String::new())
        }
    }

    /// An error of a route of Gannet's own.
    pub fn of_own_fault(fault: &Fault) -> Answer {
        Answer::json(fault.status, fault.own_json().to_string())
    }

    /// An error.
    pub fn of_fault(fault: &Fault, with_trace: bool) -> Answer {
        Answer::json(fault.status, fault.json(with_trace).to_string())
    }
}

//! A row of the table of routes.

use crate::fault::Outcome;
use crate::http::{Answer, BodyKind, Call, Right};
use crate::service::Service;

/// Carries a request out, on a thread that may block.
pub type Handler = fn(&Call, &Service) -> Outcome<Answer>;

/// The queue in which a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Answers at once.
    Status,
    /// Reads.
    Search,
    /// Writes.
    Write,
}

/// A method of a path.
#[derive(Clone, Copy)]
pub struct Route {
    /// The method.
    pub method: &'static str,
    /// The path, with names in braces.
    pub path: &'static str,
    /// The right that its key needs.
    pub key: Right,
    /// The queue.
    pub lane: Lane,
    /// The body that is read.
    pub body: BodyKind,
    /// The parameters of the URL, beside those of every route.
    pub parameters: &'static [&'static str],
    /// The part of Elasticsearch's route that is there, empty if it is all; of Gannet's own, a
    /// sentence on what it does.
    pub extent: &'static str,
    /// The function that carries it out.
    pub handler: Handler,
}

/// A route without a body and parameters, of which all is there.
pub const fn route(
    method: &'static str,
    path: &'static str,
    key: Right,
    handler: Handler,
) -> Route {
    let lane = match key {
        Right::Monitor => Lane::Status,
        Right::Read => Lane::Search,
        Right::Write | Right::Manage => Lane::Write,
    };
    Route {
        method,
        path,
        key,
        lane,
        body: BodyKind::None,
        parameters: &[],
        extent: "",
        handler,
    }
}

impl Route {
    /// The same with a body of JSON.
    pub const fn json(self) -> Route {
        Route {
            body: BodyKind::Json,
            ..self
        }
    }

    /// The same with a body of lines.
    pub const fn lines(self) -> Route {
        Route {
            body: BodyKind::Lines,
            ..self
        }
    }

    /// The same with a body of documents.
    pub const fn documents(self) -> Route {
        Route {
            body: BodyKind::Documents,
            ..self
        }
    }

    /// The same with parameters.
    pub const fn takes(self, parameters: &'static [&'static str]) -> Route {
        Route { parameters, ..self }
    }

    /// The same, of which this is there.
    pub const fn with(self, extent: &'static str) -> Route {
        Route { extent, ..self }
    }
}

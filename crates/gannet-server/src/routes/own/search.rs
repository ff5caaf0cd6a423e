//! `/v1/indexes/{index}/search`.

use crate::fault::Outcome;
use crate::http::{Answer, Call, IndexOptions};
use crate::routes::place::{Limits, Where};
use crate::searching::OwnSearch;
use crate::service::Service;

/// `POST /v1/indexes/{index}/search`.
pub fn search(call: &Call, service: &Service) -> Outcome<Answer> {
    let request = OwnSearch::parse(&call.json()?)?;
    let open = service.indexes.get(call.part("index"), &call.caller)?;
    request.answer(&limits_of(call.part("index"), call, service).search(open, service))
}

/// The limits that an alias sets to searches, if the name of an index is one.
pub fn limits_of(name: &str, call: &Call, service: &Service) -> Limits {
    let place = Where {
        expression: name,
        options: IndexOptions::default(),
        caller: &call.caller,
    };
    place.limits(service)
}

//! The page: one document with its style and its script, as they are, without a build.

use crate::fault::Outcome;
use crate::http::{Answer, Call};
use crate::service::Service;

/// `GET /_ui`.
pub fn document(_: &Call, _: &Service) -> Outcome<Answer> {
    Ok(Answer::of_media(
        "text/html; charset=UTF-8",
        include_str!("page.html"),
    ))
}

/// `GET /_ui/page.css`.
pub fn style(_: &Call, _: &Service) -> Outcome<Answer> {
    Ok(Answer::of_media(
        "text/css; charset=UTF-8",
        include_str!("page.css"),
    ))
}

/// `GET /_ui/page.js`.
pub fn script(_: &Call, _: &Service) -> Outcome<Answer> {
    Ok(Answer::of_media(
        "text/javascript; charset=UTF-8",
        include_str!("page.js"),
    ))
}

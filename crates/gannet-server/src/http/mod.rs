//! The common part of all requests and answers: parameters, media types, who may ask.

mod answer;
mod body;
mod call;
mod guard;
mod media;

pub use answer::Answer;
pub use body::{BodyMemory, read_body};
pub use call::{Call, parse_parameters};
pub use guard::check_origin;
pub use media::{AnswerMedia, BodyKind, answer_media, check_body_media};

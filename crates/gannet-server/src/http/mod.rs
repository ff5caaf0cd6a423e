//! The common part of all requests and answers: parameters, media types, who may ask.

mod answer;
mod body;
mod call;
mod caller;
mod guard;
mod media;
mod options;

pub use answer::Answer;
pub use body::{BodyMemory, read_body, tree_bytes};
pub use call::{Call, parse_parameters};
pub use caller::{Caller, Grants, Right, Scope};
pub use guard::check_origin;
pub use media::{
    AnswerMedia, BodyKind, CSV, answer_media, check_body_media, is_json_media, media_name,
    wants_json,
};
pub use options::IndexOptions;

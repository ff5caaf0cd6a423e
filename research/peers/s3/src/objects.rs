//! Objects in memory, with what an index on S3 needs of the protocol: ranges, conditional reads and
//! writes, parts, listing, removal.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::SystemTime;

use bytes::Bytes;
use futures_util::StreamExt;
use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};

#[derive(Clone)]
struct Object {
    bytes: Bytes,
    tag: String,
    written: SystemTime,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Object>,
    uploads: BTreeMap<String, BTreeMap<i32, Bytes>>,
    drawn: u64,
}

/// The objects of all buckets, by bucket and key.
#[derive(Default)]
pub struct Objects {
    state: Mutex<State>,
}

impl State {
    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    fn store(&mut self, name: String, bytes: Bytes) -> ETag {
        let tag = format!("v{}", self.draw());
        let written = SystemTime::now();
        self.objects.insert(
            name,
            Object {
                bytes,
                tag: tag.clone(),
                written,
            },
        );
        ETag::Strong(tag)
    }
}

impl Objects {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

fn name(bucket: &str, key: &str) -> String {
    format!("{bucket}/{key}")
}

fn matches(condition: &ETagCondition, object: Option<&Object>) -> bool {
    match (condition, object) {
        (ETagCondition::Any, object) => object.is_some(),
        (ETagCondition::ETag(tag), Some(object)) => tag.value() == object.tag,
        (ETagCondition::ETag(_), None) => false,
    }
}

async fn all(body: Option<StreamingBlob>) -> S3Result<Bytes> {
    let mut bytes = Vec::new();
    if let Some(mut body) = body {
        while let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|error| s3_error!(IncompleteBody, "{error}"))?;
            bytes.extend_from_slice(&chunk);
        }
    }
    Ok(bytes.into())
}

#[async_trait::async_trait]
impl S3 for Objects {
    async fn get_object(
        &self,
        req: S3Request<GetObjectInput>,
    ) -> S3Result<S3Response<GetObjectOutput>> {
        let input = req.input;
        let state = self.state();
        let object = state.objects.get(&name(&input.bucket, &input.key));
        let object = object.ok_or_else(|| s3_error!(NoSuchKey))?.clone();
        if input
            .if_match
            .is_some_and(|tag| !matches(&tag, Some(&object)))
        {
            return Err(s3_error!(PreconditionFailed));
        }
        if input
            .if_none_match
            .is_some_and(|tag| matches(&tag, Some(&object)))
        {
            return Err(s3_error!(NotModified));
        }
        let length = object.bytes.len() as u64;
        let range = match &input.range {
            Some(range) => Some(range.check(length)?),
            None => None,
        };
        let (from, to) = range
            .as_ref()
            .map_or((0, length), |range| (range.start, range.end));
        let bytes = object.bytes.slice(from as usize..to as usize);
        let content_range =
            range.map(|range| format!("bytes {}-{}/{length}", range.start, range.end - 1));
        Ok(S3Response::new(GetObjectOutput {
            content_length: Some(bytes.len() as i64),
            body: Some(StreamingBlob::from(s3s::Body::from(bytes))),
            content_range,
            e_tag: Some(ETag::Strong(object.tag)),
            last_modified: Some(object.written.into()),
            ..GetObjectOutput::default()
        }))
    }

    async fn put_object(
        &self,
        req: S3Request<PutObjectInput>,
    ) -> S3Result<S3Response<PutObjectOutput>> {
        let input = req.input;
        let bytes = all(input.body).await?;
        let mut state = self.state();
        let name = name(&input.bucket, &input.key);
        let there = state.objects.get(&name);
        if input.if_none_match.is_some_and(|tag| matches(&tag, there)) {
            return Err(s3_error!(PreconditionFailed));
        }
        if input.if_match.is_some_and(|tag| !matches(&tag, there)) {
            return Err(s3_error!(PreconditionFailed));
        }
        let tag = state.store(name, bytes);
        Ok(S3Response::new(PutObjectOutput {
            e_tag: Some(tag),
            ..PutObjectOutput::default()
        }))
    }

    async fn create_multipart_upload(
        &self,
        req: S3Request<CreateMultipartUploadInput>,
    ) -> S3Result<S3Response<CreateMultipartUploadOutput>> {
        let mut state = self.state();
        let id = state.draw().to_string();
        state.uploads.insert(id.clone(), BTreeMap::new());
        Ok(S3Response::new(CreateMultipartUploadOutput {
            bucket: Some(req.input.bucket),
            key: Some(req.input.key),
            upload_id: Some(id),
            ..CreateMultipartUploadOutput::default()
        }))
    }

    async fn upload_part(
        &self,
        req: S3Request<UploadPartInput>,
    ) -> S3Result<S3Response<UploadPartOutput>> {
        let input = req.input;
        let bytes = all(input.body).await?;
        let mut state = self.state();
        let tag = format!("p{}", state.draw());
        let upload = state.uploads.get_mut(&input.upload_id);
        upload
            .ok_or_else(|| s3_error!(NoSuchUpload))?
            .insert(input.part_number, bytes);
        Ok(S3Response::new(UploadPartOutput {
            e_tag: Some(ETag::Strong(tag)),
            ..UploadPartOutput::default()
        }))
    }

    async fn complete_multipart_upload(
        &self,
        req: S3Request<CompleteMultipartUploadInput>,
    ) -> S3Result<S3Response<CompleteMultipartUploadOutput>> {
        let input = req.input;
        let mut state = self.state();
        let parts = state.uploads.remove(&input.upload_id);
        let parts = parts.ok_or_else(|| s3_error!(NoSuchUpload))?;
        let parts: Vec<Bytes> = parts.into_values().collect();
        let small = parts.iter().rev().skip(1).any(|part| part.len() < 5 << 20);
        if small {
            return Err(s3_error!(EntityTooSmall));
        }
        let tag = state.store(name(&input.bucket, &input.key), parts.concat().into());
        Ok(S3Response::new(CompleteMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(tag),
            ..CompleteMultipartUploadOutput::default()
        }))
    }

    async fn list_objects_v2(
        &self,
        req: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        const PAGE: usize = 1_000;
        let input = req.input;
        let before = format!("{}/", input.bucket);
        let prefix = name(&input.bucket, input.prefix.as_deref().unwrap_or_default());
        let after = input
            .continuation_token
            .clone()
            .or(input.start_after.clone());
        let after = after
            .map(|key| format!("{before}{key}"))
            .unwrap_or_default();
        let state = self.state();
        let found = state
            .objects
            .iter()
            .filter(|(name, _)| name.starts_with(&prefix) && **name > after);
        let mut contents: Vec<s3s::dto::Object> = found
            .take(PAGE + 1)
            .map(|(name, object)| s3s::dto::Object {
                key: Some(name[before.len()..].to_owned()),
                size: Some(object.bytes.len() as i64),
                e_tag: Some(ETag::Strong(object.tag.clone())),
                last_modified: Some(object.written.into()),
                ..s3s::dto::Object::default()
            })
            .collect();
        let more = contents.len() > PAGE;
        contents.truncate(PAGE);
        let next = contents
            .last()
            .and_then(|last| last.key.clone())
            .filter(|_| more);
        Ok(S3Response::new(ListObjectsV2Output {
            key_count: Some(contents.len() as i32),
            contents: Some(contents),
            is_truncated: Some(more),
            next_continuation_token: next,
            name: Some(input.bucket),
            prefix: input.prefix,
            ..ListObjectsV2Output::default()
        }))
    }

    async fn delete_objects(
        &self,
        req: S3Request<DeleteObjectsInput>,
    ) -> S3Result<S3Response<DeleteObjectsOutput>> {
        let input = req.input;
        let mut state = self.state();
        let mut deleted = Vec::new();
        for object in input.delete.objects {
            state.objects.remove(&name(&input.bucket, &object.key));
            deleted.push(DeletedObject {
                key: Some(object.key),
                ..DeletedObject::default()
            });
        }
        Ok(S3Response::new(DeleteObjectsOutput {
            deleted: Some(deleted),
            ..DeleteObjectsOutput::default()
        }))
    }
}

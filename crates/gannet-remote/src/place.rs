//! The place of a published index: the URL, and the object store behind it.
//!
//! Two schemes are known. `s3://bucket/prefix` speaks the protocol of S3, with the endpoint and the
//! credentials of the environment; `file:///folder` is a local folder that holds the same objects.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gannet::{Error, Result};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use url::Url;

use crate::folder::LocalFolder;

/// The time limit for connecting.
const CONNECT: Duration = Duration::from_secs(5);

/// A URL that was understood.
pub(crate) struct Place {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The same store for uploads, whose requests are tried again by the store itself.
    pub(crate) uploads: Arc<dyn ObjectStore>,
    pub(crate) prefix: Path,
    /// The URL as it is shown, without a slash at its end.
    pub(crate) url: String,
    /// The folder, where the store is one.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) scheme: &'static str,
}

impl Place {
    /// The store behind `url`. `timeout` bounds what it does by itself; `create` makes the folder
    /// of a `file` URL.
    pub(crate) fn of(url: &str, timeout: Duration, create: bool) -> Result<Place> {
        let parsed = Url::parse(url).map_err(|error| wrong(url, &error.to_string()))?;
        if parsed.query().is_some() || parsed.fragment().is_some() {
            return Err(wrong(url, "found a query or a fragment in it"));
        }
        match parsed.scheme() {
            "s3" => s3(url, &parsed, timeout),
            "file" => folder(url, &parsed, create),
            other => Err(wrong(url, &format!("found the scheme {other}"))),
        }
    }
}

fn wrong(url: &str, found: &str) -> Error {
    Error::invalid(format!(
        "{url}: {found}: expected s3://BUCKET/PREFIX or file:///FOLDER"
    ))
}

fn s3(url: &str, parsed: &Url, timeout: Duration) -> Result<Place> {
    let bucket = parsed.host_str().unwrap_or_default();
    if bucket.is_empty() {
        return Err(wrong(url, "found no bucket"));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() || parsed.port().is_some() {
        return Err(wrong(
            url,
            "found credentials or a port in it, which come from the environment",
        ));
    }
    let prefix = Path::from_url_path(parsed.path())
        .map_err(|error| wrong(url, &format!("found a wrong prefix, {error}")))?;
    if prefix.as_ref().is_empty() {
        return Err(wrong(
            url,
            "found no prefix, so the index would take the whole bucket",
        ));
    }
    // Another part of the program may have chosen one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let build = |retry: RetryConfig| {
        let client = ClientOptions::new()
            .with_connect_timeout(CONNECT)
            .with_timeout(timeout);
        let allow = std::env::var("AWS_ALLOW_HTTP").is_ok_and(|value| value == "true");
        let built = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_client_options(client.with_allow_http(allow))
            .with_retry(retry)
            .build();
        built.map_err(|error| {
            Error::invalid(format!(
                "{url} cannot be used: {error}: set AWS_REGION, AWS_ENDPOINT_URL and the credentials \
                 as docs/remote.md says"
            ))
        })
    };
    // Reads are tried again here, so that one limit holds for a whole batch.
    let once = RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    };
    let again = RetryConfig {
        retry_timeout: timeout,
        ..RetryConfig::default()
    };
    Ok(Place {
        store: Arc::new(build(once)?),
        uploads: Arc::new(build(again)?),
        url: url.trim_end_matches('/').to_owned(),
        prefix,
        folder: None,
        scheme: "s3",
    })
}

fn folder(url: &str, parsed: &Url, create: bool) -> Result<Place> {
    let path = parsed
        .to_file_path()
        .map_err(|()| wrong(url, "found a host, or no absolute path"))?;
    let failed = |error: &dyn std::fmt::Display| {
        Error::invalid(format!(
            "{url}: {error}: give the folder of a published index, and the rights that it needs"
        ))
    };
    if create {
        fs::create_dir_all(&path).map_err(|error| failed(&error))?;
    }
    let store = LocalFolder::at(&path).map_err(|error| failed(&error))?;
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    Ok(Place {
        uploads: Arc::clone(&store),
        store,
        prefix: Path::default(),
        url: url.trim_end_matches('/').to_owned(),
        folder: Some(path),
        scheme: "file",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_urls_say_what_was_expected() {
        let timeout = Duration::from_secs(1);
        let cases = [
            ("gs://bucket/wiki", "scheme gs"),
            ("https://host/wiki", "scheme https"),
            ("s3://bucket", "no prefix"),
            ("s3://bucket/", "no prefix"),
            ("s3:///wiki", "no bucket"),
            ("s3://key:secret@bucket/wiki", "credentials"),
            ("s3://bucket/wiki?versionId=1", "query"),
            ("file://host/wiki", "host"),
        ];
        for (url, found) in cases {
            let error = match Place::of(url, timeout, false) {
                Err(error) => error.to_string(),
                Ok(_) => panic!("{url} was taken"),
            };
            assert!(error.contains(found), "{url}: {error}");
            assert!(error.contains("expected s3://BUCKET/PREFIX"), "{error}");
        }
        let missing = Place::of("file:///nowhere/at/all", timeout, false);
        assert!(missing.is_err());
    }
}

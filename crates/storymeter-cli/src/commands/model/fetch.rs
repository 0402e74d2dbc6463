//! Bytes from a folder or a URL, from any place on.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};

/// Where models come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    Folder(PathBuf),
    /// Without a slash at its end.
    Url(String),
}

/// What a source sends, and from which byte on: a server may not be able to begin in the middle.
pub(super) struct Stream {
    pub from: u64,
    pub bytes: Box<dyn Read>,
}

impl Source {
    /// A path, `file://` and a path, `http://` or `https://`.
    pub(super) fn parse(typed: &str) -> anyhow::Result<Self> {
        let trimmed = typed.trim_end_matches('/');
        if let Some(path) = typed.strip_prefix("file://") {
            return Ok(Self::Folder(path.into()));
        }
        match typed.split_once("://") {
            Some(("http" | "https", _)) => Ok(Self::Url(trimmed.to_owned())),
            Some((scheme, _)) => bail!("--from {typed}: {scheme} is not one of file, http, https"),
            None => Ok(Self::Folder(typed.into())),
        }
    }

    /// The name of a file of the source, for messages.
    pub(super) fn describe(&self, file: &str) -> String {
        match self {
            Self::Folder(folder) => folder.join(file).display().to_string(),
            Self::Url(url) => format!("{url}/{file}"),
        }
    }

    /// A small file as a whole.
    pub(super) fn read(&self, file: &str) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let limit = 1 << 24;
        let stream = self.open(file, 0)?.bytes;
        stream.take(limit).read_to_end(&mut bytes).with_context(|| self.describe(file))?;
        Ok(bytes)
    }

    /// A file from byte `from` on, if the source can; else from its beginning.
    pub(super) fn open(&self, file: &str, from: u64) -> anyhow::Result<Stream> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(file);
                let open = || -> io::Result<File> {
                    let mut file = File::open(&path)?;
                    file.seek(SeekFrom::Start(from))?;
                    Ok(file)
                };
                let bytes = open().with_context(|| path.display().to_string())?;
                Ok(Stream { from, bytes: Box::new(bytes) })
            }
            Self::Url(url) => request(&format!("{url}/{file}"), from),
        }
    }
}

fn request(url: &str, from: u64) -> anyhow::Result<Stream> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(Duration::from_secs(20)))
        .timeout_recv_response(Some(Duration::from_secs(60)))
        .http_status_as_error(false)
        .build()
        .into();
    let mut request = agent.get(url);
    if from > 0 {
        request = request.header("Range", format!("bytes={from}-"));
    }
    let response = request.call().with_context(|| format!("{url}: cannot be reached"))?;
    let status = response.status();
    let begins = response.headers().get("content-range").and_then(|range| {
        range.to_str().ok()?.strip_prefix("bytes ")?.split('-').next()?.parse::<u64>().ok()
    });
    let from = match (status.as_u16(), begins) {
        (206, Some(begins)) if begins == from => from,
        (200, _) => 0,
        // The part we have is not a part of what they have.
        (416, _) if from > 0 => return self::request(url, 0),
        (404 | 410, _) => bail!("{url}: not found ({status})"),
        _ => bail!("{url}: the server says {status}"),
    };
    Ok(Stream { from, bytes: Box::new(response.into_body().into_reader()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_folder_or_a_url() {
        let parse = |text: &str| Source::parse(text).unwrap();
        assert_eq!(parse("models"), Source::Folder("models".into()));
        assert_eq!(parse("file:///srv/models"), Source::Folder("/srv/models".into()));
        assert_eq!(parse("https://example.org/m/"), Source::Url("https://example.org/m".into()));
        assert!(Source::parse("ftp://example.org").is_err());
    }
}

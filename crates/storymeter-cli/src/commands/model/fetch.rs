//! Reads files of a folder or a URL, from any byte on.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};

/// A folder or a URL that has models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModelSource {
    Folder(PathBuf),
    /// A URL without a slash at its end.
    Url(String),
}

/// The bytes of a file, and the number of the first one. It is 0 if the server cannot begin in the
/// middle.
pub(super) struct Stream {
    pub from: u64,
    pub bytes: Box<dyn Read>,
}

impl ModelSource {
    /// Reads a path, `file://` and a path, or an `http://` or `https://` URL.
    pub(super) fn parse(typed: &str) -> anyhow::Result<Self> {
        let trimmed = typed.trim_end_matches('/');
        if let Some(path) = typed.strip_prefix("file://") {
            return Ok(Self::Folder(path.into()));
        }
        match typed.split_once("://") {
            Some(("http" | "https", _)) => Ok(Self::Url(trimmed.to_owned())),
            Some((scheme, _)) => {
                bail!("--from {typed}: {scheme} is not supported; use file, http or https")
            }
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

    /// Reads the whole of a small file.
    pub(super) fn read(&self, file: &str) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let limit = 1 << 24;
        let stream = self.open(file, 0)?.bytes;
        stream.take(limit).read_to_end(&mut bytes).with_context(|| self.describe(file))?;
        Ok(bytes)
    }

    /// Opens a file from byte `from` on or, if the server cannot do that, from its beginning.
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
        // The file is shorter than the part that was fetched earlier, so it is another file.
        (416, _) if from > 0 => return self::request(url, 0),
        (404 | 410, _) => bail!("{url}: not found ({status})"),
        _ => bail!("{url}: the server answered {status}"),
    };
    Ok(Stream { from, bytes: Box::new(response.into_body().into_reader()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_folder_or_a_url() {
        use ModelSource::{Folder, Url};
        let parse = |text: &str| ModelSource::parse(text).unwrap();
        assert_eq!(parse("models"), Folder("models".into()));
        assert_eq!(parse("file:///srv/models"), Folder("/srv/models".into()));
        assert_eq!(parse("https://example.org/m/"), Url("https://example.org/m".into()));
        assert!(ModelSource::parse("ftp://example.org").is_err());
    }
}

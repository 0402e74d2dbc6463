//! Reads files of a folder or a URL, from any byte on.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use storymeter_core::file;

/// The most bytes of a file that is read at once. A manifest has a few hundred per model.
const LARGEST_SMALL_FILE: u64 = 1 << 22;

/// A folder or a URL that has models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ModelSource {
    Folder(PathBuf),
    Url(Address),
}

/// A URL without a slash at its end, which may have a name and a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    url: String,
    /// The name and the password as they stand in the URL, and what messages show instead.
    secret: Option<(String, String)>,
}

/// The bytes of a file, and the number of the first one. It is 0 if the server cannot begin in the
/// middle.
pub(super) struct Stream {
    pub from: u64,
    /// The size of the whole file, if the source says it.
    pub size: Option<u64>,
    pub bytes: Box<dyn Read>,
}

impl ModelSource {
    /// Reads a path, `file://` and a path, or an `http://` or `https://` URL.
    pub(super) fn parse(typed: &str) -> anyhow::Result<Self> {
        if let Some(path) = typed.strip_prefix("file://") {
            return Ok(Self::Folder(path.into()));
        }
        match typed.split_once("://") {
            Some(("http" | "https", _)) => Ok(Self::Url(Address::new(typed))),
            Some((scheme, _)) => {
                let shown = Address::new(typed).hide(typed);
                bail!("--from {shown}: {scheme} is not supported; use file, http or https")
            }
            None => Ok(Self::Folder(typed.into())),
        }
    }

    /// The name of a file of the source, for messages.
    pub(super) fn describe(&self, file: &str) -> String {
        match self {
            Self::Folder(folder) => folder.join(file).display().to_string(),
            Self::Url(address) => address.hide(&address.of(file)),
        }
    }

    /// Reads the whole of a small file. All of it must arrive within the time.
    pub(super) fn read(&self, file: &str, timeout: Duration) -> anyhow::Result<Vec<u8>> {
        let address = match self {
            Self::Folder(folder) => return Ok(file::read(&folder.join(file), LARGEST_SMALL_FILE)?),
            Self::Url(address) => address,
        };
        let mut bytes = Vec::new();
        let stream = address.request(file, 0, timeout, Some(timeout))?.bytes;
        stream
            .take(LARGEST_SMALL_FILE + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| anyhow!("{}: {}", self.describe(file), problem(error, timeout)))?;
        if bytes.len() as u64 > LARGEST_SMALL_FILE {
            bail!("{}: it has more than {LARGEST_SMALL_FILE} bytes", self.describe(file));
        }
        Ok(bytes)
    }

    /// Opens a file from byte `from` on or, if the server cannot do that, from its beginning.
    pub(super) fn open(&self, file: &str, from: u64, idle: Duration) -> anyhow::Result<Stream> {
        let path = match self {
            Self::Folder(folder) => folder.join(file),
            Self::Url(address) => return address.request(file, from, idle, None),
        };
        let open = || -> io::Result<Stream> {
            let there = path.metadata()?;
            if !there.is_file() {
                return Err(io::Error::other("this is not an ordinary file"));
            }
            let mut file = File::open(&path)?;
            // A file that has become shorter is read from its beginning.
            let from = if from <= there.len() { from } else { 0 };
            file.seek(SeekFrom::Start(from))?;
            Ok(Stream { from, size: Some(there.len()), bytes: Box::new(file) })
        };
        open().with_context(|| path.display().to_string())
    }
}

impl Address {
    fn new(typed: &str) -> Self {
        let url = typed.trim_end_matches('/').to_owned();
        let after = url.split_once("://").map_or(url.as_str(), |(_, after)| after);
        let authority = after.split(['/', '?', '#']).next().unwrap_or_default();
        // In a URL that is not valid, a password can have a slash.
        let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
        let odd = port.contains(|c: char| !c.is_ascii_digit()) && !authority.ends_with(']');
        let end = authority.rfind('@').or_else(|| after.rfind('@').filter(|_| odd));
        let secret = end.map(|end| {
            let shown = after[..end]
                .split_once(':')
                .map_or("***".to_owned(), |(name, _)| format!("{name}:***"));
            (format!("{}@", &after[..end]), format!("{shown}@"))
        });
        Self { url, secret }
    }

    fn of(&self, file: &str) -> String {
        format!("{}/{file}", self.url)
    }

    /// A text in which the password is not shown.
    fn hide(&self, text: &str) -> String {
        match &self.secret {
            Some((secret, shown)) => text.replace(secret, shown),
            None => text.to_owned(),
        }
    }

    /// Asks for a file from byte `from` on. `idle` is the longest time without an answer, and
    /// `whole` is the longest time for everything.
    fn request(
        &self,
        file: &str,
        from: u64,
        idle: Duration,
        whole: Option<Duration>,
    ) -> anyhow::Result<Stream> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_resolve(Some(idle))
            .timeout_connect(Some(idle))
            .timeout_send_request(Some(idle))
            .timeout_recv_response(Some(idle))
            .timeout_per_read(Some(idle))
            .timeout_per_write(Some(idle))
            .timeout_global(whole)
            .http_status_as_error(false)
            .build()
            .into();
        let url = self.of(file);
        let shown = self.hide(&url);
        let mut request = agent.get(&url);
        if from > 0 {
            request = request.header("Range", format!("bytes={from}-"));
        }
        let response = request.call().map_err(|error| {
            let problem = self.hide(&problem(error.into_io(), idle));
            anyhow!("{shown}: cannot be reached: {problem}")
        })?;
        let status = response.status();
        let range = response.headers().get("content-range");
        let begins = range.and_then(|range| {
            range.to_str().ok()?.strip_prefix("bytes ")?.split('-').next()?.parse::<u64>().ok()
        });
        let from = match (status.as_u16(), begins) {
            (206, Some(begins)) if begins == from => from,
            (200, _) => 0,
            // The server sends another part than it was asked for, or the file is shorter than the
            // part that was fetched earlier. The whole file is asked for instead.
            (206 | 416, _) if from > 0 => return self.request(file, 0, idle, whole),
            (404 | 410, _) => bail!("{shown}: not found ({status})"),
            _ => bail!("{shown}: the server answered {status}"),
        };
        let body = response.into_body();
        let size = body.content_length().and_then(|length| from.checked_add(length));
        Ok(Stream { from, size, bytes: Box::new(body.into_reader()) })
    }
}

/// What went wrong with a connection, in words.
pub(super) fn problem(error: io::Error, timeout: Duration) -> String {
    let time = match timeout.as_secs() {
        1 => "1 second".to_owned(),
        seconds => format!("{seconds} seconds"),
    };
    match error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
        Some(ureq::Error::Timeout(ureq::Timeout::Global)) => {
            format!("there was no complete answer within {time} (--timeout)")
        }
        Some(ureq::Error::Timeout(_)) => {
            format!("nothing arrived for {time} (--timeout)")
        }
        Some(ureq::Error::TooManyRedirects) => "the server redirects too often".to_owned(),
        _ => error.to_string(),
    }
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
        let url = Address { url: "https://example.org/m".into(), secret: None };
        assert_eq!(parse("https://example.org/m/"), Url(url));
        assert!(ModelSource::parse("ftp://example.org").is_err());
    }

    #[test]
    fn a_password_is_not_shown() {
        let shown = |text: &str| ModelSource::parse(text).unwrap().describe("a");
        assert_eq!(shown("https://ann:pw@example.org/m"), "https://ann:***@example.org/m/a");
        assert_eq!(shown("https://ann:p@w@example.org"), "https://ann:***@example.org/a");
        assert_eq!(shown("https://ann:p/w@example.org"), "https://ann:***@example.org/a");
        assert_eq!(shown("https://token@example.org"), "https://***@example.org/a");
        assert_eq!(shown("http://example.org:80/@me"), "http://example.org:80/@me/a");
        assert_eq!(shown("http://[::1]/@me"), "http://[::1]/@me/a");
        let error = ModelSource::parse("ftp://ann:pw@example.org").unwrap_err().to_string();
        assert!(error.starts_with("--from ftp://ann:***@example.org: ftp"), "{error}");
    }
}

//! `storymeter model pull`: fetches a model file from a folder or a URL, and checks it before it
//! gets its name.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use indicatif::ProgressBar;
use storymeter_core::file::{FolderLock, PartialFile, distinct};
use storymeter_core::terminal::plain;
use storymeter_union::{StoredModel, models_folder};

use super::fetch::{ModelSource, problem};
use super::manifest::{FILE, Manifest, Offer, sha256_of};
use crate::Outcome;
use crate::args::Common;
use crate::output::Output;
use crate::progress;

/// Fetch a model file from a folder or a URL, and install it
///
/// The folder or URL must have a manifest.json (`model manifest` writes it). The file is installed
/// only if its checksum is that of the manifest. If a fetch is interrupted, the same command
/// continues it. There is no public source of models yet, so one must be named.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  storymeter model pull union-base --from https://example.org/models")]
pub(super) struct PullArgs {
    /// The name of the model in the manifest
    #[arg(value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    name: String,
    /// The source of the model: a folder, file://..., http://... or https://...
    // The value may have a password, which the help must not show.
    #[arg(
        long,
        value_name = "FOLDER|URL",
        env = "STORYMETER_MODEL_SOURCE",
        hide_env_values = true,
        value_parser = NonEmptyStringValueParser::new()
    )]
    from: Option<String>,
    /// Give up if a server sends nothing for this number of seconds. All of the manifest, which is
    /// small, must arrive within this time
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    timeout: u64,
}

/// Fetches the model and installs it.
pub(super) fn run(args: &PullArgs, common: &Common) -> anyhow::Result<Outcome> {
    let Some(from) = &args.from else {
        bail!(
            "there is no public source of models yet; name a folder or a URL that has a {FILE} \
             with --from or in STORYMETER_MODEL_SOURCE"
        );
    };
    let timeout = Duration::from_secs(args.timeout);
    let source = ModelSource::parse(from)?;
    let manifest = Manifest::parse(&source.read(FILE, timeout)?, &source.describe(FILE))?;
    let offer = manifest.offer(&args.name, &source.describe(FILE))?;
    let folder =
        models_folder().context("there is no folder for models; set STORYMETER_MODELS to one")?;
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let _lock = FolderLock::take(&folder)?;
    let installed = folder.join(format!("{}.smq", offer.name));
    if let ModelSource::Folder(from) = &source {
        distinct(&[&installed], &[&from.join(&offer.file)])?;
    }
    match installed.metadata() {
        Ok(there) if there.is_file() && sha256_of(&installed)? == offer.sha256 => {
            say(common, &format!("{} is up to date", installed.display()))?;
            return Ok(Outcome::Done);
        }
        Ok(there) if !there.is_file() || there.permissions().readonly() => {
            bail!("{}: it is read-only or no ordinary file, so it stays", installed.display())
        }
        _ => {}
    }
    // The checksum is part of the name, so that the beginning of another version is not continued.
    let part = format!(".{}-{}.part", offer.name, &offer.sha256[..12]);
    let part = PartialFile::at(folder.join(part));
    fetch(&source, offer, &part, timeout, common)?;
    check(offer, &part, &source.describe(&offer.file))?;
    part.persist(&installed)?;
    say(common, &format!("{}: {:.1} MB", installed.display(), offer.bytes as f64 / 1e6))?;
    Ok(Outcome::Done)
}

fn say(common: &Common, text: &str) -> anyhow::Result<()> {
    if common.quiet {
        return Ok(());
    }
    Output::print(&format!("{}\n", plain(text)))
}

/// Fetches the bytes that are still missing in the file `part`.
fn fetch(
    source: &ModelSource,
    offer: &Offer,
    part: &PartialFile,
    timeout: Duration,
    common: &Common,
) -> anyhow::Result<()> {
    let have = part.bytes();
    if have == offer.bytes {
        return Ok(());
    }
    // A part that is longer than the whole file belongs to another file.
    let have = if have > offer.bytes { 0 } else { have };
    let stream = source.open(&offer.file, have, timeout)?;
    let name = source.describe(&offer.file);
    if let Some(size) = stream.size.filter(|size| *size != offer.bytes) {
        part.remove()?;
        bail!("{name}: it has {size} bytes, but the manifest says {}", offer.bytes);
    }
    let mut file = part.write_from(stream.from)?;
    let bar = progress::bar(common, "fetching", offer.bytes);
    bar.set_position(stream.from);
    // One byte more than the manifest says is enough to see that the file is another one.
    let mut limited = stream.bytes.take((offer.bytes - stream.from).saturating_add(1));
    let copied = copy(&mut limited, (&mut file, part.path()), timeout, &bar);
    bar.finish_and_clear();
    let got = stream.from
        + copied.map_err(|error| anyhow!("{name}: {error:#}: {}", kept(part, offer)))?;
    if got < offer.bytes {
        bail!("{name}: the connection ended early: {}", kept(part, offer));
    }
    if got > offer.bytes {
        part.remove()?;
        bail!("{name}: it has more than the {} bytes that the manifest says", offer.bytes);
    }
    Ok(())
}

fn kept(part: &PartialFile, offer: &Offer) -> String {
    let have = part.bytes();
    format!("{have} of {} bytes are kept; the same command continues from there", offer.bytes)
}

fn copy(
    from: &mut impl Read,
    (to, path): (&mut impl Write, &Path),
    timeout: Duration,
    bar: &ProgressBar,
) -> anyhow::Result<u64> {
    let mut buffer = vec![0; 1 << 16];
    let mut total = 0;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => bail!("the connection broke: {}", problem(error, timeout)),
        };
        to.write_all(&buffer[..count]).with_context(|| path.display().to_string())?;
        total += count as u64;
        bar.inc(count as u64);
    }
}

/// Checks that the checksum is right and that the file is a model. Removes it otherwise.
fn check(offer: &Offer, part: &PartialFile, from: &str) -> anyhow::Result<()> {
    let found = sha256_of(part.path())?;
    let wrong = if found != offer.sha256 {
        Some(format!("the SHA-256 is {found}, but the manifest says {}", offer.sha256))
    } else {
        let bytes = storymeter_core::file::read(part.path(), offer.bytes)?;
        // The file has no name of its own yet, so errors name its source.
        StoredModel::from_bytes(Path::new(from), bytes).err().map(|error| error.to_string())
    };
    let Some(problem) = wrong else { return Ok(()) };
    part.remove()?;
    let problem = problem.trim_start_matches(from).trim_start_matches(": ");
    bail!("{from}: {problem}; nothing was installed")
}

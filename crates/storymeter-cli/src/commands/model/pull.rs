//! `storymeter model pull`: a model file from a folder or URL, checked before it gets its name.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::ProgressBar;
use storymeter::union::{StoredModel, models_folder};

use super::fetch::Source;
use super::manifest::{FILE, Manifest, Offer, sha256_of};
use crate::Outcome;
use crate::args::Common;
use crate::progress;

/// Fetch a model file from a folder or URL that has a manifest.json, and install it.
///
/// The file is compared with the checksum of the manifest before it gets its name. A fetch that was cut off goes on where
/// it stopped when it is asked for again. There is no public source of models yet: name one with --from.
#[derive(Debug, Args)]
pub(super) struct PullArgs {
    /// The model's name in the manifest
    #[arg(value_name = "NAME")]
    name: String,
    /// The source: a folder, file://..., http://... or https://...
    #[arg(long, value_name = "FOLDER|URL", env = "STORYMETER_MODEL_SOURCE")]
    from: Option<String>,
}

/// Fetches and installs.
pub(super) fn run(args: &PullArgs, common: &Common) -> anyhow::Result<Outcome> {
    let Some(from) = &args.from else {
        bail!(
            "there is no public source of models yet: name a folder or URL that has a {FILE} with --from, or in \
             STORYMETER_MODEL_SOURCE"
        );
    };
    let source = Source::parse(from)?;
    let manifest = Manifest::parse(&source.read(FILE)?, &source.describe(FILE))?;
    let offer = manifest.offer(&args.name, &source.describe(FILE))?;
    let folder =
        models_folder().context("no place for models: set STORYMETER_MODELS to a folder")?;
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let installed = folder.join(format!("{}.smq", offer.name));
    if installed.is_file() && sha256_of(&installed)? == offer.sha256 {
        say(common, &format!("{} is up to date", installed.display()))?;
        return Ok(Outcome::Done);
    }
    // The checksum in its name: what is left of another version is not taken for a part of this one.
    let part = folder.join(format!(".{}-{}.part", offer.name, &offer.sha256[..12]));
    fetch(&source, offer, &part, common)?;
    check(offer, &part, &source.describe(&offer.file))?;
    std::fs::rename(&part, &installed).with_context(|| installed.display().to_string())?;
    say(common, &format!("{}: {:.1} MB", installed.display(), offer.bytes as f64 / 1e6))?;
    Ok(Outcome::Done)
}

fn say(common: &Common, text: &str) -> io::Result<()> {
    if common.quiet { Ok(()) } else { writeln!(io::stdout(), "{text}") }
}

/// Fetches what is still missing of the part.
fn fetch(source: &Source, offer: &Offer, part: &Path, common: &Common) -> anyhow::Result<()> {
    let have = part.metadata().map_or(0, |data| data.len());
    if have == offer.bytes {
        return Ok(());
    }
    // More than there should be cannot be the beginning of it.
    let have = if have > offer.bytes { 0 } else { have };
    let stream = source.open(&offer.file, have)?;
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(false)
        .open(part)
        .with_context(|| part.display().to_string())?;
    file.set_len(stream.from).with_context(|| part.display().to_string())?;
    io::Seek::seek(&mut file, io::SeekFrom::Start(stream.from))?;
    let bar = progress::bar(common, "fetching", Some(offer.bytes));
    bar.set_position(stream.from);
    // One byte more than promised shows that the file is another one.
    let mut limited = stream.bytes.take(offer.bytes + 1 - stream.from);
    let copied = copy(&mut limited, &mut file, part, &bar);
    bar.finish_and_clear();
    let got = stream.from + copied.with_context(|| kept(part, offer))?;
    if got < offer.bytes {
        bail!(
            "{}: the connection ended early: {}",
            source.describe(&offer.file),
            kept(part, offer)
        );
    }
    file.sync_all().with_context(|| part.display().to_string())
}

fn kept(part: &Path, offer: &Offer) -> String {
    let have = part.metadata().map_or(0, |data| data.len());
    format!("{have} of {} bytes are kept; the same command goes on from there", offer.bytes)
}

fn copy(
    from: &mut impl Read,
    to: &mut File,
    path: &Path,
    bar: &ProgressBar,
) -> anyhow::Result<u64> {
    let mut buffer = vec![0; 1 << 16];
    let mut total = 0;
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error).context("the connection broke"),
        };
        to.write_all(&buffer[..count]).with_context(|| path.display().to_string())?;
        total += count as u64;
        bar.inc(count as u64);
    }
}

/// Compares the checksum and looks whether it is a model; what is wrong is removed.
fn check(offer: &Offer, part: &Path, from: &str) -> anyhow::Result<()> {
    let found = sha256_of(part)?;
    let wrong = if found != offer.sha256 {
        Some(format!("its SHA-256 is {found}, and the manifest says {}", offer.sha256))
    } else {
        StoredModel::open(part).err().map(|error| error.to_string())
    };
    let Some(problem) = wrong else { return Ok(()) };
    std::fs::remove_file(part).with_context(|| part.display().to_string())?;
    bail!("{from}: {problem}; nothing was installed")
}

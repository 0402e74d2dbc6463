//! The file `manifest.json`, which lists the model files beside it.

use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use storymeter_core::file::{self, AtomicFile};
use storymeter_core::terminal::excerpt;
use storymeter_union::{EmbeddedModel, StoredModel};

use crate::Outcome;

/// The name of the file.
pub(super) const FILE: &str = "manifest.json";

/// The longest name of a model or a file. File systems allow 255 bytes, and more is added to it.
const LONGEST_NAME: usize = 200;
/// The number of names in a message.
const MOST_NAMES: usize = 20;

/// Write manifest.json for the model files of a folder, so that `model pull --from` can fetch them
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  storymeter model manifest models")]
pub(super) struct ManifestArgs {
    /// The folder with the model files (.smq)
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// The models that a source offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// Version of this layout.
    pub format: u32,
    /// The models.
    pub models: Vec<Offer>,
}

/// One model of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Offer {
    pub name: String,
    /// The name of the file, which is beside the manifest.
    pub file: String,
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
    #[serde(default)]
    pub summary: String,
}

impl Manifest {
    const FORMAT: u32 = 1;

    /// Reads a manifest. Refuses names that could lead out of its folder.
    pub(super) fn parse(bytes: &[u8], from: &str) -> anyhow::Result<Self> {
        let manifest: Self =
            serde_json::from_slice(bytes).with_context(|| format!("{from}: not a manifest"))?;
        if manifest.format != Self::FORMAT {
            bail!(
                "{from}: the manifest has format {}, but this program reads format {}",
                manifest.format,
                Self::FORMAT
            );
        }
        for offer in &manifest.models {
            check_name(&offer.name).with_context(|| from.to_owned())?;
            check_name(&offer.file).with_context(|| from.to_owned())?;
            let digits =
                offer.sha256.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
            if offer.sha256.len() != 64 || !digits {
                let sum = excerpt(&offer.sha256, 80);
                bail!("{from}: the checksum {sum} of {} is not a SHA-256", offer.name);
            }
            if offer.bytes == 0 {
                bail!("{from}: {} has 0 bytes, which no model has", offer.name);
            }
        }
        Ok(manifest)
    }

    /// The offer with this name.
    pub(super) fn offer(&self, name: &str, from: &str) -> anyhow::Result<&Offer> {
        self.models.iter().find(|offer| offer.name == name).with_context(|| {
            let names = self.models.iter().map(|offer| offer.name.as_str());
            let shown = names.take(MOST_NAMES).collect::<Vec<_>>().join(", ");
            let more = self.models.len().saturating_sub(MOST_NAMES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{from} has no model {}; it has: {shown}{more}", excerpt(name, 80))
        })
    }
}

/// Checks the name of a model or of its file. It must not lead out of a folder, or need to be
/// escaped in a URL.
fn check_name(name: &str) -> anyhow::Result<()> {
    let odd = |c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c));
    if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with('.') || name.contains(odd) {
        let name = excerpt(name, 80);
        bail!(
            "{name} is not a plain name of at most {LONGEST_NAME} letters, digits, -, _ and dots \
             that does not begin with a dot"
        );
    }
    if EmbeddedModel::ALL.iter().any(|model| model.name() == name) {
        bail!("{name} is the name of a model that is part of the program; choose another name");
    }
    Ok(())
}

/// The SHA-256 of a file, in hexadecimal digits.
pub(super) fn sha256_of(path: &Path) -> anyhow::Result<String> {
    let mut file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer).with_context(|| path.display().to_string())? {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes the manifest of a folder.
pub(super) fn run(args: &ManifestArgs) -> anyhow::Result<Outcome> {
    let files = file::list(&args.folder).with_context(|| args.folder.display().to_string())?;
    let is_model = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "smq");
    let files: Vec<PathBuf> = files.into_iter().filter(is_model).collect();
    let offer = |path: &PathBuf| -> anyhow::Result<Offer> {
        let part = |part: Option<&std::ffi::OsStr>| {
            part.unwrap_or_default().to_string_lossy().into_owned()
        };
        // A name that `model pull` would refuse is refused here.
        check_name(&part(path.file_name()))
            .with_context(|| format!("{}: rename the file", path.display()))?;
        let stored = StoredModel::open(path)?;
        Ok(Offer {
            name: part(path.file_stem()),
            file: part(path.file_name()),
            bytes: stored.size() as u64,
            sha256: sha256_of(path)?,
            summary: stored.card().about.summary.clone(),
        })
    };
    let models = files.iter().map(offer).collect::<anyhow::Result<Vec<_>>>()?;
    if models.is_empty() {
        bail!("{}: the folder has no model files (.smq)", args.folder.display());
    }
    let manifest = Manifest { format: Manifest::FORMAT, models };
    let mut file = AtomicFile::create(args.folder.join(FILE))?;
    writeln!(file, "{}", serde_json::to_string_pretty(&manifest)?)?;
    file.commit()?;
    Ok(Outcome::Done)
}

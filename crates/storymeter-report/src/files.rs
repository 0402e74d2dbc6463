//! Figures as files: SVG always, PNG and PDF with the feature `figures`.

use std::fs;
use std::path::{Path, PathBuf};

use storymeter_core::file::StagedFolder;
use storymeter_core::{Error as CoreError, Place, Progress};
use storymeter_meta::view::unique_stems;

use crate::error::Result;
use crate::svg::Figure;

/// Writes every figure into a folder, in every format that this build knows. Returns the paths.
///
/// File names are made from the names of the figures by [`unique_stems`]: no name is refused by a
/// file system, and no figure overwrites another. Either all figures are written or none is, and
/// a file that is replaced passes its permissions on.
///
/// ```
/// # use storymeter_core::Catalogue;
/// # use storymeter_report::{FigureSet, Inputs, Report, files};
/// # let folder = tempfile::tempdir()?;
/// # let log = folder.path().join("log.jsonl");
/// # std::fs::write(&log, "{\"step\": 1, \"loss\": 2.5}\n{\"step\": 2, \"loss\": 2.25}\n")?;
/// # let out = folder.path();
/// let inputs = Inputs::read(&[log], None, &Catalogue::default())?;
/// let paths = files::write(&Report::new(&inputs).figures(FigureSet::Main), out)?;
/// assert_eq!(paths[0], out.join("training-log.svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if a figure cannot be converted, or the file system refuses a file.
pub fn write(figures: &[Figure], folder: &Path) -> Result<Vec<PathBuf>> {
    Ok(prepare(figures, folder, &Progress::unwatched())?.commit(&[])?)
}

/// As [`write()`], but the files get their names only when the folder is committed.
///
/// The folder itself is made, so that another output can be in it. `progress` hears of every
/// figure.
///
/// # Errors
/// Returns an error if a figure cannot be converted, the folder cannot be made or written to, or
/// the disk is full.
pub fn prepare(figures: &[Figure], folder: &Path, progress: &Progress) -> Result<StagedFolder> {
    fs::create_dir_all(folder).map_err(|e| CoreError::io(Place::file(folder), e))?;
    let mut staged = StagedFolder::new(folder)?;
    let stems = unique_stems(figures.iter().map(|figure| figure.id.as_str()), &[]);
    #[cfg(feature = "figures")]
    let fonts = convert::fonts();
    progress.begin("drawing figures");
    progress.expect(figures.len() as u64);
    for (figure, stem) in figures.iter().zip(&stems) {
        let svg = figure.standalone();
        staged.write(&format!("{stem}.svg"), svg.as_bytes())?;
        #[cfg(feature = "figures")]
        {
            let tree = convert::parse(&figure.id, &svg, &fonts)?;
            staged.write(&format!("{stem}.png"), &convert::png(&figure.id, &tree)?)?;
            staged.write(&format!("{stem}.pdf"), &convert::pdf(&figure.id, &tree)?)?;
        }
        progress.advance(1);
    }
    progress.end();
    Ok(staged)
}

/// Checks that a drawing can be converted to all formats.
#[cfg(all(test, feature = "figures"))]
pub(crate) fn convertible(svg: &str) {
    let tree = convert::parse("test", svg, &convert::fonts()).unwrap();
    assert!(convert::png("test", &tree).unwrap().starts_with(b"\x89PNG"));
    assert!(convert::pdf("test", &tree).unwrap().starts_with(b"%PDF"));
}

#[cfg(feature = "figures")]
mod convert {
    //! SVG to PNG and PDF. Both are made from one parsed drawing.

    use std::sync::Arc;

    use resvg::{tiny_skia, usvg};

    use crate::error::{Error, Result};

    /// DejaVu Sans, reduced to Latin, Greek, Cyrillic and the signs that figures use, so that
    /// labels look the same on every machine.
    const FONT: &[u8] = include_bytes!("../assets/DejaVuSans-subset.ttf");
    /// Pixels per unit of the drawing. Two give 192 dots per inch, which is sharp in print at the
    /// width of a column.
    const ZOOM: f32 = 2.0;
    /// The most pixels of a picture, about. Each takes 4 bytes. A larger drawing has fewer dots per
    /// inch.
    const MOST_PIXELS: f32 = 1e8;

    /// The embedded font, then the fonts of the machine for scripts that it lacks.
    pub fn fonts() -> Arc<usvg::fontdb::Database> {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_font_data(FONT.to_vec());
        fonts.load_system_fonts();
        fonts.set_sans_serif_family("DejaVu Sans");
        Arc::new(fonts)
    }

    fn failed(id: &str, format: &'static str, problem: impl ToString) -> Error {
        Error::Convert { id: id.into(), format, problem: problem.to_string() }
    }

    pub fn parse(id: &str, svg: &str, fonts: &Arc<usvg::fontdb::Database>) -> Result<usvg::Tree> {
        let options = usvg::Options {
            fontdb: fonts.clone(),
            font_family: "DejaVu Sans".into(),
            ..usvg::Options::default()
        };
        usvg::Tree::from_str(svg, &options).map_err(|e| failed(id, "png", e))
    }

    pub fn png(id: &str, tree: &usvg::Tree) -> Result<Vec<u8>> {
        let size = tree.size();
        let zoom = ZOOM.min((MOST_PIXELS / (size.width() * size.height())).sqrt());
        let (w, h) = ((size.width() * zoom).ceil() as u32, (size.height() * zoom).ceil() as u32);
        let mut pixels =
            tiny_skia::Pixmap::new(w, h).ok_or_else(|| failed(id, "png", "it is too large"))?;
        resvg::render(tree, tiny_skia::Transform::from_scale(zoom, zoom), &mut pixels.as_mut());
        pixels.encode_png().map_err(|e| failed(id, "png", e))
    }

    pub fn pdf(id: &str, tree: &usvg::Tree) -> Result<Vec<u8>> {
        svg2pdf::to_pdf(
            tree,
            svg2pdf::ConversionOptions::default(),
            svg2pdf::PageOptions::default(),
        )
        .map(crate::pdf::in_order)
        .map_err(|e| failed(id, "pdf", e))
    }
}

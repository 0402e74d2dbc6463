//! Figures as files: SVG always, PNG and PDF with the feature `figures`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use storymeter_core::{AtomicFile, Error as CoreError, Place};
use storymeter_meta::view::unique_stems;

use crate::error::Result;
use crate::svg::Figure;

/// Writes every figure into a folder, in every format that this build knows. Returns the paths.
///
/// File names are made from the names of the figures by [`unique_stems`]: no name is refused by a
/// file system, and no figure overwrites another.
///
/// ```
/// # use storymeter_core::Catalogue;
/// # use storymeter_report::{Inputs, figures, files};
/// # let folder = tempfile::tempdir()?;
/// # let log = folder.path().join("log.jsonl");
/// # std::fs::write(&log, "{\"step\": 1, \"loss\": 2.5}\n{\"step\": 2, \"loss\": 2.25}\n")?;
/// # let out = folder.path();
/// let inputs = Inputs::read(&[log], None, &Catalogue::default())?;
/// let paths = files::write(&figures::all(&inputs), out)?;
/// assert_eq!(paths[0], out.join("training-log.svg"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Where a figure cannot be converted, or the file system refuses a file.
pub fn write(figures: &[Figure], folder: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder).map_err(|e| CoreError::io(Place::file(folder), e))?;
    let mut paths = Vec::new();
    let stems = unique_stems(figures.iter().map(|figure| figure.id.as_str()), &[]);
    #[cfg(feature = "figures")]
    let fonts = convert::fonts();
    for (figure, stem) in figures.iter().zip(&stems) {
        let svg = figure.standalone();
        let mut save = |ending: &str, bytes: &[u8]| -> Result<()> {
            let path = folder.join(format!("{stem}.{ending}"));
            let mut file = AtomicFile::create(&path)?;
            file.write_all(bytes).map_err(|e| CoreError::io(Place::file(&path), e))?;
            file.commit()?;
            paths.push(path);
            Ok(())
        };
        save("svg", svg.as_bytes())?;
        #[cfg(feature = "figures")]
        {
            let tree = convert::parse(&figure.id, &svg, &fonts)?;
            save("png", &convert::png(&figure.id, &tree)?)?;
            save("pdf", &convert::pdf(&figure.id, &tree)?)?;
        }
    }
    Ok(paths)
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
        let (w, h) = ((size.width() * ZOOM).ceil() as u32, (size.height() * ZOOM).ceil() as u32);
        let mut pixels =
            tiny_skia::Pixmap::new(w, h).ok_or_else(|| failed(id, "png", "it is too large"))?;
        resvg::render(tree, tiny_skia::Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
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

//! An int8 encoder from weights on a grid ([`crate::Grid`]). Each row goes from its levels to eight
//! bits through a table, so that a model is ready in a fraction of a second.

use super::Cpu;
use super::build::Supply;
use super::head::Heads;
use super::net::{Net, Weights};
use super::stored::Source;
use super::words::Words;
use crate::Result;
use crate::config::Config;
use crate::grid::{Grid, Levels, Rounded, halves, unpack};
use crate::kernel::Isa;
use crate::kernel::quantised::{PackedI8, step_of};
use crate::model::Find;
use crate::parameters::{Layout, Tensor};
use rayon::prelude::*;
use std::path::Path;

/// The most levels per byte of a file, over all its tensors. Trained weights have three or four. A
/// level that is certain takes no room at all in an entropy code, so that a forged file could ask
/// for any amount of memory.
const LEVELS_PER_BYTE: usize = 64;

/// Rows in eight bits, and what a step of each is worth.
type Rows = (Vec<i8>, Vec<f32>);

impl Cpu {
    /// Makes an int8 encoder from the bytes that [`crate::Parameters::packed`] gave.
    ///
    /// # Errors
    /// Returns an error if a tensor is missing, does not have the size that `config` says, or holds
    /// NaN or infinity. Errors name `path`.
    pub(crate) fn from_packed(
        config: Config,
        grid: Grid,
        find: Find<'_>,
        path: &Path,
        isa: Isa,
    ) -> Result<Cpu> {
        config.check_encoder()?;
        let layout = Layout::of(&config);
        let plan = grid.plan(&layout);
        let source = Source { find, path };
        // All sizes that can be known are checked before anything is decoded. The length of an
        // entropy code says nothing, and sizes that are not those of the model could ask for any
        // amount of memory.
        let part =
            |((name, shape), rounded): (&(String, Vec<usize>), &Option<Rounded>)| match rounded {
                Some(_) => source.bytes(name),
                None => source.part(name, 2 * shape.iter().product::<usize>()),
            };
        let parts = layout.expected.iter().zip(&plan).map(part).collect::<Result<Vec<_>>>()?;
        let levels = plan
            .iter()
            .flatten()
            .map(|Rounded { tensor, .. }| layout.expected[*tensor].1.iter().product::<usize>());
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        if levels.sum::<usize>() / LEVELS_PER_BYTE > bytes {
            let problem = "has more numbers than the file can hold".to_owned();
            return Err(source.error(&layout.expected[layout.words].0, problem));
        }
        let mut tensors = Vec::with_capacity(layout.expected.len());
        let mut matrices: Vec<Rows> = Vec::with_capacity(layout.expected.len());
        for (((name, shape), rounded), bytes) in layout.expected.iter().zip(plan).zip(parts) {
            let (data, rows) = if rounded.is_some() {
                let levels = unpack(&bytes, shape[0], shape[1]).ok_or_else(|| {
                    source.error(name, format!("is not {} rows of {} numbers", shape[0], shape[1]))
                })?;
                (Vec::new(), in_eight_bits(levels, shape[1]))
            } else {
                (halves(&bytes), Rows::default())
            };
            if !data.iter().chain(&rows.1).all(|x: &f32| x.is_finite()) {
                return Err(source.error(name, "holds NaN or infinity".into()));
            }
            tensors.push(Tensor { name: name.clone(), shape: shape.clone(), data });
            matrices.push(rows);
        }
        let supply = OnGrid { layout: &layout, tensors, matrices };
        let net = Net::build(&config, &supply, isa)?;
        Ok(Cpu::of(config, net))
    }
}

/// The tensors of a file, of which the matrices have eight bits already.
struct OnGrid<'a> {
    layout: &'a Layout,
    tensors: Vec<Tensor>,
    matrices: Vec<Rows>,
}

impl OnGrid<'_> {
    /// The place of a tensor, which every encoder of this configuration has.
    fn place(&self, name: &str) -> usize {
        let place = self.layout.expected.iter().position(|(known, _)| known == name);
        place.expect("the layout has all tensors of an encoder")
    }
}

impl Supply for OnGrid<'_> {
    fn int8(&self) -> bool {
        true
    }

    fn words(&self, _: &[&str], _: usize, _: usize, _: bool) -> Result<Words> {
        let (rows, scales) = self.matrices[self.layout.words].clone();
        Ok(Words::I8 { rows: rows.into(), scales })
    }

    fn matrix(&self, parts: &[(String, usize)], inputs: usize) -> Result<Weights> {
        let parts =
            parts.iter().map(|(name, _)| &self.matrices[self.place(&format!("{name}.weight"))]);
        let scales: Vec<f32> = parts.clone().flat_map(|(_, scales)| scales).copied().collect();
        let rows: Vec<&[i8]> = parts.flat_map(|(rows, _)| rows.chunks_exact(inputs)).collect();
        Ok(Weights::I8(PackedI8::of_rows(&rows, &scales, inputs)))
    }

    fn numbers(&self, name: &str, _: &[usize]) -> Result<Vec<f32>> {
        Ok(self.tensors[self.place(name)].data.clone())
    }

    fn find(&self, name: &str, shape: &[usize]) -> Result<Option<Vec<f32>>> {
        self.numbers(name, shape).map(Some)
    }

    fn heads(&self, _: &Config, _: &Words) -> Result<Heads> {
        Ok(Heads::default())
    }
}

/// Turns levels into the eight bits that [`step_of`] and rounding would give for the numbers they
/// stand for.
fn in_eight_bits(Levels { mut levels, mut steps }: Levels, width: usize) -> Rows {
    levels.par_chunks_exact_mut(width).zip(&mut steps).with_min_len(64).for_each(|(row, step)| {
        let largest = row.iter().map(|level| level.unsigned_abs()).max().unwrap_or(0);
        let number = |level: i8| *step * f32::from(level);
        // If the step is NaN, so is every number of the row, which the search for the largest would
        // not see.
        let new = step_of(&[*step * f32::from(largest)]) + 0.0 * *step;
        let mut table = [0i8; 256];
        let largest = largest.min(127) as i8;
        for level in -largest..=largest {
            table[usize::from(level.cast_unsigned())] = (number(level) / new).round() as i8;
        }
        row.iter_mut().for_each(|level| *level = table[usize::from(level.cast_unsigned())]);
        *step = new;
    });
    (levels, steps)
}

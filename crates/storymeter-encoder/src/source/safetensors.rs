//! Weights in safetensors files.

use super::Tensors;
use super::content::{Content, Number};
use crate::error::excerpt;
use crate::file::LARGEST_HEADER;
use crate::parameters::Tensor;
use crate::{Error, Result};
use ::safetensors::tensor::{Dtype, Metadata};
use std::path::Path;

/// One file, of which the header has been read.
#[derive(Debug)]
pub(crate) struct Safetensors<'a> {
    content: Content<'a>,
    header: Metadata,
    /// Where the numbers begin.
    data: u64,
}

impl<'a> Safetensors<'a> {
    /// Reads the header.
    ///
    /// # Errors
    /// Returns an error if the file is not a complete safetensors file.
    pub(crate) fn open(content: Content<'a>) -> Result<Safetensors<'a>> {
        let broken = |problem: &str| Error::Safetensors {
            path: content.path().into(),
            problem: format!("{problem} ({} bytes)", content.length()),
        };
        let begins = content.read(0, content.length().min(9))?;
        let length = begins.first_chunk().map(|length| u64::from_le_bytes(*length));
        let Some(length) = length.filter(|n| *n <= LARGEST_HEADER && begins.get(8) == Some(&b'{'))
        else {
            return Err(broken("its first bytes are not those of such a file"));
        };
        if length > content.length() - 8 {
            return Err(broken("the header is longer than the file"));
        }
        let header: Metadata = serde_json::from_slice(&content.read(8, length)?)
            .map_err(|error| broken(&excerpt(&error.to_string())))?;
        let data = 8 + length;
        if data.checked_add(header.data_len() as u64) != Some(content.length()) {
            return Err(broken("the file ends before or after its last tensor"));
        }
        Ok(Safetensors { content, header, data })
    }
}

/// The type of floating-point numbers, or `None` for a tensor of other things, such as the numbers
/// of positions.
fn number(dtype: Dtype) -> Option<Number> {
    match dtype {
        Dtype::F64 => Some(Number::F64),
        Dtype::F32 => Some(Number::F32),
        Dtype::F16 => Some(Number::F16),
        Dtype::BF16 => Some(Number::Bf16),
        _ => None,
    }
}

impl Tensors for Safetensors<'_> {
    fn path(&self) -> &Path {
        self.content.path()
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.header.offset_keys();
        names.retain(|name| {
            self.header.info(name).is_some_and(|info| {
                // Eight-bit weights are named, so that asking for them says what is wrong.
                number(info.dtype).is_some() || is_small_float(info.dtype)
            })
        });
        names
    }

    fn get(&self, name: &str) -> Result<Option<Tensor>> {
        let Some(info) = self.header.info(name) else { return Ok(None) };
        let Some(number) = number(info.dtype) else {
            let problem = format!("has type {:?}, expected F32, F16, BF16 or F64", info.dtype);
            return Err(self.content.tensor_error(name, problem));
        };
        let (start, end) = info.data_offsets;
        let bytes = self.content.read(self.data + start as u64, (end - start) as u64)?;
        self.content.tensor(name, info.shape.clone(), number.decode(&bytes)).map(Some)
    }
}

fn is_small_float(dtype: Dtype) -> bool {
    use Dtype::{F4, F6_E2M3, F6_E3M2, F8_E4M3, F8_E4M3FNUZ, F8_E5M2, F8_E5M2FNUZ};
    matches!(dtype, F4 | F6_E2M3 | F6_E3M2 | F8_E4M3 | F8_E4M3FNUZ | F8_E5M2 | F8_E5M2FNUZ)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::safetensors::tensor::TensorView;

    fn written() -> Vec<u8> {
        let floats: Vec<u8> = [1.0f64, -2.5].iter().flat_map(|v| v.to_le_bytes()).collect();
        let whole: Vec<u8> = [7i64].iter().flat_map(|v| v.to_le_bytes()).collect();
        let views = [
            ("w", TensorView::new(Dtype::F64, vec![2, 1], &floats).unwrap()),
            ("position_ids", TensorView::new(Dtype::I64, vec![1], &whole).unwrap()),
        ];
        ::safetensors::serialize(views, None).unwrap()
    }

    fn open(bytes: Vec<u8>) -> Result<Safetensors<'static>> {
        Safetensors::open(Content::from_bytes(Path::new("x"), bytes))
    }

    #[test]
    fn floats_are_listed_and_whole_numbers_are_not() {
        let file = open(written()).unwrap();
        assert_eq!(file.names(), ["w"]);
        let tensor = file.get("w").unwrap().unwrap();
        assert_eq!((tensor.shape, tensor.data), (vec![2, 1], vec![1.0, -2.5]));
        assert!(file.get("v").unwrap().is_none());
        assert_eq!(
            file.get("position_ids").unwrap_err().to_string(),
            "x: tensor position_ids: has type I64, expected F32, F16, BF16 or F64"
        );
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_an_error() {
        let whole = written();
        for length in 0..whole.len() {
            let error = open(whole[..length].to_vec()).expect_err("cut off").to_string();
            assert!(error.starts_with("x: not a complete safetensors file: "), "{error}");
            assert!(error.ends_with(&format!("({length} bytes)")), "{error}");
        }
        let longer = [whole, vec![0]].concat();
        assert!(open(longer).is_err());
    }
}

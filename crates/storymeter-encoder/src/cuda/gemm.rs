//! Matrix products by cuBLASLt.
//!
//! The algorithm of a product is looked up once for each bucket of row counts and kept: asking for
//! it takes longer than many a product, and packed batches hardly ever have the same number of
//! rows.

use super::device::Device;
use super::driver::{Block, Context, failed};
use super::memory::View;
use super::{Format, Number};
use crate::Result;
use crate::error::DeviceError;
use cudarc::cublaslt::{result, sys};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::rc::Rc;

/// The bytes that cuBLASLt may use beside a product (what NVIDIA recommends for Hopper).
const WORKSPACE: usize = 32 << 20;
/// Matrices begin at multiples of this many bytes, which cuBLASLt is told when it picks an
/// algorithm.
const ALIGNMENT: u32 = 16;

/// cuBLASLt, and the answers it gave before.
pub(super) struct Gemm {
    handle: Handle,
    workspace: Block,
    choice: Choice,
    found: RefCell<HashMap<Key, sys::cublasLtMatmulAlgo_t>>,
}

/// How the algorithm of a product is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// The fastest one for about as many rows.
    ByRows,
    /// The one that is fastest for many rows, whatever their number, and no algorithm that sums
    /// parts of one number separately. The numbers of a row then do not depend on other rows.
    ///
    /// Floats are multiplied as TF32, which has eleven bits of precision: whoever needs more splits
    /// them into numbers of as many bits.
    Steady,
}

/// The number of rows for which algorithms are chosen by [`Choice::Steady`].
const STEADY_ROWS: usize = 16_384;

/// Declares a handle of cuBLASLt that is destroyed when it is dropped.
macro_rules! handle {
    ($name:ident, $raw:ty, $destroy:path) => {
        struct $name($raw);

        impl Drop for $name {
            #[expect(unsafe_code, reason = "calls cuBLASLt")]
            fn drop(&mut self) {
                // SAFETY: whoever made the handle gave it up to this value, its only owner.
                let _ = unsafe { $destroy(self.0) };
            }
        }
    };
}
handle!(Handle, sys::cublasLtHandle_t, result::destroy_handle);
handle!(Operation, sys::cublasLtMatmulDesc_t, result::destroy_matmul_desc);
handle!(Layout, sys::cublasLtMatrixLayout_t, result::destroy_matrix_layout);
handle!(Preference, sys::cublasLtMatmulPreference_t, result::destroy_matmul_pref);

/// A matrix in the GPU's memory, row by row.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    address: u64,
    /// The numbers from the address on.
    len: usize,
    /// The numbers from the beginning of a row to that of the next.
    stride: usize,
    format: Format,
}

impl Matrix {
    pub(super) fn new<N: Number>(numbers: View<'_, N>, stride: usize) -> Matrix {
        Matrix { address: numbers.first(0), len: numbers.len(), stride, format: N::FORMAT }
    }

    /// Whether the matrix has this many rows and columns.
    fn holds(&self, (rows, columns): (usize, usize)) -> bool {
        let end = rows.saturating_sub(1).checked_mul(self.stride);
        let end = end.and_then(|start| start.checked_add(columns));
        self.stride >= columns && end.is_some_and(|end| end <= self.len)
    }
}

/// A product of a linear map `y = x w^T + b` with `rows` rows, `inputs` and `outputs` columns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Which {
    /// `y`, from `w` and `x`.
    Forward,
    /// `d_x`, from `w` and `d_y`.
    Input,
    /// `d_w`, from `x` and `d_y`.
    Weight,
}

impl Which {
    fn label(self) -> &'static str {
        match self {
            Which::Forward => "product forward",
            Which::Input => "product of the input's gradient",
            Which::Weight => "product of the weight's gradient",
        }
    }

    /// The rows and columns of the first and second matrix and of the result.
    fn shapes(self, Extent { rows, inputs, outputs }: Extent) -> [(usize, usize); 3] {
        match self {
            Which::Forward => [(outputs, inputs), (rows, inputs), (rows, outputs)],
            Which::Input => [(outputs, inputs), (rows, outputs), (rows, inputs)],
            Which::Weight => [(rows, inputs), (rows, outputs), (outputs, inputs)],
        }
    }

    /// Which of the first two matrices is transposed in cuBLASLt's eyes.
    fn transposed(self) -> [bool; 2] {
        match self {
            Which::Forward => [true, false],
            Which::Input => [false, false],
            Which::Weight => [false, true],
        }
    }
}

/// The size of the products of a linear map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Extent {
    pub(super) rows: usize,
    pub(super) inputs: usize,
    pub(super) outputs: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    which: Which,
    extent: Extent,
    strides: [usize; 3],
    formats: [Format; 3],
    add: bool,
    bias: bool,
    tf32: bool,
}

/// The descriptors of one product.
struct Plan {
    operation: Operation,
    layouts: [Layout; 3],
}

fn data_type(format: Format) -> sys::cudaDataType {
    match format {
        Format::F32 => sys::cudaDataType::CUDA_R_32F,
        Format::Bf16 => sys::cudaDataType::CUDA_R_16BF,
        Format::F16 => sys::cudaDataType::CUDA_R_16F,
    }
}

/// Gives a handle of cuBLASLt a way to set its attributes.
macro_rules! attributes {
    ($name:ident, $attribute:ty, $set:path) => {
        impl $name {
            /// Sets an attribute.
            ///
            /// # Safety
            /// `V` must be the type of the attribute.
            #[expect(unsafe_code, reason = "calls cuBLASLt")]
            unsafe fn set<V>(
                &self,
                attribute: $attribute,
                value: V,
            ) -> Result<(), result::CublasError> {
                let pointer: *const c_void = (&raw const value).cast();
                // SAFETY: cuBLASLt copies as many bytes as the value has.
                unsafe { $set(self.0, attribute, pointer, size_of::<V>()) }
            }
        }
    };
}
attributes!(Operation, sys::cublasLtMatmulDescAttributes_t, result::set_matmul_desc_attribute);
attributes!(
    Preference,
    sys::cublasLtMatmulPreferenceAttributes_t,
    result::set_matmul_pref_attribute
);

impl Plan {
    /// cuBLASLt reads matrices column by column: it sees ours transposed, and so is every product.
    #[expect(unsafe_code, reason = "calls cuBLASLt")]
    fn new(key: &Key, bias: Option<u64>) -> Result<Plan, result::CublasError> {
        use sys::cublasLtMatmulDescAttributes_t as Attribute;
        let compute = match key.tf32 {
            true => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
            false => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
        };
        let scale = sys::cudaDataType::CUDA_R_32F;
        let operation = Operation(result::create_matmul_desc(compute, scale)?);
        let shapes = key.which.shapes(key.extent);
        let layout = |i: usize| {
            let ((rows, columns), kind) = (shapes[i], data_type(key.formats[i]));
            let stride = key.strides[i] as i64;
            result::create_matrix_layout(kind, columns as u64, rows as u64, stride).map(Layout)
        };
        let layouts = [layout(0)?, layout(1)?, layout(2)?];
        let [first, second] = key.which.transposed().map(i32::from);
        // SAFETY: cuBLASLt documents both attributes as 32-bit integers, the epilogue as this enum,
        // and the address of the bias as a pointer of 64 bits.
        unsafe {
            operation.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSA, first)?;
            operation.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSB, second)?;
            if let Some(bias) = bias {
                let epilogue = sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS;
                operation.set(Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue)?;
                operation.set(Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias)?;
            }
        }
        Ok(Plan { operation, layouts })
    }
}

/// The number of rows rounded up, so that there are few buckets and none is more than an eighth too
/// large.
fn bucket(rows: usize) -> usize {
    rows.next_multiple_of((rows.next_power_of_two() / 16).max(16))
}

impl Gemm {
    #[expect(unsafe_code, reason = "loads cuBLASLt")]
    pub(super) fn new(context: &Rc<Context>, choice: Choice) -> Result<Gemm> {
        // SAFETY: this only tries to load the library by its name.
        if !unsafe { sys::is_culib_present() } {
            let library = "libcublasLt (cuBLAS of CUDA 12 or 13)";
            return Err(DeviceError::MissingLibrary { library }.into());
        }
        let handle = result::create_handle().map(Handle).map_err(|error| DeviceError::Driver {
            action: "starting cuBLASLt".into(),
            message: error.to_string(),
        })?;
        let workspace = Block::new(context, WORKSPACE).map_err(failed("memory for cuBLASLt"))?;
        Ok(Gemm { handle, workspace, choice, found: RefCell::default() })
    }

    /// One product of a linear map. The first and second matrix and the result are `w, x, y`,
    /// `w, d_y, d_x` or `x, d_y, d_w`. With `add`, the result is added to what is there; a bias is
    /// added to every row of `y`.
    ///
    /// Matrices that are too small for the product make the device fail.
    pub(super) fn product<N: Number>(
        &self,
        device: &Device,
        which: Which,
        extent: Extent,
        matrices: [Matrix; 3],
        add: bool,
        bias: Option<View<'_, N>>,
    ) {
        if device.failed() || extent.rows == 0 {
            return;
        }
        let shapes = which.shapes(extent);
        let bias_fits =
            bias.is_none_or(|bias| bias.len() >= extent.outputs && N::FORMAT == matrices[2].format);
        let aligned = |matrix: &Matrix| matrix.address.is_multiple_of(u64::from(ALIGNMENT));
        if !bias_fits
            || !matrices.iter().all(aligned)
            || !matrices.iter().zip(shapes).all(|(matrix, shape)| matrix.holds(shape))
        {
            let problem = format!("the matrices do not fit the {} of {extent:?}", which.label());
            return device.fail(DeviceError::Mismatch(problem));
        }
        let bias = bias.map(|bias| bias.first(extent.outputs));
        let key = Key {
            which,
            extent,
            strides: matrices.map(|m| m.stride),
            formats: matrices.map(|m| m.format),
            add,
            bias: bias.is_some(),
            tf32: self.choice == Choice::Steady && matrices.iter().all(|m| m.format == Format::F32),
        };
        let rows = match self.choice {
            Choice::ByRows => bucket(extent.rows),
            Choice::Steady => STEADY_ROWS,
        };
        let about = Key { extent: Extent { rows, ..extent }, ..key };
        let outcome = self.algorithm(about, bias).and_then(|algorithm| {
            self.run(device, &key, matrices, bias, &algorithm).or_else(|_| {
                // What suits the bucket does not always suit this number of rows.
                let algorithm = self.algorithm(key, bias)?;
                self.run(device, &key, matrices, bias, &algorithm)
            })
        });
        if let Err(error) = outcome {
            let action = format!("cuBLASLt: {} of {extent:?}", which.label());
            device.fail(DeviceError::Driver { action, message: error.to_string() });
        }
    }

    #[expect(unsafe_code, reason = "calls cuBLASLt")]
    fn algorithm(
        &self,
        key: Key,
        bias: Option<u64>,
    ) -> Result<sys::cublasLtMatmulAlgo_t, result::CublasError> {
        use sys::cublasLtMatmulPreferenceAttributes_t as Attribute;
        if let Some(algorithm) = self.found.borrow().get(&key) {
            return Ok(*algorithm);
        }
        let Plan { operation, layouts: [a, b, c] } = Plan::new(&key, bias)?;
        let preference = Preference(result::create_matmul_pref()?);
        // SAFETY: cuBLASLt documents the size of the workspace as a `size_t`, and the alignments
        // and the mask as 32-bit integers.
        unsafe {
            preference.set(Attribute::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, WORKSPACE)?;
            for attribute in [
                Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
            ] {
                preference.set(attribute, ALIGNMENT)?;
            }
            if self.choice == Choice::Steady {
                let none = sys::cublasLtReductionScheme_t::CUBLASLT_REDUCTION_SCHEME_NONE as u32;
                preference.set(Attribute::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, none)?;
            }
        }
        // SAFETY: all handles are alive.
        let found = unsafe {
            result::get_matmul_algo_heuristic(
                self.handle.0,
                operation.0,
                a.0,
                b.0,
                c.0,
                c.0,
                preference.0,
            )
        };
        let algorithm = found?.algo;
        self.found.borrow_mut().insert(key, algorithm);
        Ok(algorithm)
    }

    /// Starts a product whose matrices [`Gemm::product`] has checked.
    #[expect(unsafe_code, reason = "calls cuBLASLt")]
    fn run(
        &self,
        device: &Device,
        key: &Key,
        matrices: [Matrix; 3],
        bias: Option<u64>,
        algorithm: &sys::cublasLtMatmulAlgo_t,
    ) -> Result<(), result::CublasError> {
        let Plan { operation, layouts: [a, b, c] } = Plan::new(key, bias)?;
        let (one, beta) = (1f32, if key.add { 1f32 } else { 0f32 });
        let [first, second, third] = matrices.map(|m| m.address as *mut c_void);
        let mut outcome = Ok(());
        device.timed(key.which.label(), || {
            // SAFETY: the matrices and the bias have the sizes of their layouts and the alignment
            // that the algorithm was asked for, the workspace has its size, and all handles are
            // alive. All work is on one stream, so that no two products share the workspace.
            outcome = unsafe {
                result::matmul(
                    self.handle.0,
                    operation.0,
                    (&raw const one).cast(),
                    (&raw const beta).cast(),
                    first,
                    a.0,
                    second,
                    b.0,
                    third,
                    c.0,
                    third,
                    c.0,
                    algorithm,
                    self.workspace.address() as *mut c_void,
                    WORKSPACE,
                    device.stream.raw().cast(),
                )
            };
        });
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::{Extent, Format, Matrix, Which, bucket};

    #[test]
    fn buckets_of_rows_are_few_and_close() {
        let buckets: std::collections::BTreeSet<usize> = (1..40_000).map(bucket).collect();
        assert!(buckets.len() < 120, "{}", buckets.len());
        assert!(
            (1..40_000).all(|rows| bucket(rows) >= rows && bucket(rows) <= rows + rows / 8 + 16)
        );
    }

    #[test]
    fn a_matrix_holds_a_shape_if_its_last_row_ends_within_it() {
        let matrix = |len, stride| Matrix { address: 0, len, stride, format: Format::F32 };
        assert!(matrix(2 * 10 + 7, 10).holds((3, 7)));
        assert!(!matrix(2 * 10 + 6, 10).holds((3, 7)), "one number is missing");
        assert!(!matrix(100, 6).holds((3, 7)), "rows would overlap");
        assert!(!matrix(100, 10).holds((usize::MAX, 7)), "no overflow");
    }

    #[test]
    fn the_shapes_of_all_products_are_those_of_one_linear_map() {
        let extent = Extent { rows: 5, inputs: 3, outputs: 2 };
        let [w, x, y] = Which::Forward.shapes(extent);
        assert_eq!([w, x, y], [(2, 3), (5, 3), (5, 2)]);
        assert_eq!(Which::Input.shapes(extent), [w, y, x]);
        assert_eq!(Which::Weight.shapes(extent), [x, y, w]);
    }
}

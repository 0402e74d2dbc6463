//! Matrix products by cuBLASLt. The algorithm is looked up once for a bucket of rows and kept: asking takes longer than
//! many a product, and packed batches hardly ever have the same number of rows.

use super::Format;
use super::device::Device;
use crate::{Error, Result};
use cudarc::cublaslt::{result, sys};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;

/// Bytes cuBLASLt may use beside a product (what NVIDIA recommends for Hopper).
const WORKSPACE: usize = 32 << 20;

/// cuBLASLt and what it was asked before.
pub(super) struct Gemm {
    handle: sys::cublasLtHandle_t,
    workspace: u64,
    found: RefCell<HashMap<Key, sys::cublasLtMatmulAlgo_t>>,
}

impl Drop for Gemm {
    fn drop(&mut self) {
        // SAFETY: the device waits for all work before it drops this.
        unsafe {
            let _ = result::destroy_handle(self.handle);
            let _ = cudarc::driver::result::free_sync(self.workspace);
        }
    }
}

/// A matrix: its address, the numbers between two rows, what they are.
#[derive(Clone, Copy)]
pub(super) struct Matrix {
    pub(super) pointer: u64,
    pub(super) stride: usize,
    pub(super) format: Format,
}

/// Which product of a linear map `y = x w^T + b` with `rows` rows, `inputs` and `outputs` columns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Which {
    /// `y`, from `x` and `w`.
    Forward,
    /// `d_x`, from `d_y` and `w`.
    Input,
    /// `d_w`, from `d_y` and `x`.
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
}

/// The size of a linear map's products.
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
}

/// Descriptors of one product, destroyed with it.
struct Plan {
    operation: sys::cublasLtMatmulDesc_t,
    layouts: [sys::cublasLtMatrixLayout_t; 3],
}

impl Drop for Plan {
    fn drop(&mut self) {
        // SAFETY: made in `Plan::new`, destroyed only here.
        unsafe {
            let _ = result::destroy_matmul_desc(self.operation);
            for layout in self.layouts {
                let _ = result::destroy_matrix_layout(layout);
            }
        }
    }
}

fn data_type(format: Format) -> sys::cudaDataType {
    match format {
        Format::F32 => sys::cudaDataType::CUDA_R_32F,
        Format::Bf16 => sys::cudaDataType::CUDA_R_16BF,
        Format::F16 => sys::cudaDataType::CUDA_R_16F,
    }
}

impl Plan {
    /// cuBLASLt is column-major, so that our matrices are transposed in its eyes, and so is every product.
    fn new(key: &Key, bias: Option<u64>) -> Result<Plan, result::CublasError> {
        use sys::cublasLtMatmulDescAttributes_t as Attribute;
        let Extent { rows, inputs, outputs } = key.extent;
        // First and second matrix and result as column-major rows x columns, and which of the first two is turned.
        let (shapes, turned) = match key.which {
            Which::Forward => ([(inputs, outputs), (inputs, rows), (outputs, rows)], [true, false]),
            Which::Input => ([(inputs, outputs), (outputs, rows), (inputs, rows)], [false, false]),
            Which::Weight => ([(inputs, rows), (outputs, rows), (inputs, outputs)], [false, true]),
        };
        let compute = sys::cublasComputeType_t::CUBLAS_COMPUTE_32F;
        let operation = result::create_matmul_desc(compute, sys::cudaDataType::CUDA_R_32F)?;
        let mut plan = Plan { operation, layouts: [std::ptr::null_mut(); 3] };
        for (i, layout) in plan.layouts.iter_mut().enumerate() {
            let (rows, columns) = shapes[i];
            let kind = data_type(key.formats[i]);
            *layout = result::create_matrix_layout(
                kind,
                rows as u64,
                columns as u64,
                key.strides[i] as i64,
            )?;
        }
        let set = |attribute, value: *const c_void, size| {
            // SAFETY: value points to as many bytes as the attribute has.
            unsafe { result::set_matmul_desc_attribute(operation, attribute, value, size) }
        };
        for (attribute, turn) in
            [Attribute::CUBLASLT_MATMUL_DESC_TRANSA, Attribute::CUBLASLT_MATMUL_DESC_TRANSB]
                .into_iter()
                .zip(turned)
        {
            let turn = i32::from(turn);
            set(attribute, (&raw const turn).cast(), size_of::<i32>())?;
        }
        if let Some(bias) = bias {
            let epilogue = sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS;
            set(
                Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE,
                (&raw const epilogue).cast(),
                size_of_val(&epilogue),
            )?;
            set(
                Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                (&raw const bias).cast(),
                size_of::<u64>(),
            )?;
        }
        Ok(plan)
    }
}

/// Rows rounded up so that there are few buckets and none is more than an eighth too large.
fn bucket(rows: usize) -> usize {
    rows.next_multiple_of((rows.next_power_of_two() / 16).max(16))
}

impl Gemm {
    pub(super) fn new() -> Result<Gemm> {
        // SAFETY: loading a library by name; the context is current.
        unsafe {
            if !sys::is_culib_present() {
                let problem = "libcublasLt (cuBLAS of CUDA 12 or 13) was not found; add its folder to LD_LIBRARY_PATH";
                return Err(Error::Device(problem.into()));
            }
            let handle =
                result::create_handle().map_err(|e| Error::Device(format!("cuBLASLt: {e}")))?;
            let workspace = cudarc::driver::result::malloc_sync(WORKSPACE)
                .map_err(|error| super::device::driver_error("memory for cuBLASLt", error))?;
            Ok(Gemm { handle, workspace, found: RefCell::default() })
        }
    }

    /// One product of a linear map: first and second matrix and result are `w, x, y`, `w, d_y, d_x` or `x, d_y, d_w`.
    /// The result is added to what is there with `add`; a bias is added to every row of `y`.
    pub(super) fn product(
        &self,
        device: &Device,
        which: Which,
        extent: Extent,
        matrices: [Matrix; 3],
        add: bool,
        bias: Option<u64>,
    ) {
        if device.failed() || extent.rows == 0 {
            return;
        }
        let key = Key {
            which,
            extent,
            strides: matrices.map(|m| m.stride),
            formats: matrices.map(|m| m.format),
            add,
            bias: bias.is_some(),
        };
        let about = Key { extent: Extent { rows: bucket(extent.rows), ..extent }, ..key };
        let outcome = self.algorithm(about, bias).and_then(|algorithm| {
            self.run(device, &key, matrices, bias, &algorithm).or_else(|_| {
                // What suits the bucket does not suit this number of rows.
                let algorithm = self.algorithm(key, bias)?;
                self.run(device, &key, matrices, bias, &algorithm)
            })
        });
        if let Err(error) = outcome {
            device.fail(format!("cuBLASLt: {} of {extent:?}: {error}", which.label()));
        }
    }

    fn algorithm(
        &self,
        key: Key,
        bias: Option<u64>,
    ) -> Result<sys::cublasLtMatmulAlgo_t, result::CublasError> {
        use sys::cublasLtMatmulPreferenceAttributes_t as Attribute;
        if let Some(algorithm) = self.found.borrow().get(&key) {
            return Ok(*algorithm);
        }
        let plan = Plan::new(&key, bias)?;
        let preference = result::create_matmul_pref()?;
        let set = |attribute, value: *const c_void, size| {
            // SAFETY: value points to as many bytes as the attribute has.
            unsafe { result::set_matmul_pref_attribute(preference, attribute, value, size) }
        };
        let alignment = 16u32;
        let settings = || {
            let workspace = WORKSPACE;
            set(
                Attribute::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                (&raw const workspace).cast(),
                size_of::<usize>(),
            )?;
            for attribute in [
                Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
            ] {
                set(attribute, (&raw const alignment).cast(), size_of::<u32>())?;
            }
            let [a, b, c] = plan.layouts;
            // SAFETY: all descriptors are alive.
            unsafe {
                result::get_matmul_algo_heuristic(
                    self.handle,
                    plan.operation,
                    a,
                    b,
                    c,
                    c,
                    preference,
                )
            }
        };
        let found = settings();
        // SAFETY: made above, destroyed once.
        unsafe { result::destroy_matmul_pref(preference)? };
        let algorithm = found?.algo;
        self.found.borrow_mut().insert(key, algorithm);
        Ok(algorithm)
    }

    fn run(
        &self,
        device: &Device,
        key: &Key,
        matrices: [Matrix; 3],
        bias: Option<u64>,
        algorithm: &sys::cublasLtMatmulAlgo_t,
    ) -> Result<(), result::CublasError> {
        let plan = Plan::new(key, bias)?;
        let (one, beta) = (1f32, if key.add { 1f32 } else { 0f32 });
        let [a, b, c] = plan.layouts;
        let [first, second, third] = matrices.map(|m| m.pointer as *mut c_void);
        let mut outcome = Ok(());
        device.timed(key.which.label(), || {
            // SAFETY: the matrices have the sizes of their layouts, and the workspace its; all work is on one stream.
            outcome = unsafe {
                result::matmul(
                    self.handle,
                    plan.operation,
                    (&raw const one).cast(),
                    (&raw const beta).cast(),
                    first,
                    a,
                    second,
                    b,
                    third,
                    c,
                    third,
                    c,
                    algorithm,
                    self.workspace as *mut c_void,
                    WORKSPACE,
                    device.stream.cast(),
                )
            };
        });
        outcome
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn buckets_of_rows_are_few_and_close() {
        let buckets: std::collections::BTreeSet<usize> = (1..40_000).map(super::bucket).collect();
        assert!(buckets.len() < 120, "{}", buckets.len());
        assert!(
            (1..40_000)
                .all(|rows| super::bucket(rows) >= rows
                    && super::bucket(rows) <= rows + rows / 8 + 16)
        );
    }
}

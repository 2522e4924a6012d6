//! Matrix products by cuBLAS.

use std::ffi::{c_int, c_longlong, c_void};
use std::sync::Arc;

use cudarc::cublas::result::{CublasError, create_handle, destroy_handle, gemm_strided_batched_ex, set_stream};
use cudarc::cublas::sys::{self, cublasComputeType_t, cublasGemmAlgo_t, cublasMath_t, cublasOperation_t, cudaDataType};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUdeviceptr;

use super::driver;
use crate::device::record::{Factor, Numbers, Product};
use crate::error::{Error, Result};

/// An open library, which works on one stream.
pub(super) struct Library {
    handle: sys::cublasHandle_t,
    /// Whether it may round factors to TF32.
    rounds: bool,
    stream: Arc<CudaStream>,
}

impl Library {
    /// `None` if it is not installed.
    pub(super) fn open(stream: &Arc<CudaStream>, rounds: bool) -> Result<Option<Self>> {
        #[allow(unsafe_code, reason = "loading a library runs its initialisers")]
        // SAFETY: cuBLAS's initialisers may run in any thread and at any time.
        let is_here = unsafe { sys::is_culib_present() };
        if !is_here {
            return Ok(None);
        }
        // The handle is for the GPU whose context is bound.
        stream.context().bind_to_thread().map_err(driver::failed)?;
        let handle = create_handle().map_err(failed)?;
        let opened = Self { handle, rounds, stream: stream.clone() };
        // Sums of products of halves stay in floats.
        let mode = cublasMath_t::CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
        #[allow(unsafe_code, reason = "cuBLAS is a C library")]
        // SAFETY: handle and stream are alive; the two names of the stream are of the same type.
        unsafe {
            set_stream(handle, stream.cu_stream().cast()).map_err(failed)?;
            sys::cublasSetMathMode(handle, mode).result().map_err(failed)?;
        }
        Ok(Some(opened))
    }

    /// Starts out = a · b. cuBLAS counts along columns, so it computes outᵀ = bᵀ · aᵀ.
    pub(super) fn multiply(&self, product: &Product, [a, b, out]: [CUdeviceptr; 3]) -> Result<()> {
        let Product { sizes: [batch, m, k, n], operands: [left, right], out: written } = *product;
        let (one, zero) = (1.0_f32, 0.0_f32);
        let compute = if self.rounds && left.numbers == Numbers::F32 {
            cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32
        } else {
            cublasComputeType_t::CUBLAS_COMPUTE_32F
        };
        let size = |size: u32| size as c_int;
        let turned = |factor: Factor| {
            if factor.is_transposed { cublasOperation_t::CUBLAS_OP_T } else { cublasOperation_t::CUBLAS_OP_N }
        };
        // Words from one stored row to the next.
        let line = |factor: Factor, [rows, columns]: [u32; 2]| size(if factor.is_transposed { rows } else { columns });
        let stride = |is_batched: bool, [rows, columns]: [u32; 2]| {
            if is_batched { c_longlong::from(rows) * c_longlong::from(columns) } else { 0 }
        };
        #[allow(unsafe_code, reason = "cuBLAS is a C library")]
        // SAFETY: the handle is alive, the sizes are those of the buffers (`Body::product`), and factors are on the host by default.
        unsafe {
            gemm_strided_batched_ex(
                self.handle,
                turned(right),
                turned(left),
                size(n),
                size(m),
                size(k),
                (&raw const one).cast(),
                pointer(b),
                kind(right.numbers),
                line(right, [k, n]),
                stride(right.is_batched, [k, n]),
                pointer(a),
                kind(left.numbers),
                line(left, [m, k]),
                stride(left.is_batched, [m, k]),
                (&raw const zero).cast(),
                pointer(out).cast_mut(),
                kind(written),
                size(n),
                stride(true, [m, n]),
                size(batch),
                compute,
                cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        }
        .map_err(failed)
    }
}

impl Drop for Library {
    #[allow(unsafe_code, reason = "cuBLAS is a C library")]
    fn drop(&mut self) {
        let _ = self.stream.context().bind_to_thread();
        // SAFETY: nothing uses it any more.
        let _ = unsafe { destroy_handle(self.handle) };
    }
}

fn kind(numbers: Numbers) -> cudaDataType {
    match numbers {
        Numbers::F32 => cudaDataType::CUDA_R_32F,
        Numbers::F16 => cudaDataType::CUDA_R_16F,
        Numbers::Bf16 => cudaDataType::CUDA_R_16BF,
    }
}

fn pointer(address: CUdeviceptr) -> *const c_void {
    address as *const c_void
}

fn failed(error: CublasError) -> Error {
    Error::device(format!("cuda: cuBLAS failed: {error:?}"))
}

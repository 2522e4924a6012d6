//! Compiles printed kernels with NVRTC to machine code of one GPU, and keeps it on disk: a kernel takes tens of milliseconds to compile and none to
//! load again.

use std::ffi::{CStr, CString, c_int};
use std::path::PathBuf;

use cudarc::nvrtc::{result, sys};
use sha2::{Digest, Sha256};

use super::print::{INTRINSICS, PRELUDE, Printed};
use crate::error::{Error, Result};
use crate::host;

/// Bytes of the digest before the machine code in a file.
const DIGEST_BYTES: usize = 32;

/// The compiler, for one architecture.
pub(super) struct Compiler {
    /// The architecture, such as `sm_90`.
    architecture: String,
    version: (c_int, c_int),
    /// Where compiled kernels are kept, if there is a place for them.
    folder: Option<PathBuf>,
}

impl Compiler {
    /// Loads NVRTC. Errors if it is not installed.
    pub(super) fn new((major, minor): (i32, i32)) -> Result<Self> {
        #[allow(unsafe_code, reason = "loading a library runs its initialisers")]
        // SAFETY: NVRTC's initialisers may run in any thread and at any time.
        let is_here = unsafe { sys::is_culib_present() };
        if !is_here {
            return Err(Error::device(
                "device \"cuda\": the CUDA compiler is absent: got no libnvrtc on the library path, expected that of a CUDA toolkit or of `pip install nvidia-cuda-nvrtc`",
            ));
        }
        let mut version = (0, 0);
        #[allow(unsafe_code, reason = "NVRTC is a C library")]
        // SAFETY: both places can be written.
        unsafe { sys::nvrtcVersion(&raw mut version.0, &raw mut version.1) }.result().map_err(failed)?;
        Ok(Self {
            architecture: format!("sm_{major}{minor}"),
            version,
            folder: host::cache_folder().map(|folder| folder.join("cuda")),
        })
    }

    /// The compiler's version, such as `13.0`.
    pub(super) fn version(&self) -> String {
        format!("{}.{}", self.version.0, self.version.1)
    }

    /// The machine code of a kernel that was compiled before, from the disk.
    pub(super) fn kept(&self, printed: &Printed) -> Option<Vec<u8>> {
        // The driver trusts what it loads, so a file that is not whole must not reach it.
        let bytes = std::fs::read(self.file(&whole(printed))?).ok()?;
        let (digest, code) = bytes.split_at_checked(DIGEST_BYTES)?;
        (Sha256::digest(code)[..] == *digest).then(|| code.to_vec())
    }

    /// The machine code of a kernel, which is then kept on the disk.
    pub(super) fn compile(&self, name: &str, printed: &Printed) -> Result<Vec<u8>> {
        let source = whole(printed);
        let code = self.translate(name, &source)?;
        if let (Some(folder), Some(file)) = (&self.folder, self.file(&source)) {
            // A full or read-only disk costs the next start some time and nothing else.
            let _ = host::make_folder(folder)
                .and_then(|()| host::write_whole(&file, &[&Sha256::digest(&code)[..], &code].concat()));
        }
        Ok(code)
    }

    /// Where the machine code of a source is kept.
    fn file(&self, source: &str) -> Option<PathBuf> {
        let Self { architecture, version: (major, minor), .. } = self;
        let digest = Sha256::digest(format!("{architecture} {major}.{minor}\n{source}"));
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(self.folder.as_ref()?.join(format!("{digits}.cubin")))
    }

    #[allow(unsafe_code, reason = "NVRTC is a C library")]
    fn translate(&self, name: &str, source: &str) -> Result<Vec<u8>> {
        let text = CString::new(source).expect("a printed kernel has no zero bytes");
        let program = result::create_program(&text, None).map_err(failed)?;
        let program = Program(program);
        let options = [format!("--gpu-architecture={}", self.architecture), "--std=c++17".to_owned()];
        // SAFETY: the program is alive.
        let outcome = unsafe { result::compile_program(program.0, &options) };
        if outcome.is_err() {
            return Err(Error::internal(format!(
                "cuda: kernel \"{name}\" does not compile for {}:\n{}",
                self.architecture,
                program.log()
            )));
        }
        let mut bytes = 0;
        // SAFETY: the program is compiled, and the code has as many bytes as the size says.
        let code = unsafe {
            sys::nvrtcGetCUBINSize(program.0, &raw mut bytes).result().map_err(failed)?;
            let mut code = vec![0_u8; bytes];
            sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()).result().map_err(failed)?;
            code
        };
        Ok(code)
    }
}

/// All that the compiler reads for a kernel.
fn whole(printed: &Printed) -> String {
    [INTRINSICS, PRELUDE, &printed.text].concat()
}

/// A program of the compiler, destroyed with its owner.
struct Program(sys::nvrtcProgram);

impl Program {
    #[allow(unsafe_code, reason = "NVRTC is a C library")]
    fn log(&self) -> String {
        // SAFETY: the program is alive, and the log ends with a zero byte.
        let log = unsafe { result::get_program_log(self.0) }.unwrap_or_default();
        let bytes: Vec<u8> = log.iter().map(|&byte| byte as u8).collect();
        CStr::from_bytes_until_nul(&bytes).map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
    }
}

impl Drop for Program {
    #[allow(unsafe_code, reason = "NVRTC is a C library")]
    fn drop(&mut self) {
        // SAFETY: nothing uses it any more.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

fn failed(error: result::NvrtcError) -> Error {
    Error::device(format!("cuda: NVRTC failed: {error}"))
}

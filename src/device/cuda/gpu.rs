//! NVIDIA GPUs as devices: memory, plans and what the driver says of the hardware.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::CString;
use std::future::{Future, ready};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use cudarc::driver::result::{free_sync, function, malloc_sync, module};
use cudarc::driver::sys::{self, CUdevice_attribute, CUdeviceptr};
use cudarc::driver::{CudaContext, CudaStream, DriverError};

use super::compile::Compiler;
use super::driver::{DriverResult, NAME, count, describe, failed, list};
use super::launch::{Bound, Command, Launch, Loaded, Steps};
use super::library::Library;
use super::print::{self, Form, Guards, Printed};
use super::staging::Staging;
use crate::device::backend::{Backend, Entry, Opening, Prepared, Soon};
use crate::device::info::Info;
use crate::device::record::{
    BoundCommand, Kernel, Memory, Product, Products, Region, SharedBody, check_grid, compose, compose_sized,
};
use crate::device::switches::{self, is_set};
use crate::device::timings::Timings;
use crate::error::{Error, Result};

pub(in crate::device) static ENTRY: Entry = Entry {
    name: NAME,
    summary: "an NVIDIA GPU, through CUDA",
    is_here: true,
    is_choice: true,
    open: |opening| Box::pin(ready(Cuda::open(opening).map(|opened| Box::new(opened) as Box<dyn Backend>))),
    list: || Box::pin(ready(list())),
};

/// A switch: kernels that never leave their buffers.
const CHECKED: &str = "MERO_CUDA_CHECKED";
/// A switch: a step as one kernel.
const WHOLE: &str = "MERO_CUDA_WHOLE";
/// Shared memory of a block that every kernel may have without opting in.
const SHARED_BYTES: u32 = 48 << 10;
pub(super) struct Cuda {
    pub(super) info: Info,
    pub(super) stream: Arc<CudaStream>,
    compiler: Compiler,
    /// Indexed by `Memory`; `None` is free.
    blocks: RefCell<Vec<Option<CUdeviceptr>>>,
    kernels: RefCell<HashMap<String, Rc<Loaded>>>,
    staging: Staging,
    pub(super) guards: Guards,
    /// Whether kernels are compiled for any sizes.
    is_generic: bool,
    /// Whether small plans become one kernel.
    pub(super) makes_wholes: bool,
    /// For products that are left to it: opened for the first one, because that takes seconds.
    library: OnceCell<Result<Option<Rc<Library>>>>,
    products: Products,
}

impl Cuda {
    fn open(Opening { request, index, .. }: Opening<'_>) -> Result<Self> {
        count()?;
        let refused = |error: DriverError| Error::device(format!("device \"cuda:{index}\" refused to open: {error:?}"));
        let context = CudaContext::new(index).map_err(refused)?;
        let capability = context.compute_capability().map_err(refused)?;
        let compiler = Compiler::new(capability)?;
        // Graphs cannot be captured from the default stream.
        let stream = context.new_stream().map_err(refused)?;
        let mut info = describe(index, &format!("NVRTC {}", compiler.version())).map_err(refused)?;
        if !request.subgroups {
            info.subgroup = 1;
        }
        info.driver += &switches::suffix(&[CHECKED, WHOLE, switches::GENERIC]);
        let guards = if is_set(CHECKED) { Guards::Indices } else { Guards::None };
        let is_generic = is_set(switches::GENERIC);
        let is_able =
            context.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH).map_err(refused)? != 0;
        let makes_wholes = is_set(WHOLE);
        if makes_wholes && (is_generic || !is_able) {
            let why = if is_generic {
                "got MERO_GENERIC as well, expected one of the two"
            } else {
                "got a GPU without cooperative launches, expected one that has them"
            };
            return Err(Error::usage(format!("device \"cuda:{index}\": MERO_CUDA_WHOLE: {why}")));
        }
        let products = request.products;
        let library = OnceCell::new();
        let (blocks, kernels, staging) = (RefCell::default(), RefCell::default(), Staging::default());
        let opened = Self {
            info,
            stream,
            compiler,
            blocks,
            kernels,
            staging,
            guards,
            is_generic,
            makes_wholes,
            library,
            products,
        };
        opened.probe().map_err(|error| {
            let name = &opened.info.name;
            Error::device(format!(
                "device \"cuda:{index}\" ({name}) cannot run what NVRTC {} compiles: {error}",
                opened.compiler.version()
            ))
        })?;
        Ok(opened)
    }

    /// Errors if a kernel cannot be compiled and loaded: a compiler may not know the GPU, and a driver may not load what a newer compiler makes.
    fn probe(&self) -> Result<()> {
        let text = format!("extern \"C\" __global__ void {}() {{}}\n", print::ENTRY);
        let probe = Printed { text, threads: 1, shared_bytes: 0, arguments: Vec::new() };
        let code = self.compiler.compile("probe", &probe)?;
        self.load(&probe, &code).map(drop).map_err(failed)
    }

    /// The kernel of a launch, compiled if it is new; with the sizes that its body wants compiled in.
    fn kernel(&self, kernel: &Kernel, body: Option<&SharedBody>, params: &[u32]) -> Result<Rc<Loaded>> {
        let form = Form { guards: self.guards, ..Form::PLAIN };
        let (source, form) = match self.sized(kernel, body, params) {
            Some(source) => (source, Form { unrolls: true, ..form }),
            None => (compose(kernel, body, self.info.subgroup), form),
        };
        self.compiled(source.clone(), kernel.name, || print::print(&source, form))
    }

    /// The WGSL of a launch with its sizes compiled in, if it has some.
    pub(super) fn sized(&self, kernel: &Kernel, body: Option<&SharedBody>, params: &[u32]) -> Option<String> {
        (!self.is_generic).then(|| compose_sized(kernel, body, params, self.info.subgroup)).flatten()
    }

    /// A kernel by its key, compiled if it is new.
    pub(super) fn compiled(
        &self,
        key: String,
        name: &str,
        print: impl FnOnce() -> Result<Printed>,
    ) -> Result<Rc<Loaded>> {
        if let Some(known) = self.kernels.borrow().get(&key) {
            return Ok(known.clone());
        }
        let printed = print()?;
        // What is on the disk may be damaged; then it is compiled again.
        let kept = self.compiler.kept(&printed).and_then(|code| self.load(&printed, &code).ok());
        let loaded = Rc::new(match kept {
            Some(loaded) => loaded,
            None => self.load(&printed, &self.compiler.compile(name, &printed)?).map_err(failed)?,
        });
        self.kernels.borrow_mut().insert(key, loaded.clone());
        Ok(loaded)
    }

    #[allow(unsafe_code, reason = "the driver loads machine code")]
    fn load(&self, printed: &Printed, code: &[u8]) -> DriverResult<Loaded> {
        self.stream.context().bind_to_thread()?;
        let name = CString::new(print::ENTRY).expect("it has no zero byte");
        // SAFETY: the code is what the compiler made for this GPU, whole.
        let module = unsafe { module::load_data(code.as_ptr().cast()) }?;
        // SAFETY: the module is loaded.
        let function = unsafe { module::get_function(module, name) }?;
        let Printed { threads, shared_bytes, .. } = *printed;
        let (arguments, context) = (printed.arguments.clone(), self.stream.context().clone());
        let loaded = Loaded { function, module, context, threads, shared_bytes, arguments };
        if shared_bytes > SHARED_BYTES {
            let which = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function is loaded.
            unsafe { function::set_function_attribute(function, which, shared_bytes as i32) }?;
        }
        Ok(loaded)
    }

    fn address(&self, region: Region) -> CUdeviceptr {
        let block = self.blocks.borrow()[region.memory.0 as usize].expect("memory in use has a block");
        block + 4 * region.offset as u64
    }

    fn command(&self, command: &BoundCommand) -> Result<Command> {
        Ok(match command {
            BoundCommand::Dispatch { body: Some(body), params, inputs, outputs, .. }
                if let Some((library, product)) = self.left_to_library(body, params)? =>
            {
                let places = [inputs[0], inputs[1], outputs[0]].map(|region| self.address(region));
                Command::Product { library, product, places }
            }
            BoundCommand::Dispatch { kernel, body, params, grid, inputs, outputs, .. } => {
                check_grid(kernel, *grid)?;
                let loaded = self.kernel(kernel, body.as_ref(), params)?;
                Command::Launch(Launch::new(loaded, *grid, &[self.bound(inputs.iter().chain(outputs), params)]))
            }
            BoundCommand::Copy { from, to } => {
                Command::Copy { from: self.address(*from), to: self.address(*to), bytes: 4 * from.words }
            }
        })
    }

    pub(super) fn bound<'p>(&self, regions: impl Iterator<Item = &'p Region>, params: &'p [u32]) -> Bound<'p> {
        (regions.map(|region| (self.address(*region), 4 * region.words as u32)).collect(), params)
    }

    /// A launch that the library computes, and the library. If it does not open, that is an error only where the user chose it.
    fn left_to_library(&self, body: &SharedBody, params: &[u32]) -> Result<Option<(Rc<Library>, Product)>> {
        let Some(product) = body.product(params).filter(|product| self.products.leaves(product)) else {
            return Ok(None);
        };
        let library = self.library();
        let library = if self.products.needs_library() { library? } else { library.unwrap_or_default() };
        Ok(library.map(|library| (library, product)))
    }

    /// The library, if it is installed.
    fn library(&self) -> Result<Option<Rc<Library>>> {
        let open = || Ok(Library::open(&self.stream, self.products == Products::Tf32)?.map(Rc::new));
        self.library.get_or_init(open).clone()
    }

    /// The commands one by one, compiled if they are new.
    fn with_singles<'s>(&self, steps: &'s Steps) -> Result<&'s Steps> {
        if steps.singles.get().is_none() {
            let made = steps.commands.iter().map(|command| self.command(command)).collect::<Result<_>>()?;
            let _ = steps.singles.set(made);
        }
        Ok(steps)
    }
}

fn steps(prepared: &dyn Prepared) -> &Steps {
    (prepared as &dyn Any).downcast_ref().expect("a plan runs on the device it was made for")
}

impl Backend for Cuda {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, words: usize) -> Result<Memory> {
        let bytes = 4 * words.max(1);
        if bytes as u64 > self.info.max_binding_bytes {
            let most = self.info.max_binding_bytes / 1_000_000;
            return Err(Error::device(format!(
                "cuda: a buffer of {} MB is larger than this device allows, {most} MB",
                bytes / 1_000_000
            )));
        }
        self.stream.context().bind_to_thread().map_err(failed)?;
        #[allow(unsafe_code, reason = "the driver allocates")]
        // SAFETY: a context is bound; the block is written before it is read (`Backend::allocate`).
        let block = unsafe { malloc_sync(bytes) }.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Error::device(format!("cuda: cannot allocate {} MB on the GPU", bytes / 1_000_000))
            }
            _ => failed(error),
        })?;
        let mut blocks = self.blocks.borrow_mut();
        let at = blocks.iter().position(Option::is_none).unwrap_or(blocks.len());
        if at == blocks.len() {
            blocks.push(None);
        }
        blocks[at] = Some(block);
        Ok(Memory(at as u32))
    }

    fn free(&self, memory: Memory) {
        let _ = self.stream.context().bind_to_thread();
        if let Some(block) = self.blocks.borrow_mut()[memory.0 as usize].take() {
            #[allow(unsafe_code, reason = "the driver frees")]
            // SAFETY: the driver waits for the work that uses the block, and no later work can name it.
            let _ = unsafe { free_sync(block) };
        }
    }

    fn write(&self, memory: Memory, offset: usize, data: &[u32]) -> Result<()> {
        let to = self.address(Region { memory, offset, words: data.len() });
        self.staging.upload(&self.stream, to, data).map_err(failed)
    }

    fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>> {
        let whole = self.whole(&commands)?;
        let steps = Steps::new(commands, whole);
        if steps.whole.is_none() {
            self.with_singles(&steps)?;
        }
        Ok(Box::new(steps))
    }

    fn run(&self, prepared: &dyn Prepared, times: usize) -> Result<()> {
        steps(prepared).run(&self.stream, times)
    }

    fn run_timed(&self, prepared: &dyn Prepared, times: usize) -> Option<Soon<'static, Result<Timings>>> {
        let timed = || self.with_singles(steps(prepared))?.run_timed(&self.stream, times);
        let is_able = self.info.features.iter().any(|feature| feature == "timestamps");
        is_able.then(|| Box::pin(ready(timed())) as Soon<'static, _>)
    }

    fn read(&self, region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>> {
        let download = self.staging.download(&self.stream, self.address(region), region.words);
        Box::pin(async move { download.and_then(|download| self.staging.finish(download)).map_err(failed) })
    }

    fn has_library(&self) -> Result<bool> {
        Ok(self.library()?.is_some())
    }

    fn made(&self) -> (u64, u64) {
        (self.kernels.borrow().len() as u64, 0)
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        let _ = self.stream.synchronize();
        for block in self.blocks.get_mut().drain(..).flatten() {
            #[allow(unsafe_code, reason = "the driver frees")]
            // SAFETY: nothing runs any more.
            let _ = unsafe { free_sync(block) };
        }
    }
}

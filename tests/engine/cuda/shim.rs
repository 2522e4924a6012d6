//! A device that runs printed CUDA kernels on the host: compiled as C++ with `shim.hpp`, loaded, and called block by block.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::future::{Future, ready};
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{Child, Command};
use std::rc::Rc;

use libloading::Library;
use meromorph::device::cuda::print::{Arguments, ENTRY, Form, Guards, Member, PRELUDE, Printed, print, whole};
use meromorph::device::{
    Backend, BoundCommand, Execution, Info, Memory, Prepared, Region, Tiles, compose, compose_sized,
};
use meromorph::error::Result;

/// Kernels of one compiler run: the shim's own headers are then read once for all of them.
const KERNELS_PER_FILE: usize = 24;
const SHIM: &str = include_str!("shim.hpp");

type Entry = unsafe extern "C" fn(*mut *mut c_void, *const u32, *const *const c_void, *const u32);

/// A kernel to print: its WGSL.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Source {
    text: String,
    /// Whether its sizes are compiled in.
    is_sized: bool,
    /// Its workgroups, where several kernels are one.
    groups: u32,
}

/// What is printed as one kernel: mostly one, else several that take turns.
pub(crate) type Wanted = Vec<Source>;

impl Source {
    pub(crate) fn plain(text: String) -> Self {
        Self { text, is_sized: false, groups: 0 }
    }

    fn form(&self, guards: Guards) -> Form {
        Form { guards, unrolls: self.is_sized }
    }
}

/// A loaded kernel.
#[derive(Clone)]
struct Loaded {
    arguments: Vec<Arguments>,
    entry: Entry,
}

/// 256 bytes: every block of memory starts where a GPU's would.
#[derive(Clone, Copy)]
#[repr(C, align(256))]
struct Line([u32; 64]);

/// What a printed kernel does at an index outside an array.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Outside {
    /// Reads or writes there, as on a GPU by default.
    Unguarded,
    /// Takes the last item.
    Clamped,
    /// Ends the test.
    Aborts,
}

impl Outside {
    fn guards(self) -> Guards {
        if self == Self::Unguarded { Guards::None } else { Guards::Indices }
    }

    /// The prelude, in which `inside` has the choice between the last item and the end.
    fn prelude(self) -> String {
        let clamps = "{ return i < count ? i : count - (count != 0u); }";
        let aborts = "{ return i < count ? i : host::outside(i, count); }";
        assert!(PRELUDE.contains(clamps), "the prelude has another `inside`");
        if self == Self::Aborts { PRELUDE.replace(clamps, aborts) } else { PRELUDE.to_owned() }
    }
}

/// The kernels compiled so far.
pub(crate) struct Kernels {
    outside: Outside,
    loaded: RefCell<HashMap<Wanted, Loaded>>,
    /// They stay loaded as long as their entries may be called.
    libraries: RefCell<Vec<Library>>,
    files: Cell<usize>,
    /// The text of those that are several in one.
    wholes: RefCell<Vec<String>>,
}

pub(crate) struct Shim {
    info: Info,
    blocks: RefCell<Vec<Vec<Line>>>,
    kernels: Rc<Kernels>,
    form: Printing,
}

/// How the shim prints kernels.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Printing {
    /// For any sizes.
    Plain,
    /// With the sizes that bodies want compiled in.
    Sized,
    /// The same, and launches of a plan that all have sizes as one kernel, as the CUDA device does.
    Whole,
}

struct Step {
    kernel: Loaded,
    /// The regions and the uniform of each kernel in it.
    bound: Vec<(Vec<Region>, Vec<u32>)>,
    grid: [u32; 3],
    is_whole: bool,
}

enum Work {
    Launch(Step),
    Copy(Region, Region),
}

struct Steps(Vec<Work>);

impl Prepared for Steps {}

impl Kernels {
    pub(crate) fn new(outside: Outside) -> Rc<Self> {
        Rc::new(Self {
            outside,
            loaded: RefCell::default(),
            libraries: RefCell::default(),
            files: Cell::new(0),
            wholes: RefCell::default(),
        })
    }

    /// The text of the kernels so far that are several in one.
    pub(crate) fn wholes(&self) -> Vec<String> {
        self.wholes.borrow().clone()
    }

    /// Prints, compiles and loads those that are not loaded yet, two files at a time.
    pub(crate) fn load(&self, expected: &[Wanted]) {
        let is_new = |expected: &&Wanted| !self.loaded.borrow().contains_key(*expected);
        let mut fresh: Vec<&Wanted> = expected.iter().filter(is_new).collect();
        fresh.sort_unstable();
        fresh.dedup();
        let size = KERNELS_PER_FILE.min(fresh.len().div_ceil(2)).max(1);
        let mut running: Vec<Compiling<'_>> = Vec::new();
        for expected in fresh.chunks(size) {
            if running.len() == 2 {
                self.finish(running.remove(0));
            }
            running.push(self.compile(expected));
        }
        for compiling in running {
            self.finish(compiling);
        }
    }

    fn compile<'s>(&self, all: &[&'s Wanted]) -> Compiling<'s> {
        let number = self.files.replace(self.files.get() + 1);
        let name = format!("cuda_{}_{:x}_{number}", std::process::id(), std::ptr::from_ref(self).addr());
        let stem = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let mut text = format!("{SHIM}\n{}\n", self.outside.prelude());
        let mut printed = Vec::new();
        for (at, &expected) in all.iter().enumerate() {
            let kernel = match &expected[..] {
                [one] => print(&one.text, one.form(self.outside.guards())),
                several => {
                    let member = |one: &Source| Member {
                        source: one.text.clone(),
                        form: one.form(self.outside.guards()),
                        groups: one.groups,
                    };
                    let members: Vec<_> = several.iter().map(member).collect();
                    whole(&members).map(|printed| printed.expect("blocks of whole warps"))
                }
            };
            let kernel = kernel.unwrap_or_else(|error| panic!("{error}\n{}", expected[0].text));
            if expected.len() > 1 {
                self.wholes.borrow_mut().push(kernel.text.clone());
            }
            // One file holds many kernels, each in a namespace.
            let named = kernel.text.replace(ENTRY, &format!("{ENTRY}_{at}"));
            text += &format!(
                "namespace k{at} {{\n{named}\nstatic void run() {{ host::call(&{ENTRY}_{at}); }}\n}}\n\
                 extern \"C\" void host_{at}(void** pointers, const unsigned* bytes, const void* const* uniforms, const unsigned* grid) {{\n\
                 host::bound = {{pointers, bytes, uniforms}};\nhost::run_grid({}, grid, k{at}::run);\n}}\n",
                kernel.threads
            );
            printed.push((expected, kernel));
        }
        let source = stem.with_extension("cpp");
        std::fs::write(&source, text).expect("the temporary folder can be written");
        let flags = ["-std=c++17", "-O1", "-w", "-fPIC", "-shared", "-fno-strict-aliasing", "-o"];
        let library = stem.with_extension("so");
        let process = Command::new("c++").args(flags).arg(&library).arg(&source).spawn();
        Compiling { printed, source, library, process: process.expect("a C++ compiler, c++, is installed") }
    }

    fn finish(&self, mut compiling: Compiling<'_>) {
        let status = compiling.process.wait().expect("the compiler ends");
        assert!(status.success(), "{} does not compile", compiling.source.display());
        // SAFETY: the library was made above, and its initialisers do nothing.
        let library = unsafe { Library::new(&compiling.library) }.expect("the compiled kernels can be loaded");
        for (at, (expected, kernel)) in compiling.printed.into_iter().enumerate() {
            // SAFETY: the function has this signature (`compile`), and the library is never unloaded before the last call.
            let entry = unsafe { library.get::<Entry>(format!("host_{at}").as_bytes()) }.expect("its entry");
            let loaded = Loaded { arguments: kernel.arguments, entry: *entry };
            self.loaded.borrow_mut().insert(expected.clone(), loaded);
        }
        self.libraries.borrow_mut().push(library);
        for made in [&compiling.library, &compiling.source] {
            std::fs::remove_file(made).expect("what was made can be removed");
        }
    }
}

/// A running compiler.
struct Compiling<'s> {
    printed: Vec<(&'s Wanted, Printed)>,
    source: PathBuf,
    library: PathBuf,
    process: Child,
}

impl Shim {
    pub(crate) fn new(kernels: Rc<Kernels>, form: Printing) -> Self {
        let info = Info {
            device: "cuda",
            name: "printed kernels on the host".into(),
            driver: "none".into(),
            execution: Execution::Shaders,
            tiles: Tiles::ManySmall,
            is_software: false,
            threads: 1,
            max_binding_bytes: 1 << 30,
            workgroup_bytes: 128 << 10,
            subgroup: 32,
            features: vec!["f16".into(), "subgroups".into()],
        };
        Self { info, blocks: RefCell::default(), kernels, form }
    }

    fn launch(&self, step: &Step, turns: usize) {
        let mut blocks = self.blocks.borrow_mut();
        let mut pointers: Vec<*mut c_void> = Vec::new();
        let mut bytes: Vec<u32> = Vec::new();
        let mut uniforms: Vec<Vec<Line>> = Vec::new();
        for (Arguments { bindings, .. }, (regions, params)) in step.kernel.arguments.iter().zip(&step.bound) {
            for &binding in bindings {
                let region = regions[binding as usize];
                let words = words_mut(&mut blocks[region.memory.0 as usize]);
                pointers.push(words[region.offset..region.offset + region.words].as_mut_ptr().cast());
                bytes.push(4 * region.words as u32);
            }
            // As aligned as the block it is copied to on a GPU.
            let mut uniform = vec![Line([0; 64]); params.len().div_ceil(64).max(1)];
            words_mut(&mut uniform)[..params.len()].copy_from_slice(params);
            uniforms.push(uniform);
        }
        let mut counter = 0_u32;
        pointers.push((&raw mut counter).cast());
        bytes.push(turns as u32);
        let used = |(uniform, taken): (&Vec<Line>, &Arguments)| taken.has_uniform.then(|| uniform.as_ptr().cast());
        let uniforms: Vec<*const c_void> = uniforms.iter().zip(&step.kernel.arguments).filter_map(used).collect();
        // SAFETY: the pointers are those of the kernels' bindings in their order, they live until the call returns, and the kernel writes only
        // its outputs, which the plan holds apart from everything else.
        unsafe { (step.kernel.entry)(pointers.as_mut_ptr(), bytes.as_ptr(), uniforms.as_ptr(), step.grid.as_ptr()) };
    }

    fn copy(&self, from: Region, to: Region) {
        let mut blocks = self.blocks.borrow_mut();
        let source = words_mut(&mut blocks[from.memory.0 as usize])[from.offset..from.offset + from.words].to_vec();
        words_mut(&mut blocks[to.memory.0 as usize])[to.offset..to.offset + to.words].copy_from_slice(&source);
    }
}

fn words_mut(block: &mut [Line]) -> &mut [u32] {
    let (count, first) = (64 * block.len(), block.as_mut_ptr().cast());
    // SAFETY: a line is 64 words and nothing else.
    unsafe { std::slice::from_raw_parts_mut(first, count) }
}

impl Backend for Shim {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, words: usize) -> Result<Memory> {
        let mut blocks = self.blocks.borrow_mut();
        blocks.push(vec![Line([0; 64]); words.div_ceil(64).max(1)]);
        Ok(Memory(blocks.len() as u32 - 1))
    }

    fn free(&self, memory: Memory) {
        self.blocks.borrow_mut()[memory.0 as usize] = Vec::new();
    }

    fn write(&self, memory: Memory, offset: usize, data: &[u32]) -> Result<()> {
        words_mut(&mut self.blocks.borrow_mut()[memory.0 as usize])[offset..offset + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>> {
        let source = |command: &BoundCommand| {
            let BoundCommand::Dispatch { kernel, body, params, grid, .. } = command else { return None };
            let lanes = self.info.subgroup;
            let sized = compose_sized(kernel, body.as_ref(), params, lanes).filter(|_| self.form != Printing::Plain);
            let is_sized = sized.is_some();
            let text = sized.unwrap_or_else(|| compose(kernel, body.as_ref(), lanes));
            Some(Source { text, is_sized, groups: if self.form == Printing::Whole { grid[0] } else { 0 } })
        };
        let all: Vec<Option<Source>> = commands.iter().map(source).collect();
        let is_sized = |source: &Option<Source>| source.as_ref().is_some_and(|source| source.is_sized);
        let is_whole = self.form == Printing::Whole && all.len() > 1 && all.iter().all(is_sized);
        let sources = all.into_iter().flatten();
        let all: Vec<Wanted> =
            if is_whole { vec![sources.collect()] } else { sources.map(|source| vec![source]).collect() };
        self.kernels.load(&all);
        let loaded = self.kernels.loaded.borrow();
        let bound = |command: &BoundCommand| match command {
            BoundCommand::Dispatch { params, inputs, outputs, .. } => {
                Some(([&inputs[..], outputs].concat(), params.clone()))
            }
            BoundCommand::Copy { .. } => None,
        };
        if is_whole {
            let bound = commands.iter().filter_map(bound).collect();
            let step = Step { kernel: loaded[&all[0]].clone(), bound, grid: [1; 3], is_whole };
            return Ok(Box::new(Steps(vec![Work::Launch(step)])));
        }
        let mut all = all.into_iter();
        let work = commands.into_iter().map(|command| match command {
            BoundCommand::Dispatch { grid, .. } => {
                let kernel = loaded[&all.next().expect("as many kernels as launches")].clone();
                Work::Launch(Step { kernel, bound: bound(&command).into_iter().collect(), grid, is_whole })
            }
            BoundCommand::Copy { from, to } => Work::Copy(from, to),
        });
        Ok(Box::new(Steps(work.collect())))
    }

    fn run(&self, prepared: &dyn Prepared, times: usize) -> Result<()> {
        let Steps(steps) = (prepared as &dyn Any).downcast_ref().expect("its own plan");
        if let [Work::Launch(step @ Step { is_whole: true, .. })] = &steps[..] {
            self.launch(step, times);
            return Ok(());
        }
        for work in std::iter::repeat_n(steps, times).flatten() {
            match work {
                Work::Launch(step) => self.launch(step, 0),
                Work::Copy(from, to) => self.copy(*from, *to),
            }
        }
        Ok(())
    }

    fn read(&self, region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>> {
        let mut blocks = self.blocks.borrow_mut();
        let words = &words_mut(&mut blocks[region.memory.0 as usize])[region.offset..region.offset + region.words];
        Box::pin(ready(Ok(words.to_vec())))
    }

    fn made(&self) -> (u64, u64) {
        (self.kernels.loaded.borrow().len() as u64, 0)
    }
}

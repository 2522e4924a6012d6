//! What a device does when its backend refuses memory.

use pollster::block_on;

use super::dry::Dry;
use super::*;
use crate::autograd::Var;
use crate::ops;
use crate::tensor::Tensor;

/// A dry device that refuses every block.
struct Full(Dry);

impl Backend for Full {
    fn info(&self) -> &Info {
        self.0.info()
    }
    fn allocate(&self, _words: usize) -> Result<Memory> {
        Err(Error::device("no memory"))
    }
    fn free(&self, memory: Memory) {
        self.0.free(memory);
    }
    fn write(&self, memory: Memory, offset: usize, data: &[u32]) -> Result<()> {
        self.0.write(memory, offset, data)
    }
    fn prepare(&self, commands: Vec<BoundCommand>) -> Result<Box<dyn Prepared>> {
        self.0.prepare(commands)
    }
    fn run(&self, prepared: &dyn Prepared, times: usize) -> Result<()> {
        self.0.run(prepared, times)
    }
    fn read(&self, region: Region) -> Pin<Box<dyn Future<Output = Result<Vec<u32>>> + '_>> {
        self.0.read(region)
    }
    fn made(&self) -> (u64, u64) {
        self.0.made()
    }
}

#[test]
fn a_refused_constant_fails_where_it_is_used() {
    let device = Device::over(Box::new(Full(Dry::new(1))));
    let constant = Tensor::constant(&device, [2], &[1.0, 2.0]);
    let sum = ops::sum(&Var::constant(constant.clone()), 0..1);
    // The sum first: reading the constant would run the sum, which fails.
    for tensor in [sum.value(), &constant] {
        let error = block_on(tensor.to_f32()).expect_err("the device is full");
        assert_eq!((error.kind(), error.to_string()), (crate::ErrorKind::Device, "no memory".to_owned()));
    }
}

#[test]
fn every_choice_is_in_the_table_once() {
    let names: Vec<_> = entries().map(|entry| entry.name).collect();
    assert_eq!(choices()[0], AUTO);
    for name in &choices()[1..] {
        assert_eq!(names.iter().filter(|known| *known == name).count(), 1, "{name}");
    }
    assert!(find("dry").is_some_and(|entry| !entry.is_choice));
}

#[test]
fn info_names_its_entry() {
    for info in block_on(Device::list()) {
        assert!(find(info.device).is_some(), "{}", info.device);
    }
}

//! Programs over slices on the CPU, in f32 or f64. A program runs on up to `WIDTH` elements at a time, one operation after the other, so
//! that its registers stay in the cache.

use super::{Instruction, Program, ScalarOp};

/// Maximal number of elements at a time: with shorter runs, streaming from memory is slower.
pub const WIDTH: usize = 1024;

/// A number that programs run on.
pub trait Float: Copy + Default + 'static {
    /// A constant, rounded.
    fn of(value: f64) -> Self;
    /// An operation over slices of equal length.
    fn apply(op: &ScalarOp, arguments: &[&[Self]], out: &mut [Self]);
}

impl Float for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }

    fn apply(op: &ScalarOp, arguments: &[&[Self]], out: &mut [Self]) {
        (op.f32)(arguments, out);
    }
}

impl Float for f64 {
    fn of(value: f64) -> Self {
        value
    }

    fn apply(op: &ScalarOp, arguments: &[&[Self]], out: &mut [Self]) {
        (op.f64)(arguments, out);
    }
}

/// Elements from one register to the next: a multiple of 4 KiB apart, they would displace each other from the cache.
const STRIDE: usize = WIDTH + 16;

/// The values of a program's instructions, up to `WIDTH` elements each. Constants are filled in once.
pub struct Registers<'a, T> {
    values: &'a mut [T],
}

impl<'a, T: Float> Registers<'a, T> {
    /// Number of words of a program's registers.
    pub fn words(program: &Program) -> usize {
        program.code.len() * STRIDE
    }

    /// No registers.
    pub fn none() -> Self {
        Self { values: &mut [] }
    }

    /// The registers of `program` in memory of at least [`Registers::words`]. Initial contents are ignored.
    pub fn new(program: &Program, memory: &'a mut [T]) -> Self {
        let values = &mut memory[..Self::words(program)];
        for (register, instruction) in values.chunks_exact_mut(STRIDE).zip(&program.code) {
            if let Instruction::Constant(value) = instruction {
                register.fill(T::of(*value));
            }
        }
        Self { values }
    }
}

/// Where an input's values come from.
pub enum Source<'a, T> {
    /// A contiguous slice.
    Slice(&'a [T]),
    /// A function that writes them into the register.
    Fill(&'a dyn Fn(&mut [T])),
}

impl Program {
    /// Evaluates `count` elements, at most `WIDTH`; `input` returns the source of each input. The results are read with [`Program::value`].
    pub fn evaluate<'a, T: Float>(
        &self,
        count: usize,
        registers: &mut Registers<'_, T>,
        input: &impl Fn(usize) -> Source<'a, T>,
    ) {
        self.evaluate_first(self.code.len(), count, registers, input);
    }

    /// Evaluates a program with one result for as many elements as `out` has, at most `WIDTH`.
    pub fn evaluate_into<'a, T: Float>(
        &self,
        registers: &mut Registers<'_, T>,
        input: &impl Fn(usize) -> Source<'a, T>,
        out: &mut [T],
    ) {
        let (count, last) = (out.len(), self.code.len() - 1);
        // Usually the last operation makes the result: it writes it to its place.
        if let (Instruction::Op(op, arguments), true) = (self.code[last], usize::from(self.result()) == last) {
            self.evaluate_first(last, count, registers, input);
            let taken = arguments
                .map(|a| if usize::from(a) < last { self.operand(a, count, registers.values, input) } else { &[] });
            return T::apply(op, &taken[..op.arguments.len()], out);
        }
        self.evaluate(count, registers, input);
        out.copy_from_slice(self.value(0, count, registers, input));
    }

    fn evaluate_first<'a, T: Float>(
        &self,
        instructions: usize,
        count: usize,
        registers: &mut Registers<'_, T>,
        input: &impl Fn(usize) -> Source<'a, T>,
    ) {
        for (at, instruction) in self.code[..instructions].iter().enumerate() {
            let (before, rest) = registers.values.split_at_mut(at * STRIDE);
            let target = &mut rest[..count];
            match *instruction {
                Instruction::Constant(_) => {}
                Instruction::Input(place) => {
                    if let Source::Fill(fill) = input(place as usize) {
                        fill(target);
                    }
                }
                Instruction::Op(op, arguments) => {
                    let slice = |a: u16| self.operand(a, count, before, input);
                    let taken = arguments.map(slice);
                    T::apply(op, &taken[..op.arguments.len()], target);
                }
            }
        }
    }

    /// The values of a result after [`Program::evaluate`].
    pub fn value<'a: 'b, 'b, T: Float>(
        &self,
        result: usize,
        count: usize,
        registers: &'b Registers<'_, T>,
        input: &impl Fn(usize) -> Source<'a, T>,
    ) -> &'b [T] {
        self.operand(self.results[result], count, registers.values, input)
    }

    /// Like `value`, but `None` if the result is an unchanged input.
    pub fn computed<'b, T: Float>(
        &self,
        result: usize,
        count: usize,
        registers: &'b Registers<'_, T>,
    ) -> Option<&'b [T]> {
        let at = self.results[result];
        let is_input = matches!(self.code[at as usize], Instruction::Input(_));
        (!is_input).then(|| &registers.values[usize::from(at) * STRIDE..][..count])
    }

    fn operand<'a: 'b, 'b, T: Float>(
        &self,
        at: u16,
        count: usize,
        registers: &'b [T],
        input: &impl Fn(usize) -> Source<'a, T>,
    ) -> &'b [T] {
        if let Instruction::Input(place) = self.code[at as usize]
            && let Source::Slice(values) = input(place as usize)
        {
            return &values[..count];
        }
        &registers[usize::from(at) * STRIDE..][..count]
    }

    /// Computes all results over slices of equal length; an input of length 1 is broadcast.
    pub fn run<T: Float>(&self, inputs: &[&[T]], registers: &mut Registers<'_, T>, results: &mut [&mut [T]]) {
        let count = results.first().map_or(0, |result| result.len());
        for start in (0..count).step_by(WIDTH) {
            let width = WIDTH.min(count - start);
            let fills: Vec<_> = inputs.iter().map(|input| |target: &mut [T]| target.fill(input[0])).collect();
            let source = |at: usize| match inputs[at] {
                [_] if count > 1 => Source::Fill(&fills[at]),
                values => Source::Slice(&values[start..start + width]),
            };
            self.evaluate(width, registers, &source);
            for (at, result) in results.iter_mut().enumerate() {
                result[start..start + width].copy_from_slice(self.value(at, width, registers, &source));
            }
        }
    }

    /// All results over `count` elements, with registers of its own: for work that is not repeated.
    pub fn results<T: Float>(&self, inputs: &[&[T]], count: usize) -> Vec<Vec<T>> {
        let mut memory = vec![T::default(); Registers::<T>::words(self)];
        let mut results = vec![vec![T::default(); count]; self.results.len()];
        let mut slices: Vec<&mut [T]> = results.iter_mut().map(Vec::as_mut_slice).collect();
        self.run(inputs, &mut Registers::new(self, &mut memory), &mut slices);
        results
    }

    /// The results at one point, in double precision.
    pub fn at(&self, inputs: &[f64]) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::with_capacity(self.code.len());
        for instruction in &self.code {
            values.push(match *instruction {
                Instruction::Input(at) => inputs[at as usize],
                Instruction::Constant(value) => value,
                Instruction::Op(op, arguments) => {
                    let taken = arguments.map(|a| values[a as usize]);
                    op.at(&taken[..op.arguments.len()])
                }
            });
        }
        self.results.iter().map(|&result| values[result as usize]).collect()
    }
}

thread_local! {
    /// Memory that this thread's kernels use again and again, so that running one does not allocate. The last returned is on top: code that
    /// takes memory while its caller holds some finds its own again each time.
    static MEMORY: std::cell::RefCell<Vec<Vec<f32>>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Working memory of the thread, returned when dropped.
pub struct Memory(Vec<f32>);

impl Memory {
    /// At least `words` words; initial contents are arbitrary.
    pub fn take(words: usize) -> Self {
        let mut memory = Self(MEMORY.with_borrow_mut(Vec::pop).unwrap_or_default());
        memory.grow(words);
        memory
    }

    /// Makes it have at least `words` words.
    pub fn grow(&mut self, words: usize) {
        if self.0.len() < words {
            self.0.resize(words, 0.0);
        }
    }

    /// The words.
    pub fn words(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.0);
        MEMORY.with_borrow_mut(|kept| kept.push(memory));
    }
}

//! Calls that promise to allocate nothing, counted by the allocator itself. One test, because all tests of a file share the allocator.
#![allow(unsafe_code, reason = "an allocator that counts passes each call on")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use meromorph::nn::Head;
use meromorph::prelude::*;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn predicting_one_row_allocates_nothing() -> Result<()> {
    let plain = Spec::mlp(5, &[64, 64, 64], 3, Activation::silu());
    let formula = Spec::mlp(5, &[20], 1, Activation::parse("x * tanh(softplus(x))")?);
    let head = Spec::projective(5, &[32], Head::rational(1), Activation::tanh());
    let wide = Spec::mlp(5, &[300, 256], 2, Activation::silu());
    for spec in [plain, formula, head, wide] {
        let parameters = Network::from(spec.clone()).initialise(0)?;
        let loss = if spec.head().is_some() { Loss::Pairs(PairLoss::default()) } else { Loss::mse() };
        let model = Model::new(spec, loss, parameters, None);
        for threads in [1, 2] {
            let mut ready = model.ready(&Device::cpu(threads))?;
            let x = [0.1, -0.2, 0.3, -0.4, 0.5];
            let expected = pollster::block_on(ready.outputs(&x))?;
            let mut out = vec![0.0; expected.len()];
            ready.row(&x, &mut out)?;
            assert_eq!(out, expected);
            let before = COUNT.get();
            for _ in 0..10 {
                ready.row(&x, &mut out)?;
            }
            assert_eq!(COUNT.get() - before, 0, "{threads} threads");
            let refused = ready.row(&x[..4], &mut out).expect_err("four inputs").to_string();
            assert!(refused.contains("got 4 inputs") && refused.contains("expected 5"), "{refused}");
        }
    }
    Ok(())
}

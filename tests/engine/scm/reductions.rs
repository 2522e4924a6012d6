//! Reductions, matrix products, indexed rows and rounding to halves, with their faults.

use super::{gpu, masked, read};
use meromorph::Device;
use meromorph::autograd::Var;
use meromorph::scm::{self, BottomRule, Masked};
use meromorph::tensor::Tensor;
use pollster::block_on;

#[test]
fn reductions_are_strict_or_ignore_bottoms() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        let mask = scm::pack(&[false, false, false, true, false, false, true, true, true]);
        let values = [1.0, 2.0, 3.0, 9.0, 5.0, 6.0, 9.0, 9.0, 9.0];
        let x = Masked::with_mask(&device, [3, 3], &values, &mask).expect("a mask");
        let by_row = |joined: Masked| read(&joined);
        assert_eq!(by_row(scm::sum(&x, 1..2, BottomRule::Strict)), (vec![6.0, 0.0, 0.0], vec![false, true, true]));
        assert_eq!(by_row(scm::sum(&x, 1..2, BottomRule::Drop)), (vec![6.0, 11.0, 0.0], vec![false, false, true]));
        assert_eq!(by_row(scm::mean(&x, 1..2, BottomRule::Strict)), (vec![2.0, 0.0, 0.0], vec![false, true, true]));
        assert_eq!(by_row(scm::mean(&x, 1..2, BottomRule::Drop)), (vec![2.0, 5.5, 0.0], vec![false, false, true]));
        let product = |mode| scm::prod(&x, 1..2, mode).expect("a product");
        assert_eq!(by_row(product(BottomRule::Strict)), (vec![6.0, 0.0, 0.0], vec![false, true, true]));
        assert_eq!(by_row(product(BottomRule::Drop)), (vec![6.0, 30.0, 0.0], vec![false, false, true]));
        let whole = scm::sum(&x, 0..2, BottomRule::Drop);
        assert_eq!((whole.shape().sizes(), read(&whole)), (&[1, 1][..], (vec![17.0], vec![false])));
        assert_eq!(
            read(&scm::sum(&masked(&device, &[3e38, 3e38], &[]), 0..1, BottomRule::Strict)),
            (vec![0.0], vec![true])
        );
        assert_eq!(block_on(x.coverage().value().to_f32()).expect("a share"), [1.0 - 4.0 / 9.0]);
    }
}

#[test]
fn gradients_of_reductions_are_0_at_bottoms() {
    let device = Device::cpu(1);
    let leaf = Var::leaf(Tensor::from_f32(&device, [2, 3], &[2.0, 3.0, 7.0, 0.0, 5.0, 4.0]).expect("an upload"));
    let x = Masked::masked_by(&leaf, &[0b000100]).expect("a mask");
    let slopes = |out: Masked| {
        let gradient = scm::grad(out.value(), &[&leaf]).expect("a gradient").remove(0).expect("a path");
        block_on(gradient.value().to_f32()).expect("values")
    };
    assert_eq!(slopes(scm::prod(&x, 1..2, BottomRule::Drop).expect("a product")), [3.0, 2.0, 0.0, 20.0, 0.0, 0.0]);
    assert_eq!(slopes(scm::sum(&x, 1..2, BottomRule::Strict)), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    assert_eq!(slopes(scm::mean(&x, 1..2, BottomRule::Drop)), [0.5, 0.5, 0.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
}

#[test]
fn matrix_products_mask_rows_and_columns() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        let a = Masked::with_mask(&device, [2, 3], &[1.0, 2.0, 3.0, 4.0, 0.0, 6.0], &[0b001000]).expect("a mask");
        let b = Masked::with_mask(&device, [3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 0.0], &[0b100000]).expect("a mask");
        assert_eq!(read(&scm::matmul(&a, &b)), (vec![22.0, 0.0, 0.0, 0.0], vec![false, true, true, true]));
        let bias = masked(&device, &[0.5, 0.0], &[]);
        assert_eq!(read(&scm::linear(&a, &b, &bias)), (vec![22.5, 0.0, 0.0, 0.0], vec![false, true, true, true]));
        let huge = Masked::from_f32(&device, [1, 1], &[3e38]).expect("values");
        assert_eq!(read(&scm::matmul(&huge, &huge)), (vec![0.0], vec![true]));
    }
}

#[test]
fn indexed_rows_keep_their_bottoms_and_halves_overflow_to_bottom() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        let x = Masked::with_mask(&device, [3, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[0b001000]).expect("a mask");
        let index = Tensor::from_u32(&device, [3], &[2, 1, 1]).expect("an upload");
        assert_eq!(
            read(&scm::take_rows(&x, &index)),
            (vec![5.0, 6.0, 3.0, 0.0, 3.0, 0.0], vec![false, false, false, true, false, true])
        );
        assert_eq!(
            read(&scm::add_rows(&x, &index, 4)),
            (
                vec![0.0, 0.0, 8.0, 0.0, 1.0, 2.0, 0.0, 0.0],
                [false, false, false, true, false, false, false, false].to_vec()
            )
        );
        let half = scm::round_to_half(&masked(&device, &[1.0, 65_504.0, 65_520.0, -1e9, 3.0], &[4]));
        assert_eq!(read(&half), (vec![1.0, 65_504.0, 0.0, 0.0, 0.0], vec![false, false, true, true, true]));
    }
}

#[test]
fn faults_pass_through_reductions_and_products() {
    for device in [Some(Device::cpu(2)), gpu()].into_iter().flatten() {
        // In rows: numbers; a division by zero; an overflow; both; ⊥ from elsewhere and an infinity; ⊥ throughout.
        let over = [1.0, 2.0, 1.0, 3.0, 3e38, 2.0, 1.0, 3e38, 5.0, f32::INFINITY, 1.0, 1.0];
        let under = [1.0, 2.0, 0.0, 1.0, 1e-3, 1.0, 0.0, 1e-3, 1.0, 1.0, 1.0, 1.0];
        let raw = |values: &[f32]| Var::constant(Tensor::from_f32(&device, [6, 2], values).expect("an upload"));
        let outside = Masked::with_mask(&device, [6, 2], &[0.0; 12], &[0b1101_0000_0000]).expect("a mask");
        let x = scm::add(&scm::div(&Masked::from(&raw(&over)).traced(), &Masked::from(&raw(&under))), &outside);
        let read = |x: &Masked| {
            let bits =
                |words: Vec<u32>| (0..x.shape().len()).map(|i| words[i / 32] >> (i % 32) & 1).collect::<Vec<_>>();
            (bits(block_on(x.mask()).expect("words")), bits(block_on(x.faults()).expect("traced")))
        };
        let name = device.info().name.clone();
        let (each, faults) = ([0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0]);
        assert_eq!(read(&x), (each.to_vec(), faults.to_vec()), "{name}");
        let strict = (vec![0, 1, 1, 1, 1, 1], vec![0, 0, 1, 1, 1, 0]);
        let drop = (vec![0, 0, 0, 1, 1, 1], vec![0, 0, 0, 1, 1, 0]);
        for (mode, expected) in [(BottomRule::Strict, strict), (BottomRule::Drop, drop)] {
            assert_eq!(read(&scm::sum(&x, 1..2, mode)), expected, "sum {mode:?} on {name}");
            assert_eq!(read(&scm::mean(&x, 1..2, mode)), expected, "mean {mode:?} on {name}");
            assert_eq!(read(&scm::prod(&x, 1..2, mode).expect("a product")), expected, "prod {mode:?} on {name}");
        }
        // A result that is not a float is a fault of the reduction itself; the other row only divides by zero.
        let large = Masked::from_f32(&device, [2, 2], &[3e38, 3e38, 1.0, 2.0]).expect("values").traced();
        for mode in [BottomRule::Strict, BottomRule::Drop] {
            assert_eq!(read(&scm::sum(&large, 1..2, mode)), (vec![1, 0], vec![1, 0]), "{mode:?} on {name}");
            assert_eq!(read(&scm::prod(&large, 1..2, mode).expect("a product")), (vec![1, 0], vec![1, 0]), "{name}");
        }
        let index = Tensor::from_u32(&device, [3], &[2, 1, 0]).expect("an upload");
        assert_eq!(read(&scm::take_rows(&x, &index)), (vec![1, 0, 1, 0, 0, 0], vec![1, 0, 0, 0, 0, 0]), "{name}");
        let places = Tensor::from_u32(&device, [6], &[0, 1, 0, 2, 2, 3]).expect("an upload");
        let added = read(&scm::add_rows(&x, &places, 4));
        assert_eq!(added, (vec![1, 0, 1, 0, 1, 1, 1, 1], vec![1, 0, 0, 0, 0, 1, 0, 0]), "{name}");
        // Columns of w: numbers, one that was never finite (an infinity that the product is the first to see).
        let w = Masked::from(&Var::constant(
            Tensor::from_f32(&device, [2, 2], &[1.0, f32::NEG_INFINITY, 1.0, 1.0]).expect("an upload"),
        ));
        let expected = (vec![0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], vec![0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
        assert_eq!(read(&scm::matmul(&x, &w)), expected, "{name}");
        let bias = masked(&device, &[0.0, 0.0], &[0]);
        let expected = (vec![1; 12], vec![0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1]);
        assert_eq!(read(&scm::linear(&x, &w, &bias)), expected, "{name}");
        let huge = read(&scm::matmul(&large, &large));
        assert_eq!(huge, (vec![1, 1, 0, 0], vec![1, 1, 0, 0]), "{name}");
        let half = masked(&device, &[1.0, 7e4, 2.0], &[2]).traced();
        assert_eq!(read(&scm::round_to_half(&half)), (vec![0, 1, 1], vec![0, 1, 0]), "{name}");
        // Numbers that are not traced stay untraced and have no fault planes.
        assert!(block_on(scm::sum(&masked(&device, &[1.0], &[0]), 0..1, BottomRule::Strict).faults()).is_err());
    }
}

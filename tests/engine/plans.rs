//! Recordings and plans: memory plans, replays and errors.

use crate::devices::devices;
use meromorph::autograd::Var;
use meromorph::device::{Label, Products, Request, Tag, View};
use meromorph::ops;
use meromorph::tensor::{DType, Tensor};
use meromorph::{Device, Result};
use pollster::block_on;

fn matrix(device: &Device, size: usize, value: f32) -> Var {
    Var::constant(Tensor::from_f32(device, [size, size], &vec![value; size * size]).expect("uploads"))
}

#[test]
fn intermediate_results_share_memory() -> Result<()> {
    let device = Device::dry();
    let w = matrix(&device, 64, 0.0);
    // Nine products in a chain: two blocks suffice, used alternately; the result has its own memory.
    let chain = || Ok((0..10).fold(w.clone(), |x, _| ops::matmul(&x, &w)));
    let (plan, _y) = device.capture(chain)?;
    let block = 4 * 64 * 64;
    assert_eq!(plan.summary().launches.len(), 10);
    assert_eq!(plan.summary().transient_bytes, 2 * block);
    assert_eq!(plan.summary().unshared_bytes, 9 * block);
    assert_eq!(plan.summary().persistent_bytes, 2 * block, "the weight and the result");
    assert_eq!(device.counters().peak_bytes, 4 * block, "known without running anything");
    Ok(())
}

#[test]
fn a_result_that_is_only_copied_is_written_to_its_target() -> Result<()> {
    let size = 16;
    let device = Device::dry();
    let w = matrix(&device, size, 1.0);
    let all = device.upload(&vec![0; 2 * size * size])?;
    let place = |half: usize| View { buffer: all.clone(), offset: half * size * size, words: size * size };
    let copied = || {
        ops::matmul(&w, &w).value().copy_into(&place(0));
        // Read again after it was copied: it has to stay where it is.
        let kept = ops::matmul(&w, &w);
        kept.value().copy_into(&place(1));
        Ok(ops::matmul(&kept, &w))
    };
    let (plan, _y) = device.capture(copied)?;
    assert_eq!(
        plan.summary().transient_bytes,
        4 * (size * size) as u64,
        "only the second product has memory of its own"
    );
    for device in devices(&[2]) {
        let w = matrix(&device, size, 1.0);
        let all = device.upload(&vec![0; 2 * size * size])?;
        let place = |half: usize| View { buffer: all.clone(), offset: half * size * size, words: size * size };
        let copied = || {
            let (first, second) = (ops::matmul(&w, &w), ops::add(&w, &w));
            // Both into one half: the order of the copies counts.
            first.value().copy_into(&place(0));
            second.value().copy_into(&place(0));
            drop((first, second));
            ops::matmul(&w, &w).value().copy_into(&place(1));
            Ok(())
        };
        let (plan, ()) = device.capture(copied)?;
        plan.run(2)?;
        let got: Vec<f32> = bytemuck::cast_vec(block_on(device.read(&all.view()))?);
        assert!(got[..size * size].iter().all(|x| *x == 2.0), "on {}", device.info().device);
        assert!(got[size * size..].iter().all(|x| *x == size as f32), "on {}", device.info().device);
    }
    Ok(())
}

#[test]
fn a_plan_repeats_what_it_recorded() -> Result<()> {
    for device in devices(&[2]) {
        let x = Tensor::from_f32(&device, [64], &[1.0; 64])?;
        // x is read and written in place: each run doubles it.
        let double = || {
            let v = Var::constant(x.clone());
            ops::add(&v, &v).value().copy_into(x.view());
            Ok(())
        };
        let (plan, ()) = device.capture(double)?;
        plan.run(3)?;
        plan.run(2)?;
        assert_eq!(block_on(x.to_f32())?, [32.0; 64], "on {}", device.info().device);
    }
    Ok(())
}

#[test]
fn values_are_the_same_with_and_without_a_plan() -> Result<()> {
    for device in devices(&[2]) {
        let data: Vec<f32> = (0..600).map(|k| (k as f32 * 0.37).sin()).collect();
        let x = Var::constant(Tensor::from_f32(&device, [20, 30], &data)?);
        let work = || ops::softmax(&ops::softplus(&ops::add(&ops::product(&x, &x, false, true), &ops::mean(&x, 1..2))));
        let eager = block_on(work().value().to_f32())?;
        let (plan, y) = device.capture(|| Ok(work()))?;
        plan.run(2)?;
        assert_eq!(block_on(y.value().to_f32())?, eager);
    }
    Ok(())
}

#[test]
fn halves_are_storage() -> Result<()> {
    for device in devices(&[2]) {
        let data = [1.0, -2.5, 0.333_333_34, 70_000.0, 1e-9];
        let x = Var::leaf(Tensor::from_f32(&device, [5], &data)?);
        let back = ops::cast(&ops::cast(&x, DType::F16), DType::F32);
        let got = block_on(back.value().to_f32())?;
        assert_eq!(got[..2], [1.0, -2.5]);
        assert!((got[2] - 0.333_33).abs() < 2e-4);
        assert_eq!(got[3], 65_504.0, "held to the largest half");
        let gradient = ops::grad(&ops::square(&back), &[&x])?.remove(0).expect("reached");
        assert!((block_on(gradient.value().to_f32())?[1] + 5.0).abs() < 1e-6);
    }
    Ok(())
}

#[test]
fn the_dry_device_has_nothing_to_read() {
    let device = Device::dry();
    let x = Tensor::scalar(&device, 1.0);
    let error = block_on(x.to_f32()).expect_err("nothing ran");
    assert_eq!(error.to_string(), "the dry device runs nothing, so there is nothing to read");
    // But for what the program wrote itself, until a launch would change it.
    let constant = Tensor::constant(&device, [3], &[1.0, 2.0, 3.0]);
    assert_eq!(block_on(constant.to_f32()).expect("a constant"), [1.0, 2.0, 3.0]);
    let sum = ops::add(&Var::constant(constant.clone()), &Var::constant(x));
    sum.value().copy_into(constant.view());
    block_on(constant.to_f32()).expect_err("a copy would have changed it");
}

#[test]
fn products_are_left_to_a_library_only_where_there_is_one() {
    for products in [Products::Library, Products::Tf32] {
        let request = Request { device: "cpu".into(), products, ..Request::default() };
        let error = block_on(Device::open(&request)).map(|device| device.info().name.clone()).expect_err("no library");
        assert_eq!(
            error.to_string(),
            "products: device \"cpu\" has no library for them: expected device cuda with cuBLAS, or products fastest or own"
        );
    }
}

#[test]
fn more_rows_than_a_gpu_has_workgroups_for_are_an_error() -> Result<()> {
    for device in devices(&[1]) {
        let rows = 64 * 65_536;
        let tensor = |shape, count| Tensor::from_f32(&device, shape, &vec![2.0; count]).map(Var::constant);
        let product = ops::matmul(&tensor([rows, 1], rows)?, &tensor([1, 1], 1)?);
        let got = block_on(product.value().to_f32());
        if device.info().runs_cpu_path() {
            assert!(got?.iter().all(|&x| x == 4.0));
            continue;
        }
        let error = got.expect_err("too many rows").to_string();
        let end = "workgroups in a row, expected at most 65535: use fewer rows at a time, or the device cpu";
        assert!(error.starts_with("matmul: got sizes for ") && error.ends_with(end), "{error}");
    }
    Ok(())
}

#[test]
fn an_unknown_device_is_named() {
    let request = Request { device: "tpu".into(), ..Request::default() };
    let error = block_on(Device::open(&request)).err().expect("there is no tpu");
    let cuda = if cfg!(feature = "cuda") { "cuda, " } else { "" };
    let expected = format!("device \"tpu\" is unknown; there are auto, {cuda}webgpu, cpu, dry; did you mean \"cpu\"?");
    assert_eq!(error.to_string(), expected);
}

#[test]
#[should_panic(expected = "matmul: inner sizes differ: [32, 784] x [512, 10] (784 != 512)")]
fn a_wrong_shape_names_the_op_and_both_shapes() {
    let device = Device::dry();
    let tensor = |rows: usize, columns: usize| Var::constant(Tensor::empty(&device, [rows, columns], DType::F32));
    ops::matmul(&tensor(32, 784), &tensor(512, 10));
}

#[test]
fn a_panic_in_a_capture_leaves_the_device_as_it_was() -> Result<()> {
    let device = Device::cpu(1);
    let w = matrix(&device, 4, 1.0);
    let before = device.label();
    let fails = || {
        device.capture(|| {
            device.labelled(Label::part("broken"), || {
                device.tagged(Tag::Parameters, || {
                    let kept = ops::matmul(&w, &w);
                    // Shapes that do not match panic.
                    Ok(ops::matmul(&kept, &matrix(&device, 5, 1.0)))
                })
            })
        })
    };
    let silent = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ()));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(fails));
    std::panic::set_hook(silent);
    assert!(caught.is_err());
    assert_eq!(device.label(), before);
    let launches = device.counters().launches;
    assert_eq!(block_on(ops::matmul(&w, &w).value().to_f32())?, [4.0; 16]);
    assert_eq!(device.counters().launches - launches, 1, "nothing of the capture runs");
    Ok(())
}

#[test]
fn a_long_chain_of_pointwise_ops_is_planned_in_a_few_launches() {
    for device in devices(&[1]) {
        let x: Vec<f32> = (0..64).map(|i| i as f32 / 64.0).collect();
        let start = Var::leaf(Tensor::from_f32(&device, [64], &x).unwrap());
        // 4,000 ops: y = sin(y) and y = y + x / 4 by turns.
        let chain = || {
            let quarter = &start * 0.25;
            Ok((0..2000).fold(start.clone(), |y, _| &ops::sin(&y) + &quarter))
        };
        let (plan, y) = device.capture(chain).unwrap();
        // A merged program has at most 256 instructions; one of a chain takes one for each op and two for its inputs.
        let launches = plan.summary().launches.len();
        assert!((16..=20).contains(&launches), "{launches} launches");
        plan.run(1).unwrap();
        let got = block_on(y.value().to_f32()).unwrap();
        for (x, got) in x.iter().zip(got) {
            let expected = (0..2000).fold(f64::from(*x), |y, _| y.sin() + 0.25 * f64::from(*x));
            assert!((f64::from(got) - expected).abs() < 1e-5, "{x}: got {got}, expected {expected}");
        }
    }
}

//! Tensors of two devices in one op are an error that names both.

use super::{index, leaf, panic_of};
use crate::devices::devices;
use meromorph::autograd::Var;
use meromorph::tensor::Tensor;
use meromorph::{Device, ops, scm};

#[test]
fn tensors_of_two_devices_are_refused_with_both_names() {
    let own = Device::cpu(1);
    for other in devices(&[1]) {
        let x = leaf(&own, &[2, 2], &[1.0; 4]);
        let y = leaf(&other, &[2, 2], &[1.0; 4]);
        let places = index(&other, &[0, 1]);
        let works: [(&str, &dyn Fn() -> Var); 5] = [
            ("map", &|| &x + &y),
            ("matmul", &|| ops::matmul(&x, &y)),
            ("stack", &|| ops::stack(&[&x, &y])),
            ("take_rows", &|| ops::take_rows(&x, &places)),
            ("map", &|| ops::fused(&[&x, &x, &x, &x, &x, &x, &x, &x, &y], |v| v[0] + v[8])),
        ];
        let another = if other.title() == own.title() { "another " } else { "" };
        let both = format!(
            "got tensors of two devices, {} and {another}{}: expected tensors of one device",
            own.title(),
            other.title()
        );
        for (name, work) in works {
            assert_eq!(panic_of(|| drop(work())), format!("{name}: {both}"));
        }
        let [a, b] = [&own, &other]
            .map(|device| scm::Masked::from(&Var::constant(Tensor::from_f32(device, [1], &[1.0]).expect("values"))));
        assert!(panic_of(|| drop(scm::add(&a, &b))).contains("got tensors of two devices"));
        // The device goes on.
        assert_eq!(super::read(&(&x + &x)), [2.0; 4]);
    }
}

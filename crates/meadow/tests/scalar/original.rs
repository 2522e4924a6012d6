//! Results of the original: `data/scm_scalar.json`, made by the script in the same folder.

use std::fs;
use std::path::Path;

use meromorph::scm::policy::Policy;
use meromorph_meadow::Scm;
use meromorph_meadow::orientation::{Band, Tracker, weak_sign};
use serde_json::Value;

use crate::policy::applied;
use crate::{BINARY, BOTTOM, UNARY, assert_near, complex, real};

/// ⊥ where the original raises an error, and where it returns a complex power of a negative real number.
#[test]
fn operations_agree_with_the_original() {
    let answers = answers();
    let values: Vec<Scm> = answers["values"].as_array().unwrap().iter().map(unpacked).collect();
    let mut compared = 0;
    for row in answers["operations"].as_array().unwrap() {
        let (name, x) = (row[0].as_str().unwrap(), values[row[1].as_u64().unwrap() as usize]);
        let unary = UNARY.iter().find(|(known, _)| *known == name).map(|(_, function)| function(x));
        let got = match (BINARY.iter().find(|(known, _)| *known == name), unary) {
            (Some((_, op)), _) => op(x, values[row[2].as_u64().unwrap() as usize]),
            (_, Some(value)) => value,
            _ if name == "pow" => x.pow(row[2].as_f64().unwrap()),
            _ => weak_sign(x),
        };
        let leaves_the_reals =
            name == "pow" && is_real(&answers["values"][row[1].as_u64().unwrap() as usize]) && row[3][2] == true;
        let expected = match &row[3] {
            // The original overflows while computing a power that is nearly 0; this implementation does not.
            Value::String(_) if name == "pow" && row[2] == -3.0 && x.modulus() > Some(1e100) => Scm::ZERO,
            Value::String(_) => BOTTOM,
            _ if leaves_the_reals => BOTTOM,
            value => unpacked(value),
        };
        assert_near(got, expected, &row.to_string());
        compared += 1;
    }
    assert_eq!(compared, 1022);
}

#[test]
fn trackers_agree_with_the_original() {
    for sequence in answers()["sequences"].as_array().unwrap() {
        let number = |name: &str| sequence[name].as_f64().unwrap();
        let mut tracker = Tracker::new(Band::new(number("epsilon"), number("hysteresis")).unwrap());
        let values = sequence["values"].as_array().unwrap();
        assert!(values.len() >= 4);
        for (value, sign) in values.iter().zip(sequence["signs"].as_array().unwrap()) {
            assert_near(tracker.update(unpacked(value)), unpacked(sign), &value.to_string());
        }
    }
    let mut checked = Tracker::default();
    assert_eq!([1.0, 1e-9, -1.1e-9, -1.3e-9].map(|x| checked.update(real(x)).to_ieee()), [1.0, 1.0, 1.0, -1.0]);
}

#[test]
fn policies_agree_with_the_original() {
    for row in answers()["policies"].as_array().unwrap() {
        let policy: Policy = row[0].as_str().unwrap().parse().unwrap();
        let got = applied(policy, &[row[1].as_f64().unwrap() as f32], u32::from(row[2].as_bool().unwrap()));
        assert_eq!(got, [row[3].as_f64().unwrap() as f32], "{row}");
    }
}

fn answers() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scm_scalar.json");
    serde_json::from_str(&fs::read_to_string(path).expect("the answers are there")).expect("the answers are JSON")
}

fn unpacked(value: &Value) -> Scm {
    let part = |at: usize| value[at].as_f64().expect("a number");
    match value {
        Value::Null => BOTTOM,
        value if is_real(value) => real(part(0)),
        _ => complex(part(0), part(1)),
    }
}

fn is_real(value: &Value) -> bool {
    value[2] == false
}

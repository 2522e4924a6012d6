//! Gradient policies, their texts, registry and scopes.

use meromorph::scm::policy::{Policy, Registry, Scope};
use meromorph_meadow::{Complex, apply_policy};

#[test]
fn p13_clamp_by_default_a_scope_overrides_and_restores() {
    let registry = Registry::default();
    assert_eq!(registry.resolve("coverage", None), Policy::Clamp { low: -1.0, high: 1.0 });
    assert_eq!(registry.resolve("never heard of", None), Policy::default());
    assert_eq!(registry.resolve(" SCM_Rational ", None), Policy::Project);
    {
        let _outer = Scope::new(Policy::Reject);
        assert_eq!(registry.resolve("scm_rational", None), Policy::Reject);
        assert_eq!(registry.resolve("scm_rational", Some(Policy::Passthrough)), Policy::Passthrough);
        let inner = Scope::new(Policy::Passthrough);
        assert_eq!(registry.resolve("scm_rational", None), Policy::Passthrough);
        drop(inner);
        assert_eq!(registry.resolve("scm_rational", None), Policy::Reject);
    }
    assert_eq!(registry.resolve("scm_rational", None), Policy::Project);
}

#[test]
fn p14_project_and_clamp_zero_what_is_masked() {
    let gradients = [0.5, -3.0, 2.0, -0.25];
    assert_eq!(applied(Policy::Project, &gradients, 0b1001), [0.0, -3.0, 2.0, 0.0]);
    assert_eq!(applied(Policy::default(), &gradients, 0b0100), [0.5, -1.0, 0.0, -0.25]);
    assert_eq!(applied(Policy::Clamp { low: -2.0, high: 0.25 }, &gradients, 0), [0.25, -2.0, 0.25, -0.25]);
    assert_eq!(applied(Policy::Project, &[f32::NAN, f32::INFINITY], 0b11), [0.0, 0.0]);
    assert!(applied(Policy::default(), &[f32::NAN], 0)[0].is_nan(), "a fault is not hidden");
    let mut turned = [Complex::new(3.0, -4.0); 2];
    apply_policy(Policy::default(), &mut turned, &[0b10]);
    assert_eq!(turned, [Complex::new(3.0, -4.0), Complex::new(0.0, 0.0)]);
    let mut long = vec![2.0; 40];
    Policy::default().apply(&mut long, &[0, 1 << 7]);
    assert!((0..40).all(|at| long[at] == if at == 39 { 0.0 } else { 1.0 }));
}

#[test]
fn p15_reject_zeroes_all_gradients_and_pass_none() {
    let gradients = [0.5, -3.0, 2.0];
    assert_eq!(applied(Policy::Reject, &gradients, 0b010), [0.0; 3]);
    assert_eq!(applied(Policy::Passthrough, &gradients, 0b111), gradients);
    let mut turned = [Complex::new(3.0, -4.0)];
    apply_policy(Policy::Reject, &mut turned, &[0]);
    assert_eq!(turned, [Complex::default()]);
}

#[test]
fn p16_policies_have_a_text_form_and_unknown_text_is_an_error() {
    let wide = Policy::Clamp { low: -0.1, high: 2.5 };
    for policy in [Policy::default(), wide, Policy::Project, Policy::Reject, Policy::Passthrough] {
        assert_eq!(policy.to_string().parse(), Ok(policy));
        let text = serde_json::to_string(&policy).unwrap();
        assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), policy);
    }
    assert_eq!(wide.to_string(), "clamp(-0.1..2.5)");
    let message = |text: &str| text.parse::<Policy>().unwrap_err().to_string();
    let known = "expected clamp, clamp(low..high), project, reject or pass";
    assert_eq!(message("saturate"), format!("policy: unknown policy \"saturate\": {known}"));
    assert_eq!(message("Clamp"), format!("policy: unknown policy \"Clamp\": {known}"));
    for limits in ["1..-1", "0..inf", "NaN..1", "3", ""] {
        let expected =
            format!("policy: got clamp({limits}), expected two finite numbers in order, such as clamp(-1..1)");
        assert_eq!(message(&format!("clamp({limits})")), expected);
    }
    let refused = serde_json::from_str::<Registry>(r#"{"a": "saturate"}"#).unwrap_err().to_string();
    assert!(refused.starts_with("policy: unknown policy \"saturate\""), "{refused}");
}

#[test]
fn p16_the_registry_ignores_case_and_space_in_names() {
    let mut registry = Registry::default();
    registry.register("  My Layer\t", Policy::Reject).unwrap();
    assert_eq!(registry.get("my layer"), Some(Policy::Reject));
    assert_eq!(registry.get("other"), None);
    let expected = "policy: got an empty layer name, expected the name of a layer";
    assert_eq!(registry.register(" \n", Policy::Reject).unwrap_err().to_string(), expected);
    let text = serde_json::to_string(&registry).unwrap();
    let names = r#""coverage":"clamp","my layer":"reject","rejection_loss":"clamp","scm_norm":"clamp""#;
    assert_eq!(text, format!(r#"{{{names},"scm_rational":"project","scm_softmax":"clamp"}}"#));
    assert_eq!(serde_json::from_str::<Registry>(&text).unwrap(), registry);
    let twice = serde_json::from_str::<Registry>(r#"{"A": "pass", "a ": "clamp"}"#).unwrap_err().to_string();
    assert!(twice.starts_with("policy: got two policies for the layer \"a\""), "{twice}");
}

#[test]
fn p16_scopes_are_per_thread_and_end_in_any_order() {
    let registry = Registry::default();
    let (first, second) = (Scope::new(Policy::Reject), Scope::new(Policy::Passthrough));
    let elsewhere = std::thread::spawn(|| Registry::default().resolve("scm_rational", None)).join().unwrap();
    assert_eq!(elsewhere, Policy::Project);
    drop(first);
    assert_eq!(registry.resolve("scm_rational", None), Policy::Passthrough);
    let third = Scope::new(Policy::Reject);
    drop(second);
    assert_eq!(Scope::innermost(), Some(Policy::Reject));
    drop(third);
    assert_eq!(Scope::innermost(), None);
}

pub(crate) fn applied(policy: Policy, gradients: &[f32], bottom: u32) -> Vec<f32> {
    let mut gradients = gradients.to_vec();
    policy.apply(&mut gradients, &[bottom]);
    gradients
}

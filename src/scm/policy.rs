//! Gradient policies: how a layer changes the gradient at its output, given which elements were ⊥ in the forward pass:
//!
//! | policy | under ⊥ | elsewhere |
//! | --- | --- | --- |
//! | clamp | 0 | clamped between two limits |
//! | project | 0 | unchanged |
//! | reject | 0 | 0 |
//! | pass | unchanged | unchanged |
//!
//! A layer calls `Registry::resolve` once, in its forward pass; a scope that is active in the backward pass has no
//! effect.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::host;
use crate::json::{Json, Record};
use crate::record;

/// A gradient policy. As text, and in files: `clamp`, `clamp(-2..2)`, `project`, `reject`, `pass`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Policy {
    /// 0 under ⊥, elsewhere clamped between two limits.
    Clamp {
        /// Smallest gradient.
        low: f32,
        /// Largest gradient.
        high: f32,
    },
    /// 0 under ⊥.
    Project,
    /// 0 everywhere.
    Reject,
    /// Unchanged, also under ⊥.
    Passthrough,
}

impl Default for Policy {
    fn default() -> Self {
        Self::Clamp { low: -1.0, high: 1.0 }
    }
}

impl Policy {
    /// Applies the policy to gradients in place; bit i of word w of `bottom` marks element 32w + i as ⊥.
    #[track_caller]
    pub fn apply(self, gradients: &mut [f32], bottom: &[u32]) {
        self.each(gradients, bottom, |gradient| match self {
            // Not `f32::clamp` or `max`: a NaN must stay visible.
            Self::Clamp { low, .. } if gradient < low => low,
            Self::Clamp { high, .. } if gradient > high => high,
            _ => gradient,
        });
    }

    /// Applies the policy to gradients of any kind in place; `limit` is what it does to those that are not ⊥ and not rejected.
    #[track_caller]
    pub fn each<T: Copy + Default>(self, gradients: &mut [T], bottom: &[u32], limit: impl Fn(T) -> T) {
        let count = gradients.len();
        assert_eq!(bottom.len(), count.div_ceil(32), "policy: number of mask words for {count} gradients");
        if self == Self::Passthrough {
            return;
        }
        for (at, gradient) in gradients.iter_mut().enumerate() {
            let is_bottom = bottom[at / 32] >> (at % 32) & 1 == 1;
            *gradient = if is_bottom || self == Self::Reject { T::default() } else { limit(*gradient) };
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Clamp { .. } if *self == Self::default() => f.write_str("clamp"),
            Self::Clamp { low, high } => write!(f, "clamp({}..{})", host::number(low), host::number(high)),
            Self::Project => f.write_str("project"),
            Self::Reject => f.write_str("reject"),
            Self::Passthrough => f.write_str("pass"),
        }
    }
}

impl FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "clamp" => Ok(Self::default()),
            "project" => Ok(Self::Project),
            "reject" => Ok(Self::Reject),
            "pass" => Ok(Self::Passthrough),
            _ => text.strip_prefix("clamp(").and_then(|rest| rest.strip_suffix(')')).map_or_else(
                || {
                    let known = "clamp, clamp(low..high), project, reject or pass";
                    Err(Error::new(format!("policy: unknown policy \"{text}\": expected {known}")))
                },
                limits,
            ),
        }
    }
}

fn limits(text: &str) -> Result<Policy> {
    let mut dots = text.match_indices('.').filter_map(|(at, _)| text.split_at_checked(at));
    let parts = dots.find_map(|(low, rest)| Some((low, rest.strip_prefix("..")?)));
    let numbers =
        parts.and_then(|(low, high)| Some((host::parse_number(low)? as f32, host::parse_number(high)? as f32)));
    match numbers {
        Some((low, high)) if low <= high && f32::is_finite(low) && f32::is_finite(high) => {
            Ok(Policy::Clamp { low, high })
        }
        _ => Err(Error::new(format!(
            "policy: got clamp({text}), expected two finite numbers in order, such as clamp(-1..1)"
        ))),
    }
}

impl TryFrom<String> for Policy {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Policy> for String {
    fn from(policy: Policy) -> Self {
        policy.to_string()
    }
}

impl Record for Policy {
    fn blank() -> Self {
        Self::default()
    }

    fn to_json(&self) -> Json {
        Json::Text(self.to_string())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        *self = Self::try_from(String::from_json(json)?)?;
        Ok(())
    }
}

impl Record for Registry {
    fn blank() -> Self {
        Self { policies: Vec::new() }
    }

    fn to_json(&self) -> Json {
        Json::Fields(self.policies.iter().map(|(layer, policy)| (layer.clone(), policy.to_json())).collect())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let Json::Fields(fields) = json else { return Err(json.unlike("an object")) };
        *self = Self::blank();
        for (layer, policy) in fields {
            if self.get(layer).is_some() {
                return Err(Error::new(format!(
                    "policy: got two policies for the layer \"{}\", expected one",
                    plain(layer)
                )));
            }
            self.register(layer, Policy::from_json(policy)?)?;
        }
        Ok(())
    }
}

/// Policies by layer name; surrounding space and case of a name are ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct Registry {
    /// Sorted by name.
    policies: Vec<(String, Policy)>,
}

record!(@serde Registry);

impl Default for Registry {
    fn default() -> Self {
        let clamped = |name: &str| (name.to_owned(), Policy::default());
        let rational = ("scm_rational".to_owned(), Policy::Project);
        let policies =
            vec![clamped("coverage"), clamped("rejection_loss"), clamped("scm_norm"), rational, clamped("scm_softmax")];
        Self { policies }
    }
}

impl Registry {
    /// Sets the policy of a layer, which must have a name.
    pub fn register(&mut self, layer: &str, policy: Policy) -> Result<()> {
        let name = plain(layer);
        if name.is_empty() {
            return Err(Error::new("policy: got an empty layer name, expected the name of a layer"));
        }
        let at = self.policies.partition_point(|(known, _)| *known < name);
        match self.policies.get_mut(at).filter(|(known, _)| *known == name) {
            Some((_, known)) => *known = policy,
            None => self.policies.insert(at, (name, policy)),
        }
        Ok(())
    }

    /// The policy registered for a layer.
    pub fn get(&self, layer: &str) -> Option<Policy> {
        let name = plain(layer);
        self.policies.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
    }

    /// The policy of a layer: its own if it has one, else that of the innermost `Scope` of this thread, else the
    /// registered one, else the default.
    pub fn resolve(&self, layer: &str, own: Option<Policy>) -> Policy {
        own.or_else(Scope::innermost).or_else(|| self.get(layer)).unwrap_or_default()
    }
}

fn plain(layer: &str) -> String {
    layer.trim().to_ascii_lowercase()
}

thread_local! {
    static SCOPES: RefCell<Vec<(u64, Policy)>> = const { RefCell::new(Vec::new()) };
}

/// While it exists, layers of this thread without a policy of their own use this one. It is bound to its thread, so it
/// cannot be held across an await of a task that moves between threads.
#[derive(Debug)]
pub struct Scope {
    number: u64,
    stays_on_its_thread: PhantomData<*const ()>,
}

impl Scope {
    /// Activates a policy until the returned guard is dropped.
    #[must_use = "the policy is active only while the scope exists"]
    pub fn new(policy: Policy) -> Self {
        let number = SCOPES.with_borrow_mut(|scopes| {
            let number = scopes.last().map_or(0, |(number, _)| number + 1);
            scopes.push((number, policy));
            number
        });
        Self { number, stays_on_its_thread: PhantomData }
    }

    /// The policy of the latest scope of this thread.
    pub fn innermost() -> Option<Policy> {
        SCOPES.with_borrow(|scopes| scopes.last().map(|(_, policy)| *policy))
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // By number, not from the end: scopes may be dropped in any order.
        SCOPES.with_borrow_mut(|scopes| scopes.retain(|(number, _)| *number != self.number));
    }
}

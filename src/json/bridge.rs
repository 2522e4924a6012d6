//! JSON values in serde types: the command line's reports, the metadata of bundles. Not in the browser build.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Json;

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(text) => match text.parse() {
                Ok(whole) => serializer.serialize_u64(whole),
                Err(_) => serializer.serialize_f64(self.number().unwrap_or(f64::NAN)),
            },
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Fields(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (name, value))),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::Text(text),
            Value::Array(values) => Self::List(values.into_iter().map(Self::from).collect()),
            Value::Object(fields) => {
                Self::Fields(fields.into_iter().map(|(name, value)| (name, value.into())).collect())
            }
        }
    }
}

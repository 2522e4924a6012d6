//! Records: types that convert to and from JSON, each declared by one line that names its fields or variants.
//! A variant is its name in snake case; a variant with fields is an object whose one field has that name.

use super::Json;
use crate::error::Result;
use crate::host::number;

/// A type that converts to and from JSON. Reading fills an existing value, so that one function reads every record: a function per type,
/// with an error path after every field, would be twice the code.
pub trait Record {
    /// A value to read into, with the defaults of fields that may be absent.
    fn blank() -> Self
    where
        Self: Sized;

    /// Converts it to JSON.
    fn to_json(&self) -> Json;

    /// Sets it from `json`; an error names the wrong field and leaves the value partly set.
    fn read(&mut self, json: &Json) -> Result<()>;

    /// Whether a field of this type may be absent.
    fn may_be_absent(&self) -> bool {
        false
    }

    /// Converts from JSON; an error names the wrong field.
    fn from_json(json: &Json) -> Result<Self>
    where
        Self: Sized,
    {
        let mut record = Self::blank();
        record.read(json)?;
        Ok(record)
    }
}

/// A field to read: its name, its destination, whether it may be absent.
pub type Slot<'a> = (&'static str, &'a mut dyn Record, bool);

/// An object of these fields.
pub fn write_fields(fields: &[(&str, &dyn Record)]) -> Json {
    Json::Fields(fields.iter().map(|(name, field)| ((*name).to_owned(), field.to_json())).collect())
}

/// Reads an object's fields into their destinations.
pub fn read_fields(json: &Json, slots: &mut [Slot<'_>]) -> Result<()> {
    for (name, slot, may_be_absent) in slots {
        match json.get(name) {
            None if *may_be_absent || slot.may_be_absent() => {}
            _ => slot.read(json.field(name)?).map_err(|error| error.within(name))?,
        }
    }
    Ok(())
}

/// A variant with its contents, if any.
pub fn write_variant(variant: &str, inner: Option<Json>) -> Json {
    let name = named(variant);
    match inner {
        None => Json::Text(name),
        Some(inner) => Json::Fields(vec![(name, inner)]),
    }
}

/// The name of the variant in `json`, and its contents.
pub fn variant<'a>(json: &'a Json, kind: &str) -> Result<(&'a str, Option<&'a Json>)> {
    match json {
        Json::Text(text) => Ok((text, None)),
        Json::Fields(fields) if fields.len() == 1 => Ok((&fields[0].0, Some(&fields[0].1))),
        other => Err(other.unlike(&format!("a choice of {kind}"))),
    }
}

/// Whether `text` is the snake case of a variant's name.
pub fn is_named(text: &str, variant: &str) -> bool {
    named(variant) == text
}

/// The snake case of a variant's name.
fn named(variant: &str) -> String {
    let mut out = String::with_capacity(variant.len() + 2);
    for letter in variant.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// Implements `Record` for a struct: `record!(Name { field, field = default if absent })`.
/// Fields that are not stored are named after it and read as their default: `record!(Name { field } else { field })`.
/// Implements it for an enum: `record!(enum Name { Plain, WithFields { field }, Around(_) })`.
#[doc(hidden)]
#[macro_export]
macro_rules! record {
    (enum $name:ident { $first:ident $({ $($one:ident),+ })? $(($only:tt))? $(, $variant:ident $({ $($field:ident),+ })? $(($around:tt))?)* $(,)? }) => {
        impl $crate::internal::json::Record for $name {
            fn blank() -> Self {
                $crate::record!(@blank $name, $first $({ $($one),+ })? $(($only))?)
            }

            fn to_json(&self) -> $crate::internal::json::Json {
                $crate::record!(@write self, $name, $first $({ $($one),+ })? $(($only))?);
                $($crate::record!(@write self, $name, $variant $({ $($field),+ })? $(($around))?);)*
                unreachable!("every variant is listed")
            }

            fn read(&mut self, json: &$crate::internal::json::Json) -> $crate::error::Result<()> {
                let (text, inner) = $crate::internal::json::variant(json, stringify!($name))?;
                $crate::record!(@read self, text, inner, $name, $first $({ $($one),+ })? $(($only))?);
                $($crate::record!(@read self, text, inner, $name, $variant $({ $($field),+ })? $(($around))?);)*
                Err(json.unlike(concat!("one of ", stringify!($first $(, $variant)*))))
            }
        }
        $crate::record!(@serde $name);
    };
    (@blank $name:ident, $variant:ident) => { $name::$variant };
    (@blank $name:ident, $variant:ident { $($field:ident),+ }) => { $name::$variant { $($field: $crate::internal::json::Record::blank()),+ } };
    (@blank $name:ident, $variant:ident (_)) => { $name::$variant($crate::internal::json::Record::blank()) };
    (@write $self:ident, $name:ident, $variant:ident) => {
        if let $name::$variant = $self {
            return $crate::internal::json::write_variant(stringify!($variant), None);
        }
    };
    (@write $self:ident, $name:ident, $variant:ident { $($field:ident),+ }) => {
        if let $name::$variant { $($field),+ } = $self {
            let inner = $crate::internal::json::write_fields(&[$((stringify!($field), $field)),+]);
            return $crate::internal::json::write_variant(stringify!($variant), Some(inner));
        }
    };
    (@write $self:ident, $name:ident, $variant:ident (_)) => {
        if let $name::$variant(inner) = $self {
            return $crate::internal::json::write_variant(stringify!($variant), Some($crate::internal::json::Record::to_json(inner)));
        }
    };
    (@read $self:ident, $text:ident, $inner:ident, $name:ident, $variant:ident) => {
        if $inner.is_none() && $crate::internal::json::is_named($text, stringify!($variant)) {
            *$self = $name::$variant;
            return Ok(());
        }
    };
    (@read $self:ident, $text:ident, $inner:ident, $name:ident, $variant:ident { $($field:ident),+ }) => {
        if let Some(inner) = $inner.filter(|_| $crate::internal::json::is_named($text, stringify!($variant))) {
            *$self = $crate::record!(@blank $name, $variant { $($field),+ });
            let $name::$variant { $($field),+ } = $self else { unreachable!("it was just set to this variant") };
            return $crate::internal::json::read_fields(inner, &mut [$((stringify!($field), $field, false)),+]).map_err(|error| error.within($text));
        }
    };
    (@read $self:ident, $text:ident, $inner:ident, $name:ident, $variant:ident (_)) => {
        if let Some(inner) = $inner.filter(|_| $crate::internal::json::is_named($text, stringify!($variant))) {
            *$self = $crate::record!(@blank $name, $variant (_));
            let $name::$variant(held) = $self else { unreachable!("it was just set to this variant") };
            return $crate::internal::json::Record::read(held, inner).map_err(|error| error.within($text));
        }
    };
    (@serde $name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                $crate::internal::json::Record::to_json(self).serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let json = <$crate::internal::json::Json as serde::Deserialize>::deserialize(deserializer)?;
                $crate::internal::json::Record::from_json(&json).map_err(serde::de::Error::custom)
            }
        }
    };
    (@or_blank) => { $crate::internal::json::Record::blank() };
    (@or_blank $default:expr) => { $default };
    (@is_some) => { false };
    (@is_some $default:expr) => { true };
    ($name:ident { $($field:ident $(= $default:expr)?),+ $(,)? } $(else { $($unkept:ident),+ })?) => {
        impl $crate::internal::json::Record for $name {
            fn blank() -> Self {
                Self { $($field: $crate::record!(@or_blank $($default)?),)+ $($($unkept: Default::default()),+)? }
            }

            fn to_json(&self) -> $crate::internal::json::Json {
                $crate::internal::json::write_fields(&[$((stringify!($field), &self.$field)),+])
            }

            fn read(&mut self, json: &$crate::internal::json::Json) -> $crate::error::Result<()> {
                $crate::internal::json::read_fields(json, &mut [$(
                    (stringify!($field), &mut self.$field, $crate::record!(@is_some $($default)?))
                ),+])
            }
        }
        $crate::record!(@serde $name);
    };
}

macro_rules! numbers {
    ($expected:literal: $($type:ty),+) => {$(
        impl Record for $type {
            fn blank() -> Self {
                0
            }

            fn to_json(&self) -> Json {
                Json::Number(self.to_string())
            }

            fn read(&mut self, json: &Json) -> Result<()> {
                let number = json.whole().and_then(|number| Self::try_from(number).ok());
                *self = number.ok_or_else(|| json.unlike($expected))?;
                Ok(())
            }
        }
    )+};
}

numbers!("a whole number": u32, u64, usize);

/// A number that is not finite has no text in JSON and becomes `null`.
impl Record for f64 {
    fn blank() -> Self {
        0.0
    }

    fn to_json(&self) -> Json {
        if self.is_finite() { Json::Number(format!("{:?}", number(*self))) } else { Json::Null }
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        *self = json.number().filter(|number| number.is_finite()).ok_or_else(|| json.unlike("a number"))?;
        Ok(())
    }
}

impl Record for f32 {
    fn blank() -> Self {
        0.0
    }

    fn to_json(&self) -> Json {
        if self.is_finite() { Json::Number(format!("{:?}", number(*self))) } else { Json::Null }
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        *self = f64::from_json(json)? as Self;
        if self.is_finite() { Ok(()) } else { Err(json.unlike("a number of 32 bits")) }
    }
}

impl Record for bool {
    fn blank() -> Self {
        false
    }

    fn to_json(&self) -> Json {
        Json::Bool(*self)
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        let Json::Bool(flag) = json else { return Err(json.unlike("true or false")) };
        *self = *flag;
        Ok(())
    }
}

impl Record for String {
    fn blank() -> Self {
        Self::new()
    }

    fn to_json(&self) -> Json {
        Json::Text(self.clone())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        json.text().ok_or_else(|| json.unlike("a string"))?.clone_into(self);
        Ok(())
    }
}

/// Any JSON.
impl Record for Json {
    fn blank() -> Self {
        Self::Null
    }

    fn to_json(&self) -> Json {
        self.clone()
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        self.clone_from(json);
        Ok(())
    }
}

impl<T: Record> Record for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }

    fn to_json(&self) -> Json {
        Json::List(self.iter().map(T::to_json).collect())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        self.clear();
        for item in json.list().ok_or_else(|| json.unlike("an array"))? {
            self.push(T::from_json(item)?);
        }
        Ok(())
    }
}

impl<T: Record + Copy, const N: usize> Record for [T; N] {
    fn blank() -> Self {
        [T::blank(); N]
    }

    fn to_json(&self) -> Json {
        Json::List(self.iter().map(T::to_json).collect())
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        *self = Vec::from_json(json)?.try_into().map_err(|_| json.unlike(&format!("an array of {N}")))?;
        Ok(())
    }
}

/// `None` is `null`, or no field at all.
impl<T: Record> Record for Option<T> {
    fn blank() -> Self {
        None
    }

    fn to_json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::to_json)
    }

    fn read(&mut self, json: &Json) -> Result<()> {
        *self = if *json == Json::Null { None } else { Some(T::from_json(json)?) };
        Ok(())
    }

    fn may_be_absent(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;

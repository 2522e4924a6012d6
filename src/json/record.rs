//! Records: types that become JSON and come back, each by one line that names its fields or variants.
//! A variant is its name in snake case; one with fields is an object with that name for its one field.

use super::Json;
use crate::error::Result;
use crate::host::number;

/// A type that becomes JSON and comes back.
pub trait Record: Sized {
    /// As JSON.
    fn to_json(&self) -> Json;

    /// From JSON; the error says which field is wrong and how.
    fn from_json(json: &Json) -> Result<Self>;

    /// The field called `name` of an object, or what stands for it where it is absent.
    fn of_field(json: &Json, name: &str, default: Option<Self>) -> Result<Self> {
        match (json.get(name), default) {
            (None, Some(default)) => Ok(default),
            _ => Self::from_json(json.field(name)?).map_err(|error| error.within(name)),
        }
    }
}

/// Whether `text` is the snake case of a variant's name.
pub fn is_named(text: &str, variant: &str) -> bool {
    named(variant) == text
}

/// The snake case of a variant's name.
pub fn named(variant: &str) -> String {
    let mut out = String::with_capacity(variant.len() + 2);
    for letter in variant.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

/// Makes a struct a [`Record`]: `record!(Name { field, field = what stands for an absent one })`.
/// Fields that are not kept are named after it and come back as their default: `record!(Name { field } else { field })`.
/// Makes an enum one: `record!(enum Name { Plain, WithFields { field }, Around(_) })`.
#[macro_export]
macro_rules! record {
    (enum $name:ident { $($variant:ident $({ $($field:ident),+ })? $(($around:tt))?),+ $(,)? }) => {
        impl $crate::json::Record for $name {
            fn to_json(&self) -> $crate::json::Json {
                $($crate::record!(@write self, $name, $variant $({ $($field),+ })? $(($around))?);)+
                unreachable!("every variant is listed")
            }

            fn from_json(json: &$crate::json::Json) -> $crate::error::Result<Self> {
                let (text, inner) = match json {
                    $crate::json::Json::Text(text) => (text, None),
                    $crate::json::Json::Fields(fields) if fields.len() == 1 => (&fields[0].0, Some(&fields[0].1)),
                    other => return Err(other.unlike(concat!("a choice of ", stringify!($name)))),
                };
                $($crate::record!(@read text, inner, $name, $variant $({ $($field),+ })? $(($around))?);)+
                Err(json.unlike(concat!("one of ", stringify!($($variant),+))))
            }
        }
        $crate::record!(@serde $name);
    };
    (@write $self:ident, $name:ident, $variant:ident) => {
        if let $name::$variant = $self {
            return $crate::json::Json::Text($crate::json::named(stringify!($variant)));
        }
    };
    (@write $self:ident, $name:ident, $variant:ident { $($field:ident),+ }) => {
        if let $name::$variant { $($field),+ } = $self {
            let inner = $crate::json::Json::fields([$((stringify!($field), $crate::json::Record::to_json($field))),+]);
            return $crate::json::Json::fields([($crate::json::named(stringify!($variant)).as_str(), inner)]);
        }
    };
    (@write $self:ident, $name:ident, $variant:ident (_)) => {
        if let $name::$variant(inner) = $self {
            let inner = $crate::json::Record::to_json(inner);
            return $crate::json::Json::fields([($crate::json::named(stringify!($variant)).as_str(), inner)]);
        }
    };
    (@read $text:ident, $inner:ident, $name:ident, $variant:ident) => {
        if $inner.is_none() && $crate::json::is_named($text, stringify!($variant)) {
            return Ok($name::$variant);
        }
    };
    (@read $text:ident, $inner:ident, $name:ident, $variant:ident { $($field:ident),+ }) => {
        if let Some(inner) = $inner.filter(|_| $crate::json::is_named($text, stringify!($variant))) {
            let read = || Ok($name::$variant { $($field: $crate::json::Record::of_field(inner, stringify!($field), None)?),+ });
            return read().map_err(|error: $crate::error::Error| error.within($text));
        }
    };
    (@read $text:ident, $inner:ident, $name:ident, $variant:ident (_)) => {
        if let Some(inner) = $inner.filter(|_| $crate::json::is_named($text, stringify!($variant))) {
            return $crate::json::Record::from_json(inner).map($name::$variant).map_err(|error| error.within($text));
        }
    };
    (@serde $name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                $crate::json::Record::to_json(self).serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let json = <$crate::json::Json as serde::Deserialize>::deserialize(deserializer)?;
                $crate::json::Record::from_json(&json).map_err(serde::de::Error::custom)
            }
        }
    };
    (@default) => { None };
    (@default $default:expr) => { Some($default) };
    ($name:ident { $($field:ident $(= $default:expr)?),+ $(,)? } $(else { $($unkept:ident),+ })?) => {
        impl $crate::json::Record for $name {
            fn to_json(&self) -> $crate::json::Json {
                $crate::json::Json::fields([$((stringify!($field), $crate::json::Record::to_json(&self.$field))),+])
            }

            fn from_json(json: &$crate::json::Json) -> $crate::error::Result<Self> {
                Ok(Self { $($field: $crate::json::Record::of_field(
                    json, stringify!($field), $crate::record!(@default $($default)?),
                )?,)+ $($($unkept: Default::default()),+)? })
            }
        }
        $crate::record!(@serde $name);
    };
}

macro_rules! numbers {
    ($wanted:literal: $($type:ty),+) => {$(
        impl Record for $type {
            fn to_json(&self) -> Json {
                Json::Number(self.to_string())
            }

            fn from_json(json: &Json) -> Result<Self> {
                let number = json.whole().and_then(|number| Self::try_from(number).ok());
                number.ok_or_else(|| json.unlike($wanted))
            }
        }
    )+};
}

numbers!("a whole number": u32, u64, usize);

/// A number that is not finite has no text in JSON and becomes `null`.
impl Record for f64 {
    fn to_json(&self) -> Json {
        if self.is_finite() { Json::Number(format!("{:?}", number(*self))) } else { Json::Null }
    }

    fn from_json(json: &Json) -> Result<Self> {
        json.number().filter(|number| number.is_finite()).ok_or_else(|| json.unlike("a number"))
    }
}

impl Record for f32 {
    fn to_json(&self) -> Json {
        if self.is_finite() { Json::Number(format!("{:?}", number(*self))) } else { Json::Null }
    }

    fn from_json(json: &Json) -> Result<Self> {
        let number = f64::from_json(json)? as Self;
        if number.is_finite() { Ok(number) } else { Err(json.unlike("a number of 32 bits")) }
    }
}

impl Record for bool {
    fn to_json(&self) -> Json {
        Json::Bool(*self)
    }

    fn from_json(json: &Json) -> Result<Self> {
        if let Json::Bool(flag) = json { Ok(*flag) } else { Err(json.unlike("true or false")) }
    }
}

impl Record for String {
    fn to_json(&self) -> Json {
        Json::Text(self.clone())
    }

    fn from_json(json: &Json) -> Result<Self> {
        json.text().map(str::to_owned).ok_or_else(|| json.unlike("a string"))
    }
}

impl<T: Record> Record for Vec<T> {
    fn to_json(&self) -> Json {
        Json::List(self.iter().map(T::to_json).collect())
    }

    fn from_json(json: &Json) -> Result<Self> {
        json.list().ok_or_else(|| json.unlike("an array"))?.iter().map(T::from_json).collect()
    }
}

impl<T: Record + Copy, const N: usize> Record for [T; N] {
    fn to_json(&self) -> Json {
        Json::List(self.iter().map(T::to_json).collect())
    }

    fn from_json(json: &Json) -> Result<Self> {
        let values = Vec::from_json(json)?;
        values.try_into().map_err(|_| json.unlike(&format!("an array of {N}")))
    }
}

/// `None` is `null`, or no field at all.
impl<T: Record> Record for Option<T> {
    fn to_json(&self) -> Json {
        self.as_ref().map_or(Json::Null, T::to_json)
    }

    fn from_json(json: &Json) -> Result<Self> {
        if *json == Json::Null { Ok(None) } else { T::from_json(json).map(Some) }
    }

    fn of_field(json: &Json, name: &str, default: Option<Self>) -> Result<Self> {
        match json.get(name) {
            Some(value) => Self::from_json(value).map_err(|error| error.within(name)),
            None => Ok(default.flatten()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[derive(Debug, PartialEq)]
    struct Sample {
        count: u64,
        share: f32,
        names: Vec<String>,
        limit: Option<f64>,
        kind: Kind,
        is_new: bool,
    }

    record!(Sample { count, share, names, limit, kind, is_new = true });

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Kind {
        VeryPlain,
        Wide { width: usize, pair: [f32; 2] },
        Around(f64),
    }

    record!(enum Kind { VeryPlain, Wide { width, pair }, Around(_) });

    fn sample(kind: Kind) -> Sample {
        let names = vec!["a\"b".into(), String::new()];
        Sample { count: u64::MAX, share: 0.1, names, limit: None, kind, is_new: false }
    }

    fn read(text: &str) -> std::result::Result<Sample, String> {
        Json::parse(text).and_then(|json| Sample::from_json(&json)).map_err(|error: Error| error.to_string())
    }

    #[test]
    fn records_come_back() {
        for kind in [Kind::VeryPlain, Kind::Wide { width: 3, pair: [-0.0, 1e-30] }, Kind::Around(f64::MIN_POSITIVE)] {
            let record = sample(kind);
            assert_eq!(read(&record.to_json().to_string()), Ok(record));
        }
        let text = sample(Kind::VeryPlain).to_json().to_string();
        assert_eq!(
            text,
            r#"{"count":18446744073709551615,"share":0.1,"names":["a\"b",""],"limit":null,"kind":"very_plain","is_new":false}"#
        );
        assert_eq!(serde_json::to_string(&sample(Kind::VeryPlain)).unwrap(), text);
    }

    #[test]
    fn messages_name_the_field() {
        let text = sample(Kind::Wide { width: 3, pair: [0.5, 1.0] }).to_json().to_string();
        let cases = [
            (r#""count":18446744073709551615"#, r#""count":-1"#, "count: wanted a whole number, got -1"),
            (r#""share":0.1"#, r#""share":1e39"#, "share: wanted a number of 32 bits, got 1e39"),
            (r#""share":0.1"#, r#""shore":0.1"#, "no field \"share\""),
            ("[0.5,1.0]", "[0.5]", "kind: wide: pair: wanted an array of 2, got [0.5]"),
            (
                r#""wide""#,
                r#""wild""#,
                "kind: wanted one of VeryPlain, Wide, Around, got {\"wild\":{\"width\":3,\"pair\":[0.5,1.0]}}",
            ),
        ];
        for (part, wrong, wanted) in cases {
            assert_eq!(read(&text.replace(part, wrong)).unwrap_err(), wanted, "{wrong}");
        }
        assert_eq!(read("[]").unwrap_err(), "wanted an object, got []");
        assert_eq!(
            read(&text.replace(",\"is_new\":false", "")),
            Ok(Sample { is_new: true, ..sample(Kind::Wide { width: 3, pair: [0.5, 1.0] }) })
        );
    }
}

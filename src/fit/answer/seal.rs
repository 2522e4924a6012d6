//! The checksum of a saved fit: of what its JSON says, not of how it is written, so that another program may write the same values anew.

use crate::error::{Error, Result};
use crate::json::Json;

/// The field with the checksum.
const FIELD: &str = "checksum";

/// An object with the checksum of its other fields.
pub fn sealed(json: Json) -> Json {
    let Json::Fields(mut fields) = json else { return json };
    fields.retain(|(name, _)| name != FIELD);
    let sum = sum_of(&fields);
    fields.push((FIELD.to_owned(), Json::Text(sum)));
    Json::Fields(fields)
}

/// Errors if an object has a checksum and it is not that of its other fields. Files of earlier versions have none.
pub(crate) fn check(json: &Json) -> Result<()> {
    let (Json::Fields(fields), Some(expected)) = (json, json.get(FIELD)) else { return Ok(()) };
    let got = sum_of(fields);
    if expected.text() == Some(&got) {
        return Ok(());
    }
    let expected = expected.text().map_or_else(|| expected.to_string(), str::to_owned);
    Err(Error::new(format!(
        "is damaged or was changed: its checksum is {got}, expected {expected}; without the field {FIELD} it is read as it is"
    )))
}

fn sum_of(fields: &[(String, Json)]) -> String {
    let mut hash = crc32fast::Hasher::new();
    add_fields(fields.iter().filter(|(name, _)| name != FIELD), &mut hash);
    format!("{:08x}", hash.finalize())
}

fn add_fields<'a>(fields: impl Iterator<Item = &'a (String, Json)>, hash: &mut crc32fast::Hasher) {
    let mut sorted: Vec<&(String, Json)> = fields.collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    hash.update(b"{");
    hash.update(&(sorted.len() as u64).to_le_bytes());
    for (name, value) in sorted {
        add_text(name, hash);
        add(value, hash);
    }
}

fn add_text(text: &str, hash: &mut crc32fast::Hasher) {
    hash.update(&(text.len() as u64).to_le_bytes());
    hash.update(text.as_bytes());
}

fn add(json: &Json, hash: &mut crc32fast::Hasher) {
    match json {
        Json::Null => hash.update(b"n"),
        Json::Bool(value) => hash.update(if *value { b"t" } else { b"f" }),
        Json::Number(text) => {
            hash.update(b"d");
            // Some programs write -0 as 0, which is the same number.
            let number = json.number().map(|number| if number == 0.0 { 0.0 } else { number });
            match number {
                Some(number) => hash.update(&number.to_bits().to_le_bytes()),
                None => add_text(text, hash),
            }
        }
        Json::Text(text) => {
            hash.update(b"s");
            add_text(text, hash);
        }
        Json::List(values) => {
            hash.update(b"[");
            hash.update(&(values.len() as u64).to_le_bytes());
            for value in values {
                add(value, hash);
            }
        }
        Json::Fields(fields) => add_fields(fields.iter(), hash),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_of_the_values_not_of_their_text() {
        let json = |text: &str| Json::parse(text).unwrap();
        let whole = sealed(json(r#"{"a":1e-7,"b":[0,null,true],"c":{"x":"y","z":2}}"#));
        assert!(check(&whole).is_ok() && check(&json(r#"{"a":1}"#)).is_ok());
        let text = whole.to_string();
        let same = text.replace("1e-7", "0.0000001").replace("[0,", "[ -0.0, ");
        let same = same.replace(r#"{"x":"y","z":2}"#, r#"{"z":2.0,"x":"y"}"#);
        assert_ne!(same, text);
        assert_eq!(check(&json(&same)), Ok(()));
        for (from, to) in [("1e-7", "1e-6"), ("true", "false"), ("null", "0"), ("\"y\"", "\"w\""), ("\"z\"", "\"w\"")] {
            let other = text.replacen(from, to, 1);
            let error = check(&json(&other)).unwrap_err().to_string();
            assert!(error.starts_with("is damaged or was changed: its checksum is "), "{error}");
        }
        assert_eq!(sealed(whole.clone()), whole);
    }
}

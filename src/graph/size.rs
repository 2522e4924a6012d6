//! Sizes that depend on the number of rows: one number of files, `each` · rows + `plus`.

use std::fmt;

use crate::error::{Error, Result};
use crate::json::{Json, read_fields};

/// Two numbers of rows, by which it is found what depends on them.
pub(super) const ROWS: [usize; 2] = [7, 11];

/// A size: `each` · rows + `plus`. In JSON a number, or `{"rows": each, "plus": plus}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// How often it has the number of rows.
    pub each: i64,
    /// What does not depend on it.
    pub plus: i64,
}

impl Size {
    /// A size that does not depend on the number of rows.
    pub fn fixed(size: usize) -> Self {
        Self { each: 0, plus: size as i64 }
    }

    /// The size that is `sizes` for so many `rows`; `None` if it is not of this form.
    pub(super) fn through(rows: [usize; 2], sizes: [usize; 2]) -> Option<Self> {
        let [rows, sizes] = [rows, sizes].map(|pair| pair.map(|value| value as i64));
        let (step, change) = (rows[1] - rows[0], sizes[1] - sizes[0]);
        let each = change / step;
        (each * step == change && each >= 0).then_some(Self { each, plus: sizes[0] - each * rows[0] })
    }

    /// Its value for so many rows. Errors if it is negative or too large.
    pub(super) fn at(self, rows: usize) -> Result<usize> {
        let scaled = i64::try_from(rows).ok().and_then(|rows| self.each.checked_mul(rows));
        let size = scaled.and_then(|scaled| scaled.checked_add(self.plus)).and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| Error::new(format!("got size {self} for {rows} rows")))
    }

    /// Reads it from JSON.
    pub(crate) fn from_json(json: &Json) -> Result<Self> {
        if let Some(size) = json.whole().and_then(|size| i64::try_from(size).ok()) {
            return Ok(Self { each: 0, plus: size });
        }
        let [mut each, mut plus] = [0.0_f64; 2];
        read_fields(json, &mut [("rows", &mut each, false), ("plus", &mut plus, true)])?;
        let whole = |value: f64| value.fract() == 0.0 && value.abs() < 1e9;
        if !(whole(each) && whole(plus) && each >= 0.0) {
            return Err(json.unlike("a size, {\"rows\": k, \"plus\": c} with whole numbers and k of at least 0"));
        }
        Ok(Self { each: each as i64, plus: plus as i64 })
    }

    /// As JSON.
    pub(super) fn to_json(self) -> Json {
        if self.each == 0 {
            return whole(self.plus);
        }
        let plus = (self.plus != 0).then(|| ("plus".to_owned(), whole(self.plus)));
        Json::Fields([("rows".to_owned(), whole(self.each))].into_iter().chain(plus).collect())
    }
}

fn whole(value: i64) -> Json {
    Json::Number(value.to_string())
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.each, self.plus) {
            (0, plus) => write!(f, "{plus}"),
            (1, 0) => write!(f, "rows"),
            (each, 0) => write!(f, "{each} rows"),
            (1, plus) => write!(f, "rows {plus:+}"),
            (each, plus) => write!(f, "{each} rows {plus:+}"),
        }
    }
}

/// Attributes for so many rows: every size among their values becomes a number.
pub(super) fn resolved(attributes: &Json, rows: usize) -> Result<Json> {
    let Json::Fields(fields) = attributes else { return Err(attributes.unlike("attributes by name")) };
    let fields = fields.iter().map(|(name, value)| Ok((name.clone(), number(value, rows)?)));
    Ok(Json::Fields(fields.collect::<Result<_>>()?))
}

fn number(value: &Json, rows: usize) -> Result<Json> {
    match value {
        Json::Fields(fields) if fields.iter().all(|(name, _)| name == "rows" || name == "plus") => {
            Ok(Size::fixed(Size::from_json(value)?.at(rows)?).to_json())
        }
        Json::List(values) => Ok(Json::List(values.iter().map(|value| number(value, rows)).collect::<Result<_>>()?)),
        other => Ok(other.clone()),
    }
}

/// Attributes from those of two traces, of so many rows each: whole numbers that differ become sizes. `None` if something else differs.
pub(super) fn joined(rows: [usize; 2], a: &Json, b: &Json) -> Option<Json> {
    if a == b {
        return Some(a.clone());
    }
    match (a, b) {
        (Json::Number(_), Json::Number(_)) => {
            let sizes = [a.whole()? as usize, b.whole()? as usize];
            Some(Size::through(rows, sizes)?.to_json())
        }
        (Json::List(a), Json::List(b)) if a.len() == b.len() => {
            let values: Option<_> = a.iter().zip(b).map(|(a, b)| joined(rows, a, b)).collect();
            Some(Json::List(values?))
        }
        (Json::Fields(a), Json::Fields(b)) if a.len() == b.len() => {
            let field = |((name, a), (other, b)): (&(String, Json), &(String, Json))| {
                Some((name.clone(), joined(rows, a, b).filter(|_| name == other)?))
            };
            Some(Json::Fields(a.iter().zip(b).map(field).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_goes_through_two_points() {
        let size = |a, b| Size::through([7, 11], [a, b]);
        assert_eq!(size(7, 11), Some(Size { each: 1, plus: 0 }));
        assert_eq!(size(15, 23), Some(Size { each: 2, plus: 1 }));
        assert_eq!(size(5, 5), Some(Size::fixed(5)));
        assert_eq!(size(7, 12), None);
        assert_eq!(Size { each: 2, plus: 1 }.at(4).unwrap(), 9);
        assert_eq!(Size { each: -1, plus: 3 }.at(4).unwrap_err().to_string(), "got size -1 rows +3 for 4 rows");
    }

    #[test]
    fn attributes_of_two_traces_become_sizes() {
        let json = |text: &str| Json::parse(text).unwrap();
        let [a, b] = [r#"{"shape":[7,3],"rows":14}"#, r#"{"shape":[11,3],"rows":22}"#].map(json);
        let both = joined([7, 11], &a, &b).unwrap();
        assert_eq!(both.to_string(), r#"{"shape":[{"rows":1},3],"rows":{"rows":2}}"#);
        assert_eq!(resolved(&both, 5).unwrap().to_string(), r#"{"shape":[5,3],"rows":10}"#);
        assert_eq!(joined([7, 11], &json(r#"{"scale":0.25}"#), &json(r#"{"scale":0.5}"#)), None);
        assert_eq!(joined([7, 11], &json("[1]"), &json("[1,2]")), None);
    }
}

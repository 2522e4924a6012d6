//! Round trips of records, and error messages.

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
fn records_survive_a_round_trip() {
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
        (r#""count":18446744073709551615"#, r#""count":-1"#, "count: got -1, expected a whole number"),
        (r#""share":0.1"#, r#""share":1e39"#, "share: got 1e39, expected a number of 32 bits"),
        (r#""share":0.1"#, r#""shore":0.1"#, "no field \"share\""),
        ("[0.5,1.0]", "[0.5]", "kind: wide: pair: got [0.5], expected an array of 2"),
        (
            r#""wide""#,
            r#""wild""#,
            "kind: got {\"wild\":{\"width\":3,\"pair\":[0.5,1.0]}}, expected one of VeryPlain, Wide, Around",
        ),
    ];
    for (part, wrong, expected) in cases {
        assert_eq!(read(&text.replace(part, wrong)).unwrap_err(), expected, "{wrong}");
    }
    assert_eq!(read("[]").unwrap_err(), "got [], expected an object");
    assert_eq!(
        read(&text.replace(",\"is_new\":false", "")),
        Ok(Sample { is_new: true, ..sample(Kind::Wide { width: 3, pair: [0.5, 1.0] }) })
    );
}

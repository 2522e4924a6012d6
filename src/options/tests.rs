//! The table's machinery on a table of its own.

use super::*;
use crate::error::Result;

#[derive(Default, Debug, PartialEq)]
struct Bread {
    flour: f64,
    loaves: usize,
    shape: String,
    seeds: Vec<(String, String)>,
    rest: Option<f64>,
}

fn shapes() -> Vec<(&'static str, &'static str)> {
    vec![("round", "A ball"), ("long", "A rod")]
}

const fn option(name: &'static str, kind: Kind, doc: &'static str) -> Entry<Bread> {
    Entry::new(name, kind, doc)
}

static TABLE: Table<Bread> = Table { groups: &[Group { title: "Bread", entries: || ENTRIES }] };

const ENTRIES: &[Entry<Bread>] = &[
    option("flour_weight", Kind::Number(Range::Positive), "Flour in kg")
        .aliases(&["flour_mass"])
        .default("0.5")
        .set(|bread, v| bread.flour = v.number()),
    option("loaves", Kind::whole(1), "Loaves").set(|bread, v| bread.loaves = v.whole()),
    option("shape", Kind::Name(shapes), "Shape").set(|bread, v| bread.shape = v.text().into()),
    option("seeds", Kind::Fields { names: None, has_numbers: false, example: ["top", "rye"] }, "Seeds").set(
        |bread, v| {
            bread.seeds = v.fields().iter().map(|(name, v)| (name.clone(), v.text().into())).collect();
        },
    ),
    option("rest_hours", Kind::Number(Range::NotNegative), "Hours of rest")
        .needs(|bread| bread.flour > 0.0, "{flour_weight}")
        .set(|bread, v| bread.rest = Some(v.number())),
];

fn read(naming: Naming, given: &[(&str, Value)]) -> Result<Bread> {
    let given = given.iter().map(|(name, value)| Ok((TABLE.find(name, naming)?, value.clone())));
    let given = given.collect::<Result<Vec<_>>>()?;
    let mut bread = Bread::default();
    TABLE.apply(&mut bread, &given, naming).map(|()| bread)
}

#[test]
fn values_are_stored_whatever_their_order_and_by_any_name() {
    let given = [("restHours", Value::Number(2.0)), ("flourMass", Value::Number(0.25)), ("loaves", Value::Number(3.0))];
    let expected = Bread { flour: 0.25, loaves: 3, rest: Some(2.0), ..Bread::default() };
    assert_eq!(read(Naming::JavaScript, &given).unwrap(), expected);
}

#[test]
fn each_face_sees_its_own_names_in_messages() {
    let number = |x| Value::Number(x);
    let text = |text: &str| Value::Text(text.into());
    let cases = [
        (Naming::Command, "flour-weight", number(-1.0), "--flour-weight: got -1, expected a finite number above 0"),
        (Naming::JavaScript, "flourWeight", number(0.0), "flourWeight: got 0, expected a finite number above 0"),
        (Naming::JavaScript, "flourWeight", number(f64::NAN), "flourWeight: got NaN, expected a finite number above 0"),
        (
            Naming::Command,
            "flour-weight",
            number(1e-300),
            "--flour-weight: got 1e-300, expected a finite number above 0 in single precision",
        ),
        (Naming::JavaScript, "loaves", number(1.5), "loaves: got 1.5, expected a whole number from 1 to 4294967295"),
        (Naming::JavaScript, "loaves", number(0.0), "loaves: got 0, expected a whole number from 1 to 4294967295"),
        (Naming::JavaScript, "loaves", text("2"), "loaves: got \"2\", expected a whole number from 1 to 4294967295"),
        (Naming::JavaScript, "loavs", number(1.0), "option \"loavs\" is unknown: did you mean \"loaves\"?"),
        (
            Naming::JavaScript,
            "flour_weight",
            number(1.0),
            "option \"flour_weight\" is unknown: did you mean \"flourWeight\"?",
        ),
        (
            Naming::JavaScript,
            "temperature",
            number(1.0),
            "option \"temperature\" is unknown: expected one of flourWeight, loaves, shape, seeds, restHours",
        ),
        (
            Naming::JavaScript,
            "shape",
            text("rund"),
            "shape: got \"rund\", expected one of \"round\", \"long\"; did you mean \"round\"?",
        ),
        (
            Naming::JavaScript,
            "seeds",
            Value::Other("an object of type Map".into()),
            "seeds: got an object of type Map, expected an object such as { top: \"rye\" }",
        ),
        (
            Naming::JavaScript,
            "seeds",
            Value::Fields(vec![("top".into(), number(1.0))]),
            "seeds.top: got 1, expected a string",
        ),
        (Naming::Command, "seeds", text("rye"), "--seeds: got \"rye\", expected top=rye"),
        (Naming::Command, "rest-hours", number(1.0), "--rest-hours has no effect without --flour-weight"),
        (Naming::JavaScript, "restHours", number(1.0), "restHours has no effect without flourWeight"),
    ];
    for (naming, name, value, message) in cases {
        let got = read(naming, &[(name, value)]).map_err(|error| error.to_string());
        assert_eq!(got, Err(message.to_owned()), "{naming:?} {name}");
    }
}

#[test]
fn an_option_given_by_two_names_is_refused() {
    let given = [("flourWeight", Value::Number(1.0)), ("flourMass", Value::Number(2.0))];
    assert_eq!(read(Naming::JavaScript, &given).unwrap_err().to_string(), "flourWeight is given twice");
}

#[test]
fn command_line_texts_become_values() {
    let fields = Kind::Fields { names: None, has_numbers: true, example: ["a", "1"] };
    let cases = [
        (Kind::Number(Range::Unit), "0.5", Value::Number(0.5)),
        (Kind::Number(Range::Unit), "half", Value::Text("half".into())),
        (Kind::Wholes { length: None }, "none", Value::List(Vec::new())),
        (Kind::Wholes { length: None }, "64, 32", Value::List(vec![Value::Number(64.0), Value::Number(32.0)])),
        (Kind::Wholes { length: None }, "64,x", Value::Text("64,x".into())),
        (Kind::Texts, "a,b", Value::List(vec![Value::Text("a".into()), Value::Text("b".into())])),
        (
            Kind::Texts,
            "5\" pipe,\"price, net\",\"say \"\"hi\"\"\"",
            Value::List(["5\" pipe", "price, net", "say \"hi\""].map(|name| Value::Text(name.into())).to_vec()),
        ),
        (fields, "a=2", Value::Fields(vec![("a".into(), Value::Number(2.0))])),
        (Kind::Switch, "", Value::Flag(false)),
        (
            Kind::Numbers,
            "a=2, b=-1",
            Value::Fields(vec![("a".into(), Value::Number(2.0)), ("b".into(), Value::Number(-1.0))]),
        ),
        (Kind::Numbers, "a=2,b", Value::Text("a=2,b".into())),
        (
            Kind::Ranges,
            "a=0:9,b=:5",
            Value::Fields(vec![
                ("a".into(), Value::List(vec![Value::Number(0.0), Value::Number(9.0)])),
                ("b".into(), Value::List(vec![Value::Number(f64::NEG_INFINITY), Value::Number(5.0)])),
            ]),
        ),
    ];
    for (kind, text, expected) in cases {
        assert_eq!(kind.parse(text), expected, "{text}");
    }
}

#[test]
fn named_numbers_and_ranges_are_checked_and_read() {
    let [one, text] = [Value::Number(1.0), Value::Text("x".into())];
    let fields =
        |all: &[(&str, &Value)]| Value::Fields(all.iter().map(|(name, v)| ((*name).into(), (*v).clone())).collect());
    let range = |ends: &[&Value]| Value::List(ends.iter().map(|end| (*end).clone()).collect());
    let refused = |kind: &Kind, value: &Value, naming| kind.check(value, "o", naming).unwrap_err().to_string();
    let (js, command) = (Naming::JavaScript, Naming::Command);
    assert!(Kind::Numbers.check(&fields(&[("a", &one), ("b", &one)]), "o", js).is_ok());
    assert_eq!(refused(&Kind::Numbers, &fields(&[("a", &one), ("a", &one)]), js), "o: \"a\" is given twice");
    assert_eq!(refused(&Kind::Numbers, &fields(&[("a", &text)]), js), "o: a: got \"x\", expected a number");
    let null = Value::Other("null".into());
    let open = fields(&[("a", &range(&[&null, &one])), ("b", &range(&[&one, &null]))]);
    assert!(Kind::Ranges.check(&open, "o", js).is_ok());
    let ends = [("a".to_owned(), [f64::NEG_INFINITY, 1.0]), ("b".to_owned(), [1.0, f64::INFINITY])];
    assert_eq!(open.ranges(), ends);
    for ends in [range(&[&one]), range(&[&one, &one, &one]), range(&[&one, &text]), one.clone()] {
        let message = refused(&Kind::Ranges, &fields(&[("a", &ends)]), js);
        assert!(message.ends_with("expected [low, high], such as [0, 10] or [0, null]"), "{message}");
    }
    assert!(
        refused(&Kind::Ranges, &fields(&[("a", &one)]), command)
            .ends_with("expected low:high, such as 0:10, 0: or :10")
    );
    assert_eq!(refused(&Kind::Ranges, &text, command), "o: got \"x\", expected name=low:high, such as a=0:10,b=:5");
    let level = Kind::Double(Range::Probability);
    let near = 1.0 - f64::from(f32::EPSILON) / 8.0;
    assert!(level.check(&Value::Number(near), "o", js).is_ok() && level.check(&one, "o", js).is_err());
}

#[test]
fn documents_have_every_option_with_type_range_and_default() {
    let types = typescript(&TABLE);
    assert!(
        types.contains("  /** Flour in kg. Number > 0. Default: 0.5. */\n  flourWeight?: number | undefined;\n"),
        "{types}"
    );
    assert!(types.contains("  shape?: \"round\" | \"long\" | undefined;\n"), "{types}");
    let long = document::comment(&"word ".repeat(50));
    assert!(
        long.starts_with("  /**\n   * word word") && long.ends_with("\n   */\n") && long.matches("word").count() == 50
    );
    assert!(long.lines().all(|line| line.chars().count() <= 120), "{long}");
    let rows = markdown(&TABLE, Naming::Command);
    assert!(rows.contains("| `--flour-weight` | number > 0 | 0.5 | Flour in kg |"), "{rows}");
}

#[test]
fn a_name_from_elsewhere_is_understood() {
    assert_eq!(elsewhere::meant("sampleWeight").collect::<Vec<_>>(), ["weight"]);
}

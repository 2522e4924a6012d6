//! Files written by pyarrow and polars (tests/data/tables.py): every type, compression and encoding, and damaged ones.

use super::*;

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../../../tests/data/tables/", $name))
    };
}

fn open(bytes: &[u8]) -> Table {
    read(bytes, "t.parquet", &Format::default()).unwrap()
}

/// The cells of a column as they are written; a dash for a missing one.
fn cells(table: &Table, name: &str) -> Vec<String> {
    let column = &table.columns()[table.position(name).unwrap()];
    let cell = |row| column.as_category().text(row).map_or_else(|| "-".to_owned(), std::borrow::Cow::into_owned);
    (0..table.rows()).map(cell).collect()
}

#[test]
fn every_type_compression_and_version() {
    let expected: [(&str, [&str; 4]); 18] = [
        ("i8", ["1", "-2", "-", "127"]),
        ("u32", ["0", "1", "-", "4294967295"]),
        ("i64", ["1", "9007199254740993", "-", "-9007199254740993"]),
        ("u64", ["1", "18446744073709551615", "-", "2"]),
        ("f32", ["0.5", "-1.25", "-", "3"]),
        ("f64", ["0.1", "1e300", "-", "-2.5e-7"]),
        ("f16", ["0.5", "1.5", "-", "-2"]),
        ("bool", ["true", "false", "-", "true"]),
        ("text", ["x", "yé,\"", "-", "x"]),
        ("cat", ["lo", "hi", "-", "lo"]),
        ("date", ["2024-03-01", "1969-12-31", "-", "2000-02-29"]),
        ("ms", ["2024-03-01T12:30:00", "1969-12-31T23:59:59", "-", "2000-01-01T00:00:00"]),
        ("us", ["2024-03-01T12:30:00.25", "2024-03-01T00:00:00", "-", "2000-01-01T00:00:00"]),
        ("ns", ["2024-03-01T12:30:00", "2024-03-01T00:00:00", "-", "2000-01-01T00:00:00"]),
        ("time", ["12:30:00", "00:00:01", "-", "23:59:59.5"]),
        ("dec", ["12.3", "-0.05", "-", "7"]),
        ("all", ["1", "2", "3", "4"]),
        ("null", ["-", "-", "-", "-"]),
    ];
    let files: [(&str, &[u8]); 5] = [
        ("snappy", file!("types.parquet")),
        ("gzip", file!("types_gzip.parquet")),
        ("zstd", file!("types_zstd.parquet")),
        ("none", file!("types_none.parquet")),
        ("int96", file!("types_int96.parquet")),
    ];
    for (kind, bytes) in files {
        let table = open(bytes);
        for (name, expected) in expected {
            if table.find(name).is_some() || kind != "int96" {
                assert_eq!(cells(&table, name), expected, "{kind} {name}");
            }
        }
        assert!(table.numbers("dec").is_ok() && table.numbers("u32").is_ok(), "{kind}");
    }
}

#[test]
fn every_encoding_in_several_groups_and_pages() {
    let table = open(file!("encodings.parquet"));
    assert_eq!(table.rows(), 300);
    let numbers = |name: &str, value: &dyn Fn(usize) -> f64| {
        let expected: Vec<f64> = (0..300).map(value).collect();
        assert_eq!(table.numbers(name).unwrap(), expected, "{name}");
    };
    numbers("a", &|i| i as f64 * 3.0 - (i % 7) as f64 * 1000.0);
    numbers("b", &|i| ((i * i) % 10007) as f64);
    numbers("f", &|i| i as f64 / 8.0);
    numbers("g", &|i| i as f64 / 4.0);
    let texts = |name: &str, value: &dyn Fn(usize) -> String| {
        assert_eq!(cells(&table, name), (0..300).map(value).collect::<Vec<_>>(), "{name}");
    };
    texts("s", &|i| format!("name{:05}", i / 3));
    texts("t", &|i| format!("item {}", i % 10));
    texts("o", &|i| if i % 5 == 0 { "-".into() } else { i.to_string() });
    texts("p", &|i| (i % 3 == 0).to_string());
}

#[test]
fn a_file_by_polars() {
    let table = open(file!("polars.parquet"));
    assert_eq!(cells(&table, "d"), ["2024-03-01", "-", "2024-03-02"]);
    assert_eq!(cells(&table, "s"), ["a", "b", "-"]);
    assert_eq!(cells(&table, "x"), ["1.5", "-", "2.5"]);
}

#[test]
fn numbers_that_mean_a_missing_cell() {
    let format = Format { missing: vec!["3".into()], ..Format::default() };
    let table = read(file!("types.parquet"), "t", &format).unwrap();
    assert_eq!(cells(&table, "all"), ["1", "2", "-", "4"]);
}

#[test]
fn a_column_of_lists_stops_nothing_unless_it_is_used() {
    let table = open(file!("nested.parquet"));
    assert_eq!(table.numbers("a").unwrap(), [1.0, 2.0]);
    let message = table.readable("l").unwrap_err().to_string();
    assert_eq!(message, "t.parquet: column \"l\": holds lists; expected one value per row");
}

#[test]
fn messages() {
    let error = |bytes: &[u8]| read(bytes, "t", &Format::default()).unwrap_err().to_string();
    let whole = file!("types.parquet");
    assert_eq!(error(&whole[..100]), "t: is not a complete Parquet file: its last bytes are not PAR1");
    assert_eq!(error(b"PAR1PAR1"), "t: is not a complete Parquet file: its footer is damaged");
    let mut bytes = whole.to_vec();
    bytes[6] ^= 0x40;
    assert_eq!(error(&bytes), "t: column \"i8\": is damaged: a page is cut short");
}

#[test]
fn every_changed_byte_gives_a_table_or_an_error() {
    for whole in [&file!("polars.parquet")[..], file!("types_none.parquet")] {
        for at in 0..whole.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = whole.to_vec();
                bytes[at] = value;
                if let Ok(table) = read(&bytes, "t", &Format::default()) {
                    assert!(table.rows() <= 4);
                }
            }
        }
    }
}

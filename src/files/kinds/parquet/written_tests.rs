//! Files written here byte by byte, of one column each: what the programs of `tests.rs` write alike in every row group, or write no more.

use super::schema::MAGIC;
use super::*;

/// A group of rows: the values of its dictionary, none if it has no dictionary, its number of rows, and the values of its page.
struct Rows {
    dictionary: Vec<Vec<u8>>,
    count: usize,
    page: Vec<u8>,
}

/// Rows by their places, below 2, in a dictionary.
fn coded(dictionary: &[Vec<u8>], places: &[u8]) -> Rows {
    let bits = places.iter().rev().fold(0, |bits, place| bits << 1 | place);
    // Each place has one bit; one group of eight places follows.
    Rows { dictionary: dictionary.to_vec(), count: places.len(), page: vec![1, 3, bits] }
}

fn plain(values: &[Vec<u8>]) -> Rows {
    Rows { dictionary: Vec::new(), count: values.len(), page: values.concat() }
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

fn double(value: f64) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

/// A field of Thrift's compact protocol: its type and its bytes.
type Field = (u8, Vec<u8>);

fn varint(mut value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn int(value: usize) -> Field {
    (5, varint(2 * value))
}

fn long(value: usize) -> Field {
    (6, varint(2 * value))
}

fn name(name: &str) -> Field {
    (8, [varint(name.len()), name.into()].concat())
}

fn list(kind: u8, values: &[Vec<u8>]) -> Field {
    (9, [vec![(values.len() as u8) << 4 | kind], values.concat()].concat())
}

fn record(fields: &[(u8, Field)]) -> Vec<u8> {
    let (mut out, mut last) = (Vec::new(), 0);
    for (id, (kind, bytes)) in fields {
        out.push((id - last) << 4 | kind);
        out.extend(bytes);
        last = *id;
    }
    out.push(0);
    out
}

/// A page that is not compressed: its type, the number of its header, how many values it has, and their encoding.
fn page([kind, header]: [u8; 2], count: usize, encoding: usize, body: &[u8]) -> Vec<u8> {
    let mut about = vec![(1, int(count)), (2, int(encoding))];
    if kind == 0 {
        about.extend([(3, int(3)), (4, int(3))]);
    }
    let sizes = [(1, int(kind.into())), (2, int(body.len())), (3, int(body.len()))];
    let head = record(&[&sizes[..], &[(header, (12, record(&about)))]].concat());
    [head, body.to_vec()].concat()
}

/// The file of a column "x" without missing cells, of a physical type and perhaps an older converted type.
fn file(physical: usize, converted: Option<usize>, groups: &[Rows]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let mut chunks = Vec::new();
    for rows in groups {
        let start = out.len();
        if !rows.dictionary.is_empty() {
            out.extend(page([2, 7], rows.dictionary.len(), 0, &rows.dictionary.concat()));
        }
        let (data, has_dictionary) = (out.len(), !rows.dictionary.is_empty());
        out.extend(page([0, 5], rows.count, if has_dictionary { 8 } else { 0 }, &rows.page));
        let bytes = out.len() - start;
        let mut about = vec![
            (1, int(physical)),
            (2, list(5, &[varint(0), varint(2 * 8)])),
            (3, list(8, &[name("x").1])),
            (4, int(0)),
            (5, long(rows.count)),
            (6, long(bytes)),
            (7, long(bytes)),
            (9, long(data)),
        ];
        if has_dictionary {
            about.push((11, long(start)));
        }
        let chunk = record(&[(2, long(start)), (3, (12, record(&about)))]);
        chunks.push(record(&[(1, list(12, &[chunk])), (2, long(bytes)), (3, long(rows.count))]));
    }
    let root = record(&[(4, name("schema")), (5, int(1))]);
    let mut column = vec![(1, int(physical)), (3, int(0)), (4, name("x"))];
    column.extend(converted.map(|converted| (6, int(converted))));
    let rows = groups.iter().map(|rows| rows.count).sum();
    let schema = list(12, &[root, record(&column)]);
    let footer = record(&[(1, int(1)), (2, schema), (3, long(rows)), (4, list(12, &chunks))]);
    [out, footer.clone(), (footer.len() as u32).to_le_bytes().to_vec(), MAGIC.to_vec()].concat()
}

fn open(bytes: &[u8]) -> Table {
    read(bytes, "t.parquet", &Format::default()).unwrap()
}

fn texts(table: &Table) -> Vec<String> {
    (0..table.rows()).map(|row| table.columns()[0].as_category().text(row).unwrap().into_owned()).collect()
}

#[test]
fn every_row_group_has_a_dictionary_of_its_own() {
    let [red, green, blue] = ["red", "green", "blue"].map(text);
    let groups = [coded(&[red.clone(), green], &[0, 1]), coded(&[blue, red], &[0, 1, 1]), plain(&[text("gold")])];
    assert_eq!(texts(&open(&file(6, Some(0), &groups))), ["red", "green", "blue", "red", "red", "gold"]);
    let [one, two, three] = [1.0, 2.0, 3.0].map(double);
    let groups = [coded(&[one.clone(), two], &[1, 0]), coded(&[three, one], &[0, 1, 1]), plain(&[double(7.0)])];
    assert_eq!(open(&file(5, None, &groups)).numbers("x").unwrap(), [2.0, 1.0, 3.0, 1.0, 1.0, 7.0]);
}

#[test]
fn older_types_of_dates_times_and_numbers() {
    let (narrow, wide) = (|value: i32| value.to_le_bytes().to_vec(), |value: i64| value.to_le_bytes().to_vec());
    // 2024-03-01 is day 19,783 from 1970 on; 12:30 is 45,000 seconds after midnight: 1,709,296,200 in all.
    let cases = [
        ("DATE", 1, 6, narrow(19_783), "2024-03-01"),
        ("TIME_MILLIS", 1, 7, narrow(45_000_250), "12:30:00.25"),
        ("TIME_MICROS", 2, 8, wide(45_000_250_000), "12:30:00.25"),
        ("TIMESTAMP_MILLIS", 2, 9, wide(1_709_296_200_250), "2024-03-01T12:30:00.25"),
        ("TIMESTAMP_MICROS", 2, 10, wide(1_709_296_200_250_000), "2024-03-01T12:30:00.25"),
        ("UINT_8", 1, 11, narrow(255), "255"),
        ("UINT_32", 1, 13, narrow(-1), "4294967295"),
        ("UINT_64", 2, 14, wide(-1), "18446744073709551615"),
        ("INT_32", 1, 17, narrow(-1), "-1"),
    ];
    for (name, physical, converted, value, expected) in cases {
        assert_eq!(texts(&open(&file(physical, Some(converted), &[plain(&[value])]))), [expected], "{name}");
    }
}

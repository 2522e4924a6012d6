//! Ranges of every kind of file are those of the whole table.

use super::{ROWS, check, common, file, npy, number, read, safetensors};
use meromorph::files::{Header, open_rows, read_table};

#[test]
fn ranges_are_those_of_the_whole_table() {
    for (name, bytes) in common() {
        let file = file(name, &bytes);
        let source = open_rows(&file.path, Header::Auto).unwrap();
        let table = read_table(&bytes, &file.path.display().to_string(), Header::Auto).unwrap();
        assert!(table.names().eq(source.columns()), "{name}");
        let expected: Vec<Vec<f64>> = table.names().map(|column| table.numbers(column).unwrap().to_vec()).collect();
        check(name, &*source, &expected);
        assert_eq!(source.fingerprint().unwrap(), open_rows(&file.path, Header::Auto).unwrap().fingerprint().unwrap());
    }
}

#[test]
fn a_column_of_more_numbers_than_are_read_at_once() {
    // 65,536 numbers of four bytes are read at once.
    let data: Vec<u8> = (0..70_000).flat_map(|row| (row as f32).to_le_bytes()).collect();
    let file = file("long.npy", &npy("'<f4'", false, "(70000,)", &data));
    let source = open_rows(&file.path, Header::Auto).unwrap();
    let all = read(&*source, 0..70_000, &[0]).unwrap().remove(0);
    for (row, expected) in [(0, 0.0), (65_535, 65_535.0), (65_536, 65_536.0), (69_999, 69_999.0)] {
        assert_eq!(all[row], expected, "row {row}");
    }
    let later = read(&*source, 3..70_000, &[0]).unwrap().remove(0);
    assert_eq!((later[0], later[65_536], later[69_996]), (3.0, 65_539.0, 69_999.0));
}

#[test]
fn tensors_are_columns_in_the_order_of_their_names() {
    let column = |at| (0..ROWS).map(|row| number(row, at)).collect::<Vec<f64>>();
    let file = file("a.safetensors", &safetensors());
    let source = open_rows(&file.path, Header::Auto).unwrap();
    assert_eq!(source.columns(), ["m_0", "m_1", "n", "t", "y"]);
    let single: Vec<f64> = column(1).iter().map(|x| f64::from(*x as f32)).collect();
    let whole: Vec<f64> = column(0).iter().map(|x| (*x as i64) as f64).collect();
    check("safetensors", &*source, &[column(0), column(1), whole, column(0), single]);
}

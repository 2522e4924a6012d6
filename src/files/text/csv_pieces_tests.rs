//! Texts in pieces of every size give what the whole text gives.

use super::*;
use crate::files::text::{Header, csv};

/// Names, columns and wrong cells of a text.
type Read = (Vec<String>, Vec<Vec<f64>>, Vec<Option<Error>>);

/// A text that is read in pieces of so many bytes.
fn pieced(text: &str, bytes: usize, format: &Format) -> Result<Read> {
    let mut pieces = Pieces::of(bytes, text.as_bytes(), "a.csv", format.clone())?;
    let mut columns = vec![Vec::new(); pieces.names().len()];
    while let Some(part) = pieces.next_rows()? {
        columns.iter_mut().zip(part).for_each(|(column, part)| column.extend(part));
    }
    Ok((pieces.names().to_vec(), columns, pieces.wrong_cells()))
}

fn bits(columns: &[Vec<f64>]) -> Vec<Vec<u64>> {
    columns.iter().map(|column| column.iter().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn pieces_give_what_the_whole_text_gives() {
    let german = Format { decimal: ",".into(), ..Format::default() };
    let none = Format { missing: vec!["-999".into()], ..Format::default() };
    let cases = [
        ("x,y\n1,2\n3,4\n\n5,6", Format::default()),
        ("\u{feff}x,y\r\n1,2\r\n\r\n3,NA\r\n", Format::default()),
        ("x\ty\r1\t2\r3\t4\r", Format::default()),
        ("1,2\n3,4\n", Format::default()),
        ("1,2\n3,4\n", Header::Yes.into()),
        ("\"a, b\",\"say \"\"y\"\"\nthere\"\n\"1\", \"2\" \n3,\"4\"\n", Format::default()),
        ("x;y\n1,5;2\n-3,25;1e3\n", german),
        ("x;y\n$1,000;1\n-999;2\n1 000;-\n", none.clone()),
        ("x,y\n1,-999\n1_000,--\n2,3\n", none),
        ("p\n12%\n3 %\n", Format::default()),
        ("5\" pipe,x\n1,2\n", Format::default()),
    ];
    for (text, format) in cases {
        let table = csv::read(text.as_bytes(), "a.csv", &format).unwrap();
        for bytes in 1..=text.len() + 1 {
            let (names, columns, wrong) = pieced(text, bytes, &format).unwrap();
            let expected: Vec<_> = names.iter().map(|name| table.numbers(name).unwrap().to_vec()).collect();
            assert_eq!(bits(&columns), bits(&expected), "{text:?} by {bytes}");
            assert!(table.names().eq(names.iter()) && wrong.iter().all(Option::is_none), "{text:?} by {bytes}");
        }
    }
}

#[test]
fn the_first_wrong_cell_of_a_column_is_named() {
    let text = "x,name,y\n1,a,2\n3,b,4\n\"5\",c,\"3,5\"\n7%,d,x\nz,e,1\n";
    for bytes in 1..=text.len() {
        let (_, columns, wrong) = pieced(text, bytes, &Format::default()).unwrap();
        assert_eq!(columns[0][..3], [1.0, 3.0, 5.0]);
        assert!(columns[1].iter().all(|x| x.is_nan()));
        let wrong: Vec<String> = wrong.into_iter().map(|error| error.unwrap().to_string()).collect();
        assert_eq!(
            wrong,
            [
                "a.csv: row 4, column \"x\": a number of percent among plain numbers",
                "a.csv: row 1, column \"name\": \"a\" is not a number",
                "a.csv: row 3, column \"y\": \"3,5\" is not a number; numbers are written with a point",
            ]
        );
    }
    // A column of texts only keeps its length.
    let text = "a,b\n".to_owned() + &"x,1\n".repeat(200);
    let (_, columns, _) = pieced(&text, 300, &Format::default()).unwrap();
    assert_eq!((columns[0].len(), columns[1].len()), (200, 200));
}

#[test]
fn errors_are_those_of_the_whole_text() {
    let cases = [
        "x,y\n1,2\n3\n",
        "x,y\n1,2\n\n\n3,4,5\n6,7\n",
        "x,y\n1,\"2\n3,4\n",
        "x,y\n1,2\n\"a\"b,4\n5,6\n",
        "x,y\n\"a\nb\",2\n\"a\"b,4\n",
        "",
    ];
    for text in cases {
        let expected = csv::read(text.as_bytes(), "a.csv", Header::Auto).unwrap_err();
        for bytes in 1..=text.len() + 1 {
            assert_eq!(pieced(text, bytes, &Format::default()).unwrap_err(), expected, "{text:?} by {bytes}");
        }
    }
}

#[test]
fn lines_that_are_read_in_parallel_are_those_that_are_read_at_once() {
    let text: String = (0..400_000_u32).map(|row| format!("{row},{}.5\n", row % 1000)).collect();
    let (_, columns, _) = pieced(&text, 3 << 20, &Header::No.into()).unwrap();
    assert_eq!(columns[0].len(), 400_000);
    assert!(columns[0].iter().zip(0_u32..).all(|(x, row)| *x == f64::from(row)));
    assert!(columns[1].iter().zip(0_u32..).all(|(x, row)| *x == f64::from(row % 1000) + 0.5));
}

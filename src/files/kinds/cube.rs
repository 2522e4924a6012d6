//! Images over time: an array [frames, rows, columns] as a table with a row for each number. Its columns are `frame`, `row`, `column` and `pixel`
//! (the number of the pixel in its image), then those of other arrays: of a number for each frame, row of pixels or column of pixels, of an
//! image [rows, columns], or of the same shape.

use super::memory::has_memory;
use crate::error::{Error, Result};
use crate::files::Column;
use crate::files::npy::Array;

/// Names of arrays of inputs beside targets.
const LABELLED: [&str; 4] = ["X", "data", "images", "x_train"];

/// The columns of arrays, one of which has three dimensions: each with its name and where it is from. Those of three dimensions come last.
pub(crate) fn columns(arrays: &[(&str, &Array<'_>, &str)]) -> Result<Vec<Column>> {
    let is_cube = |array: &Array<'_>| array.layout.shape.len() == 3;
    let Some(cube) = arrays.iter().find(|(_, array, _)| is_cube(array)) else { return Ok(Vec::new()) };
    // Images of examples with a target each are no table of pixels.
    if LABELLED.contains(&cube.0) && arrays.len() > 1 {
        return Ok(Vec::new());
    }
    let (shape, place) = (&cube.1.layout.shape, cube.2);
    let [frames, rows, width] = shape[..] else { return Ok(Vec::new()) };
    has_memory(cube.1.numbers().saturating_mul(arrays.len() as u64 + 4), 0)
        .map_err(|what| Error::new(format!("{place}: {what}")))?;
    let pixels = rows * width;
    let count = frames * pixels;
    let over = |place: &dyn Fn(usize) -> f64| (0..count).map(place).collect::<Vec<f64>>();
    let indexes: [(&str, &dyn Fn(usize) -> f64); 4] = [
        ("frame", &|at| (at / pixels) as f64),
        ("row", &|at| (at % pixels / width) as f64),
        ("column", &|at| (at % width) as f64),
        ("pixel", &|at| (at % pixels) as f64),
    ];
    let is_free = |name: &str| arrays.iter().all(|(other, ..)| *other != name);
    let indexes = indexes.into_iter().filter(|(name, _)| is_free(name));
    let mut all: Vec<Column> = indexes.map(|(name, place)| Column::numeric(name, over(place))).collect();
    let (cubes, others): (Vec<_>, Vec<_>) = arrays.iter().partition(|(_, array, _)| is_cube(array));
    for (name, array, place) in others.into_iter().chain(cubes) {
        let values = array.values(|value| value);
        let column = match array.layout.shape[..] {
            [length] if length == frames => over(&|at| values[at / pixels]),
            [length] if length == rows => over(&|at| values[at % pixels / width]),
            [length] if length == width => over(&|at| values[at % width]),
            [one, other] if [one, other] == [rows, width] => over(&|at| values[at % pixels]),
            _ if array.layout.shape == *shape => values,
            _ => {
                let got = &array.layout.shape;
                return Err(Error::new(format!(
                    "{place}: shape {got:?} does not fit images of shape {shape:?}: expected a number for each frame, row or column, an image, or the same shape"
                )));
            }
        };
        all.push(Column::numeric(name, column));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Table;
    use crate::files::npy::tests::file;

    /// Two frames of images of one row and three columns.
    #[test]
    fn every_number_of_a_cube_is_a_row() {
        let array = |shape: &str, data: &[u8]| file("'|u1'", "False", shape, data);
        let arrays = [array("(2, 1, 3)", &[1, 2, 3, 4, 5, 6]), array("(2,)", &[7, 8]), array("(3,)", &[9, 10, 11])];
        let parsed: Vec<Array<'_>> = arrays.iter().map(|bytes| Array::parse(bytes, "a").unwrap()).collect();
        let found = columns(&[("img", &parsed[0], "a"), ("t", &parsed[1], "a"), ("column", &parsed[2], "a")]).unwrap();
        let table = Table::new("a", found).unwrap();
        let shown: Vec<(&str, &[f64])> = table.names().map(|name| (name, table.numbers(name).unwrap())).collect();
        let expected: [(&str, &[f64]); 6] = [
            ("frame", &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
            ("row", &[0.0; 6]),
            ("pixel", &[0.0, 1.0, 2.0, 0.0, 1.0, 2.0]),
            ("t", &[7.0, 7.0, 7.0, 8.0, 8.0, 8.0]),
            ("column", &[9.0, 10.0, 11.0, 9.0, 10.0, 11.0]),
            ("img", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ];
        assert_eq!(shown, expected);
        let four = array("(4,)", &[1; 4]);
        let four = Array::parse(&four, "a").unwrap();
        let error = columns(&[("img", &parsed[0], "a"), ("w", &four, "a.npz: w")]).unwrap_err().to_string();
        assert!(error.starts_with("a.npz: w: shape [4] does not fit images of shape [2, 1, 3]"), "{error}");
    }
}

//! Rows that are read instead of held, and journals of interrupted fits.

use super::{DECAY, fitted, noise};
use meromorph::files::ranges::Generated;
use meromorph::fit::{Formula, Journal, Problem, SolveOptions, solve, solve_from};

#[test]
fn rows_that_are_read_give_the_fit_of_rows_in_memory() {
    let rows = 100_000;
    let noise = noise(rows);
    let row = |row: usize, into: &mut [f64]| {
        let x = 5.0 * (row * 7_919 % rows) as f64 / rows as f64;
        let set = (row / 1_000 % 3) as f64;
        into.copy_from_slice(&[set, x, (set + 1.0) * (-1.2 * x).exp() + 0.5 + 0.05 * noise[row]]);
        if row == 50 {
            into[1] = f64::NAN;
        }
    };
    let source = Generated::new(rows, &["set", "x", "y"], row).unwrap();
    let formula = || Formula::parse("a[set] * exp(-b * x) + c", &["set", "x", "y"]).unwrap();
    let read = Problem::read(formula(), &source, "y", None, true).unwrap();
    assert_eq!((read.rows(), read.groups()), (rows - 1, 3));
    let missing = Problem::read(formula(), &source, "y", None, false).map(|_| ()).unwrap_err().to_string();
    assert_eq!(missing, "fit: column \"x\", row 51: got NaN, expected a finite number");
    let mut columns = [vec![], vec![], vec![]];
    for at in (0..rows).filter(|row| *row != 50) {
        let mut values = [0.0; 3];
        row(at, &mut values);
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let named: [(&str, &[f64]); 2] = [("set", &columns[0]), ("x", &columns[1])];
    let held = fitted(&Problem::new(formula(), &named, &columns[2]).unwrap());
    let read = fitted(&read);
    for (own, other) in read.parameters.iter().zip(&held.parameters) {
        assert_eq!(own.name, other.name);
        // Rows are added in another order.
        assert!((own.value - other.value).abs() < 1e-3 * own.stderr.unwrap(), "{own:?}, {other:?}");
        assert!((own.stderr.unwrap() / other.stderr.unwrap() - 1.0).abs() < 1e-9, "{own:?}, {other:?}");
    }
}

#[test]
fn a_journal_goes_on_with_the_same_bits() {
    // More rows than are summed at a time, so that passes are interrupted too.
    let rows = 9_000_000;
    let source = Generated::new(rows, &["x", "y"], |row, into| {
        let x = 5.0 * row as f64 / rows as f64;
        into.copy_from_slice(&[x, 3.0 * (-1.2 * x).exp() + 0.5 + 0.01 * ((row * 2_654_435_761) % 1_000) as f64 / 1e3]);
    })
    .unwrap();
    let formula = Formula::parse(DECAY, &["x", "y"]).unwrap();
    let problem = Problem::read(formula, &source, "y", None, false).unwrap();
    let problem = problem.start("a", 2.0).unwrap().start("b", 1.0).unwrap().start("c", 0.0).unwrap();
    let options = SolveOptions::default();
    let whole = solve(&problem, &options).unwrap();
    let mut journal = Journal::default();
    let mut ends = 0;
    let resumed = loop {
        let watch = &mut |_: &Journal| Err(meromorph::Error::new("stop"));
        match solve_from(&problem, &options, &mut journal, watch) {
            Ok(fit) => break fit,
            Err(_) => ends += 1,
        }
        journal = Journal::from_numbers(&journal.numbers()).unwrap();
    };
    assert!(ends > 3, "{ends}");
    assert_eq!(resumed, whole);
    let numbers = journal.numbers();
    assert_eq!(Journal::from_numbers(&numbers[..numbers.len() - 1]).unwrap_err().to_string(), "it is cut short");
    let other = problem.start("a", 2.5).unwrap();
    let foreign = solve_from(&other, &options, &mut journal, &mut |_| Ok(())).unwrap_err().to_string();
    assert!(foreign.contains("the journal is of another fit"), "{foreign}");
}

//! Wrong problems are errors.

use super::{DECAY, decay, problem};
use meromorph::Result;
use meromorph::fit::{Problem, SolveOptions, solve};

#[test]
fn wrong_problems_are_errors() {
    let data = decay(20);
    let message =
        |problem: Result<Problem<'_>>| match problem.and_then(|problem| solve(&problem, &SolveOptions::default())) {
            Ok(_) => "no error".to_owned(),
            Err(error) => error.to_string(),
        };
    let new = || problem(DECAY, &data);
    let [x, mut y] = decay(20);
    y[6] = f64::NAN;
    assert_eq!(message(problem(DECAY, &[x, y])), "fit: y, row 7: got NaN, expected a finite number");
    assert_eq!(
        message(new().and_then(|problem| problem.start("d", 1.0))),
        "p0: \"d\" is not a parameter of the model: expected one of \"a\", \"b\", \"c\""
    );
    assert_eq!(
        message(new().and_then(|problem| problem.bounds("a", 1.0, 1.0))),
        "bounds: a: got 1 to 1, expected the lower bound below the upper; to keep a parameter at a value, fix it"
    );
    assert_eq!(
        message(new().and_then(|problem| problem.bounds("a", 0.0, 1.0)?.start("a", 2.0))),
        "p0: a: got 2, expected a value within its bounds 0 to 1"
    );
    let fixed = || new().and_then(|problem| problem.fix("a", 1.0)?.fix("b", 1.0)?.fix("c", 1.0));
    assert_eq!(message(fixed()), "fit: every parameter is fixed: expected at least one that is free");
    let few = decay(2);
    assert_eq!(message(problem(DECAY, &few)), "fit: got 2 rows, expected at least 3, one for each free parameter");
    assert_eq!(
        message(problem("a * log(x) + b", &data).and_then(|problem| problem.start("a", 1.0)?.start("b", 1.0))),
        "fit: the model is not finite at the start in row 1 (x = 0): expected a start at which it is, or no such rows"
    );
    assert_eq!(
        message(problem("a * log(x) + b", &data)),
        "fit: the model is not finite at the start in row 1 (x = 0): expected a start at which it is, or no such rows"
    );
    assert_eq!(
        message(problem("a * log(x - x - b * b)", &data)),
        "p0: no start was found at which the model is finite, for b: expected starts near the answer, such as b=1"
    );
    let sigma = vec![0.0; 20];
    assert_eq!(
        message(new().and_then(|problem| problem.sigma(&sigma, false))),
        "fit: sigma, row 1: got 0, expected a number above 0"
    );
}

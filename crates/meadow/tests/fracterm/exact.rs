//! Random formulas compared with exact fractions: flattening keeps every value and every ⊥.

use meromorph_meadow::Scm;
use meromorph_meadow::symbolic::{Budget, Expression, Fracterm, Guard, Values};

use crate::{BOTTOM, assert_near, at, polynomial, real};

/// A formula over x and y: an integer, a variable, (a x + b)/(c y + d), or an operation.
enum Tree {
    Number(i128),
    Variable(&'static str),
    Ratio([i128; 4]),
    Pair(char, Box<Tree>, Box<Tree>),
}

/// A fraction with a denominator that is not 0, or ⊥.
type Exact = Option<(i128, i128)>;

impl Tree {
    fn exact(&self, x: Exact, y: Exact) -> Exact {
        match self {
            Self::Number(value) => Some((*value, 1)),
            Self::Variable(name) => {
                if *name == "x" {
                    x
                } else {
                    y
                }
            }
            Self::Ratio([a, b, c, d]) => {
                let line =
                    |slope, value, offset| applied('+', applied('*', Some((slope, 1)), value), Some((offset, 1)));
                applied('/', line(*a, x, *b), line(*c, y, *d))
            }
            Self::Pair(sign, left, right) => applied(*sign, left.exact(x, y), right.exact(x, y)),
        }
    }

    fn expression(&self) -> Expression {
        match self {
            Self::Number(value) => Expression::from(*value as f64),
            Self::Variable(name) => Expression::variable(name),
            Self::Ratio(_) => {
                let term = self.fracterm();
                Expression::rational(term.numerator().clone(), term.denominator().clone(), None)
            }
            Self::Pair(sign, left, right) => match sign {
                '+' => left.expression() + right.expression(),
                '-' => left.expression() - right.expression(),
                '*' => left.expression() * right.expression(),
                _ => left.expression() / right.expression(),
            },
        }
    }

    fn fracterm(&self) -> Fracterm {
        match self {
            Self::Number(value) => Fracterm::constant(real(*value as f64)),
            Self::Variable(name) => Fracterm::variable(name),
            Self::Ratio([a, b, c, d]) => {
                let line =
                    |slope: i128, name, offset: i128| polynomial(&[(slope as f64, &[(name, 1)]), (offset as f64, &[])]);
                Fracterm::new(line(*a, "x", *b), line(*c, "y", *d))
            }
            Self::Pair(sign, left, right) => {
                let (left, right) = (left.fracterm(), right.fracterm());
                match sign {
                    '+' => &left + &right,
                    '-' => &left + &(&Fracterm::constant(real(-1.0)) * &right),
                    '*' => &left * &right,
                    _ => &left / &right,
                }
            }
        }
    }
}

fn applied(sign: char, left: Exact, right: Exact) -> Exact {
    let ((p, q), (u, v)) = (left?, right?);
    match sign {
        '+' => Some((p * v + u * q, q * v)),
        '-' => Some((p * v - u * q, q * v)),
        '*' => Some((p * u, q * v)),
        _ => (u != 0).then_some((p * v, q * u)),
    }
}

/// SplitMix64.
struct Cases(u64);

impl Cases {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % limit
    }

    fn number(&mut self) -> i128 {
        i128::from(self.below(6)) - 2
    }

    fn tree(&mut self, depth: u32) -> Tree {
        match self.below(if depth == 0 { 4 } else { 10 }) {
            0 => Tree::Number(self.number()),
            1 => Tree::Variable("x"),
            2 => Tree::Variable("y"),
            3 => Tree::Ratio([self.number(), self.number(), self.number(), self.number()]),
            _ => {
                let sign = ['+', '-', '*', '/'][self.below(4) as usize];
                Tree::Pair(sign, Box::new(self.tree(depth - 1)), Box::new(self.tree(depth - 1)))
            }
        }
    }

    fn value(&mut self) -> Exact {
        (self.below(8) > 0).then(|| (self.number(), 1))
    }
}

#[test]
fn p41_flattening_keeps_every_value_and_every_bottom() {
    let (mut cases, mut bottoms, mut compared) = (Cases(41), 0, 0);
    for _ in 0..4000 {
        let tree = cases.tree(3);
        let (expression, strict) = (tree.expression(), tree.fracterm());
        let flat = expression.flattened(&[], Budget::default()).expect("small");
        for _ in 0..4 {
            let (x, y) = (cases.value(), cases.value());
            let number = |exact: Exact| exact.map_or(BOTTOM, |(p, q)| real(p as f64 / q as f64));
            let values: Values<'_> = at(&[("x", number(x)), ("y", number(y))]);
            let expected = number(tree.exact(x, y));
            let what = format!("{expression} at x = {}, y = {}: {flat}", values["x"], values["y"]);
            assert_near(flat.evaluate(&values, Guard::All(0.0)).unwrap(), expected, &what);
            assert_near(flat.evaluate(&values, Guard::default()).unwrap(), expected, &what);
            assert_near(strict.evaluate(&values).unwrap(), expected, &what);
            bottoms += usize::from(expected == Scm::BOTTOM);
            compared += 1;
        }
    }
    assert!(bottoms > compared / 5 && bottoms < compared * 4 / 5, "{bottoms} of {compared} are ⊥");
}

"""Writes fracterm.json: random rational formulas, as the original package (zeroproofml 0.6.1) composes, flattens and evaluates them.

Usage: python fracterm.py > fracterm.json
A formula is a number, a name, [P, Q] or ["+" | "*" | "/", left, right]; a polynomial is a list of [{name: exponent}, coefficient];
a value is null for bottom, else [re, im, is_complex].
"""

import json
import random
import warnings

from zeroproof.layers.fru import FRUAdd, FRUConstant, FRUDiv, FRUMul, FRURational, FRUVariable
from zeroproof.scm._eager_oracle import evaluate_fru_expression
from zeroproof.scm.fracterm import Fracterm, Polynomial
from zeroproof.scm.value import SCMValue, scm_bottom

warnings.simplefilter("ignore")
RANDOM = random.Random(40)
NAMES = ["x", "y", "z"]
PAIRS = {"+": FRUAdd, "*": FRUMul, "/": FRUDiv}


def packed(value):
    if value.is_bottom:
        return None
    number = complex(value.payload)
    return [number.real, number.imag, isinstance(value.payload, complex)]


def listed(polynomial):
    terms = [(dict(monomial), complex(c).real) for monomial, c in polynomial.terms.items()]
    return sorted(terms, key=lambda term: sorted(term[0].items()))


def polynomial():
    terms = {}
    for _ in range(RANDOM.randint(1, 3)):
        exponents = sorted((name, RANDOM.randint(1, 2)) for name in RANDOM.sample(NAMES, RANDOM.randint(0, 2)))
        terms[tuple(exponents)] = float(RANDOM.choice([-4, -2, -1, 1, 2, 3, 6, 0.5]))
    return Polynomial(terms)


def formula(depth):
    kind = RANDOM.random()
    if depth == 1 or kind < 0.15:
        if kind < 0.2:
            return RANDOM.choice([0.0, 1.0, 2.0, -3.0, 0.5])
        return RANDOM.choice(NAMES) if kind < 0.75 else [polynomial(), polynomial()]
    return [RANDOM.choice("+*/"), formula(depth - 1), formula(depth - 1)]


def expression(tree):
    match tree:
        case float():
            return FRUConstant(tree)
        case str():
            return FRUVariable(tree)
        case [p, q]:
            return FRURational(p, q)
        case [sign, left, right]:
            return PAIRS[sign](expression(left), expression(right))


def fracterm(tree):
    match tree:
        case float():
            return Fracterm.from_constant(tree)
        case str():
            return Fracterm.from_variable(tree)
        case [p, q]:
            return Fracterm(p, q)
        case ["+", left, right]:
            return fracterm(left).add(fracterm(right))
        case ["*", left, right]:
            return fracterm(left).multiply(fracterm(right))
        case [_, left, right]:
            return fracterm(left).divide(fracterm(right))


def written(tree):
    match tree:
        case float() | str():
            return tree
        case [p, q]:
            return [listed(p), listed(q)]
        case [sign, left, right]:
            return [sign, written(left), written(right)]


def point():
    numbers = [0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 1e-7, 1e-3, complex(1, 2), RANDOM.uniform(-2, 2)]
    return {name: scm_bottom() if RANDOM.random() < 0.06 else SCMValue(RANDOM.choice(numbers)) for name in NAMES}


def answers(tree):
    flat, strict = expression(tree).flatten(), fracterm(tree)
    fractions = {
        "flat": (flat.numerator, flat.denominator),
        "strict": strict.flatten(max_depth=None),
        "field": strict.flatten(max_depth=None, aggressive=True, simplification_mode="field_rational"),
        "declared": strict.flatten(max_depth=None, domain_assumptions=[("x", "nonzero")]),
    }
    points = [point() for _ in range(5)]
    return {
        "formula": written(tree),
        "depths": [flat.depth, strict.depth],
        "fractions": {name: [listed(p), listed(q)] for name, (p, q) in fractions.items()},
        "guards": [listed(factor) for factor in flat.validity_factors],
        "points": [
            {
                "at": {name: packed(value) for name, value in at.items()},
                "flat": packed(flat.evaluate(at)),
                "strict": packed(strict.evaluate(at)),
                "eager": packed(evaluate_fru_expression(expression(tree), at)),
            }
            for at in points
        ],
    }


TREES = [tree for tree in (formula(RANDOM.randint(2, 4)) for _ in range(48)) if not isinstance(tree, (float, str))]
SMALL = [tree for tree in TREES if len(fracterm(tree).denominator.terms) < 12]
print(json.dumps([answers(tree) for tree in SMALL], separators=(",", ":")))

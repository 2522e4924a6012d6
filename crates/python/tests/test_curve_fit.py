"""The twin of `scipy.optimize.curve_fit`, compared with it."""

import sys

import numpy as np
import pytest

import meromorph as mm

optimize = pytest.importorskip("scipy.optimize")
special = pytest.importorskip("scipy.special")


def decay(x, a, b, c):
    return a * np.exp(-b * x) + c


def noisy():
    x = np.linspace(0, 4, 50)
    return x, decay(x, 2.5, 1.3, 0.5) + 0.2 * np.random.default_rng(7).normal(size=50)


def same(f, x, y, rtol=1e-6, **options):
    """Both give the same, where SciPy goes on to the last digits with derivatives of three points."""
    bounded = "bounds" in options
    exact = {
        "ftol": 1e-15,
        "xtol": 1e-15,
        "gtol": 1e-15,
        "jac": "3-point",
        "method": "trf",
        **({} if bounded else {"x_scale": "jac"}),
    }
    expected, covariance = optimize.curve_fit(f, x, y, **options, **exact)
    popt, pcov = mm.curve_fit(f, x, y, **options)
    np.testing.assert_allclose(popt, expected, rtol=rtol)
    np.testing.assert_allclose(pcov, covariance, rtol=rtol, atol=rtol * np.abs(covariance).max())
    return popt, pcov


def test_the_examples_of_scipy():
    x, y = noisy()
    same(decay, x, y)
    popt, _ = same(decay, x, y, bounds=(0, [3.0, 1.0, 0.5]))
    assert popt[1] == pytest.approx(1.0, abs=1e-6)
    # Parameters of very different size, which SciPy does not find.
    popt, _ = mm.curve_fit(decay, x, decay(x, 500000, 0.01, 15))
    np.testing.assert_allclose(popt, [500000, 0.01, 15], rtol=1e-5)


def test_parameters_that_are_not_determined_have_infinite_covariances():
    x, y = noisy()
    with pytest.warns(optimize.OptimizeWarning, match="could not be estimated"):
        popt, pcov = mm.curve_fit(lambda x, a, b, c, d: a * d * np.exp(-b * x) + c, x, y)
    expected, _ = mm.curve_fit(decay, x, y)
    np.testing.assert_allclose([popt[0] * popt[3], popt[1], popt[2]], expected, rtol=1e-6)
    assert np.all(np.isinf(pcov))
    with pytest.warns(optimize.OptimizeWarning):
        popt, pcov = mm.curve_fit(lambda x, a, unused: a * x, x, y)
    assert popt[1] == 1.0 and np.all(np.isinf(pcov))
    # A threshold between two rows has no slope; the height gets to its minimum.
    with pytest.warns(optimize.OptimizeWarning):
        popt, _ = mm.curve_fit(lambda x, height, edge: height * (x > edge), x, y, p0=[5, 1.0])
    assert popt == pytest.approx([y[x > 1.0].mean(), 1.0])


@pytest.mark.parametrize("absolute", [False, True])
def test_standard_deviations(absolute):
    x, y = noisy()
    sigma = np.linspace(0.1, 0.3, 50)
    same(decay, x, y, sigma=sigma, absolute_sigma=absolute)
    same(decay, x, y, sigma=np.diag(sigma**2), absolute_sigma=absolute)
    same(decay, x, y, absolute_sigma=absolute)
    same(decay, x, y, sigma=0.3, absolute_sigma=absolute)


def test_x_of_several_columns():
    x, _ = noisy()
    both = np.array([x, np.cos(x)])
    noise = 0.1 * np.random.default_rng(1).normal(size=50)
    y = 3 * x - 2 * np.cos(x) + 1 + noise

    def indexed(X, a, b, c):
        return a * X[0] + b * X[1] + c

    def unpacked(xy, a, b, c):
        first, second = xy
        return a * first + b * second + c

    for f in (indexed, unpacked):
        same(f, both, y)
        same(f, (x, np.cos(x)), y)
    expected, _ = mm.curve_fit(indexed, both, y)
    np.testing.assert_allclose(mm.curve_fit("a*x0 + b*x1 + c", both, y)[0], expected, rtol=1e-9)
    by_name = mm.curve_fit(lambda t, a, b, c: a * t["u"] + b * t.v + c, {"u": x, "v": np.cos(x)}, y)
    np.testing.assert_allclose(by_name[0], expected, rtol=1e-9)


def test_an_image_is_fitted():
    v, u = np.mgrid[0:12, 0:10]

    def peak(uv, height, u0, v0, sigma, y):
        u, v = uv
        return (height * np.exp(-((u - u0) ** 2 + (v - v0) ** 2) / (2 * sigma**2)) + y).ravel()

    image = peak((u, v), 3.0, 4.2, 6.1, 1.7, 0.5) + 0.01 * np.random.default_rng(2).normal(size=120)
    same(peak, (u, v), image, p0=[2, 4, 5, 1, 0])


x_of = np.linspace(0.1, 3, 60)
TRACED = {
    "where": (lambda x, a, b, k: np.where(x < k, a * x, a * k + b * (x - k)), [1.2, 2.5, 1.43]),
    "piecewise": (
        lambda x, a, b: np.piecewise(x, [x < 1.5, x >= 1.5], [lambda x: a * x, lambda x: b * x * x]),
        [1.2, 2.5],
    ),
    "piecewise in a parameter": (
        lambda x, a, b, c: np.piecewise(
            x * a, [x * a < c, x * a >= c], [lambda t: b * t, lambda t: c * b + 0.5 * (t - c)]
        ),
        [1.2, 2.0, 1.5],
    ),
    "select": (lambda x, a, b: np.select([x < 1, x < 2], [a * x, b * x], a + b), [1.2, 2.5]),
    "heaviside": (lambda x, a, b: a * np.heaviside(x - 1.0, 0.5) + b * x, [1.2, 2.5]),
    "clip": (lambda x, a, b: np.clip(a * x, 0.5, b), [1.2, 2.5]),
    "sinc": (lambda x, a, b: a * np.sinc(b * x), [1.2, 0.7]),
    "powers": (lambda x, a, b: a * x**b + 2**b, [1.2, 1.7]),
    "numpy power": (lambda x, a, b: np.power(x, b) * a - b % 2, [1.2, 1.7]),
    "polyval": (lambda x, a, b, c: np.polyval([a, b, c], x), [1.2, 2.5, 0.3]),
    "sum of a list": (lambda x, a, b: np.sum([a * x, np.sin(b * x)], axis=0), [1.2, 2.5]),
    "array of parameters": (lambda x, a, b: np.array([a, b])[0] * x + np.exp(np.array([a, b]))[1], [1.2, 0.5]),
    "special": (lambda x, a, b: a * special.erf(x * b) + special.expit(a * x) + special.gamma(b + 1), [1.2, 0.7]),
    "hyperbolic": (lambda x, a, b: np.arctanh(a * x / 10) + np.arccosh(b + x) + np.cbrt(a * x), [1.2, 2.5]),
    "logarithms": (lambda x, a, b: a * np.log10(b * x) + np.logaddexp(a * x, b), [1.2, 2.5]),
    "in place": (lambda x, a, b: _in_place(x, a, b), [1.2, 2.5]),  # noqa: PLW0108
    "data alone": (
        lambda x, a, b: a * (x - x.mean()) / x.std() + b * np.cumsum(x) / len(x) + special.jv(3, x) * a,
        [1.2, 2.5],
    ),
    "constant": (lambda x, a: a, [1.2]),
    "reserved names": (lambda x, e, pi, gamma, exp: e * x + pi * x**2 + gamma * np.sin(x) + exp, [1.2, 0.4, 0.7, 0.2]),
    "names of columns": (lambda t, x, d, y: x * t + d * t**2 + y, [1.2, 0.4, 0.7]),
    "conditions": (lambda x, a, b: b + a * np.where((x > 0.5) & ~(x > 1) | (x * b > 1.99), x, 0.5), [1.2, 0.9]),
    "starred": (lambda x, *p: p[0] * np.exp(-p[1] * x) + sum(p[2:]) * x, [1.2, 0.4, 0.7]),
}


def _in_place(x, a, b):
    total = np.zeros_like(x)
    total += a * x
    total += np.exp(-b * x)
    return total


@pytest.mark.parametrize("name", TRACED)
def test_functions_become_formulas(name):
    f, parameters = TRACED[name]
    y = f(x_of, *parameters) * np.ones_like(x_of)
    rng = np.random.default_rng(4)
    popt, _ = mm.curve_fit(f, x_of, y + 1e-12 * rng.normal(size=60), p0=np.array(parameters) * 1.02)
    np.testing.assert_allclose(f(x_of, *popt) * np.ones_like(x_of), y, atol=1e-7)


def _loop(x, a):
    return np.array([a * one for one in x])


def _branch(x, a):
    return a * x if a > 1 else x


def _math(x, a):
    import math

    return math.exp(a) * x


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (_loop, "a loop over data"),
        (_branch, "a branch on a value .* expected np.where"),
        (_math, "np.exp for math.exp"),
        (lambda x, a: np.cumsum(a * x), "np.cumsum"),
        (lambda x, a: np.add.reduce(a * x), "add.reduce"),
        (lambda x, a: special.ive(a, x), "no function like ive"),
        (lambda x, a: a * x[x > 1], "an array of the shape .* x.mask. becomes np.where"),
        (lambda x, a: (a * x).sum() + x, "over rows"),
        (lambda x, a: a * x * 1j, "complex"),
    ],
)
def test_what_is_no_formula_is_explained(f, message):
    with pytest.raises(TypeError, match=message):
        mm.curve_fit(f, x_of, x_of)


def test_errors_are_those_of_scipy():
    x, y = noisy()
    bad = np.where(x > 3.9, np.nan, y)
    cases = [
        (ValueError, lambda fit: fit(decay, x, bad)),
        (ValueError, lambda fit: fit(decay, x, y, bounds=([0, 0], 1))),
        (ValueError, lambda fit: fit(decay, x, y, bounds=(1, 0))),
        (ValueError, lambda fit: fit(decay, x, y, p0=[-1, 1, 1], bounds=(0, 3))),
        (ValueError, lambda fit: fit(decay, x, y, sigma=np.ones(3))),
        (ValueError, lambda fit: fit(decay, x, y, method="lm", bounds=(0, 3))),
        (ValueError, lambda fit: fit(decay, x, y, nan_policy="propagate", check_finite=False)),
        (ValueError, lambda fit: fit(decay, [], [])),
        (ValueError, lambda fit: fit(lambda x, *p: p[0] * x, x, y)),
        (TypeError, lambda fit: fit(decay, x[:2], y[:2], method="lm")),
        (TypeError, lambda fit: fit(decay, x[:2], y[:2])),
        (RuntimeError, lambda fit: fit(decay, x, 1e5 * y, p0=[1, -4, 9], max_nfev=3, method="trf")),
    ]
    for kind, call in cases:
        for fit in (optimize.curve_fit, mm.curve_fit):
            with pytest.raises(kind):
                call(fit)
    with pytest.raises(TypeError, match="unexpected keyword argument 'maxiter'"):
        mm.curve_fit(decay, x, y, maxiter=3)
    with pytest.raises(ValueError, match="diagonal"):
        mm.curve_fit(decay, x, y, sigma=np.eye(50) + 0.1)


def test_rows_without_numbers_are_left_out():
    x, y = noisy()
    bad = np.where(x > 3.5, np.nan, y)
    sigma = np.linspace(0.1, 0.3, 50)
    expected = optimize.curve_fit(decay, x, bad, sigma=sigma, nan_policy="omit", ftol=1e-14, xtol=1e-14)[0]
    np.testing.assert_allclose(mm.curve_fit(decay, x, bad, sigma=sigma, nan_policy="omit")[0], expected, rtol=1e-6)


def test_full_output_and_robust_losses():
    x, y = noisy()
    popt, _, info, message, code = mm.curve_fit(decay, x, y, full_output=True)
    np.testing.assert_allclose(info["fvec"], decay(x, *popt) - y, atol=1e-12)
    assert info["nfev"] > 1 and isinstance(message, str) and code in (1, 2, 3, 4)
    y[7] += 30
    robust = optimize.curve_fit(
        decay, x, y, method="trf", loss="soft_l1", f_scale=0.2, ftol=1e-14, xtol=1e-14, gtol=1e-14
    )[0]
    np.testing.assert_allclose(mm.curve_fit(decay, x, y, loss="soft_l1", f_scale=0.2)[0], robust, rtol=1e-5)


def test_bounds_of_scipy_and_frames():
    x, y = noisy()
    bounds = optimize.Bounds([0, 0, 0], [3, 1, 0.5])
    np.testing.assert_allclose(
        mm.curve_fit(decay, x, y, bounds=bounds)[0], mm.curve_fit(decay, x, y, bounds=(0, [3, 1, 0.5]))[0]
    )
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": x, "y": y})
    np.testing.assert_allclose(mm.curve_fit(decay, frame["x"], frame["y"])[0], mm.curve_fit(decay, x, y)[0])
    assert "pandas" in sys.modules


def test_buffers_that_f_writes_to_again_are_columns_of_their_own():
    def shifted(x, a, b):
        t = x.copy()
        r = a * t
        t -= 1
        return r + b * t * t

    def exponential(x, a, b):
        t = x + 0.0
        r = a * t
        np.exp(-x, out=t)
        return r + b * t

    def polynomial(x, a, b, c):
        t, r = np.empty(x.shape), 0.0
        for k, p in enumerate((a, b, c)):
            np.power(x, k, out=t)
            r = r + p * t
        return r

    x = np.linspace(0, 4, 30)
    for f, truth in ((shifted, (2.0, 3.0)), (exponential, (2.0, 3.0)), (polynomial, (1.0, 2.0, 3.0))):
        np.testing.assert_allclose(mm.curve_fit(f, x, f(x, *truth))[0], truth, rtol=1e-9)


def test_x_of_the_caller_stays_as_it_is():
    def shifting(x, a, b):
        x -= 1
        return a * x + b

    x = np.linspace(0, 4, 30)
    with pytest.raises(TypeError, match=r"f changes its data in place .* x = x.copy\(\) first"):
        mm.curve_fit(shifting, x, x)
    assert x[0] == 0 and x.flags.writeable


def test_a_function_without_a_result_is_an_error():
    with pytest.raises(TypeError, match="f returned None"):
        mm.curve_fit(lambda x, a: None, np.ones(3), np.ones(3))


def test_remainders_by_parameters_and_entropies_are_those_of_numpy():
    x = np.linspace(0.1, 4, 30)

    def remainder(x, a, b):
        return a * x + 5.0 % b

    # 5 - 3 floor(5 / 3) = 2.
    popt = mm.curve_fit(remainder, x, 2 * x + 2, p0=[1, 3.1])[0]
    np.testing.assert_allclose(remainder(x, *popt), 2 * x + 2, rtol=1e-9)

    def entropy(x, a, b):
        return a * special.xlogy(x, x) + b

    x = np.linspace(0, 4, 30)
    np.testing.assert_allclose(mm.curve_fit(entropy, x, entropy(x, 2.0, 1.0))[0], [2, 1], rtol=1e-9)

    def scaled(x, a, b):
        return special.xlogy(x, a * x) + special.xlogy(0.0 * x, b - x) + b

    np.testing.assert_allclose(mm.curve_fit(scaled, x, scaled(x, 2.0, 1.0))[0], [2, 1], rtol=1e-9)


def test_the_covariance_of_a_robust_loss_is_that_of_an_m_estimator():
    x, y = noisy()
    y[7] += 30
    for absolute in (False, True):
        (a, b, c), pcov = mm.curve_fit(decay, x, y, sigma=np.full(50, 0.2), absolute_sigma=absolute, loss="cauchy")
        jacobian = np.c_[np.exp(-b * x), -a * x * np.exp(-b * x), np.ones(50)] / 0.2
        r = (y - decay(x, a, b, c)) / 0.2
        psi, slope = r / (1 + r**2), (1 - r**2) / (1 + r**2) ** 2
        k = 1 + 3 / 50 * slope.var() / slope.mean() ** 2
        expected = np.linalg.inv(jacobian.T @ jacobian) * k**2 * np.sum(psi**2) / 47 / slope.mean() ** 2
        np.testing.assert_allclose(pcov, expected, rtol=1e-6)

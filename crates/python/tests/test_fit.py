"""Curve fits: values, errors, files, and where the data are."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import meromorph as mm

X = np.array([0.0, 1.0, 2.0, 3.0])
Y = np.array([1.0, 3.0, 5.0, 8.0])


def line(**options):
    return mm.fit("a*x + b", {"x": X, "y": Y}, **options)


def test_a_line_has_the_values_of_the_normal_equations():
    # Σ(x - 1.5)² = 5, Σ(x - 1.5)(y - 4.25) = 11.5; residuals 0.2, -0.1, -0.4, 0.3.
    fit = line()
    assert fit.params == pytest.approx({"a": 2.3, "b": 0.8}, rel=1e-12)
    np.testing.assert_allclose(fit.residuals, [0.2, -0.1, -0.4, 0.3], atol=1e-12)
    variance = 0.3 / 2
    np.testing.assert_allclose(fit.covariance, variance * np.array([[1 / 5, -1.5 / 5], [-1.5 / 5, 14 / 20]]), rtol=1e-9)
    assert fit.stderr["a"] == pytest.approx(np.sqrt(variance / 5))
    assert (fit.rmse, fit.chi2) == (pytest.approx(np.sqrt(0.3 / 4)), pytest.approx(0.3))
    assert fit.r2 == pytest.approx(1 - 0.3 / 26.75)
    assert (fit.converged, fit.rows, fit.dof, fit.free) == (True, 4, 2, ["a", "b"])


def test_bands_are_those_of_students_distribution():
    # The variance of the line at x is s² (1/4 + (x - 1.5)² / 5); t(2, 0.975) is 4.302652729911275.
    found = line().predict([1.5, 3.5])
    reach, variance = 4.302652729911275, 0.15
    np.testing.assert_allclose(found.values, [4.25, 8.85])
    np.testing.assert_allclose(found.confidence, reach * np.sqrt(variance * np.array([0.25, 1.05])), rtol=1e-9)
    np.testing.assert_allclose(found.prediction, reach * np.sqrt(variance * np.array([1.25, 2.05])), rtol=1e-9)
    assert line(sigma=np.ones(4)).predict([1.0]).prediction is None


def test_options_fix_tie_bound_and_choose_rows():
    fit = line(fix={"b": 1.0})
    assert fit.params["a"] == pytest.approx(31 / 14) and np.isnan(fit.stderr["b"]) and fit.popt.shape == (1,)
    # Σxy / Σx² over x + 0.5 with both parameters tied: y = a (x + 0.5).
    assert line(tie={"b": "a/2"}).params["a"] == pytest.approx(45.5 / 21.0)
    assert line(bounds={"a": (0, 2)}).params["a"] == 2.0
    assert line(bounds={"a": (-np.inf, 2)}).params["a"] == 2.0
    assert line(where="x < 3").params == pytest.approx({"a": 2.0, "b": 1.0})
    assert line(derive={"root": "-b/a"}).derived["root"][0] == pytest.approx(-0.8 / 2.3)


def test_missing_cells_are_errors_or_dropped():
    data = {"x": X, "y": np.where(X == 3, np.nan, Y)}
    with pytest.raises(
        ValueError,
        match='data, row 4: column "y" has a missing cell: expected numbers; missing="drop" leaves such rows out',
    ):
        mm.fit("a*x + b", data)
    with pytest.warns(UserWarning, match="1 row with missing cells left out"):
        fit = mm.fit("a*x + b", data, missing="drop")
    assert fit.params == pytest.approx({"a": 2.0, "b": 1.0}) and len(fit.residuals) == 3
    masked = np.ma.masked_array(Y, mask=X == 3)
    with pytest.warns(UserWarning, match="1 row"):
        assert mm.fit("a*x + b", {"x": X, "y": masked}, missing="drop").rows == 3


def test_levels_have_values_of_their_own():
    data = {"x": [0.0, 1.0, 0.0, 1.0], "set": ["red", "red", "blue", "blue"], "y": [1.0, 3.0, 5.0, 6.0]}
    fit = mm.fit("a[set]*x + b[set]", data)
    assert fit.params == pytest.approx({"a[blue]": 1.0, "a[red]": 2.0, "b[blue]": 5.0, "b[red]": 1.0})
    np.testing.assert_allclose(fit.predict({"x": [2.0, 2.0], "set": ["red", "blue"]}).values, [5.0, 7.0])
    with pytest.raises(ValueError, match="green, which the fit did not have"):
        fit.predict({"x": [2.0], "set": ["green"]})


def test_mistakes_are_explained():
    cases = [
        (ValueError, "sort of formula", lambda: mm.fit("a*x + ", {"x": X, "y": Y})),
        (TypeError, "fit: ", lambda: line(bound={"a": (0, 1)})),
        (ValueError, '"c" is not a parameter', lambda: line(p0={"c": 1.0})),
        (ValueError, 'column "y" has 3 rows, column "x" has 4', lambda: mm.fit("a*x", {"x": X, "y": Y[:3]})),
        (ValueError, "complex", lambda: mm.fit("a*x", {"x": X, "y": Y * 1j})),
        (ValueError, "level", lambda: line().predict([1.0], level=2.0)),
        (ValueError, "expected one of both", lambda: mm.fit("a*x", {"x": X, "y": Y}, y=Y)),
    ]
    for kind, message, call in cases:
        with pytest.raises(kind) as raised:
            call()
        assert message == "sort of formula" or message in str(raised.value), raised.value


def test_a_fit_that_does_not_converge_warns():
    x = np.linspace(0, 1, 30)
    with pytest.warns(RuntimeWarning, match="not converged"):
        fit = mm.fit(
            "a*exp(b*x) + c", {"x": x, "y": np.exp(3 * x)}, p0={"a": 9.0, "b": -4.0, "c": 5.0}, max_evaluations=2
        )
    assert not fit.converged and fit.stop == "evaluations" and "raise max_evaluations" in repr(fit)


def test_files_and_pickles_are_the_same_fit(tmp_path):
    fit = line()
    fit.save(tmp_path / "fit.json")
    text = (tmp_path / "fit.json").read_text()
    assert text.endswith("\n") and json.loads(text)["kind"] == "meromorph fit" and os.listdir(tmp_path) == ["fit.json"]
    for other in (mm.Fit.load(tmp_path / "fit.json"), pickle.loads(pickle.dumps(fit))):
        assert other.params == fit.params
        np.testing.assert_array_equal(other.predict([7.0]).confidence, fit.predict([7.0]).confidence)
        with pytest.raises(ValueError, match="loaded without its data"):
            _ = other.residuals
    with pytest.raises(OSError):
        mm.Fit.load(tmp_path / "none.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ValueError, match=r"other\.json"):
        mm.Fit.load(tmp_path / "other.json")


def test_text_and_page_show_the_parameters():
    fit = line(fix={"b": 0.8})
    assert repr(fit).splitlines()[:2] == ["y = a*x + b", "4 rows"]
    assert "  a           2.30000         0.08452" in repr(fit) and "fixed" in repr(fit) and "R² 0.9888" in repr(fit)
    page = fit._repr_html_()
    assert "<svg" in page and page.count("<circle") == 4 and "<td>2.30000</td>" in page


def test_summands_and_code_are_those_of_the_formula():
    fit = line()
    parts = fit.components([2.0, 3.0])
    assert list(parts) == ["a*x", "b"]
    np.testing.assert_allclose([parts["a*x"], parts["b"]], [[4.6, 6.9], [0.8, 0.8]])
    scope: dict = {}
    exec(fit.code("python"), scope)
    assert scope["model"](2.0) == pytest.approx(5.4) and "fn " in fit.code("rust") and fit.code("latex")
    with pytest.raises(ValueError, match='code: got "c"'):
        fit.code("c")


def test_draws_and_intervals_are_there_if_they_are_wanted():
    x = np.linspace(0, 1, 40)
    data = {"x": x, "y": 2 * x + 1 + 0.1 * np.sin(40 * x)}
    fit = mm.fit("a*x + b", data, profile=True, bootstrap=50, sample=2000, seed=1)
    assert fit.samples.shape[1] == 2 and fit.samples.shape[0] >= 2000
    # A linear model has the same intervals by its profile.
    np.testing.assert_allclose(fit.profile_intervals["a"], fit.intervals["a"], rtol=1e-4)
    low, high = fit.bootstrap_intervals["a"]
    assert low < fit.params["a"] < high


def test_many_fits_are_arrays():
    t, a = np.linspace(0, 4, 30), np.array([[1.0], [2.0], [4.0]])
    stack = mm.fit_many("a*exp(-b*t)", {"t": t, "y": a * np.exp(-0.7 * t)})
    np.testing.assert_allclose(stack.params["a"], [1, 2, 4])
    assert stack.converged.all() and not stack.failures and len(stack) == 3
    rows = {"pixel": np.repeat([3, 1, 2], 30), "t": np.tile(t, 3), "y": (a * np.exp(-0.7 * t)).ravel()}
    fits = mm.fit_many("a*exp(-b*t)", rows, each="pixel")
    np.testing.assert_array_equal(fits.levels, [1, 2, 3])
    np.testing.assert_allclose(fits.params["a"], [2, 4, 1])
    one = mm.fit("a*exp(-b*t)", {"t": t, "y": 2 * np.exp(-0.7 * t) + 0.01 * np.sin(9 * t)})
    many = mm.fit_many("a*exp(-b*t)", {"t": t, "y": np.vstack([2 * np.exp(-0.7 * t) + 0.01 * np.sin(9 * t)] * 2)})
    np.testing.assert_allclose(many.stderr["b"], [one.stderr["b"]] * 2, rtol=1e-6)
    with pytest.raises(ValueError, match='each: got "well"'):
        mm.fit_many("a*t", rows, each="well")


def test_a_fit_without_rows_is_a_failure():
    t = np.linspace(0, 4, 30)
    y = np.vstack([np.exp(-t), np.full(30, np.nan), 3 * np.exp(-t)])
    fits = mm.fit_many("a*exp(-b*t)", {"t": t, "y": y}, missing="drop")
    np.testing.assert_allclose(fits.params["a"], [1, np.nan, 3])
    assert fits.converged.tolist() == [True, False, True] and [place for place, _ in fits.failures] == [1]


def test_arrays_of_any_layout_are_read():
    expected = line().params
    strided = np.column_stack([X, Y])
    for data in (
        {"x": strided[:, 0], "y": strided[:, 1]},
        {"x": X.astype(">f8"), "y": Y.astype(np.float32)},
        {"x": X.astype(np.int16), "y": memoryview(Y)},
        {"x": list(X), "y": tuple(Y)},
    ):
        assert mm.fit("a*x + b", data).params == pytest.approx(expected, rel=1e-12)
    frozen = Y.copy()
    frozen.flags.writeable = False
    assert mm.fit("a*x + b", {"x": X, "y": frozen}).params == expected


class Tensor:
    """What PyTorch and others have: numbers behind `__dlpack__`."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_tensors_are_read_where_they_are():
    from meromorph._arrays import as_array, numbers

    assert np.shares_memory(numbers(as_array(Tensor(Y), "y"), "y"), Y)
    assert mm.fit("a*x + b", {"x": Tensor(X), "y": Tensor(Y)}).params == line().params
    for values, message in ((np.array([1.0, None]), "objects"), (np.array(["a"]), "texts"), (Y * 1j, "complex")):
        with pytest.raises(ValueError, match=f"y: got .*{message}"):
            numbers(values, "y")


def test_columns_are_not_copied():
    # The engine takes less than a column of 10⁵ doubles, 781 KiB.
    script = """
        import numpy as np, meromorph as mm
        def kib(name):
            return int(open("/proc/self/status").read().split(name + ":")[1].split()[0])
        x = np.linspace(0, 4, 100_000)
        y = 2.5 * np.exp(-1.3 * x) + 0.5
        small = {"x": x[:1000].copy(), "y": y[:1000].copy()}
        mm.fit("a*exp(-b*x) + c", small)
        open("/proc/self/clear_refs", "w").write("5")
        before = kib("VmRSS")
        mm.fit("a*exp(-b*x) + c", {"x": x, "y": y})
        print(kib("VmHWM") - before)
    """
    if not os.path.exists("/proc/self/clear_refs"):
        pytest.skip("the peak of a process is read on Linux only")
    grown = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    ).stdout
    assert int(grown) < 700


def test_ctrl_c_ends_a_fit():
    x = np.linspace(0, 4, 1_000_000)
    y = np.exp(-x) + 0.5 * np.sin(7 * x)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            # Too many fits to end before.
            for _ in range(1000):
                mm.fit("a*exp(-b*x) + c*sin(d*x) + f", {"x": x, "y": y}, p0={"a": 9, "b": 9, "c": 9, "d": 9, "f": 9})
    finally:
        timer.cancel()


def test_importing_the_package_does_not_import_numpy_or_scipy():
    script = "import sys, meromorph; print(sorted({'numpy', 'scipy', 'pandas'} & set(sys.modules)))"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


@pytest.mark.parametrize("search", ["multistart", "cmaes"])
def test_global_searches_have_the_name_of_the_options(search):
    x = np.linspace(0, 4, 40)
    y = 2 * np.sin(5 * x)
    options = {"bounds": {"a": (0, 5), "w": (0, 20)}, "global_": search}
    np.testing.assert_allclose(mm.fit("a*sin(w*x)", {"x": x, "y": y}, **options).popt, [2, 5], rtol=1e-9)
    many = mm.fit_many("a*sin(w*x)", {"x": x, "y": np.array([y, 2 * y])}, **options)
    np.testing.assert_allclose(many.params["w"], [5, 5], rtol=1e-9)
    popt, _ = mm.curve_fit(lambda x, a, w: a * np.sin(w * x), x, y, bounds=([0, 0], [5, 20]), global_=search)
    np.testing.assert_allclose(popt, [2, 5], rtol=1e-9)
    with pytest.raises(TypeError, match="global"):
        mm.fit("a*x", {"x": x, "y": y}, **{"global": search})


def test_fits_are_written_whole_and_read_from_texts_only(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        mm.fit("a*x + b", {"x": X, "y": Y}).save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    (tmp_path / "binary").write_bytes(b"\x89PNG\xff\x00")
    with pytest.raises(ValueError, match="binary: got a file that is no text, expected a fit"):
        mm.Fit.load(tmp_path / "binary")


def test_fits_without_rows_are_nan_in_stacks(monkeypatch):
    x = np.linspace(0, 4, 20)
    line, nothing = 2 * x + 1, x * np.nan
    for y, expected in [
        ([line, nothing], [2, np.nan]),
        ([nothing, line], [np.nan, 2]),
        ([nothing, nothing, line, nothing, 2 * line], [np.nan, np.nan, 2, np.nan, 4]),
    ]:
        for rows in (500_000, 40, 20):
            monkeypatch.setattr("meromorph._fit_many.PART_ROWS", rows)
            fits = mm.fit_many("a*x + b", {"x": x, "y": np.array(y)}, missing="drop")
            np.testing.assert_allclose(fits.params["a"], expected, rtol=1e-9)
            np.testing.assert_array_equal(fits.converged, np.isfinite(expected))
            assert fits.levels.tolist() == list(range(len(y)))
            assert [at for at, _ in fits.failures] == np.flatnonzero(np.isnan(expected)).tolist()
    with pytest.raises(ValueError, match="no row has all values"):
        mm.fit_many("a*x + b", {"x": x, "y": np.array([nothing, nothing])}, missing="drop")


def test_errors_of_stacks_name_the_fit_and_its_row(monkeypatch):
    x = np.linspace(0, 4, 20)
    y = np.array([x, x, x])
    y[1, 3] = np.nan
    for rows in (500_000, 20):
        monkeypatch.setattr("meromorph._fit_many.PART_ROWS", rows)
        with pytest.raises(ValueError, match='data, fit 1, row 4: column "y" has a missing cell'):
            mm.fit_many("a*x + b", {"x": x, "y": y})
        z = np.array([0.0, 2.0, 0.0])[:, None] * np.ones(20)
        data = {"x": x + 1.5, "y": np.array([x, x, x]), "z": z}
        fits = mm.fit_many("a*log(x - z) + b", data, y="y", p0={"a": 1, "b": 1})
        assert len(fits.failures) == 1 and fits.failures[0][0] == 1 and "in fit 1, row 1 (" in fits.failures[0][1]
    sigma = np.ones((3, 20))
    sigma[1, 3] = 0
    monkeypatch.setattr("meromorph._fit_many.PART_ROWS", 40)
    y[1, 3], y[0, 0] = 0, np.nan
    with pytest.raises(ValueError, match="sigma, row 23 of those that are used from fit 0 on: got 0"):
        mm.fit_many("a*x + b", {"x": x, "y": y, "s": sigma}, y="y", sigma="s", missing="drop")

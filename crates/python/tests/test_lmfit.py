"""Figures of fits against those of lmfit."""

import numpy as np
import pytest

import meromorph as mm


def test_figures_are_those_of_lmfit():
    lmfit = pytest.importorskip("lmfit")
    x = np.linspace(0, 10, 101)
    y = 5 * np.exp(-((x - 4) ** 2) / (2 * 1.2**2)) + 0.5 * x + 1 + 0.2 * np.random.default_rng(5).normal(size=101)
    model = lmfit.models.GaussianModel() + lmfit.models.LinearModel()
    theirs = model.fit(y, model.make_params(amplitude=10, center=4, sigma=1, slope=1, intercept=1), x=x)
    ours = mm.fit("gaussian(x) + line(x)", {"x": x, "y": y}, derive={"fwhm": "2.3548200*sigma"}, profile=True)
    for name, other in {
        "center": "center",
        "sigma": "sigma",
        "slope": "slope",
        "offset": "intercept",
        "height": "height",
    }.items():
        assert ours.params[name] == pytest.approx(theirs.params[other].value, rel=1e-4)
        assert ours.stderr[name] == pytest.approx(theirs.params[other].stderr, rel=1e-3)
    assert ours.derived["fwhm"] == pytest.approx((theirs.params["fwhm"].value, theirs.params["fwhm"].stderr), rel=1e-3)
    assert (ours.chi2, ours.aic, ours.bic, ours.r2) == pytest.approx(
        (theirs.chisqr, theirs.aic, theirs.bic, theirs.rsquared), rel=1e-6
    )
    np.testing.assert_allclose(ours.predict(x).confidence, theirs.eval_uncertainty(sigma=0.95), rtol=1e-3)
    interval = lmfit.conf_interval(theirs, theirs, p_names=["sigma"], sigmas=[0.95])["sigma"]
    assert ours.profile_intervals["sigma"] == pytest.approx((interval[0][1], interval[-1][1]), rel=1e-5)
    # Parameters with a fixed value, an expression and bounds.
    params = lmfit.create_params(
        amplitude=10, center=4, sigma=1, slope={"expr": "intercept / 2"}, intercept={"value": 0.5, "min": 0, "max": 0.9}
    )
    tied = model.fit(y, params, x=x)
    ours = mm.fit(
        "gaussian(x) + offset + slope*x", {"x": x, "y": y}, tie={"slope": "offset/2"}, bounds={"offset": (0, 0.9)}
    )
    assert ours.params["center"] == pytest.approx(tied.params["center"].value, rel=1e-3)
    assert ours.params["slope"] == pytest.approx(tied.params["slope"].value, rel=1e-3)

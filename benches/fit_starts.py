"""Whether curve fits find their start: tables with known answers, fitted without one by `mero fit`.

    python3 benches/fit_starts.py PATH_TO_MERO [--only BATTERY ...] [--tables N] [--seed N] [--show]

peaks2, peaks3, peaks4: so many Gaussians at least 25 apart on a line, 401 rows; right if each centre is within 1.
frequency: a sinusoid below Nyquist on an even grid, 200 rows, 4 to 80 periods; right if the frequency is within 1 %.
pixels: a peak elsewhere in each of 96 pixels, 50 rows each. shared: six sets with a peak elsewhere and one width; right as peaks are.
science: 25 models of science with six tables each; right if the cost is that of a fit from the true values.
Prints how many are right of how many, and seconds of CPU of a fit (median and most)."""

import argparse
import json
import math
import os
import pathlib
import random
import resource
import statistics
import subprocess
import tempfile


def gauss(x, c, s):
    return math.exp(-0.5 * ((x - c) / s) ** 2)


def peaks(r, k, rows=401):
    while True:
        c = sorted(r.uniform(15, 185) for _ in range(k))
        if all(b - a > 25 for a, b in zip(c, c[1:])):
            break
    h, s = [r.uniform(3, 15) for _ in c], [r.uniform(2, 6) for _ in c]
    xs = [i * 200 / (rows - 1) for i in range(rows)]
    y = lambda x: 2 + 0.01 * x + sum(a * gauss(x, b, w) for a, b, w in zip(h, c, s)) + r.gauss(0, 0.15)
    model = " + ".join(["gaussian(x)"] * k + ["line(x)"])
    return "x,y", [(x, y(x)) for x in xs], model, c


def found_peaks(report, truth):
    values = report["parameters"]
    found = sorted(one["value"] for name, one in values.items() if name.startswith("center"))
    return all(abs(a - b) < 1 for a, b in zip(found, truth))


def frequency(r):
    f, p = math.exp(r.uniform(math.log(0.02), math.log(0.4))), r.uniform(0, 2 * math.pi)
    rows = [(t, 3 * math.cos(2 * math.pi * f * t + p) + 1 + r.gauss(0, 0.3)) for t in range(200)]
    return "t,y", rows, "a*cos(2*pi*f*t + p) + c", f


def found_frequency(report, truth):
    return abs(abs(report["parameters"]["f"]["value"]) / truth - 1) < 0.01


def shared(r):
    s, rows, truth = r.uniform(2, 5), [], []
    for q in range(6):
        c, a = r.uniform(8, 92), r.uniform(3, 10)
        truth.append(c)
        rows += [(q, x, 1 + a * gauss(x, c, s) + r.gauss(0, 0.15)) for x in range(100)]
    return "set,x,y", rows, "A[set]*exp(-0.5*((x-c[set])/s)^2) + b", truth


def found_shared(report, truth):
    return all(abs(report["parameters"][f"c[{q}]"]["value"] - c) < 1 for q, c in enumerate(truth))


def pixels(r):
    rows, truth = [], []
    for q in range(96):
        c, h, s = r.uniform(10, 90), r.uniform(3, 10), r.uniform(2, 5)
        truth.append(c)
        rows += [(q, x, 1 + h * gauss(x, c, s) + r.gauss(0, 0.2)) for x in range(0, 100, 2)]
    return "pixel,x,y", rows, "h[pixel]*exp(-0.5*((x-c[pixel])/s[pixel])^2) + o[pixel]", truth


# Formula, true values, ends of x, whether x is spread by its logarithm.
SCIENCE = [
    ("a*exp(-k*x)+c", dict(a=5, k=0.4, c=1), (0, 10), False),
    ("a*exp(-k*x)+b*exp(-m*x)", dict(a=4, k=2, b=2, m=0.2), (0, 15), False),
    ("vmax*x/(km+x)", dict(vmax=12, km=3), (0.1, 30), False),
    ("vmax*x/(km+x+x^2/ki)", dict(vmax=20, km=2, ki=15), (0.1, 60), False),
    ("vmax*x^n/(k^n+x^n)", dict(vmax=9, n=2.5, k=4), (0.2, 20), False),
    ("low+(high-low)/(1+(x/ec50)^(0-h))", dict(low=0.2, high=3, ec50=40, h=1.3), (0.5, 2000), True),
    ("k/(1+exp(-r*(x-x0)))", dict(k=50, r=0.7, x0=12), (0, 25), False),
    ("a*exp(-b*exp(-c*x))", dict(a=30, b=5, c=0.3), (0, 25), False),
    ("a*(1-exp(-k*x))", dict(a=7, k=0.15), (0, 30), False),
    ("a*x^b", dict(a=2.5, b=0.7), (0.5, 100), False),
    ("a*x^b+c", dict(a=0.4, b=1.8, c=10), (0, 20), False),
    ("a*exp(0-ea/(8.314*x))", dict(a=2.0e5, ea=30000), (280, 400), False),
    ("h*exp(-0.5*((x-c)/s)^2)+o", dict(h=8, c=37, s=3, o=1), (0, 100), False),
    ("h/(1+((x-c)/w)^2)+o", dict(h=8, c=62, w=4, o=1), (0, 100), False),
    ("a*(1-exp(-(x/t)^b))", dict(a=1, t=20, b=1.6), (0.5, 80), False),
    ("d*ka/(ka-ke)*(exp(-ke*x)-exp(-ka*x))", dict(d=10, ka=1.5, ke=0.2), (0, 24), False),
    ("a*exp(-g*x)*cos(w*x+p)", dict(a=3, g=0.2, w=4, p=0.5), (0, 12), False),
    ("a*sin(w*x+p)+c", dict(a=2, w=1.7, p=1, c=5), (0, 20), False),
    ("qm*b*x/(1+b*x)", dict(qm=3, b=0.8), (0.05, 12), False),
    ("kf*x^(1/n)", dict(kf=2, n=2.4), (0.05, 30), False),
    ("m+a*log(x)", dict(m=1, a=2.5), (0.2, 50), True),
    ("a/(x+b)+c", dict(a=20, b=2, c=0.5), (0, 40), False),
    ("e0*((s/x)^12-(s/x)^6)", dict(e0=4, s=3), (2.9, 9), False),
    ("a*(x/(x+k))*exp(-x/q)", dict(a=10, k=3, q=25), (0.1, 80), False),
    ("d*(1-exp(0-b*(x-r)))^2", dict(d=4.5, b=1.9, r=0.75), (0.5, 3), False),
]
FUNCTIONS = {name: getattr(math, name) for name in ("exp", "log", "sin", "cos")}


def science(r, at):
    text, truth, (low, high), is_log = SCIENCE[at]
    rows = 60
    share = lambda i: i / (rows - 1)
    x = [low * (high / low) ** share(i) if is_log else low + (high - low) * share(i) for i in range(rows)]
    code = compile(text.replace("^", "**"), "model", "eval")
    y = [eval(code, {**FUNCTIONS, **truth, "x": x}) for x in x]
    noise = 0.02 * (max(y) - min(y))
    return "x,y", [(x, y + r.gauss(0, noise)) for x, y in zip(x, y)], text, truth


def run(mero, table, model, y, more=()):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([mero, "fit", table, "--model", model, "--y", y, "--json", *more], capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    report = next((one for one in reports if one.get("event") == "report"), None)
    return report, seconds, done.stderr


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("mero")
    arguments.add_argument("--only", nargs="*")
    arguments.add_argument("--tables", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    arguments.add_argument("--show", action="store_true", help="name the tables that are not right")
    arguments.add_argument("--keep", help="a folder for tables that are not right")
    given = arguments.parse_args()
    print(f"seed {given.seed}")
    batteries = {
        "peaks2": (lambda r, at: peaks(r, 2), found_peaks, given.tables),
        "peaks3": (lambda r, at: peaks(r, 3), found_peaks, given.tables),
        "peaks4": (lambda r, at: peaks(r, 4), found_peaks, given.tables),
        "peaks4 on 801 rows": (lambda r, at: peaks(r, 4, 801), found_peaks, max(1, given.tables // 4)),
        "frequency": (lambda r, at: frequency(r), found_frequency, 6 * given.tables),
        "shared": (lambda r, at: shared(r), found_shared, given.tables),
        "pixels": (lambda r, at: pixels(r), None, max(1, given.tables // 4)),
        "science": (science, None, 25),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, (make, is_right, count) in batteries.items():
            if given.only and name.split()[0] not in given.only and name not in given.only:
                continue
            right, all_, times, wrong = 0, 0, [], []
            for at in range(count if name != "science" else 150):
                r = random.Random(f"{given.seed} {name} {at}")
                header, rows, model, truth = make(r, at % 25)
                table = os.path.join(folder, "t.csv")
                text = "\n".join([header] + [",".join(f"{v:.8g}" for v in row) for row in rows]) + "\n"
                pathlib.Path(table).write_text(text)
                if name == "pixels":
                    out = os.path.join(folder, "out.csv")
                    _, seconds, error = run(given.mero, table, model, "y", ["--out", out, "--force"])
                    lines = pathlib.Path(out).read_text().splitlines()
                    place = lines[0].split(",").index("c")
                    good = sum(abs(float(line.split(",")[place] or "nan") - c) < 1 for line, c in zip(lines[1:], truth))
                    right, all_ = right + good, all_ + len(truth)
                    is_good, seen = good == len(truth), f"{good} of {len(truth)}"
                else:
                    report, seconds, error = run(given.mero, table, model, "y")
                    if name == "science":
                        start = ",".join(f"{key}={value}" for key, value in truth.items())
                        best, _, _ = run(given.mero, table, model, "y", ["--p0", start])
                        is_good = report is not None and report["cost"] <= best["cost"] * 1.0001
                    else:
                        is_good = report is not None and is_right(report, truth)
                    right, all_ = right + is_good, all_ + 1
                    seen = {key: round(one["value"], 4) for key, one in report["parameters"].items()} if report else error.strip()
                times.append(seconds)
                if not is_good:
                    wrong.append(f"  table {at}: {model}: truth {truth}, got {seen}")
                    if given.keep:
                        pathlib.Path(given.keep, f"{name}-{at}.csv").write_text(text)
            print(f"{name:20} {right} of {all_} right, {statistics.median(times):.3f} s of CPU, at most {max(times):.3f} s", flush=True)
            if given.show:
                print("\n".join(wrong))


if __name__ == "__main__":
    main()

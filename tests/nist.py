"""Fits the 27 nonlinear problems of NIST's Statistical Reference Datasets from both of their starts and compares with the certified values.

usage: nist.py PATH_TO_MERO | web/test/nist.mjs [FOLDER] [--device NAME]

The script fits with the package: on the cpu in Node, on webgpu in Chromium. FOLDER holds the files; without it they come from the source package of lmfit (folder NIST_STRD), which pip downloads. Every fit must have
10 matching digits in every parameter and 8 in every standard error (3 for Lanczos1, whose residuals are rounding errors). Digits are the log
relative error, -log10(|got - certified| / |certified|), capped at 11: the values are certified to 11 digits.
The device searches in single precision where the data allow it; the last digits are found in double precision.
"""
import argparse
import json
import math
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

RATIONAL = "(b1 + b2*x + b3*x^2 + b4*x^3) / (1 + b5*x + b6*x^2 + b7*x^3)"
GAUSS = "b1*exp(-b2*x) + b3*exp(-(x-b4)^2 / b5^2) + b6*exp(-(x-b7)^2 / b8^2)"
LANCZOS = "b1*exp(-b2*x) + b3*exp(-b4*x) + b5*exp(-b6*x)"
CHWIRUT = "exp(-b1*x) / (b2 + b3*x)"
MODELS = {
    "Bennett5": "b1 * (b2+x)^(-1/b3)",
    "BoxBOD": "b1*(1-exp(-b2*x))",
    "Chwirut1": CHWIRUT,
    "Chwirut2": CHWIRUT,
    "DanWood": "b1*x^b2",
    "ENSO": "b1 + b2*cos(2*pi*x/12) + b3*sin(2*pi*x/12) + b5*cos(2*pi*x/b4) + b6*sin(2*pi*x/b4) + b8*cos(2*pi*x/b7) + b9*sin(2*pi*x/b7)",
    "Eckerle4": "(b1/b2) * exp(-0.5*((x-b3)/b2)^2)",
    "Gauss1": GAUSS,
    "Gauss2": GAUSS,
    "Gauss3": GAUSS,
    "Hahn1": RATIONAL,
    "Kirby2": "(b1 + b2*x + b3*x^2) / (1 + b4*x + b5*x^2)",
    "Lanczos1": LANCZOS,
    "Lanczos2": LANCZOS,
    "Lanczos3": LANCZOS,
    "MGH09": "b1*(x^2+x*b2) / (x^2+x*b3+b4)",
    "MGH10": "b1 * exp(b2/(x+b3))",
    "MGH17": "b1 + b2*exp(-x*b4) + b3*exp(-x*b5)",
    "Misra1a": "b1*(1-exp(-b2*x))",
    "Misra1b": "b1 * (1-(1+b2*x/2)^(-2))",
    "Misra1c": "b1 * (1-(1+2*b2*x)^(-0.5))",
    "Misra1d": "b1*b2*x*((1+b2*x)^(-1))",
    "Nelson": "b1 - b2*x1 * exp(-b3*x2)",
    "Rat42": "b1 / (1+exp(b2-b3*x))",
    "Rat43": "b1 / ((1+exp(b2-b3*x))^(1/b4))",
    "Roszman1": "b1 - b2*x - atan(b3/(x-b4))/pi",
    "Thurber": RATIONAL,
}
PARAMETER_DIGITS, ERROR_DIGITS, ROUNDED_ERROR_DIGITS = 10, 8, 3


def package(folder):
    """Downloads the source package of lmfit and unpacks the problems."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary", "lmfit",
               "lmfit==1.0.2", "-d", folder]
    subprocess.run(command, check=True)
    [archive] = Path(folder).glob("lmfit-*.tar.gz")
    with tarfile.open(archive) as files:
        for member in files.getmembers():
            if "/NIST_STRD/" in member.name and member.name.endswith(".dat"):
                (Path(folder) / Path(member.name).name).write_bytes(files.extractfile(member).read())
    return Path(folder)


def problem(path):
    """The names of the columns, the rows, two starts, certified values and standard deviations."""
    lines = path.read_text().splitlines()
    starts, values, errors = [{}, {}], {}, {}
    for line in lines:
        match = re.match(r"\s*(b\d+)\s*=\s*(.*)", line)
        if match and len(match.group(2).split()) == 4:
            name, figures = match.group(1), [float(text) for text in match.group(2).split()]
            starts[0][name], starts[1][name], values[name], errors[name] = figures
    begin = next(at for at in range(len(lines) - 1, -1, -1) if lines[at].startswith("Data:")) + 1
    names = lines[begin - 1].split()[1:]
    rows = [line.split() for line in lines[begin:] if line.strip()]
    return names, rows, starts, values, errors


def digits(got, certified):
    if got is None:
        return 0.0
    return 11.0 if got == certified else min(11.0, -math.log10(abs(got - certified) / abs(certified)))


def by_mero(asked, cases):
    """The reports of the native program, or the message of an error."""
    with tempfile.TemporaryDirectory() as scratch:
        for model, target, names, rows, start in cases:
            table = Path(scratch) / "data.csv"
            table.write_text("\n".join(",".join(row) for row in [names, *rows]) + "\n")
            given = ",".join(f"{key}={value!r}" for key, value in start.items())
            command = [asked.solver, "fit", str(table), "--model", model, "--y", target, "--p0", given, "--device", asked.device, "--json"]
            done = subprocess.run(command, capture_output=True, text=True)
            yield json.loads(done.stdout) if done.returncode == 0 else {"message": done.stderr.strip()}


def by_package(asked, cases):
    """The same by the npm package."""
    columns = lambda names, rows: {name: [float(row[at]) for row in rows] for at, name in enumerate(names)}
    problems = [{"data": columns(names, rows), "model": model, "options": {"y": target, "p0": start}} for model, target, names, rows, start in cases]
    with tempfile.TemporaryDirectory() as scratch:
        source, out = Path(scratch) / "problems.json", Path(scratch) / "reports.json"
        source.write_text(json.dumps(problems))
        subprocess.run(["node", asked.solver, asked.device, source, out], stdout=subprocess.DEVNULL, check=True)
        return json.loads(out.read_text())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("solver")
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    failures, single, cases, certified = [], 0, [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(asked.folder) if asked.folder else package(scratch)
        for name, model in MODELS.items():
            names, rows, starts, values, errors = problem(folder / f"{name}.dat")
            for at, start in enumerate(starts, 1):
                cases.append((model, "log(y)" if name == "Nelson" else "y", names, rows, start))
                certified.append((name, at, values, errors))
    print(f"{'problem':10} {'start':>5} {'digits':>7} {'of errors':>9} {'evaluations':>11} {'in f32':>6} stop")
    solve = by_package if asked.solver.endswith(".mjs") else by_mero
    for (name, at, values, errors), report in zip(certified, solve(asked, cases), strict=True):
        if "message" in report:
            failures.append(f"{name}, start {at}: {report['message']}")
            continue
        single += report["precision"] != "f64"
        found = report["parameters"]
        least = min(digits(found[key]["value"], value) for key, value in values.items())
        least_error = min(digits(found[key]["stderr"], value) for key, value in errors.items())
        print(f"{name:10} {at:5} {least:7.1f} {least_error:9.1f} {report['evaluations']:11} {report['device_evaluations']:6} {report['stop']}", flush=True)
        expected = ROUNDED_ERROR_DIGITS if name == "Lanczos1" else ERROR_DIGITS
        if least < PARAMETER_DIGITS or least_error < expected:
            failures.append(f"{name}, start {at}: {least:.1f} digits of parameters, {least_error:.1f} of standard errors")
    if failures:
        sys.exit("nist: " + "\nnist: ".join(failures))
    print(f"{len(cases)} of {len(cases)} fits agree; {single} were searched in single precision on {asked.device}")


if __name__ == "__main__":
    main()

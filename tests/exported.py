"""Exported models against another runtime: trains small models with `mero`, writes bundles, runs their ONNX files in ONNX Runtime on
rows encoded as the metadata say, and holds every value and mask against `mero predict`.

usage: exported.py PATH_TO_MERO
"""
import csv
import datetime
import hashlib
import io
import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

ROWS = 400
COLUMNS = ["a", "b", "colour", "day", "code"]
START = datetime.datetime(2023, 1, 30)
FIELDS = ["decoded", "bottom_mask", "gap_mask", "fault_mask", "semantic_bottom_mask", "bottom_provenance"]
QUICK = "--epochs 12 --hidden 16,16 --seed 3 --device cpu --threads 1"
# Thresholds that a model reaches after a few epochs.
NEAR = "--tau-infer 0.2 --tau-train 0.4 --epochs 100 --lr 1e-2"

# name, target, flags of `mero train`; the poles of y are targets of ±inf, count is a column of counts
CASES = [
    ("plain", "smooth", ""),
    *((f"plain {name}", "smooth", f"--activation {name}") for name in
      "identity relu leaky_relu elu gelu mish sigmoid silu softplus tanh".split()),
    *((f"formula {formula}", "smooth", f"--activation {formula}") for formula in
      ["x*tanh(softplus(x))", "where(x>0,x,expm1(x))+0.1*sin(x)", "log1p(abs(x))*sign(x)-0.1*erfc(x)", "max(x,-0.5)/hypot(x,1)", "sinc(x)*(x<=2)", "asinh(3*x)/2"]),
    ("formula as loss, lion", "smooth", "--loss log(cosh(p-y)) --optimizer lion --lr 1e-4"),
    ("counts", "count", "--loss poisson"),
    ("amounts", "count", "--loss tweedie --power 1.3"),
    ("classes in order", "colour", "--loss ordinal --classes blue,green,red"),
    ("shares", "red", "--loss kl --more-targets rest"),
    ("normal distribution", "smooth", "--loss gaussian_nll"),
    ("rational activation", "smooth", "--activation rational"),
    ("dropout", "smooth", "--dropout 0.2"),
    ("batch norm", "smooth", "--norm batch"),
    ("layer norm", "smooth", "--norm layer"),
    # Groups of two values would be ill-conditioned.
    ("group norm", "smooth", "--norm group --hidden 64"),
    ("wide", "smooth", "--hidden 200"),
    ("classes", "colour", ""),
    ("dates and mean targets", "smooth", "--features a,b,day,code"),
    ("hashed category", "smooth", "--features a,b,code --encode code=hashed"),
    ("mean targets of classes", "colour", "--features a,b,day,code"),
    *((f"three models of {name}", target, f"--members 3 {flags}") for name, target, flags in [
        ("numbers", "smooth", ""), ("counts", "count", "--loss poisson"), ("a distribution", "smooth", "--loss gaussian_nll"),
        ("classes", "colour", ""), ("classes in order", "colour", "--loss ordinal --classes blue,green,red"),
        ("shares", "red", "--loss kl --more-targets rest"), ("a norm and dropout", "smooth", "--norm batch --dropout 0.1"),
        ("poles", "y", f"--head rational {NEAR}"), ("poles and masks", "y", "--head projective --activation rational-poles --hidden 8 --tau-infer 0.2 --tau-train 0.4 --epochs 60"),
    ]),
    ("rational", "y", f"--head rational {NEAR}"),
    ("rational 5/4", "y", f"--head rational --degrees 5,4 --activation tanh {NEAR}"),
    ("rational 1/0", "y", "--head rational --degrees 1,0 --tau-infer 0.1 --tau-train 0.4 --epochs 100 --lr 1e-2"),
    ("projective", "y", f"--head projective --activation gelu {NEAR}"),
    ("projective, bare |Q|", "y", "--head projective --threshold denominator --tau-infer 0.02 --tau-train 0.05 --epochs 100 --lr 1e-2"),
    ("rational, no gap", "y", "--head rational --tau-infer 0.2 --tau-train 0 --epochs 100 --lr 1e-2"),
    ("angular", "y", f"--head angular {NEAR}"),
    ("rational activation with poles", "y", f"--head projective --activation rational-poles {NEAR}"),
    ("batch norm before poles", "y", f"--head projective --norm batch --activation rational-poles {NEAR}"),
]


def table():
    """Rows of two numbers, a category, a date and a category of many levels, with empty cells, a smooth target and one with poles."""
    random, counts = numpy.random.default_rng(7), numpy.random.default_rng(8)
    rows = []
    for row in range(ROWS):
        a, b, colour = random.uniform(-2, 2), random.normal(3, 50), ["red", "green", "blue"][row % 3]
        is_pole = abs(abs(a) - math.pi / 2) < 0.03
        y = math.copysign(math.inf, math.tan(a)) if is_pole else math.tan(a) + 0.1 * (colour == "red")
        cell = "" if row % 37 == 5 else repr(float(a))
        day = "" if row % 41 == 3 else str(START + datetime.timedelta(hours=29.5 * row)).replace(" ", "T")
        code = "" if row % 43 == 4 else f"k{row * row % 197 + row % 53}"
        rows.append([cell, repr(float(b)), colour, day, code, repr(math.sin(a) + b / 50), repr(y), str(counts.poisson(math.exp(1 + a / 2))), *shares(a)])
    return rows


def shares(a):
    share = 1 / (1 + math.exp(-a))
    return [repr(share), repr(1 - share)]


def write(path, rows):
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows([[*COLUMNS, "smooth", "y", "count", "red", "rest"], *rows])


def header_of(path):
    data = path.read_bytes()
    length, = struct.unpack("<Q", data[:8])
    return json.loads(json.loads(data[8:8 + length])["__metadata__"]["meromorph"])


def write_model(path, header, tensors):
    """A model file by hand: specs that no flag of `mero train` makes. In format 1, which has no checksum."""
    fields, data = {"__metadata__": {"meromorph": json.dumps({**header, "format": 1})}}, b""
    for name, values in tensors.items():
        piece = numpy.asarray(values, dtype="<f4").tobytes()
        fields[name] = {"dtype": "F32", "shape": list(numpy.shape(values)), "data_offsets": [len(data), len(data) + len(piece)]}
        data += piece
    text = json.dumps(fields).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def tensors_of(path):
    """The numbers of a model file, by their names."""
    content = path.read_bytes()
    length, = struct.unpack("<Q", content[:8])
    places = {name: (one["shape"], one["data_offsets"]) for name, one in json.loads(content[8:8 + length]).items() if "dtype" in one}
    return {name: numpy.frombuffer(content[8 + length + first:8 + length + end], "<f4").reshape(shape) for name, (shape, (first, end)) in places.items()}


def mero(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def encoded(preparation, rows):
    """Rows as the metadata's `encoding.input` says."""
    columns = {name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)}
    inputs = []
    for feature in preparation["features"]:
        (kind, fit), = feature.items()
        if kind == "numeric":
            inputs.extend(number(fit, columns[fit["name"]]))
        elif kind == "hashed":
            inputs.extend(hashed(fit, columns[fit["name"]]))
        elif kind == "date":
            inputs.extend(dates(fit, columns[fit["elapsed"]["name"]]))
        else:
            inputs.extend(category(fit, columns[fit["name"]]))
    return numpy.stack(inputs, axis=1).astype(numpy.float32)


def number(fit, cells):
    values = numpy.array([float(cell) if cell else fit["impute"] for cell in cells], dtype=numpy.float64)
    yield (values - fit["mean"]) / fit["scale"]
    if fit["has_gaps"]:
        yield numpy.array([not cell for cell in cells])


def hashed(fit, cells):
    places = [hash_of(cell) for cell in cells]
    for bucket in range(fit["buckets"]):
        yield numpy.array([(1 - 2 * (place >> 63)) * (place % fit["buckets"] == bucket) for place in places])


def hash_of(text):
    """FNV-1a, then the output function of SplitMix64."""
    word, mask = 0xCBF29CE484222325, 2 ** 64 - 1
    for byte in text.encode():
        word = (word ^ byte) * 0x100000001B3 & mask
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & mask
    word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
    return word ^ word >> 31


def category(fit, cells):
    levels, means = fit["levels"], fit["means"]
    if not means["priors"]:
        yield from (numpy.array([cell == level for cell in cells]) for level in levels)
    else:
        yield from (numpy.array([cell == level for cell in cells]) for level in levels[:fit["frequent"]])
        sums = numpy.reshape(means["sums"], (len(levels), -1))
        for at, (prior, scale) in enumerate(zip(means["priors"], means["scales"])):
            shifts = [(total - count * prior) / (count + means["weight"]) / scale for total, count in zip(sums[:, at], fit["counts"])]
            of = dict(zip(levels, shifts))
            yield numpy.array([of.get(cell, 0) for cell in cells])
    if fit["impute"] == len(levels):
        yield numpy.array([not cell for cell in cells])


def dates(fit, cells):
    moments = [datetime.datetime.fromisoformat(cell) if cell else None for cell in cells]
    day = datetime.timedelta(days=1)
    yield from number(fit["elapsed"], [str((at - datetime.datetime(1970, 1, 1)) / day) if at else "" for at in moments])
    part = lambda at: (at - datetime.datetime(at.year, at.month, at.day)) / day
    places = {
        "day": part,
        "month": lambda at: (at.day - 1 + part(at)) / 31,
        "year": lambda at: (at.month - 1 + (at.day - 1 + part(at)) / 31) / 12,
    }
    for cycle in fit["cycles"]:
        for wave in (math.sin, math.cos):
            yield numpy.array([wave(2 * math.pi * places[cycle](at)) if at else 0 for at in moments])
    yield from (numpy.array([at is not None and at.weekday() == weekday for at in moments]) for weekday in fit["weekdays"])
    yield from (numpy.array([at is not None and at.month == month for at in moments]) for month in fit["months"])


def predicted(text):
    rows = list(csv.DictReader(io.StringIO(text)))
    return {name: [row[name] for row in rows] for name in rows[0]}


def check_bundle(folder):
    """What a reader in Python can hold the bundle to, without `mero`."""
    text = (folder / "metadata.json").read_bytes()
    metadata = json.loads(text)
    digest = (folder / "metadata.sha256").read_text().split()[0]
    assert hashlib.sha256(text).hexdigest() == digest, "digest"
    for key in ("model", "onnx"):
        content = (folder / metadata[key]["file"]).read_bytes()
        assert len(content) == metadata[key]["bytes"], key
        assert hashlib.sha256(content).hexdigest() == metadata[key]["sha256"], key
    return metadata


def session_of(folder, metadata):
    path = str(folder / metadata["onnx"]["file"])
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    for told, found in [(metadata["inputs"], session.get_inputs()), (metadata["outputs"], session.get_outputs())]:
        assert [(t["name"], t["shape"]) for t in told] == [(f.name, f.shape) for f in found], (told, found)
    return session


def differences(metadata, outputs, expected):
    """Problems of the outputs against the columns that `mero predict` wrote."""
    target, = metadata["preparation"]["target"].values()
    if "means" in target:
        given = numpy.array([expected[f"p({name})"] for name in target["columns"]], dtype=float).T
        return [] if numpy.allclose(outputs["output"], given, rtol=1e-5, atol=1e-7) else ["shares"]
    if "levels" in target:
        named = [target["levels"][at] for at in outputs["output"].argmax(axis=1)]
        problems = [] if named == expected["prediction"] else ["classes"]
        if metadata["encoding"]["output"].startswith("the probability"):
            given = numpy.array(expected["probability"], dtype=float)
            if not numpy.allclose(outputs["output"].max(axis=1), given, rtol=1e-5, atol=1e-7):
                problems.append("probabilities")
        return problems
    name = "decoded" if "decoded" in outputs else "output"
    # Counts have no scale.
    mean, scale = (target["mean"], target["scale"]) if "scale" in target else (0, 1)
    values = mean + scale * outputs[name][:, 0].astype(numpy.float64)
    problems = []
    if "deviation" in outputs:
        given = numpy.array(expected["prediction_std"], dtype=float)
        if not numpy.allclose(scale * outputs["deviation"][:, 0], given, rtol=1e-5, atol=0):
            problems.append("deviations")
    if name == "decoded":
        assert list(outputs) == FIELDS
        for mask, column in [("bottom_mask", "bottom"), ("gap_mask", "gap"), ("fault_mask", "fault")]:
            if (outputs[mask][:, 0] != (numpy.array(expected[column], dtype=float) != 0)).any():
                problems.append(mask)
        fault, semantic = outputs["fault_mask"], outputs["semantic_bottom_mask"]
        if not (outputs["bottom_provenance"] == fault + 2 * semantic.astype(numpy.int64)).all():
            problems.append("bottom_provenance")
        if not (numpy.isnan(outputs["decoded"]) == outputs["bottom_mask"]).all():
            problems.append("decoded under bottom")
    column = expected["value" if name == "decoded" else "prediction"]
    given = numpy.array([float(cell) if cell else math.nan for cell in column])
    both = numpy.isfinite(given) & numpy.isfinite(values)
    z, expected_z = ((part[both] - mean) / scale for part in (values, given))
    # Quotients are compared by the angle between the pairs: near a pole the error of a value grows with its square.
    size = 1 + expected_z ** 2 if name == "decoded" else numpy.maximum(1, numpy.abs(expected_z))
    far = numpy.abs(z - expected_z) / size
    if not far.size or far.max() > 1e-5:
        problems.append(f"values differ by {far.max(initial=0):.2e}")
    return problems


def train(binary, folder, target, flags):
    others = ",".join(sorted({"smooth", "y", "count", "red", "rest"} - {target, *flags.split()}))
    columns = "" if "--features" in flags else f"--ignore day,code,{others}"
    words = f"--target {target} {columns} --missing impute {flags}".split()
    # A flag may be given once; flags of a case replace the common ones.
    shared = QUICK.split()
    words += [w for at in range(0, len(shared), 2) if shared[at] not in words for w in shared[at:at + 2]]
    mero(binary, "train", folder / "t.csv", *words, "--out", folder / "m.safetensors", "--json", "--force")


def check(binary, folder, name):
    """Exports the model in the folder and holds the outputs of its bundle against those of the engine."""
    bundle = folder / "bundle"
    mero(binary, "export", folder / "m.safetensors", "--bundle", bundle, "--overwrite")
    metadata = check_bundle(bundle)
    session = session_of(bundle, metadata)
    expected = predicted(mero(binary, "predict", bundle, folder / "t.csv", "--device", "cpu"))
    x = encoded(metadata["preparation"], table())
    names = [output.name for output in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, {"x": x})))
    problems = differences(metadata, outputs, expected)
    if [len(part) for part in session.run(None, {"x": x[:1]})] != [1] * len(names):
        problems.append("one row alone")
    if "decoded" in outputs and not 0 < (outputs["bottom_mask"] | outputs["gap_mask"]).mean() < 1:
        problems.append("the masks say the same of every row, which is no test")
    shares = " ".join(f"{name} {outputs[name].mean():.3f}" for name in FIELDS[1:5] if name in outputs)
    print(f"{name}: {', '.join(problems) or f'{len(x)} rows agree'} {shares}".rstrip())
    return not problems


def handmade(folder):
    """Specs that the command line does not offer, with weights at random: yields their names as the model file appears."""
    header = header_of(folder / "m.safetensors")
    random = numpy.random.default_rng(5)
    features = header["preparation"]["features"]
    width = sum(len(f["categorical"]["levels"]) if "categorical" in f else 1 + f["numeric"]["has_gaps"] for f in features)
    linear = lambda outputs: {"linear": {"outputs": outputs, "bias": True, "init": "linear"}}
    weights = lambda at, outputs, inputs: {
        f"layers.{at}.weight": random.normal(0, 0.6, (outputs, inputs)),
        f"layers.{at}.bias": random.normal(0, 0.3, outputs),
    }
    decoding = {"threshold": "angle", "tau_infer": 0.1, "tau_train": 0.3}
    base = {"outputs": 1, "denominators": "shared", "anchor": 0.0, "gauge": "free", "decoding": decoding}
    rational = {"rational": {"numerator": 3, "denominator": 2, "basis": "chebyshev"}}
    coefficients = {
        **{f"layers.3.numerator.{k}": random.normal(0, 1, 1) for k in range(4)},
        **{f"layers.3.denominator.{k}": random.normal(0, 1, 1) for k in range(3)},
    }
    heads = [
        ("chebyshev", {**base, "form": rational}, coefficients),
        ("unit gauge", {**base, "form": "linear", "gauge": "unit"}, {}),
        ("attached gauge, floor", {**base, "form": "linear", "gauge": "unit_attached", "floor": 0.01}, {}),
        ("anchor and floor", {**base, "form": "linear", "anchor": 0.5, "floor": 0.01}, {}),
    ]
    norm = {"layers.1.layers.1.gain": random.normal(1, 0.2, 8), "layers.1.layers.1.bias": random.normal(0, 0.2, 8)}
    block = {"residual": {"layers": [linear(8), {"layer_norm": {"epsilon": 1e-3}}, {"activation": {"function": "tanh"}}]}}
    for name, head, own in heads:
        spec = {"inputs": width, "layers": [linear(8), block, linear(2), {"projective": head}]}
        tensors = {**weights("0", 8, width), **weights("1.layers.0", 8, 8), **norm, **weights("2", 2, 8), **own}
        write_model(folder / "m.safetensors", {**header, "spec": spec}, tensors)
        yield f"residual, layer norm, {name}"
    layer = {"numerator": 2, "denominator": 2, "basis": "monomial", "is_per_channel": True, "is_safe": False, "epsilon": 0.1,
             "policy": "project"}
    safe = {**layer, "numerator": 3, "basis": "chebyshev", "is_per_channel": False, "is_safe": True}
    value = {**base, "denominators": "each", "form": "value"}
    spec = {"inputs": width, "layers": [
        linear(8), {"residual": {"layers": [{"rational": safe}]}}, {"rational": layer}, linear(1), {"projective": value}]}
    tensors = {**weights("0", 8, width), "layers.1.layers.0.coefficients": random.normal(0, 1, (7, 1)),
               "layers.2.coefficients": random.normal(0, 1, (6, 8)), **weights("3", 1, 8)}
    write_model(folder / "m.safetensors", {**header, "spec": spec}, tensors)
    yield "rational layers"
    spec["layers"][3:] = [{"masked_norm": {"epsilon": 1e-3, "policy": None}}, {"masked_softmax": {"policy": None}}, linear(1),
                          {"projective": value}]
    del tensors["layers.3.weight"], tensors["layers.3.bias"]
    tensors |= {"layers.3.mean": random.normal(0, 1, 8), "layers.3.variance": random.uniform(0.5, 2, 8), "layers.3.seen": numpy.ones(8),
                **weights("5", 1, 8)}
    write_model(folder / "m.safetensors", {**header, "spec": spec}, tensors)
    yield "masked norm and softmax after poles"


def function(binary, folder):
    """A model that is a function with every op, from `tests/data`: its ONNX nodes against `mero predict`."""
    data = pathlib.Path(__file__).parent / "data"
    mero(binary, "export", data / "function.safetensors", "--bundle", folder / "function", "--overwrite")
    metadata = check_bundle(folder / "function")
    session = session_of(folder / "function", metadata)
    expected = predicted(mero(binary, "predict", data / "function.safetensors", data / "function.csv", "--device", "cpu"))
    rows = list(csv.DictReader((data / "function.csv").open(newline="")))
    fits = [feature["numeric"] for feature in metadata["preparation"]["features"]]
    columns = [(numpy.array([float(row[fit["name"]]) for row in rows]) - fit["mean"]) / fit["scale"] for fit in fits]
    x = numpy.stack(columns, axis=1).astype(numpy.float32)
    problems = []
    # In one piece and in two: nothing may depend on the number of rows.
    for parts in ([x], [x[:77], x[77:]]):
        output = numpy.concatenate([session.run(None, {"x": part})[0] for part in parts])
        problems += differences(metadata, {"output": output}, expected)
    print(f"a function: {', '.join(problems) or f'{len(x)} rows agree'}")
    return not problems


def outputs(binary, folder):
    """Two models of two outputs each, from `tests/data`: the means of what numpy makes of their weights."""
    model = pathlib.Path(__file__).parent / "data" / "outputs.safetensors"
    mero(binary, "export", model, "--bundle", folder / "outputs", "--overwrite")
    session = session_of(folder / "outputs", check_bundle(folder / "outputs"))
    w, u, v = (tensors_of(model)[name].astype(float) for name in "wuv")
    x = numpy.random.default_rng(3).normal(size=(100, 3)).astype(numpy.float32)
    expected = [sum(numpy.tanh(x @ w[at]) @ u[at] for at in (0, 1)) / 2, sum(numpy.exp(-x @ v[at]) for at in (0, 1)) / 2]
    got = session.run(["output_0", "output_1"], {"x": x})
    apart = max(numpy.abs(a - b).max() / numpy.abs(b).max() for a, b in zip(got, expected))
    print(f"two models of two outputs: {apart:.1e} apart")
    return apart < 1e-6


def inputs(binary, folder):
    """A model of three inputs that is trained on arrays, from `tests/data`: each is an input of the graph, and numpy makes the same of its weights."""
    model = pathlib.Path(__file__).parent / "data" / "inputs.safetensors"
    mero(binary, "export", model, "--bundle", folder / "inputs", "--overwrite")
    session = session_of(folder / "inputs", check_bundle(folder / "inputs"))
    tensors, random = tensors_of(model), numpy.random.default_rng(4)
    words, measured = random.integers(0, 5, (100, 2)), random.normal(size=(100, 1)).astype(numpy.float32)
    picture = random.integers(0, 256, (100, 2, 2)).astype(numpy.uint8)
    trace = picture.astype(float).trace(axis1=1, axis2=2)[:, None] / 255
    expected = numpy.hstack([tensors["table"][words].sum(axis=1), trace, measured]) @ tensors["out"]
    [got] = session.run(None, {"words": words, "picture": picture, "measured": measured})
    apart = [numpy.abs(got - expected).max() / numpy.abs(expected).max()]
    # The same function before a linear layer takes the columns of a row.
    model = model.with_name("mixed.safetensors")
    mero(binary, "export", model, "--bundle", folder / "mixed", "--overwrite")
    session, tensors = session_of(folder / "mixed", check_bundle(folder / "mixed")), tensors_of(model)
    function = numpy.hstack([tensors["layers.0.table"][words].sum(axis=1), trace, measured]) @ tensors["layers.0.out"]
    expected = function @ tensors["layers.1.weight"].T + tensors["layers.1.bias"]
    x = numpy.hstack([words, picture.reshape(-1, 4), measured]).astype(numpy.float32)
    [got] = session.run(None, {"x": x})
    apart.append(numpy.abs(got - expected).max() / numpy.abs(expected).max())
    print(f"a model of three inputs: {apart[0]:.1e} apart, before a layer {apart[1]:.1e}")
    return max(apart) < 1e-6


def memory(binary, folder):
    """The map of a memory: its ONNX file against the array of NumPy, and against the coordinates that the memory holds."""
    random = numpy.random.default_rng(6)
    classes = numpy.arange(240) % 3
    # Far from the origin, where the shift matters.
    x = (500 + random.normal(size=(240, 6)) + 3 * classes[:, None] * (numpy.arange(6) < 2)).astype(numpy.float32)
    numpy.save(folder / "v.npy", x)
    (folder / "labels.csv").write_text("label\n" + "".join(f"k{at}\n" for at in classes))
    mero(binary, "contrast", folder / "v.npy", "--labels", folder / "labels.csv", "--outputs", 4, "--epochs", 3, "--device", "cpu", "--threads", 1,
         "--out", folder / "v.memory", "--map-out", folder / "map.npy")
    mero(binary, "export", folder / "v.memory", "--onnx", folder / "map.onnx")
    onnx.checker.check_model(onnx.load(str(folder / "map.onnx")), full_check=True)
    session = onnxruntime.InferenceSession(str(folder / "map.onnx"), providers=["CPUExecutionProvider"])
    learned, tensors = numpy.load(folder / "map.npy").astype(float), tensors_of(folder / "v.memory")
    [got] = session.run(None, {session.get_inputs()[0].name: x})
    expected = [(x - tensors["shift"].astype(float)) @ learned.T, tensors["keys"].T]
    apart = [numpy.abs(got - one).max() / numpy.abs(one).max() for one in expected]
    print(f"the map of a memory: {apart[0]:.1e} apart from its array, {apart[1]:.1e} from its coordinates")
    return got.shape == (240, 4) and max(apart) < 1e-6


def edges():
    """Numerators and denominators of every size and kind."""
    sizes = [0.0, 1e-45, 1.2e-38, 1e-30, 1e-19, 1e-3, 0.04, 0.06, 0.3, 1.0, 7.0, 1e19, 1e30, 3e38, math.inf, math.nan]
    signed = numpy.array([sign * size for size in sizes for sign in (1, -1)], dtype=numpy.float32)
    p, q = numpy.meshgrid(signed, signed)
    return p.ravel(), q.ravel()


def strict(p, q, threshold, infer, train):
    """Strict decoding by its definition, in float64; subnormal numbers count as 0 compared with an angle."""
    p, q = p.astype(numpy.float64), q.astype(numpy.float64)
    fault = ~numpy.isfinite(p) | ~numpy.isfinite(q)
    if threshold == "denominator":
        near = numpy.abs(q)
    else:
        normal = lambda x: numpy.where(numpy.abs(x) < numpy.finfo(numpy.float32).tiny, 0.0, numpy.where(numpy.isfinite(x), x, 0.0))
        length = numpy.hypot(normal(p), normal(q))
        near = numpy.where(numpy.isfinite(q), numpy.abs(normal(q)) / numpy.where(length == 0, 1, length), math.nan)
    semantic = (q == 0) | (near < infer)
    value = (p / numpy.where(fault | semantic, 1, q)).astype(numpy.float32)
    fault |= ~semantic & ~numpy.isfinite(value)
    bottom = fault | semantic
    return numpy.where(bottom, math.nan, value), bottom, (near < train) & ~bottom, fault, semantic, fault + 2 * semantic


def bare_head(binary, folder, threshold, infer, train):
    """The exported file of a head alone, two numerators over one denominator: its input is what is decoded."""
    decoding = {"threshold": threshold, "tau_infer": infer, "tau_train": train}
    head = {"outputs": 2, "form": "linear", "denominators": "shared", "anchor": 0.0, "gauge": "free", "decoding": decoding}
    return exported(binary, folder, {"inputs": 3, "layers": [{"projective": head}]}, {})


def exported(binary, folder, spec, tensors):
    """The exported file of a model without columns."""
    header = {**header_of(folder / "m.safetensors"), "spec": spec}
    del header["preparation"]
    write_model(folder / "e.safetensors", header, tensors)
    mero(binary, "export", folder / "e.safetensors", "--onnx", folder / "e.onnx")
    return onnxruntime.InferenceSession(str(folder / "e.onnx"), providers=["CPUExecutionProvider"])


def property_26_masks_are_those_of_strict_decoding(binary, folder, threshold):
    """The exported file takes the place of a scripted module: its six outputs must be those of the rule, masks exactly."""
    session = bare_head(binary, folder, threshold, 0.05, 0.2)
    p, q = edges()
    got = session.run(None, {"x": numpy.stack([p, numpy.roll(p, 1), q], axis=1)})
    problems = []
    with numpy.errstate(all="ignore"):
        for column, numerator in enumerate([p, numpy.roll(p, 1)]):
            expected = strict(numerator, q, threshold, 0.05, 0.2)
            for field, a, b in zip(FIELDS, got, expected):
                if not numpy.allclose(a[:, column], b, rtol=1e-6, atol=0, equal_nan=True):
                    problems.append(f"{field} of column {column}")
    print(f"edges by {threshold}: {', '.join(problems) or f'{2 * len(p)} pairs agree'}")
    return not problems


def a_pair_exactly_at_a_threshold_is_not_below_it(binary, folder, threshold):
    """|Q| a float below, at and a float above each threshold. An angle's limit is on |Q| / |P|: tau / sqrt(1 - tau^2), which for so
    small ones is tau to the last bit of an f32."""
    infer, train = 1 / 8192, 1.5 / 8192
    session = bare_head(binary, folder, threshold, infer, train)
    problems = []
    for power in [0] if threshold == "denominator" else [0, 2, 70, -70]:
        p = numpy.float32(2.0 ** power)
        limits = [numpy.float32(tau) * p for tau in (infer, train)]
        sizes = [size for limit in limits for size in (numpy.nextafter(limit, numpy.float32(0)), limit, numpy.nextafter(limit, p))]
        q = numpy.array([*sizes, *(-size for size in sizes)], dtype=numpy.float32)
        got = dict(zip(FIELDS, session.run(None, {"x": numpy.stack([numpy.full_like(q, p), numpy.full_like(q, -p), q], axis=1)})))
        expected = {"semantic_bottom_mask": 2 * [True, False, False, False, False, False],
                  "gap_mask": 2 * [False, True, True, True, False, False], "fault_mask": 12 * [False]}
        for field, rows in expected.items():
            for column in range(2):
                if got[field][:, column].tolist() != rows:
                    problems.append(f"{field} of P = {p}: got {got[field][:, column].tolist()}, expected {rows}")
    print(f"at the thresholds by {threshold}: {', '.join(problems) or 'no pair is below its own'}")
    return not problems


def a_rational_layer_has_no_value_where_its_denominator_is_exactly_epsilon(binary, folder):
    """1 / x, with P = 1 + 0 x and Q = 0 + 1 x."""
    layer = {"numerator": 1, "denominator": 1, "basis": "monomial", "is_per_channel": False, "is_safe": False, "epsilon": 0.25,
             "policy": None}
    decoding = {"threshold": "angle", "tau_infer": 0.001, "tau_train": 0.01}
    head = {"outputs": 1, "form": "value", "denominators": "each", "anchor": 0.0, "gauge": "free", "decoding": decoding}
    spec = {"inputs": 1, "layers": [{"rational": layer}, {"projective": head}]}
    session = exported(binary, folder, spec, {"layers.0.coefficients": [[1], [0], [0], [1]]})
    size = numpy.float32(0.25)
    sizes = [numpy.nextafter(size, numpy.float32(0)), size, numpy.nextafter(size, numpy.float32(1))]
    x = numpy.array([*sizes, *(-size for size in sizes)], dtype=numpy.float32)[:, None]
    got = dict(zip(FIELDS, session.run(None, {"x": x})))["bottom_mask"][:, 0].tolist()
    expected = 2 * [True, True, False]
    print(f"a denominator at epsilon: {'has no value' if got == expected else f'got {got}, expected {expected}'}")
    return got == expected


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write(folder / "t.csv", table())
        for name, target, flags in CASES:
            train(binary, folder, target, flags)
            bad += [] if check(binary, folder, name) else [name]
        for name in handmade(folder):
            bad += [] if check(binary, folder, name) else [name]
        bad += [] if function(binary, folder) else ["a function"]
        bad += [] if outputs(binary, folder) else ["several outputs"]
        bad += [] if inputs(binary, folder) else ["several inputs"]
        bad += [] if memory(binary, folder) else ["a memory"]
        for threshold in ("angle", "denominator"):
            bad += [] if property_26_masks_are_those_of_strict_decoding(binary, folder, threshold) else [f"edges by {threshold}"]
            bad += [] if a_pair_exactly_at_a_threshold_is_not_below_it(binary, folder, threshold) else [f"at the threshold by {threshold}"]
        bad += [] if a_rational_layer_has_no_value_where_its_denominator_is_exactly_epsilon(binary, folder) else ["epsilon"]
    sys.exit(f"not what mero predicts: {', '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()

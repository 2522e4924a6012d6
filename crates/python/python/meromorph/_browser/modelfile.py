"""What a model file says of itself: the header of a safetensors file, as `mero info --json` prints it."""

from __future__ import annotations

import json
from math import floor, prod
from typing import Any

KEY, TRAINING, LABELS, CHECKSUM = "meromorph", "meromorph.training", "meromorph.labels", "checksum"
LENGTH_BYTES = 8


def header(file: bytes, source: str) -> dict[str, Any]:
    """The header of a model file. Raises ValueError for another kind of file."""
    length = int.from_bytes(file[:LENGTH_BYTES], "little")
    if len(file) < LENGTH_BYTES or length > len(file) - LENGTH_BYTES:
        raise ValueError(f"{source}: is cut short: {len(file)} bytes hold no safetensors header")
    try:
        parsed = json.loads(file[LENGTH_BYTES : LENGTH_BYTES + length])
        texts = parsed.pop("__metadata__", {})
        known = {name: json.loads(texts[name]) for name in (KEY, TRAINING) if name in texts}
    except ValueError as error:
        raise ValueError(f"{source}: its header is damaged: {error}") from None
    if KEY not in known:
        raise ValueError(f"{source}: it is a safetensors file, but not a meromorph model")
    return {**known[KEY], "training": known.get(TRAINING), "labels": texts.get(LABELS), "tensors": parsed}


def labels(about: dict[str, Any]) -> str | None:
    """The type that the labels of the classes had."""
    return about["labels"]


def columns(about: dict[str, Any]) -> list[str]:
    """The names of the columns that it needs."""
    return [_described(feature)["name"] for feature in _features(about)]


def classes(about: dict[str, Any]) -> list[str]:
    """The names of the classes; empty of a model of numbers."""
    return _target(about).get("classes", [])


def described(about: dict[str, Any]) -> dict[str, Any]:
    """The same record as the native engine gives."""
    training, spec, storage = about["training"], about["spec"], about["storage"]
    tensors = {name: one for name, one in about["tensors"].items() if one["dtype"] != "U8"}
    if storage == "int8":
        tensors = {name: one for name, one in tensors.items() if not name.endswith(".scale")}
    residuals = (training or {}).get("residuals")
    return {
        "format": about["format"],
        "engine": about["engine"],
        "task": "classification" if classes(about) else "regression",
        "target": _target(about),
        "columns": [_described(feature) for feature in _features(about)],
        "layers": spec["layers"],
        "inputs": spec["inputs"],
        "members": _members(about),
        "parameters": sum(prod(one["shape"]) for one in tensors.values()),
        "loss": _loss(about["loss"]),
        "weights": storage,
        "labels": about["labels"],
        "interval": residuals and {"calibration": residuals["calibration"], "rows": _rows(residuals)},
        "training": training and _trained(training),
    }


def _members(about: dict[str, Any]) -> int:
    """Models that were trained at once: one more dimension of each tensor."""
    for at, layer in enumerate(about["spec"]["layers"]):
        if isinstance(layer, dict) and "linear" in layer:
            shape = about["tensors"][f"layers.{at}.weight"]["shape"]
            return shape[0] if len(shape) == 3 else 1
    return 1


def _loss(loss: str | dict[str, Any]) -> str:
    """The name of a loss, which may have constants, or its formula."""
    name = loss if isinstance(loss, str) else next(iter(loss))
    return "cross-entropy" if name == "cross_entropy" else name


def _rows(residuals: dict[str, Any]) -> int:
    return sum(group["rows"] for group in residuals["groups"])


def _trained(training: dict[str, Any]) -> dict[str, Any]:
    train, validation, test = training["rows"]
    origin = training["origin"]
    return {
        "source": training["source"],
        "rows": {"train": train, "validation": validation, "test": test},
        "dropped": training.get("dropped", 0),
        "epochs": training["epochs"],
        "best_epoch": training["best_epoch"],
        "blend": training.get("blend"),
        "val": training["validation"],
        "test": training["test"],
        "baseline": training["baseline"],
        "folds": training.get("folds", []),
        "settings": training["settings"],
        "choice": origin["choice"],
        "fractions": origin["fractions"],
        "validation_file": origin.get("validation_file"),
        "test_file": origin.get("test_file"),
    }


def _features(about: dict[str, Any]) -> list[dict[str, Any]]:
    return about["preparation"]["features"]


def _target(about: dict[str, Any]) -> dict[str, Any]:
    ((kind, target),) = about["preparation"]["target"].items()
    if kind == "classification":
        return {"name": target["name"], "classes": target["levels"], "counts": target["counts"]}
    if kind == "shares":
        return {"name": target["name"], "classes": target["columns"], "means": target["means"]}
    return {name: target[name] for name in ("name", "mean", "min", "max")}


def _described(feature: dict[str, Any]) -> dict[str, Any]:
    ((kind, record),) = feature.items()
    if kind == "numeric":
        return {"name": record["name"], "kind": "number", **_range(record), "missing": record["impute"]}
    if kind == "date":
        elapsed, has_dates = record["elapsed"], record["has_dates"]
        start, end, filled = (_moment(elapsed[name], has_dates) for name in ("min", "max", "impute"))
        return {"name": elapsed["name"], "kind": "date", "from": start, "to": end, "missing": filled}
    if kind == "categorical":
        levels, filled = record["levels"], record["impute"]
        own = "own level" if filled is not None and filled >= len(levels) else None
        missing = None if filled is None else own or levels[filled]
        return {
            "name": record["name"],
            "kind": "category",
            "levels": levels,
            "counts": record["counts"],
            "missing": missing,
        }
    filled = "a level of its own" if record.get("has_gaps") else "counts as no text"
    missing = filled if record["takes_missing"] else None
    encoding = "texts by their hashes"
    return {
        "name": record["name"],
        "kind": "category",
        "encoding": encoding,
        "example": record["example"],
        "missing": missing,
    }


def _range(record: dict[str, Any]) -> dict[str, float]:
    return {name: record[name] for name in ("mean", "min", "max")}


def _moment(days: float | None, has_date: bool) -> str | None:
    """A point in time, so many days after the beginning of 1970, as a cell of the column."""
    from datetime import date, timedelta

    if days is None:
        return None
    seconds = floor((days - floor(days)) * 86_400 + 0.5)
    day, seconds = floor(days) + seconds // 86_400, seconds % 86_400
    time = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}".removesuffix(":00")
    if not has_date:
        return time
    on = (date(1970, 1, 1) + timedelta(days=day)).isoformat()
    return on if seconds == 0 else f"{on}T{time}"


def with_labels(file: bytes, text: str) -> bytes:
    """The file with a note on the type of the labels."""
    length = int.from_bytes(file[:LENGTH_BYTES], "little")
    parsed = json.loads(file[LENGTH_BYTES : LENGTH_BYTES + length])
    parsed["__metadata__"][LABELS] = text
    written = json.dumps(parsed, ensure_ascii=False, separators=(",", ":")).encode()
    written += b" " * (-len(written) % LENGTH_BYTES)
    changed = len(written).to_bytes(LENGTH_BYTES, "little") + written + file[LENGTH_BYTES + length :]
    old = parsed["__metadata__"].get(CHECKSUM)
    if old is None:
        return changed
    start = changed.index(old.encode())
    return changed[:start] + _checksum(changed, start, len(old)).encode() + changed[start + len(old) :]


def _checksum(file: bytes, start: int, digits: int) -> str:
    """The hash of `src/files/tensors.rs`: of all bytes but its own digits."""
    hashed, mask = 0xCBF2_9CE4_8422_2325, (1 << 64) - 1
    for part in (file[:start], file[start + digits :]):
        for byte in part:
            hashed = (hashed ^ byte) * 0x9E37_79B9_7F4A_7C15 & mask
            hashed ^= hashed >> 32
    return f"{hashed:016x}"

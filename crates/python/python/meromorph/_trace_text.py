"""The text of a traced formula. What occurs twice is computed once, in an assignment before it."""

from __future__ import annotations

from collections.abc import Iterator

from ._trace import Symbol

#: How tightly an operator binds: an operand that binds less is in parentheses.
BINDS = {
    "|": 1,
    "&": 2,
    "<": 3,
    "<=": 3,
    ">": 3,
    ">=": 3,
    "==": 3,
    "!=": 3,
    "+": 4,
    "-": 4,
    "*": 5,
    "/": 5,
    "neg": 6,
    "^": 7,
}
ATOM = 8
SIGNS = {"|": " || ", "&": " && ", "*": "*", "/": "/", "^": "^"}
#: Parentheses within each other, from which on a part is assigned to a name: the parser takes a hundred.
DEEPEST = 60


def formula(root: Symbol, taken: set[str]) -> str:
    """The formula of a symbol; names of assignments are none of `taken`."""
    order = list(_ordered(root))
    uses: dict[int, int] = {}
    for one in order:
        for part in one.parts:
            uses[id(part)] = uses.get(id(part), 0) + 1
    written: dict[int, tuple[str, int, int]] = {}
    lines: list[str] = []
    for one in order:
        text, binds, depth = _written(one, written)
        is_shared = bool(one.parts) and uses.get(id(one), 0) > 1
        if (is_shared or depth > DEEPEST) and one is not root:
            name = _free(f"t{len(lines) + 1}", taken)
            lines.append(f"{name} = {text}")
            text, binds, depth = name, ATOM, 0
        written[id(one)] = (text, binds, depth)
    return "; ".join([*lines, written[id(root)][0]])


def names(root: Symbol) -> set[str]:
    """The names of parameters and columns."""
    return {one.what for one in _ordered(root) if not one.parts and isinstance(one.what, str)}


def _ordered(root: Symbol) -> Iterator[Symbol]:
    """Every symbol once, after its parts."""
    seen: set[int] = set()
    stack: list[tuple[Symbol, bool]] = [(root, False)]
    while stack:
        one, is_ready = stack.pop()
        if is_ready:
            yield one
        elif id(one) not in seen:
            seen.add(id(one))
            stack.append((one, True))
            stack.extend((part, False) for part in reversed(one.parts))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _written(one: Symbol, written: dict[int, tuple[str, int, int]]) -> tuple[str, int, int]:
    """The text of a symbol, how tightly it binds, and how deep its parentheses are."""
    if not one.parts:
        if isinstance(one.what, str):
            return one.what, ATOM, 0
        text = f"{one.what:.0f}" if one.what == int(one.what) and abs(one.what) < 1e15 else repr(one.what)
        return text, ATOM if one.what >= 0 else BINDS["neg"], 0
    parts = [written[id(part)] for part in one.parts]
    depth = max(part[2] for part in parts) + 1
    binds = BINDS.get(one.what)
    if binds is None:
        return f"{one.what}({', '.join(text for text, _, _ in parts)})", ATOM, depth
    if one.what == "neg":
        return f"-{_within(parts[0], BINDS['^'])}", binds, depth
    # Sums and products are computed from the left; a power takes its right side first, and comparisons are not joined.
    least = {"^": (ATOM, BINDS["neg"])}.get(one.what, (4, 4) if binds == 3 else (binds, binds + 1))
    left, right = (_within(part, need) for part, need in zip(parts, least, strict=True))
    return f"{left}{SIGNS.get(one.what, f' {one.what} ')}{right}", binds, depth


def _within(part: tuple[str, int, int], least: int) -> str:
    text, binds, _ = part
    return text if binds >= least else f"({text})"

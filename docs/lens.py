"""Draws docs/lens.svg, the picture of the README: cargo build --release && python3 docs/lens.py target/release/mero"""
import csv
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
TABLE = ROOT / "examples/data/lens.csv"
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 720, 330, 64, 16, 44
(FIRST, LAST), (LOW, HIGH) = (20, 90), (-600, 600)


def across(x):
    return LEFT + (x - FIRST) / (LAST - FIRST) * (WIDTH - LEFT - 16)


def down(y):
    return TOP + (HIGH - y) / (HIGH - LOW) * (HEIGHT - TOP - BOTTOM)


def predicted(mero, options, distances):
    """The answers of a model trained on the lens, None where it has none."""
    with tempfile.TemporaryDirectory() as folder:
        model, new, answers = (pathlib.Path(folder) / name for name in ("m.safetensors", "new.csv", "out.csv"))
        new.write_text("object_mm\n" + "\n".join(map(str, distances)))
        subprocess.run([mero, "train", TABLE, "--target", "image_mm", "--out", model, "--quiet", *options], check=True, capture_output=True)
        subprocess.run([mero, "predict", model, new, "--out", answers], check=True, capture_output=True)
        with open(answers) as file:
            cells = [row.get("value", row.get("prediction")) for row in csv.DictReader(file)]
    return [float(cell) if cell else None for cell in cells]


def paths(distances, values):
    """Lines through neighbouring answers inside the picture, broken where there is none."""
    line, out = [], []
    for x, y in [*zip(distances, values), (0, None)]:
        if y is not None and LOW <= y <= HIGH:
            line.append(f"{across(x):.1f},{down(y):.1f}")
        elif line:
            out.append("M" + "L".join(line))
            line = []
    return "".join(out)


def main(mero):
    distances = [FIRST + step / 10 for step in range((LAST - FIRST) * 10 + 1)]
    with open(TABLE) as file:
        rows = [(float(row["object_mm"]), float(row["image_mm"])) for row in csv.DictReader(file)]
    rows = [(x, y) for x, y in rows if FIRST <= x <= LAST and LOW <= y <= HIGH and x % 1 == 0]
    plain, poles = predicted(mero, [], distances), predicted(mero, ["--head", "rational"], distances)
    refused = [x for x, y in zip(distances, poles) if y is None]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" font-family="system-ui, sans-serif" font-size="13" fill="#333">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for y in (-400, -200, 0, 200, 400):
        out.append(f'<path d="M{LEFT},{down(y):.1f}H{WIDTH - 16}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{down(y) + 4:.1f}" text-anchor="end">{str(y).replace("-", "−")}</text>')
    for x in range(FIRST, LAST + 1, 10):
        out.append(f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x}</text>')
    middle = across(sum(refused) / len(refused))
    out += [
        f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">distance of the object, mm</text>',
        f'<text transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">distance of the image, mm</text>',
        *(f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="2.6" fill="#999"/>' for x, y in rows),
        f'<path d="{paths(distances, plain)}" fill="none" stroke="#c2410c" stroke-width="2" stroke-dasharray="6 4"/>',
        f'<path d="{paths(distances, poles)}" fill="none" stroke="#1d4ed8" stroke-width="2"/>',
        f'<path d="M{middle:.1f},{TOP}V{HEIGHT - BOTTOM}" stroke="#1d4ed8" stroke-dasharray="1 4"/>',
        f'<text x="{middle + 8:.1f}" y="{TOP + 14}" font-size="15" fill="#1d4ed8">⊥</text>',
        f'<text x="{across(57):.1f}" y="{down(470):.1f}" fill="#1d4ed8">with a pole: no value at the focal length</text>',
        f'<text x="{across(57):.1f}" y="{down(-130):.1f}" fill="#c2410c">a plain network: a number, and a wrong one</text>',
        "</svg>",
    ]
    (ROOT / "docs/lens.svg").write_text("\n".join(out) + "\n")


main(sys.argv[1])

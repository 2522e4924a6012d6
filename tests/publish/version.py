"""The version, which is written in several files, and the notes of a release.

usage: version.py                 checks that all files have the version of Cargo.toml
       version.py NEW             writes NEW into all of them and dates the section "Unreleased" of the changelog
       version.py --notes         prints the notes of the version
"""
import datetime
import re
import subprocess
import sys

from project import OUT, ROOT, Failure, check, version

NUMBER = r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?"
CHANGELOG = "docs/CHANGELOG.md"

# File, text before the version, text behind it. Cargo.lock follows Cargo.toml; maturin and dist read Cargo.toml.
PLACES = [
    ("Cargo.toml", r'^version = "', r'"'),
    ("Cargo.toml", r'^meromorph[a-z-]* = \{ version = "', r'"'),
    ("web/package.json", r'^  "version": "', r'"'),
    ("web/package-lock.json", r'"name": "meromorph",\n +"version": "', r'"'),
    ("web/README.md", r"meromorph-", r"\.tgz"),
    ("crates/python/packaging/conda/recipe.yaml", r'^  version: "', r'"'),
]


def main(arguments):
    if arguments == ["--notes"]:
        print(notes(version()))
    elif arguments and re.fullmatch(NUMBER, arguments[0]):
        raise_to(arguments[0])
    elif arguments:
        raise Failure(f"got {' '.join(arguments)}, expected a version such as 0.2.0, --notes, or nothing")
    else:
        check_all()


def make():
    check_all()
    OUT.mkdir(parents=True, exist_ok=True)
    text = notes(version())
    (OUT / "NOTES.md").write_text(text)
    heading, _, rest = text.partition("\n")
    print(f"  version {version()}; notes of the release: section {heading!r}, {len(rest.splitlines())} lines in NOTES.md")
    return []


def pattern(before, after):
    return re.compile(f"({before})({NUMBER})({after})", re.MULTILINE)


def check_all():
    expected = version()
    for name, before, after in PLACES:
        found = [match[1] for match in pattern(before, after).findall((ROOT / name).read_text())]
        check(found, f"{name}: no version behind {before}")
        check(set(found) == {expected}, f"{name}: got version {', '.join(sorted(set(found)))}, expected {expected} as in Cargo.toml")
    lock = (ROOT / "Cargo.lock").read_text()
    # Packages of the workspace have no source.
    own = re.findall(r'name = "(mero[a-z-]*)"\nversion = "(.+?)"\n(?!source)', lock)
    for name, found in own:
        check(found == expected, f"Cargo.lock: {name} has version {found}, expected {expected}: run cargo check")
    notes(expected)


def raise_to(new):
    notes(new)
    for name, before, after in PLACES:
        path = ROOT / name
        text, count = pattern(before, after).subn(rf"\g<1>{new}\g<3>", path.read_text())
        check(count, f"{name}: no version behind {before}")
        path.write_text(text)
    subprocess.run(["cargo", "update", "--quiet", "--workspace", "--offline"], cwd=ROOT, check=True)
    changelog = ROOT / CHANGELOG
    heading = f"## {new} - {datetime.date.today()}"
    changelog.write_text(re.sub(r"^## Unreleased$", heading, changelog.read_text(), count=1, flags=re.MULTILINE))
    check_all()
    print(f"version {new} in {', '.join(sorted({name for name, _, _ in PLACES}))}, Cargo.lock and {CHANGELOG}")


def notes(of):
    """The top section of the changelog, which is the text of the release. Errors if it is of another version, or empty."""
    first, *_ = re.split(r"^## ", (ROOT / CHANGELOG).read_text(), flags=re.MULTILINE)[1:] or [""]
    heading, _, text = first.partition("\n")
    named = heading.split(" ")[0]
    check(named in (of, "Unreleased"), f"{CHANGELOG}: the top section is {heading!r}, expected {of} or Unreleased")
    check(text.strip(), f"{CHANGELOG}: the section {heading!r} is empty")
    return f"{heading}\n\n{text.strip()}\n"


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failure as failure:
        sys.exit(f"version.py: {failure}")

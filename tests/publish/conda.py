"""The recipe for conda: rendered for each platform. Building it takes packages of conda-forge, which are fetched there, not here."""
import re
import tomllib

from project import ROOT, check, pip_install, version

RECIPE = ROOT / "crates/python/packaging/conda/recipe.yaml"
PLATFORMS = ["linux-64", "linux-aarch64", "osx-64", "osx-arm64", "win-64"]
EXPECTED = ["mero", "meromorph"]
# The versions that conda-forge builds with, as far as rendering needs them.
VARIANTS = {"c_compiler": ["gcc"], "c_stdlib": ["sysroot"], "c_stdlib_version": ["2.17"], "rust_compiler": ["rust"]}


def make():
    pip_install("py-rattler-build>=0.73,<1")
    from rattler_build import PlatformConfig, RattlerBuildError, RenderConfig, Stage0Recipe, VariantConfig

    for platform in PLATFORMS:
        try:
            rendered = Stage0Recipe.from_file(RECIPE).render(VariantConfig(VARIANTS), RenderConfig(PlatformConfig(target_platform=platform)))
        except RattlerBuildError as error:
            check(False, f"{RECIPE.relative_to(ROOT)} for {platform}: {error}")
        recipes = [variant.recipe.to_dict() for variant in rendered]
        names = sorted(recipe["package"]["name"] for recipe in recipes)
        check(names == EXPECTED, f"{RECIPE.name} for {platform}: packages {', '.join(names)}, expected {', '.join(EXPECTED)}")
        for recipe in recipes:
            name, found = recipe["package"]["name"], recipe["package"]["version"]
            check(found == version(), f"{RECIPE.name}: {name} has version {found}, expected {version()}")
            absent = [file for file in recipe["about"]["license_file"] if not (ROOT / file).exists()]
            check(not absent, f"{RECIPE.name}: no file {', '.join(absent)} for {name}")
    print(f"  {', '.join(EXPECTED)} for {', '.join(PLATFORMS)}: rendered, not built")
    agrees_with_python()
    return []


def agrees_with_python():
    """What the recipe says of Python and NumPy is what the project of the Python package says."""
    project = tomllib.loads((ROOT / "crates/python/pyproject.toml").read_text())["project"]
    text = RECIPE.read_text()
    needs = [f"python {project['requires-python']}", *(re.sub(r"(?=[<>=])", " ", needed, count=1) for needed in project["dependencies"])]
    for needed in needs:
        check(f"        - {needed}\n" in text, f"{RECIPE.name}: no {needed!r}, as pyproject.toml of crates/python has it")

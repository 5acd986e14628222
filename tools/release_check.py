"""What would be published, tried as a stranger would: ``python tools/release_check.py`` (``make release-check`` calls it).

Builds sdist and wheel, looks at their metadata and contents, installs the wheel alone into an empty environment, runs the README's
examples and a saved model there without any extra, then the command line with its extra, and measures how long an import takes.
"""

from __future__ import annotations

import email
import math
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_START = (
    0.5  # seconds that `krein --version` and `import krein` may take each on an idle machine, the best of three
)
CHECKS = ROOT / ".github" / "workflows" / "checks.yml"
WANTED = ("krein/py.typed", "krein/datasets/data/letter.npz")
CORE = """
import krein, numpy as np, sys
X = np.random.default_rng(0).normal(size=(200, 3)); y = X[:, 0] > 0
model = krein.KreinRidgeClassifier(random_state=0).fit(X, y)
model.save(sys.argv[1])
assert (krein.load_model(sys.argv[1]).predict(X) == model.predict(X)).all()
missing = [name for name in ("pandas", "typer", "rich", "matplotlib", "dask", "pooch") if name in sys.modules]
assert not missing, f"a core install needed {missing}"
"""


class ReleaseError(Exception):
    """Something that must not be published."""


def require(condition: bool, message: str) -> None:
    """An error unless the condition holds."""
    if not condition:
        raise ReleaseError(message)


def run(*command: str | Path, **kwargs: object) -> str:
    """Output of a command, or an error that shows it."""
    away = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=away, **kwargs)
    require(done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist and the wheel made from it."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def check_contents(sdist: Path, wheel: Path) -> None:
    """Metadata and files of both."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        fields = email.message_from_bytes(archive.read(metadata))
        check_licenses(fields, {name: archive.read(name) for name in names if "/licenses/" in name})
    for field in (
        "Name",
        "Version",
        "Summary",
        "License-Expression",
        "Requires-Python",
        "Description-Content-Type",
        "Keywords",
    ):
        require(bool(fields[field]), f"the metadata have no {field}")
    check_classifiers(fields)
    require(not any("tests/" in name for name in names), "the wheel has tests in it")
    for wanted in WANTED:
        require(wanted in names, f"the wheel has no {wanted}")
    with tarfile.open(sdist) as archive:
        members = {name.split("/", 1)[-1] for name in archive.getnames()}
    for wanted in ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/conftest.py"):
        require(wanted in members, f"the sdist has no {wanted}")


def check_licenses(fields: Message, packed: dict[str, bytes]) -> None:
    """Each license file that the metadata name is in the wheel, as it is here."""
    named = fields.get_all("License-File") or []
    require("LICENSE" in named, "the metadata name no license file")
    for name in named:
        contents = [packed[path] for path in packed if path.endswith(f"/licenses/{name}")]
        require(contents == [(ROOT / name).read_bytes()], f"the wheel has no {name}, or another one")


def check_classifiers(fields: Message) -> None:
    """Typed, of no license but the expression, for the versions of Python that the workflows test; the build knows which exist."""
    classifiers = fields.get_all("Classifier") or []
    require("Typing :: Typed" in classifiers, "the classifiers do not say that the package is typed")
    twice = [one for one in classifiers if one.startswith("License ::")]
    require(not twice, f"{twice} says again what License-Expression says")
    named = set(re.findall(r"Python :: (3\.\d+)$", "\n".join(classifiers), flags=re.MULTILINE))
    tested = set(re.findall(r'target: test[\w-]*, python: "(3\.\d+)"', CHECKS.read_text(encoding="utf-8")))
    require(named == tested, f"the classifiers name Python {sorted(named)}, {CHECKS.name} tests {sorted(tested)}")
    least = fields["Requires-Python"].removeprefix(">=")
    require(least == min(named, key=_minor), f"Python {least} is declared as the least version and not tested")


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


def environment(folder: Path, requirement: str) -> Path:
    """A new environment with one thing installed; its folder of programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    pins = ROOT / "constraints.txt"
    run(programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", pins, requirement)
    return programs


def check_start(label: str, *command: str | Path, most: float = LONGEST_START) -> None:
    """Tell how long a command takes, the best of three; an error if that is too long."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        run(*command)
        times.append(time.perf_counter() - begin)
    seconds = min(times)
    sys.stdout.write(f"{label}: {seconds:.2f} s\n")
    require(seconds <= most, f"{label} takes {seconds:.2f} s, more than {most}")


def main() -> int:
    """Run all checks; 0 if all hold."""
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        try:
            sdist, wheel = build(here / "dist")
            sys.stdout.write(f"{sdist.name}, {wheel.name} ({wheel.stat().st_size / 2**20:.1f} MiB)\n")
            check_contents(sdist, wheel)
            core = environment(here / "core", str(wheel))
            run(core / "python", "-c", CORE, here / "model.krein", cwd=here)
            options = ("-o", "NORMALIZE_WHITESPACE", "-o", "ELLIPSIS")
            run(core / "python", "-m", "doctest", *options, ROOT / "README.md", cwd=here)
            sys.stdout.write("core install: a model saved, loaded and used; the README's examples run\n")
            check_start("import krein", core / "python", "-c", "import krein")
            check_start("import of a learner", core / "python", "-c", "from krein import KreinRidge", most=math.inf)
            full = environment(here / "cli", f"{wheel}[cli,data]")
            run(full / "krein", "diagnose", "ntk", "--dim", "16", cwd=here)
            check_start("krein --version", full / "krein", "--version")
        except ReleaseError as error:
            sys.stderr.write(f"release-check: {error}\n")
            return 1
    sys.stdout.write("release-check: all checks passed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

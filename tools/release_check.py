"""What would be published, tried as a stranger would: ``python tools/release_check.py`` (``make release-check`` calls it).

Builds sdist and wheel, looks at their metadata and contents, installs the wheel alone into an empty environment, runs the README's
examples and a saved model there without any extra, then the command line with its extra, and measures how long an import takes.
"""

from __future__ import annotations

import email
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_START = 0.5  # seconds that `krein --version` may take on an idle machine, the best of three
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
        require(any(name.endswith("licenses/LICENSE") for name in names), "the wheel has no license file")
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
    classifiers = fields.get_all("Classifier") or []
    require("Typing :: Typed" in classifiers, "the classifiers do not say that the package is typed")
    require(not any("tests/" in name for name in names), "the wheel has tests in it")
    for wanted in WANTED:
        require(wanted in names, f"the wheel has no {wanted}")
    with tarfile.open(sdist) as archive:
        members = {name.split("/", 1)[-1] for name in archive.getnames()}
    for wanted in ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/conftest.py"):
        require(wanted in members, f"the sdist has no {wanted}")


def environment(folder: Path, requirement: str) -> Path:
    """A new environment with one thing installed; its folder of programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    pins = ROOT / "constraints.txt"
    run(programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", pins, requirement)
    return programs


def start_time(program: Path) -> float:
    """Seconds that ``--version`` takes, the best of three."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        run(program, "--version")
        times.append(time.perf_counter() - begin)
    return min(times)


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
            run(
                core / "python",
                "-m",
                "doctest",
                "-o",
                "NORMALIZE_WHITESPACE",
                "-o",
                "ELLIPSIS",
                ROOT / "README.md",
                cwd=here,
            )
            sys.stdout.write("core install: a model saved, loaded and used; the README's examples run\n")
            full = environment(here / "cli", f"{wheel}[cli,data]")
            run(full / "krein", "diagnose", "ntk", "--dim", "16", cwd=here)
            seconds = start_time(full / "krein")
            sys.stdout.write(f"krein --version: {seconds:.2f} s\n")
            require(seconds <= LONGEST_START, f"krein --version takes {seconds:.2f} s, more than {LONGEST_START}")
        except ReleaseError as error:
            sys.stderr.write(f"release-check: {error}\n")
            return 1
    sys.stdout.write("release-check: all checks passed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

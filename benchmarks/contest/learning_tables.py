"""Tables of the comparison of learners: on the terminal, and for the guide."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from contest.learning import as_records, read_sets
from contest.results import SetScores, chosen_kernels, csv_directive, csv_text, per_set_table, show_table, summary_table

__all__ = ["section_record", "section_tables", "show_section", "write_tables"]

Tables = dict[str, list[tuple[str, ...]]]

_LABELS = {
    "krein-ridge": "KreinRidge",
    "krein-definite": "its definite kernels only",
    "krein-svc": "KreinSVC",
    "krein-logistic": "KreinLogistic",
    "svc": "SVC",
    "svc-tuned": "SVC tuned",
    "rbf-sampler": "RBFSampler",
    "nystroem": "Nystroem",
    "neighbors": "neighbors",
    "boosting": "boosting",
    "xrfm": "xRFM",
}
_OURS = "krein-ridge"
_TITLES = {"summary": "Means", "sets": "Set by set; the best has a star", "kernels": "Kernels taken"}
# Parts of the page, and the sections and tables that each shows
_PARTS = {
    "small": (("small", "summary"), ("small", "sets")),
    "held-back": (("held back", "summary"), ("small and held back", "summary")),
    "kernels": (("small", "kernels"),),
    "larger": (("larger", "sets"), ("larger", "summary"), ("stored", "sets")),
    "regression": (("regression", "sets"), ("regression", "summary")),
}


def section_record(task: str, sets: Sequence[SetScores], *, shown: bool) -> dict[str, Any]:
    """A section for the file of results: every score, or of sets that are not to be looked at only what they come to."""
    if shown:
        return {"task": task, "sets": as_records(sets)}
    tables = _tables(task, sets)
    return {"task": task, "n_sets": len(sets), "tables": {kind: tables[kind] for kind in tables if kind != "sets"}}


def section_tables(section: dict[str, Any]) -> Tables:
    """``summary``, ``sets`` and ``kernels`` of one section of the results."""
    if "sets" in section:
        return _tables(section["task"], read_sets(section["sets"]))
    return {kind: [tuple(row) for row in cells] for kind, cells in section["tables"].items()}


def _tables(task: str, sets: Sequence[SetScores]) -> Tables:
    percent = task == "classification"
    seen = {score.contender for one in sets for score in one.scores}
    words = _LABELS if percent else _LABELS | {"svc": "SVR", "svc-tuned": "SVR tuned"}
    labels = {name: label for name, label in words.items() if name in seen}
    found = {"summary": summary_table(sets, labels, _OURS, percent=percent)} if _OURS in seen else {}
    found["sets"] = per_set_table(sets, labels, percent=percent)
    kernels = _kernels_table(sets, [name for name in labels if name.startswith("krein")])
    return found | ({"kernels": kernels} if len(kernels) > 1 else {})


def show_section(name: str, section: dict[str, Any]) -> None:
    """Print the tables of one section."""
    for kind, cells in section_tables(section).items():
        show_table(f"{name}, {kind}", cells)


def write_tables(results: dict[str, Any], folder: Path) -> None:
    """A file of comma-separated values for each table of the guide, and the parts of its page that show them."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("learning-*"):
        old.unlink()
    for name, section in results["sections"].items():
        for kind, cells in section_tables(section).items():
            (folder / f"{_file_stem(name)}-{kind}.csv").write_text(csv_text(cells))
    for part, shown in _PARTS.items():
        (folder / f"learning-{part}.inc").write_text(_part(results["sections"], shown))


def _part(sections: dict[str, Any], shown: Sequence[tuple[str, str]]) -> str:
    """Tables of the page, each with the number of its sets; or that there are none yet."""
    parts = []
    for name, kind in shown:
        cells = section_tables(sections[name]).get(kind) if name in sections else None
        if cells is not None:
            section = sections[name]
            count = section["n_sets"] if "n_sets" in section else len(section["sets"])
            parts.append(f"{_TITLES[kind]}, {count} sets.\n\n" + csv_directive(f"{_file_stem(name)}-{kind}.csv"))
    return "\n".join(parts) or "Not measured in the last run.\n"


def _file_stem(name: str) -> str:
    return f"learning-{name.replace(' ', '-')}"


def _kernels_table(sets: Sequence[SetScores], methods: list[str]) -> list[tuple[str, ...]]:
    """How often each learner chose which kernel, and how often an indefinite one."""
    counts = {name: chosen_kernels(sets, name) for name in methods}
    counts = {name: one for name, one in counts.items() if one[0]}
    families = sorted({kernel for count, _ in counts.values() for kernel in count})
    body = [(kernel, *(str(count[kernel]) for count, _ in counts.values())) for kernel in families]
    if counts:
        body.append(("not positive definite on the rows", *(str(number) for _, number in counts.values())))
    return [("kernel", *(_LABELS[name] for name in counts)), *body]

"""Every figure and table of the paper: an experiment becomes runs, runs become records, records a report."""

from krein.experiments.claims import Claim, Finding, Verdict
from krein.experiments.execute import Failure
from krein.experiments.experiment import Experiment, Sizes
from krein.experiments.methods import METHODS, Method
from krein.experiments.paper import EXPERIMENTS, known_experiments
from krein.experiments.plan import Plan, Run
from krein.experiments.records import Record, RecordFile
from krein.experiments.report import judge
from krein.experiments.reproduction import Progress, Reproduction, kept_runs, reproduce

__all__ = [
    "reproduce",
    "Plan",
    "Progress",
    "Reproduction",
    "kept_runs",
    "EXPERIMENTS",
    "known_experiments",
    "Experiment",
    "Sizes",
    "METHODS",
    "Method",
    "Run",
    "Record",
    "RecordFile",
    "Failure",
    "Claim",
    "Finding",
    "Verdict",
    "judge",
]

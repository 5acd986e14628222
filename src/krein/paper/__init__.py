"""Every figure and table of the paper: an experiment becomes runs, runs become records, records a report."""

from krein.paper.catalog import EXPERIMENTS, known_experiments
from krein.paper.claims import Claim, Finding, Ruling, Verdict
from krein.paper.data import DIMENSIONS as TASKS
from krein.paper.execute import Failure
from krein.paper.experiment import Experiment, Sizes
from krein.paper.methods import METHODS, Method
from krein.paper.plan import Plan, Run
from krein.paper.records import Record, RecordFile
from krein.paper.report import judge
from krein.paper.reproduction import Progress, Reproduction, kept_runs, reproduce
from krein.paper.rules import ARMS, RULES, Arm, Rule

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
    "Ruling",
    "ARMS",
    "TASKS",
    "RULES",
    "Arm",
    "Rule",
    "Verdict",
    "judge",
]

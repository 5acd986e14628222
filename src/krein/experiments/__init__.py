"""Every figure and table of the paper: a configuration becomes runs, runs become records, records a report."""

from krein.experiments.catalog import EXPERIMENTS, Experiment, Plan, Sizes
from krein.experiments.claims import CLAIMS, Claim, Finding, judge
from krein.experiments.methods import METHODS, Method
from krein.experiments.records import Record, RecordFile
from krein.experiments.reproduce import Progress, Reproduction, reproduce
from krein.experiments.run import Run
from krein.experiments.runner import Failure, default_jobs, execute

__all__ = [
    "reproduce",
    "Plan",
    "Progress",
    "Reproduction",
    "EXPERIMENTS",
    "Experiment",
    "Sizes",
    "METHODS",
    "Method",
    "Run",
    "Record",
    "RecordFile",
    "execute",
    "Failure",
    "default_jobs",
    "CLAIMS",
    "Claim",
    "Finding",
    "judge",
]

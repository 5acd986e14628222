"""The cost of a search, in counts, which unlike times are reproducible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from krein.measures.search.policy import SearchPolicy

__all__ = ["Work"]


@final
@dataclass
class Work:
    """What a search has cost so far, in counts, and when it has to end.

    Parameters
    ----------
    most_programs : int
        Programs after which no more are begun.
    most_pivots : int
        Per program.
    programs, pivots : int
        Solved so far.
    """

    most_programs: int
    most_pivots: int
    programs: int = 0
    pivots: int = 0

    @classmethod
    def of(cls, policy: SearchPolicy, searches: int = 1) -> Work:
        """Nothing done yet, and what a policy allows."""
        return cls(max(1, policy.programs // searches), policy.pivots)

    @property
    def spent(self) -> bool:
        """Whether the search has to end."""
        return self.programs >= self.most_programs

"""The quota of a control group, from files of either version."""

import math
import os

import pytest

from krein._core.processors import quota, usable_processors


def test_no_more_than_the_affinity():
    assert 1 <= usable_processors() <= (os.cpu_count() or 1)


def test_not_linux(tmp_path):
    assert quota(str(tmp_path / "none"), str(tmp_path)) == math.inf


@pytest.mark.parametrize(
    ("text", "expected"), [("max 100000\n", math.inf), ("150000 100000\n", 1.5), ("400000 100000\n", 4.0)]
)
def test_version_2(tmp_path, text, expected):
    (tmp_path / "cgroup").write_text("0::/a/b\n")
    (tmp_path / "fs" / "a" / "b").mkdir(parents=True)
    (tmp_path / "fs" / "a" / "b" / "cpu.max").write_text(text)
    assert quota(str(tmp_path / "cgroup"), str(tmp_path / "fs")) == expected


def test_the_least_of_the_groups_above(tmp_path):
    (tmp_path / "cgroup").write_text("0::/a/b\n")
    (tmp_path / "fs" / "a" / "b").mkdir(parents=True)
    (tmp_path / "fs" / "a" / "cpu.max").write_text("200000 100000\n")
    (tmp_path / "fs" / "a" / "b" / "cpu.max").write_text("300000 100000\n")
    assert quota(str(tmp_path / "cgroup"), str(tmp_path / "fs")) == 2.0


@pytest.mark.parametrize(("allowed", "expected"), [("-1", math.inf), ("50000", 0.5)])
def test_version_1(tmp_path, allowed, expected):
    (tmp_path / "cgroup").write_text("5:memory:/x\n3:cpu,cpuacct:/job\n")
    (tmp_path / "fs" / "cpu" / "job").mkdir(parents=True)
    (tmp_path / "fs" / "cpu" / "job" / "cpu.cfs_quota_us").write_text(allowed)
    (tmp_path / "fs" / "cpu" / "job" / "cpu.cfs_period_us").write_text("100000\n")
    assert quota(str(tmp_path / "cgroup"), str(tmp_path / "fs")) == expected

"""Parsers: right numbers from right files, and the line number from wrong ones."""

import bz2
import gzip

import numpy as np
import pytest

from krein.datasets.text_formats import decompress, parse_integer_table, parse_letters, parse_libsvm


def loops_only_libsvm(text, n_features):
    X, y = [], []
    for line in text.split("\n"):
        if line.strip():
            label, *fields = line.split()
            row = [0.0] * n_features
            for item in fields:
                index, value = item.split(":")
                row[int(index) - 1] = float(value)
            X.append(row)
            y.append(int(float(label)))
    return np.array(X, np.float32), np.array(y, np.int8)


@pytest.mark.parametrize(
    "text",
    [
        "-1 1:0.5 3:2\n+1 2:0.25\n",
        "-1 1:0.5 3:2 \r\n+1 2:0.25\t \r\n",  # trailing blanks, as LIBSVM's own files have
        "\n\n1.000  1:-1.5e-3   3:.5\n\n   2 2:7.\n3\n",  # blank lines, runs of blanks, a row of zeros
        "-1 1:-0 2:+3",
        "5",
    ],
)
def test_libsvm_equals_loops(text):
    X, y = parse_libsvm(text.encode(), 3)
    expected_X, expected_y = loops_only_libsvm(text, 3)
    np.testing.assert_array_equal(X, expected_X)
    np.testing.assert_array_equal(y, expected_y)
    assert (X.dtype, y.dtype) == (np.float32, np.int8)


def test_libsvm_round_trip_of_random_sparse_rows():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 9)) < 0.4, rng.standard_normal((300, 9)), 0).astype(np.float32)
    y = rng.integers(-3, 4, 300)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{value!s}" for j, value in enumerate(row) if value)
        for label, row in zip(y, X, strict=True)
    ]
    read_X, read_y = parse_libsvm("\n".join(lines).encode(), 9)
    np.testing.assert_array_equal(read_X, X)
    np.testing.assert_array_equal(read_y, y)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("+1 4:1", "index 4 is not in 1 … 3"),
        ("+1 0:1", "index 0 is not in 1 … 3"),
        ("+1 1:1 1:2", "indices must ascend, got 1 after 1"),
        ("+1 3:1 2:2", "indices must ascend, got 2 after 3"),
        ("+1 2", "expected index:value, got '2'"),
        ("+1 1:2:3", "expected index:value, got '1:2:3'"),
        ("+1 2 1:3:4", "expected index:value, got '2'"),  # as many numbers as a right line would have
        ("+1 1.5:2", "expected index:value, got '1.5:2'"),
        ("+1 1:nan", "expected index:value, got '1:nan'"),
        ("+1 1:", "expected index:value, got '1:'"),
        ("+1 1:2 # note", "expected index:value, got '#'"),
        ("spam 1:2", "the label is not an integer from -128 to 127, got 'spam'"),
        ("0.5 1:2", "the label is not an integer"),
        ("300 1:2", "the label is not an integer"),
        ("1:2 2:3", "the label is not an integer"),
        ("ü 1:2", "the label is not an integer"),
    ],
)
def test_libsvm_names_the_line(line, reason):
    text = f"-1 1:0.5 3:2\n\n{line}\n+1 1:1\n"
    with pytest.raises(ValueError, match=f"^line 3: {reason}"):
        parse_libsvm(text.encode(), 3)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,2", "expected 3 integers, got 2"),
        ("1,2,3,4", "expected 3 integers, got 4"),
        ("1,,3", "field 2 is not an integer of type int16, got ''"),
        ("1,2,x", "field 3 is not an integer of type int16, got 'x'"),
        ("1,2.5,3", "field 2 is not an integer of type int16, got '2.5'"),
        ("40000,2,3", "field 1 is not an integer of type int16, got '40000'"),
    ],
)
def test_table_names_the_line(line, reason):
    with pytest.raises(ValueError, match=f"^line 2: {reason}"):
        parse_integer_table(f"1,2,3\n{line}\n".encode(), 3, np.int16)


def test_table_whose_every_line_is_too_short():
    with pytest.raises(ValueError, match=r"^line 1: expected 3 integers, got 2"):
        parse_integer_table(b"1,2\n3,4\n", 3, np.int16)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a,1,2", "field 1 must be a capital letter, got 'a'"),
        ("AB,1,2", "field 1 must be a capital letter, got 'AB'"),
        ("ABC,1,2", "field 1 must be a capital letter, got 'ABC'"),
        ("Z,1", "expected 2 integers, got 1"),
        ("Z,1,256", "field 3 is not an integer of type uint8, got '256'"),
        ("Z,-1,2", "field 2 is not an integer of type uint8, got '-1'"),
    ],
)
def test_letters_name_the_line(line, reason):
    with pytest.raises(ValueError, match=f"^line 2: {reason}"):
        parse_letters(f"A,1,2\n{line}\n".encode(), 2)


def test_windows_line_ends():
    X, y = parse_letters(b"A,1,2\r\nZ,3,4\r\n", 2)
    assert (X.tolist(), y.tolist()) == ([[1, 2], [3, 4]], [0, 25])
    assert parse_integer_table(b"1,2\r\n3,4\r\n", 2, np.int16).tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_empty(data):
    for parse in (parse_libsvm, parse_letters):
        with pytest.raises(ValueError, match="the file is empty"):
            parse(data, 3)


@pytest.mark.parametrize("compress", [bz2.compress, gzip.compress, bytes])
def test_decompress(compress):
    assert decompress(compress(b"1 2:3\n" * 100)) == b"1 2:3\n" * 100


@pytest.mark.parametrize("compress", [bz2.compress, gzip.compress])
@pytest.mark.parametrize(
    "damage", [lambda data: data[:-10], lambda data: data[:60] + bytes([data[60] ^ 255]) + data[61:]]
)
def test_decompress_damaged(compress, damage):
    with pytest.raises(ValueError, match="cut or damaged"):
        decompress(damage(compress(bytes(range(256)) * 4)))

"""Tables in chunks: three formats, the same rows, and errors that name the row and the column."""

import gzip
import os
import sys
import zipfile

import numpy as np
import pytest

from krein.files.tables import TableChunks, TableError, open_table

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(257, 3))
LABEL = np.array(["red", "green", "blue"])[RNG.integers(0, 3, 257)]
FRAME = pandas.DataFrame(X, columns=["a", "b", "c"]).assign(label=LABEL, number=np.arange(257))


@pytest.fixture(params=["csv", "csv.gz", "npz", "parquet"])
def path(request, tmp_path):
    path = tmp_path / f"data.{request.param}"
    if request.param.startswith("csv"):
        FRAME.to_csv(path, index=False)
    elif request.param == "npz":
        np.savez_compressed(path, **{name: FRAME[name].to_numpy() for name in FRAME} | {"label": LABEL})
    else:
        FRAME.to_parquet(path, row_group_size=100)
    return path


@pytest.mark.parametrize("chunk_rows", [10, 100, 1000])
def test_the_same_rows_from_every_format_and_again(path, chunk_rows):
    shares = []
    table = open_table(path)
    assert table.columns == ("a", "b", "c", "label", "number")
    chunks = TableChunks(table, ["c", "a"], "label", kind="label", chunk_rows=chunk_rows, progress=shares.append)
    for _ in range(2):
        parts = list(chunks)
        assert len(parts) == -(-257 // chunk_rows)
        # Pandas before 3 reads decimals to some units in the last place
        np.testing.assert_allclose(np.concatenate([x for x, _ in parts]), X[:, [2, 0]], rtol=1e-13)
        np.testing.assert_array_equal(np.concatenate([y for _, y in parts]), LABEL)
    assert max(shares) == pytest.approx(1.0, abs=0.01)
    whole = [y for _, y in TableChunks(table, ["a"], "number", kind="label", chunk_rows=chunk_rows)]
    np.testing.assert_array_equal(np.concatenate(whole), np.arange(257))
    assert whole[0].dtype.kind == "i"
    quantities = [y for _, y in TableChunks(table, ["a"], "number", chunk_rows=chunk_rows)]
    np.testing.assert_array_equal(np.concatenate(quantities), np.arange(257.0))
    assert len(next(iter(TableChunks(table, ["a"], chunk_rows=chunk_rows)))) == 1


def test_matrix_in_an_archive(tmp_path):
    np.savez(tmp_path / "d.npz", X=X.astype(np.float32), y=LABEL)
    table = open_table(tmp_path / "d.npz")
    assert table.columns == ("X0", "X1", "X2", "y")
    first, labels = next(iter(TableChunks(table, ["X0", "X1", "X2"], "y", kind="label")))
    assert first.dtype == np.float32
    np.testing.assert_array_equal(first, X.astype(np.float32))
    np.testing.assert_array_equal(labels, LABEL)


class TestBadTables:
    def write(self, tmp_path, text):
        path = tmp_path / "bad.csv"
        path.write_text(text)
        return path

    @pytest.mark.parametrize("chunk_rows", [2, 100])
    def test_text_among_numbers(self, tmp_path, chunk_rows):
        path = self.write(tmp_path, "a,b,y\n1,2,0\n3,4,1\n5,6,0\n7,oops,1\n9,1,0\n")
        with pytest.raises(TableError, match=r"bad.csv, row 4, column 'b' is 'oops', not a number"):
            list(TableChunks(open_table(path), ["a", "b"], "y", chunk_rows=chunk_rows))
        with pytest.raises(TableError, match=r"row 4, column 'b'"):
            list(TableChunks(open_table(path), ["a"], "b", chunk_rows=chunk_rows))

    def test_empty_cells_and_infinity(self, tmp_path):
        path = self.write(tmp_path, "a,y\n1,x\n,y\n3,\n")
        with pytest.raises(TableError, match=r"row 2, column 'a' is empty"):
            list(TableChunks(open_table(path), ["a"], "y", kind="label"))
        path = self.write(tmp_path, "a,y\n1,x\n2,y\n3,\n")
        with pytest.raises(TableError, match=r"row 3, column 'y' is empty"):
            list(TableChunks(open_table(path), ["a"], "y", kind="label"))
        path = self.write(tmp_path, "a,y\n1,x\ninf,y\n")
        with pytest.raises(TableError, match=r"row 2, column 'a' is inf"):
            list(TableChunks(open_table(path), ["a"], "y", kind="label"))

    def test_labels_that_change_their_kind(self, tmp_path):
        path = self.write(tmp_path, "a,y\n1,1\n2,2\n3,three\n")
        with pytest.raises(TableError, match=r"row 3, column 'y' is 'three'"):
            list(TableChunks(open_table(path), ["a"], "y", kind="label", chunk_rows=2))

    def test_ragged_and_empty_files(self, tmp_path):
        path = self.write(tmp_path, "a,b\n1,2\n1,2,3,4\n")
        with pytest.raises(TableError, match="line 3"):
            list(TableChunks(open_table(path), ["a"], "b"))
        with pytest.raises(TableError, match="is empty"):
            open_table(self.write(tmp_path, ""))
        with pytest.raises(TableError, match="has no rows"):
            list(TableChunks(open_table(self.write(tmp_path, "a,b\n")), ["a"], "b"))
        with pytest.raises(TableError, match="more than one column named 'a'"):
            open_table(self.write(tmp_path, "a,a\n1,2\n"))

    @pytest.mark.parametrize("share", [0.0, 0.3, 0.95])
    def test_files_cut_short(self, path, share):
        if path.name.endswith(".csv"):
            pytest.skip("a CSV file may end anywhere")
        data = path.read_bytes()
        path.write_bytes(data[: int(share * len(data))])
        with pytest.raises(TableError, match=r"cut short|damaged|cannot read|is empty"):
            list(TableChunks(open_table(path), ["a"], "label", kind="label"))

    def test_damage_inside(self, tmp_path):
        FRAME.to_parquet(tmp_path / "d.parquet", row_group_size=50, compression="gzip")
        data = bytearray((tmp_path / "d.parquet").read_bytes())
        middle = len(data) // 2
        data[middle : middle + 400] = b"\xff" * 400
        (tmp_path / "d.parquet").write_bytes(bytes(data))
        with pytest.raises(TableError, match=r"damaged|not a Parquet"):
            list(TableChunks(open_table(tmp_path / "d.parquet"), ["a", "b", "c"], "number", chunk_rows=50))

    def test_columns_and_names(self, path, tmp_path):
        with pytest.raises(TableError, match=r"no column 'z'; its columns are a, b, c, label, number"):
            TableChunks(open_table(path), ["a", "z"], "label")
        with pytest.raises(TableError, match="no columns to learn from"):
            TableChunks(open_table(path), [], "label")
        with pytest.raises(TableError, match="there is no file"):
            open_table(tmp_path / "absent.csv")
        with pytest.raises(TableError, match="must end in"):
            open_table(tmp_path / "data.xlsx")

    def test_archives(self, tmp_path):
        np.savez(tmp_path / "d.npz", X=X, y=np.zeros(3))
        with pytest.raises(TableError, match="same number of rows"):
            open_table(tmp_path / "d.npz")
        np.savez(tmp_path / "d.npz", X=np.asfortranarray(X))
        with pytest.raises(TableError, match="stored by columns"):
            open_table(tmp_path / "d.npz")
        np.savez(tmp_path / "d.npz", y=np.array([1, "a"], dtype=object))
        with pytest.raises(TableError, match="Python objects"):
            open_table(tmp_path / "d.npz")
        (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n" * 1000)[:-30])
        with pytest.raises(TableError, match="cannot read"):
            list(TableChunks(open_table(tmp_path / "d.csv.gz"), ["a"], "b"))

    def test_one_field_more_than_the_header(self, tmp_path):
        """pandas takes the first column for the names of the rows, and every other for its neighbor."""
        every = self.write(tmp_path, "a,b,y\n1,2,3,0\n4,5,6,1\n")
        with pytest.raises(TableError, match=r"bad.csv, the first row has too many fields, as the header has 3"):
            list(TableChunks(open_table(every), ["a", "b"], "y"))
        empty = TableChunks(open_table(self.write(tmp_path, "a,b,y\n1,2,3,\n4,5,6,\n")), ["a", "b"], "y")
        assert [part.tolist() for part in next(iter(empty))] == [[[1.0, 2.0], [4.0, 5.0]], [3.0, 6.0]]
        for n_lines in (1, 2, 700_000):
            last = self.write(tmp_path, "a,b,y\n" + "1,2,3\n" * n_lines + "1,2,3,4\n")
            with pytest.raises(TableError, match=f"line {n_lines + 2} has 4 fields, but the header has 3"):
                list(TableChunks(open_table(last), ["a", "b"], "y", chunk_rows=min(n_lines, 50_000)))

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_the_line_is_the_one_an_editor_shows(self, tmp_path, end):
        path = tmp_path / "bad.csv"
        path.write_bytes(end.join(["a,y", "1,2", "", "3,4", "5,6,7", "8,9"]).encode())
        with pytest.raises(TableError, match="line 5 has 3 fields"):
            list(TableChunks(open_table(path), open_table(path).columns[:1], "y"))

    def test_commas_and_quotes_inside_quotes(self, tmp_path):
        text = 'a,"b, or ""c""",y\n' + '1,2,"x, ""y"", z"\n3,4,5" pipe\n' * 40_000
        path = self.write(tmp_path, text)
        table = open_table(path)
        assert table.columns == ("a", 'b, or "c"', "y")
        chunks = list(TableChunks(table, ["a", 'b, or "c"'], "y", kind="label", chunk_rows=7_000))
        assert sum(X.shape[0] for X, _ in chunks) == 80_000
        assert set(chunks[-1][1].tolist()) == {'x, "y", z', '5" pipe'}
        with pytest.raises(TableError, match="line 80002 has 4 fields"):
            list(TableChunks(open_table(self.write(tmp_path, text + '1,2,"x",3\n')), ["a"], "y", kind="label"))

    def test_columns_without_a_name(self, tmp_path):
        path = self.write(tmp_path, ",a,y\n0,1,2\n1,3,4\n")
        with pytest.raises(TableError, match=r"column 1 of .* has no name \(some programs"):
            TableChunks(open_table(path), ["", "a"], "y")
        np.testing.assert_array_equal(next(iter(TableChunks(open_table(path), ["a"], "y")))[0], [[1.0], [3.0]])

    def test_labels_beyond_64_bits(self, tmp_path):
        path = self.write(tmp_path, "a,y\n1,9223372036854775807\n2,-9223372036854775808\n3,00000000000000000000001\n")
        labels = next(iter(TableChunks(open_table(path), ["a"], "y", kind="label")))[1]
        assert labels.tolist() == [2**63 - 1, -(2**63), 1]
        for label in ("9223372036854775808", "-9223372036854775809", "9" * 6000):
            path = self.write(tmp_path, f"a,y\n1,5\n2,{label}\n")
            with pytest.raises(TableError, match=r"row 2, column 'y' is .*beyond 64 bits"):
                list(TableChunks(open_table(path), ["a"], "y", kind="label"))

    def test_characters_that_are_digits_but_no_numbers(self, tmp_path):
        path = self.write(tmp_path, "a,y\n1,1\n2,²\n3,٣\n")
        labels = next(iter(TableChunks(open_table(path), ["a"], "y", kind="label")))[1]
        assert labels.tolist() == ["1", "²", "٣"]
        with pytest.raises(TableError, match="row 2, column 'y' is '²', not a number"):
            list(TableChunks(open_table(path), ["a"], "y"))

    def test_too_many_columns(self, tmp_path):
        """Two million columns ran for minutes; the header alone says enough."""
        wide = self.write(tmp_path, ",".join(f"c{i}" for i in range(200_000)) + "\n")
        with pytest.raises(
            TableError, match=r"200,000 columns, more than the 100,000 that are read; .*transpose the table"
        ):
            open_table(wide)
        np.savez(tmp_path / "d.npz", X=np.zeros((1, 200_000), dtype=np.int8))
        with pytest.raises(TableError, match="200,000 columns"):
            open_table(tmp_path / "d.npz")
        many = self.write(tmp_path, ",".join(f"c{i}" for i in range(30_000)) + "\n" + ",".join(["1"] * 30_000) + "\n")
        columns = open_table(many).columns
        assert next(iter(TableChunks(open_table(many), columns[:-1], columns[-1])))[0].shape == (1, 29_999)

    @pytest.mark.parametrize("position", [3, 12, 40, -6, -2])
    def test_damaged_gzip(self, tmp_path, position):
        rng = np.random.default_rng(0)
        data = bytearray(
            gzip.compress(b"a,b\n" + b"\n".join(b"%d,%d" % tuple(row) for row in rng.integers(0, 999, (4000, 2))))
        )
        data[position] ^= 0xFF
        (tmp_path / "d.csv.gz").write_bytes(bytes(data))
        try:
            rows = sum(X.shape[0] for X, _ in TableChunks(open_table(tmp_path / "d.csv.gz"), ["a"], "b"))
        except TableError:
            return
        assert rows == 4000  # a byte of gzip's header that nothing depends on
        assert position == 3

    def test_members_that_are_no_arrays(self, tmp_path):
        path = tmp_path / "d.npz"
        np.savez(path, X=X)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("readme", "hello")
        with pytest.raises(TableError, match="a member 'readme', which is not an array"):
            open_table(path)

    def test_encrypted_archives(self, tmp_path):
        path = tmp_path / "d.npz"
        np.savez(path, y=np.zeros(3))
        data = bytearray(path.read_bytes())
        for signature, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
            data[data.index(signature) + offset] |= 1  # the flag that says so
        path.write_bytes(bytes(data))
        with pytest.raises(TableError, match="is encrypted"):
            open_table(path)

    def test_complex_columns(self, tmp_path):
        np.savez(tmp_path / "d.npz", X=X.astype(complex), y=LABEL)
        with pytest.raises(TableError, match=r"'X' in .* is complex; save its real and its imaginary part"):
            open_table(tmp_path / "d.npz")

    def test_header_only(self, tmp_path):
        for text in ("a,b\n", "a,b", "a,b\n\n\n"):
            chunks = TableChunks(open_table(self.write(tmp_path, text)), ["a"], "b", kind="label")
            with pytest.raises(TableError, match="has no rows"):
                next(iter(chunks))
        np.savez(tmp_path / "d.npz", a=np.empty(0), b=np.empty(0))
        with pytest.raises(TableError, match="has no rows"):
            next(iter(TableChunks(open_table(tmp_path / "d.npz"), ["a"], "b")))

    def test_pipes(self, tmp_path):
        os.mkfifo(tmp_path / "d.csv")
        with pytest.raises(TableError, match="a device or a pipe"):
            open_table(tmp_path / "d.csv")

    def test_byte_order_mark_and_rows_at_a_time(self, tmp_path):
        path = tmp_path / "d.csv"
        path.write_bytes(b"\xef\xbb\xbfa,y\n1,2\n")
        assert open_table(path).columns == ("a", "y")
        assert next(iter(TableChunks(open_table(path), ["a"], "y")))[0].tolist() == [[1.0]]
        with pytest.raises(ValueError, match="chunk_rows must be at least 1"):
            TableChunks(open_table(path), ["a"], "y", chunk_rows=0)

    def test_a_decimal_comma_in_a_column_with_text(self, tmp_path):
        """Numbers before the cell that is none are numbers."""
        path = self.write(tmp_path, "a;y\n1,5;2\n2,5;n.a.x\n")
        with pytest.raises(TableError, match=r"row 2, column 'y' is 'n\.a\.x', not a number"):
            list(TableChunks(open_table(path, sep=";", decimal=","), ["a"], "y"))
        path = self.write(tmp_path, "a;y\n1,5;2\n2,5;oops\nno;4\n")
        with pytest.raises(TableError, match=r"row 3, column 'a' is 'no', not a number"):
            list(TableChunks(open_table(path, sep=";", decimal=","), ["a"], "y", kind="label"))

    def test_marks_that_are_none(self, tmp_path):
        path = self.write(tmp_path, "a;y\n1;2\n")
        for sep in ("", ";;", "\n", "\u2192"):
            with pytest.raises(ValueError, match="sep must be a single character of ASCII"):
                open_table(path, sep=sep)
        with pytest.raises(ValueError, match=r"sep and decimal must differ, got ',' for both"):
            open_table(path, decimal=",")
        np.savez(tmp_path / "d.npz", a=np.zeros(3))
        with pytest.raises(TableError, match="neither a separator nor a decimal mark"):
            open_table(tmp_path / "d.npz", sep=";")

    def test_bytes_that_are_no_text(self, tmp_path):
        path = tmp_path / "d.csv"
        for data in (b"\xe9,y\n1,2\n", b"a,y\n1,\xe9\n"):
            path.write_bytes(data)
            with pytest.raises(TableError, match=r"cannot read .*utf-8"):
                list(TableChunks(open_table(path), ["a"], "y", kind="label"))

    def test_a_header_that_is_none(self, tmp_path):
        with pytest.raises(TableError, match="cannot read the header"):
            open_table(self.write(tmp_path, "a" * 200_000 + ",b\n"))

    def test_without_a_reader(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match=r"needs pandas; install it with: pip install pandas, or 'krein\[data\]'"):
            open_table(self.write(tmp_path, "a,y\n1,2\n"))

    def test_values_that_are_no_numbers_in_parquet(self, tmp_path):
        pandas.DataFrame({"a": ["1", None], "y": [[1], [2]]}).to_parquet(tmp_path / "d.parquet")
        with pytest.raises(TableError, match="row 2, column 'a' is empty"):
            list(TableChunks(open_table(tmp_path / "d.parquet"), ["a"]))
        with pytest.raises(TableError, match=r"row 1, column 'y' is array\(\[1\]\), not a number"):
            list(TableChunks(open_table(tmp_path / "d.parquet"), ["y"]))

    def test_labels_that_are_numbers_in_parquet(self, tmp_path):
        pandas.DataFrame({"a": [1, 2], "y": [0.5, 1.5]}).to_parquet(tmp_path / "d.parquet")
        table = open_table(tmp_path / "d.parquet")
        assert next(iter(TableChunks(table, ["a"], "y", kind="label")))[1].tolist() == [0.5, 1.5]
        assert next(iter(TableChunks(table, ["a"], "a", kind="label", blanks=True)))[1].tolist() == ["1", "2"]

    def test_damage_behind_the_header_of_an_array(self, tmp_path):
        np.savez(tmp_path / "d.npz", a=np.arange(40_000.0))
        data = bytearray((tmp_path / "d.npz").read_bytes())
        data[len(data) // 2] ^= 0xFF
        (tmp_path / "d.npz").write_bytes(bytes(data))
        with pytest.raises(TableError, match=r"is damaged after row \d+"):
            list(TableChunks(open_table(tmp_path / "d.npz"), ["a"], chunk_rows=1000))

    def test_another_separator_is_found(self, tmp_path):
        for sep, suffix in ((";", "csv"), ("\t", "csv"), (",", "tsv")):
            path = tmp_path / f"d.{suffix}"
            path.write_text(f"a{sep}b\n1{sep}2\n")
            with pytest.raises(TableError, match=r"has one column, .*; if that is a list of columns") as told:
                open_table(path)
            assert f"--sep {sep!r}" in str(told.value)
            assert open_table(path, sep=sep).columns == ("a", "b")

    def test_targets_that_may_be_missing(self, tmp_path):
        table = open_table(self.write(tmp_path, "a,y,z\n1,u,0.5\n2,,\n"))
        assert next(iter(TableChunks(table, ["a"], "y", kind="label", blanks=True)))[1].tolist() == ["u", ""]
        found = next(iter(TableChunks(table, ["a"], "z", blanks=True)))[1]
        assert np.isnan(found).tolist() == [False, True]

"""Tables in chunks: three formats, the same rows, and errors that name the row and the column."""

import gzip

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
        np.testing.assert_allclose(np.concatenate([x for x, _ in parts]), X[:, [2, 0]], rtol=1e-15)
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

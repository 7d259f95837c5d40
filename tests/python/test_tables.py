"""Tables of pandas and polars, Arrow's tables, and images that ITK reads, each where its package is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purlin
from purlin import blocks, fdk, graph, lanczos, pca, rsvd, sparse

X = np.random.default_rng(0).random((20, 6))
NAMES = list("abcdef")


def table(package: str) -> Any:
    """The same numbers in a table of a package."""
    if package == "pandas":
        return pytest.importorskip("pandas").DataFrame(X, columns=NAMES)
    if package == "nullable":
        return pytest.importorskip("pandas").DataFrame(X, columns=NAMES).astype("Float64")
    if package == "polars":
        return pytest.importorskip("polars").DataFrame(X, schema=NAMES)
    arrow = pytest.importorskip("pyarrow")
    columns = {name: X[:, k] for k, name in enumerate(NAMES)}
    return arrow.table(columns) if package == "table" else arrow.record_batch(columns)


@pytest.mark.parametrize("package", ["pandas", "nullable", "polars", "table", "batch"])
def test_a_table_is_an_array(package: str, cpu: purlin.Context) -> None:
    given = table(package)
    want, found = rsvd.compute(X, 3, context=cpu), rsvd.compute(given, 3, context=cpu)
    assert isinstance(found.U, np.ndarray)
    for one, other in zip(want, found):
        np.testing.assert_array_equal(one, other)
    model = pca.PCA(2, context=cpu).fit(X)
    np.testing.assert_array_equal(model.transform(given), model.transform(X))


def test_tensors_and_arrays_of_arrow_are_taken(cpu: purlin.Context) -> None:
    arrow = pytest.importorskip("pyarrow")
    np.testing.assert_array_equal(
        rsvd.compute(arrow.Tensor.from_numpy(X), 3, context=cpu).s, rsvd.compute(X, 3, context=cpu).s
    )
    with purlin.Tensor.borrow(arrow.array(X[:, 0]), context=cpu) as tensor:
        np.testing.assert_array_equal(tensor.numpy(), X[:, 0])


class TestColumnsThatMayLackValues:
    """NumPy shows them as objects."""

    def test_integers_are_converted(self, cpu: purlin.Context) -> None:
        pandas = pytest.importorskip("pandas")
        given = pandas.DataFrame({"a": pandas.array([1, 2, 4], "Int64"), "b": pandas.array([True, False, True], "boolean")})
        want = np.array([[1.0, 1.0], [2.0, 0.0], [4.0, 1.0]])
        np.testing.assert_array_equal(rsvd.compute(given, 2, context=cpu).s, rsvd.compute(want, 2, context=cpu).s)
        values, weights = pandas.Series([3, 1], dtype="Int64"), np.array([3.0, 1.0])
        with purlin.Tensor.borrow(values, context=cpu) as tensor:
            np.testing.assert_array_equal(tensor.numpy(), weights)

    def test_a_missing_value_is_named(self, cpu: purlin.Context) -> None:
        pandas = pytest.importorskip("pandas")
        given = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": pandas.array([1, None, 3], "Int64")})
        with pytest.raises(ValueError, match=r"^a: has no value at index \(1, 1\) \(from 0\); fill such places of column 'b'"):
            rsvd.compute(given, 2, context=cpu)
        assert rsvd.compute(given.fillna(0), 2, context=cpu).s.shape == (2,)

    def test_an_integer_that_would_be_rounded_is_refused(self, cpu: purlin.Context) -> None:
        pandas = pytest.importorskip("pandas")
        given = pandas.DataFrame({"a": pandas.array([1, 2**53 + 1], "Int64"), "b": pandas.array([0.5, 2.0**60], "Float64")})
        with pytest.raises(ValueError, match=r"^a: has 9007199254740993 at index \(1, 0\) \(from 0\), which float64"):
            rsvd.compute(given, 1, context=cpu)

    @pytest.mark.parametrize("column", [["1", "2"], [object(), 1.0]])
    def test_text_and_objects_are_refused(self, column: list[Any], cpu: purlin.Context) -> None:
        pandas = pytest.importorskip("pandas")
        with pytest.raises(TypeError, match="^a: is "):
            rsvd.compute(pandas.DataFrame({"a": column, "b": [1, 2]}), 1, context=cpu)


def of_kinds(package: str) -> tuple[Any, str, Any, str]:
    """A table with a column of text and one of categories, and that of text alone, each with what messages say of it."""
    names = ["x", "y", "x"]
    if package == "pandas":
        pandas = pytest.importorskip("pandas")
        given = pandas.DataFrame({"n": [1.0, 2.0, 3.0], "t": names, "c": pandas.Categorical(names)})
        of_text = given["t"].dtype
        return given, f"DataFrame with the columns 't' ({of_text}), 'c' (category)", given["t"], f"Series of type {of_text}"
    if package == "polars":
        polars = pytest.importorskip("polars")
        columns = {"n": [1.0, 2.0, 3.0], "t": names, "c": polars.Series(names, dtype=polars.Categorical)}
        given = polars.DataFrame(columns)
        return given, "DataFrame with the columns 't' (String), 'c' (Categorical)", given["t"], "Series of type String"
    arrow = pytest.importorskip("pyarrow")
    given = arrow.table({"n": [1.0, 2.0, 3.0], "t": names, "c": arrow.array(names).dictionary_encode()})
    return given, "Table with the columns 't' (string), 'c' (dictionary<", given["t"], "ChunkedArray of type string"


@pytest.mark.parametrize("package", ["pandas", "polars", "arrow"])
def test_columns_that_are_no_numbers_are_named(package: str, cpu: purlin.Context) -> None:
    given, of_table, column, of_column = of_kinds(package)
    for call, name in ((lambda: rsvd.compute(given, 1, context=cpu), "a"), (lambda: pca.PCA(1, context=cpu).fit(given), "X")):
        with pytest.raises(TypeError) as caught:
            call()
        text = str(caught.value)
        assert text.startswith(f"{name}: is a {of_table}") and text.endswith(", expected numbers"), text
    with pytest.raises(TypeError) as caught:
        purlin.Tensor.borrow(column, context=cpu)
    assert str(caught.value) == f"array: is a {of_column}, expected numbers"


def with_nulls(package: str) -> list[tuple[Any, str]]:
    """Tables and columns with a null, and what messages say of it."""
    table = "null at index (1, 0) (from 0); fill such places of column 'v', as by its fill_null(value)"
    column = "null at index 1 (from 0); fill such places, as by its fill_null(value)"
    columns = {"v": [1, None, 3], "w": [1.0, float("nan"), 3.0]}
    if package == "pandas":
        pandas = pytest.importorskip("pandas")
        whole = pandas.DataFrame({"v": pandas.array([1, None, 3], "Int64")})
        return [(whole, "no value at index (1, 0) (from 0); fill such places of column 'v', as by its fillna(value)")]
    if package == "polars":
        made = pytest.importorskip("polars").DataFrame(columns)
        return [(made, table), (made["v"], column)]
    arrow = pytest.importorskip("pyarrow")
    made = arrow.table(columns)
    return [(made, table), (made.to_batches()[0], table), (made["v"], column), (arrow.array([1, None, 3]), column)]


@pytest.mark.parametrize("package", ["pandas", "polars", "arrow"])
def test_nulls_are_not_called_nan(package: str, cpu: purlin.Context) -> None:
    for given, text in with_nulls(package):
        for call, name in (
            (lambda given=given: rsvd.compute(given, 1, context=cpu), "a"),
            (lambda given=given: purlin.Tensor.borrow(given, context=cpu), "array"),
        ):
            with pytest.raises(ValueError) as caught:
                call()
            assert str(caught.value) == f"{name}: has {text}"


@pytest.mark.parametrize("end", [".mtx", ".mtx.gz"])
def test_the_path_of_a_matrix_market_file_is_a_matrix(end: str, tmp_path: Path, cpu: purlin.Context) -> None:
    dense = np.diag(np.ones(19), 1)
    with sparse.from_dense(dense + dense.T, context=cpu) as held:
        path = tmp_path / f"path{end}"
        sparse.write_market(held, path)
        want = lanczos.solve(held, 3).values
    np.testing.assert_array_equal(lanczos.solve(path, 3, context=cpu).values, want)
    np.testing.assert_array_equal(lanczos.solve(str(path), 3, context=cpu).values, want)
    assert graph.embed(path, 2, context=cpu).values.shape == (2,)
    assert rsvd.compute(path, 3, context=cpu).U.shape == (20, 3)
    with purlin.Matrix.of(path, context=cpu) as made:
        assert made.storage == "csr" and made.nnz == 38


def test_a_path_that_leads_nowhere_is_named(tmp_path: Path, cpu: purlin.Context) -> None:
    with pytest.raises(OSError, match="none.mtx"):
        lanczos.solve(tmp_path / "none.mtx", 2, context=cpu)
    (tmp_path / "text.mtx").write_text("no matrix\n")
    with pytest.raises(purlin.Error, match="text.mtx"):
        lanczos.solve(tmp_path / "text.mtx", 2, context=cpu)


def test_itk_reads_the_volumes(tmp_path: Path, cpu: purlin.Context) -> None:
    itk = pytest.importorskip("itk")
    geometry = fdk.Geometry(12, 10, 2.0, 2.0, 100.0, 200.0, angles=np.arange(20) * np.pi / 10)
    grid = fdk.Grid((6, 5, 4), (1.0, 1.5, 2.0), (-2.5, -3.0, -3.0))
    path = tmp_path / "volume.mha"
    with fdk.Reconstruction(geometry, grid, context=cpu) as plan:
        views = plan.project(fdk.shepp_logan(5.0))
        want = plan.reconstruct(views)
        sink = blocks.Sink.to_metaimage(path, want.shape, spacing=grid.spacing[::-1], origin=grid.origin[::-1], context=cpu)
        with sink:
            plan.reconstruct(views, sink)
    image = itk.imread(str(path))
    np.testing.assert_array_equal(itk.array_from_image(image), want)
    np.testing.assert_allclose(list(image.GetSpacing()), grid.spacing)
    np.testing.assert_allclose(list(image.GetOrigin()), grid.origin)

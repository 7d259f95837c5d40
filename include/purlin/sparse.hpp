/// @file sparse.hpp
/// Sparse matrices made from coordinates, columns, dense matrices and files; turned, cut, made symmetric; measured.
#ifndef PURLIN_SPARSE_HPP
#define PURLIN_SPARSE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "matrix.hpp"
#include "tensor.hpp"

namespace purlin::sparse {

/// The caller's entries by rows and columns, in any order. `values` NULL = the pattern alone; `index_base` is 0 or 1.
template <class T, class Index = std::int64_t>
struct coordinates_view {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const Index* row_idx = nullptr;
  const Index* col_idx = nullptr;
  const T* values = nullptr;
  std::int32_t index_base = 0;
};

/// The caller's matrix in compressed sparse columns.
template <class T, class ColIndex = std::int64_t, class RowIndex = std::int32_t>
struct columns_view {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nnz = 0;
  const ColIndex* col_ptr = nullptr;
  const RowIndex* row_idx = nullptr;
  const T* values = nullptr;
  std::int32_t index_base = 0;
};

/// A copy of the entries as compressed rows; `duplicates` is one of `PURLIN_DUPLICATES_*`.
template <class T, class I>
matrix from_coordinates(const context& on, const coordinates_view<T, I>& view,
                        std::int32_t duplicates = PURLIN_DUPLICATES_SUM) {
  purlin_matrix* made = nullptr;
  const purlin_status status =
      purlin_matrix_from_coordinates(on.get(), dtype_of<T>, view.index_base, view.rows, view.cols, view.nnz,
                                     dtype_of<I>, view.row_idx, view.col_idx, view.values, duplicates, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// A copy of compressed columns as compressed rows. Of a symmetric matrix `matrix::borrow_csr` needs no copy.
template <class T, class C, class R>
matrix from_columns(const context& on, const columns_view<T, C, R>& view) {
  purlin_matrix* made = nullptr;
  const purlin_status status =
      purlin_matrix_from_columns(on.get(), dtype_of<T>, view.index_base, view.rows, view.cols, view.nnz, dtype_of<C>,
                                 view.col_ptr, dtype_of<R>, view.row_idx, view.values, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// The entries of a dense matrix whose modulus is over `threshold`.
inline matrix from_dense(const context& on, const matrix& a, double threshold = 0.0) {
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_from_dense(a.get(), threshold, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// Every entry, into a dense matrix of the same size and type.
inline void to_dense(const matrix& a, const matrix& out) { check(purlin_matrix_to_dense(a.get(), out.get())); }

/// Columns ascending in each row, every place once.
inline matrix canonical(const context& on, const matrix& a, std::int32_t duplicates = PURLIN_DUPLICATES_SUM) {
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_canonical(a.get(), duplicates, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// The places of the entries without values: every entry is 1.
inline matrix pattern(const context& on, const matrix& a) {
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_pattern(a.get(), &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// Without the entries whose modulus is at most `threshold`; with 0 without stored zeros.
inline matrix drop_zeros(const context& on, const matrix& a, double threshold = 0.0) {
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_drop_zeros(a.get(), threshold, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// A copy in the library's own memory, `PURLIN_HOST` or, in a context on a GPU, `PURLIN_DEVICE`.
inline matrix copy_to(const context& on, const matrix& a, purlin_location location) {
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_copy_to(a.get(), location, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// A^T, or A^H if `conjugate`, as a new matrix on the host.
inline matrix transpose(const context& on, const matrix& a, bool conjugate = false) {
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_transpose(a.get(), conjugate ? 1 : 0, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// A symmetric matrix from a square one; `rule` is one of `PURLIN_SYMMETRIZE_*`.
inline matrix symmetrize(const context& on, const matrix& a, std::int32_t rule = PURLIN_SYMMETRIZE_UNION) {
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_symmetrize(a.get(), rule, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// Row i of the result is row `rows[i]`, column j column `cols[j]`; an empty list keeps them.
inline matrix permute(const context& on, const matrix& a, const std::vector<std::int64_t>& rows,
                      const std::vector<std::int64_t>& cols = {}) {
  const purlin_matrix_info info = a.properties();
  for (const auto& [list, size] : {std::pair(&rows, info.rows), std::pair(&cols, info.cols)}) {
    if (!list->empty() && purlin::detail::length(*list) != size) {
      purlin::detail::refuse("permutation: has " + std::to_string(list->size()) + " elements, expected " +
                             std::to_string(size));
    }
  }
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_permute(a.get(), rows.empty() ? nullptr : rows.data(),
                                                     cols.empty() ? nullptr : cols.data(), &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// diag(rows) A diag(cols), each entry with a value; `rows` and `cols` are of A's type, and empty for ones.
inline matrix scale(const context& on, const matrix& a, const tensor& rows, const tensor& cols = {}) {
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_scale(a.get(), rows.get(), cols.get(), &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// An order of the vertices, one of `PURLIN_ORDERING_*`: `permute(on, a, list, list)` has it.
inline std::vector<std::int64_t> order(const context& on, const matrix& a, std::int32_t method) {
  std::vector<std::int64_t> list(purlin::detail::size(a.properties().rows));
  const tensor out = tensor::borrow(on, list);
  on.finish(purlin_matrix_order(a.get(), method, out.get()));
  return list;
}

/// The rows and columns listed, in that order.
inline matrix select(const context& on, const matrix& a, const std::vector<std::int64_t>& rows,
                     const std::vector<std::int64_t>& cols) {
  static const std::int64_t none = 0;
  const auto data = [](const std::vector<std::int64_t>& list) { return list.empty() ? &none : list.data(); };
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_select(a.get(), purlin::detail::length(rows), data(rows),
                                                    purlin::detail::length(cols), data(cols), &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

/// New values for a matrix in memory of the library; the structure stays.
inline void set_values(const matrix& a, const tensor& values) {
  check(purlin_matrix_set_values(a.get(), values.get()));
}

/// A Matrix Market file, plain or compressed by gzip.
inline matrix read_market(const context& on, const std::string& path, purlin_dtype dtype = PURLIN_DTYPE_OF_FILE) {
  purlin_matrix* made = nullptr;
  const purlin_status status = purlin_matrix_read_market(on.get(), purlin::detail::c_path(path), dtype, &made);
  return purlin::detail::adopt<matrix>(on, status, made);
}

inline void write_market(const matrix& a, const std::string& path, bool symmetric = false) {
  check(purlin_matrix_write_market(a.get(), purlin::detail::c_path(path), symmetric ? 1 : 0));
}

/// An edge list as a directed graph. With `vertices` they are numbered as they first come, and it takes, as a tensor of
/// PURLIN_I64, the number in the file of each.
inline matrix read_edges(const context& on, const std::string& path, bool weighted = false,
                         std::int32_t duplicates = PURLIN_DUPLICATES_FIRST, purlin_dtype dtype = PURLIN_F64,
                         tensor* vertices = nullptr) {
  purlin_matrix* made = nullptr;
  purlin_tensor* names = nullptr;
  const purlin_status status = purlin_matrix_read_edges(on.get(), purlin::detail::c_path(path), dtype, weighted ? 1 : 0, duplicates,
                                                        &made, vertices != nullptr ? &names : nullptr);
  tensor owner(names);
  matrix result = purlin::detail::adopt<matrix>(on, status, made);
  if (vertices != nullptr) *vertices = std::move(owner);
  return result;
}

inline void write_edges(const matrix& a, const std::string& path, bool symmetric = false) {
  check(purlin_matrix_write_edges(a.get(), purlin::detail::c_path(path), symmetric ? 1 : 0));
}

/// A norm in double precision, one of `PURLIN_NORM_*`.
inline double norm(const matrix& a, std::int32_t kind = PURLIN_NORM_FROBENIUS) {
  double value = 0.0;
  check(purlin_matrix_norm(a.get(), kind, &value));
  return value;
}

/// Throws if the entries fail one of `checks`, a set of `PURLIN_CHECK_*`.
inline void check_entries(const matrix& a, std::int32_t checks = PURLIN_CHECK_FULL) {
  check(purlin_matrix_check(a.get(), checks));
}

/// Whether A = A^H, within `tolerance` times the largest modulus.
inline bool is_symmetric(const matrix& a, double tolerance = 0.0) {
  std::int32_t answer = 0;
  check(purlin_matrix_is_symmetric(a.get(), tolerance, &answer));
  return answer != 0;
}

/// Sums of the rows: the degrees of a graph, into a vector of A's type.
inline void row_sums(const matrix& a, const tensor& sums) { check(purlin_matrix_row_sums(a.get(), sums.get())); }

/// The diagonal, into a vector of A's type.
inline void diagonal(const matrix& a, const tensor& out) { check(purlin_matrix_diagonal(a.get(), out.get())); }

}  // namespace purlin::sparse

#endif

// cuSPARSE for comparison, loaded at run time: SpMV by CSR_ALG1 and CSR_ALG2 after preprocessing, SpMM in either order.
#ifndef SPMV_PEER_CUH
#define SPMV_PEER_CUH

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

struct Peer {
  using Handle = void *;
  int (*create)(Handle *) = nullptr;
  int (*create_csr)(Handle *, int64_t, int64_t, int64_t, void *, void *, void *, int, int, int, int) = nullptr;
  int (*create_vector)(Handle *, int64_t, void *, int) = nullptr;
  int (*create_dense)(Handle *, int64_t, int64_t, int64_t, void *, int, int) = nullptr;
  int (*mv_size)(Handle, int, const void *, Handle, Handle, const void *, Handle, int, int, size_t *) = nullptr;
  int (*mv_prepare)(Handle, int, const void *, Handle, Handle, const void *, Handle, int, int, void *) = nullptr;
  int (*mv)(Handle, int, const void *, Handle, Handle, const void *, Handle, int, int, void *) = nullptr;
  int (*mm_size)(Handle, int, int, const void *, Handle, Handle, const void *, Handle, int, int, size_t *) = nullptr;
  int (*mm_prepare)(Handle, int, int, const void *, Handle, Handle, const void *, Handle, int, int, void *) = nullptr;
  int (*mm)(Handle, int, int, const void *, Handle, Handle, const void *, Handle, int, int, void *) = nullptr;
  Handle handle = nullptr;

  bool open() {
    void *library = nullptr;
    for (const char *name : {"libcusparse.so.12", "libcusparse.so.13", "libcusparse.so", "/usr/local/cuda/lib64/libcusparse.so.12"})
      if (library == nullptr) library = dlopen(name, RTLD_NOW);
    if (library == nullptr) return false;
    const auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(create, "cusparseCreate") && find(create_csr, "cusparseCreateCsr") && find(create_vector, "cusparseCreateDnVec") &&
           find(create_dense, "cusparseCreateDnMat") && find(mv_size, "cusparseSpMV_bufferSize") &&
           find(mv_prepare, "cusparseSpMV_preprocess") && find(mv, "cusparseSpMV") && find(mm_size, "cusparseSpMM_bufferSize") &&
           find(mm_prepare, "cusparseSpMM_preprocess") && find(mm, "cusparseSpMM") && create(&handle) == 0;
  }
};

// cuSPARSE's numbers.
constexpr int PEER_INDEX_32 = 2, PEER_BASE_0 = 0, PEER_PLAIN = 0, PEER_MV_ALG1 = 2, PEER_MV_ALG2 = 3, PEER_MM_ALG1 = 4, PEER_MM_ALG2 = 6,
              PEER_BY_COLUMNS = 1, PEER_BY_ROWS = 2;

#endif

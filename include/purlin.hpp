/// @file purlin.hpp
/// C++17 interface of purlin: header only, above the C interface in purlin.h.
///
/// Objects are move-only owners of the size of a pointer; a default-constructed one owns nothing. A failed call throws
/// `purlin::error`, which carries the status. Memory of the caller is used in place: any container with `data()` and
/// `size()` can be borrowed, and has to outlive the object that borrows it. Options are the C structs, already
/// initialized, with a `std::function` for progress where the C struct has a callback; an exception of a callback
/// cancels the call and is thrown again when the call has returned.
///
/// The calls follow the C names: `purlin_sshopm_solve_once` is `purlin::sshopm::solve`. Where C takes a stream, C++ takes
/// it last, and a default-constructed one means the context's own.
#ifndef PURLIN_HPP
#define PURLIN_HPP

#include "purlin/blocks.hpp"
#include "purlin/context.hpp"
#include "purlin/dwi.hpp"
#include "purlin/error.hpp"
#include "purlin/fdk.hpp"
#include "purlin/graph.hpp"
#include "purlin/lanczos.hpp"
#include "purlin/matrix.hpp"
#include "purlin/pca.hpp"
#include "purlin/rpca.hpp"
#include "purlin/rsvd.hpp"
#include "purlin/sparse.hpp"
#include "purlin/spmv.hpp"
#include "purlin/sshopm.hpp"
#include "purlin/symmetric.hpp"
#include "purlin/tensor.hpp"
#include "purlin/tt.hpp"
#include "purlin/tt_algebra.hpp"
#include "purlin/tt_contraction.hpp"

#endif

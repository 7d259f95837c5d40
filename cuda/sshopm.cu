// Fused SS-HOPM kernels for ternary forms (n = 3) of order 3, 4, 6 and 8; see sshopm_launch.h for the parameters.
//
//   purlin_sshopm_hybrid_n3m4_f32   Newton steps uphill, the hybrid; with method = POWER, power steps with the adaptive shift
//   purlin_sshopm_power_n3m4_f32    power steps with a fixed or the guaranteed shift
//   purlin_sshopm_newton_n3m4_f32   orthogonal Newton correction, start outputs only (pairs = 0)
//
// Blocks of PURLIN_LAUNCH_SOLVE_THREADS; dynamic shared memory as given with purlin_sshopm_params.
#include "sshopm_engine.cuh"

#define PURLIN_SOLVE(name, M, T, METHOD, BLOCKS)                                                                     \
  extern "C" __global__ void __launch_bounds__(PURLIN_LAUNCH_SOLVE_THREADS, BLOCKS)                                   \
      purlin_sshopm_##name(const __grid_constant__ purlin_sshopm_params p) {                                          \
    purlin::solve<M, T, METHOD>(p);                                                                                   \
  }

#define PURLIN_SOLVE_METHOD(name, METHOD, M, B32, B64)                                                                \
  PURLIN_SOLVE(name##_n3m##M##_f32, M, float, METHOD, B32)                                                            \
  PURLIN_SOLVE(name##_n3m##M##_f64, M, double, METHOD, B64)

#define PURLIN_SOLVE_ORDER(M, B32, B64)                                                                               \
  PURLIN_SOLVE_METHOD(hybrid, PURLIN_LAUNCH_HYBRID, M, B32, B64)                                                      \
  PURLIN_SOLVE_METHOD(power, PURLIN_LAUNCH_POWER, M, B32, B64)                                                        \
  PURLIN_SOLVE_METHOD(newton, PURLIN_LAUNCH_NEWTON, M, B32, B64)

// Resident blocks that the compiler must allow: as many as cause no spills in the loops; for order 4 the fastest on an H200.
PURLIN_SOLVE_ORDER(3, 6, 4)
PURLIN_SOLVE_METHOD(hybrid, PURLIN_LAUNCH_HYBRID, 4, 6, 5)
PURLIN_SOLVE_METHOD(power, PURLIN_LAUNCH_POWER, 4, 7, 4)
PURLIN_SOLVE_METHOD(newton, PURLIN_LAUNCH_NEWTON, 4, 6, 4)
PURLIN_SOLVE_ORDER(6, 5, 2)
PURLIN_SOLVE_ORDER(8, 4, 2)

!> purlin for Fortran: `use purlin` brings everything.
!>
!>     use purlin
!>     type(purlin_context) :: context
!>     real(real64) :: tensors(15, 1), values(3, 1), vectors(3, 3, 1)
!>     call context%create()
!>     call purlin_sshopm_solve_once(context, 4, 3, tensors, values, vectors)
!>
!> Objects (purlin_context, purlin_stream, purlin_tensor, purlin_matrix, purlin_source, purlin_sink, purlin_fdk,
!> purlin_rsvd, purlin_pca, purlin_rpca, purlin_spmv, purlin_lanczos, purlin_tt, purlin_tt_matrix, purlin_tt_contraction,
!> purlin_tt_environments) own a handle of the library: see purlin_execution. Every call has optional `stat` and `errmsg`,
!> which work as in `allocate`: with `stat` absent a failure stops the program with the library's message. `stat` is a
!> PURLIN_ERROR_* value, and like all of these of the kind int32 of iso_fortran_env, whatever a default integer is: with
!> -fdefault-integer-8 it is declared `integer(int32) :: stat`, or a compiler finds no specific procedure of the call.
!>
!> Numerical calls take arrays (purlin_arrays.inc, purlin_rsvd_arrays) or objects (purlin_symmetric, purlin_sshopm,
!> purlin_dwi, purlin_rsvd), which may lie on a GPU. Indices that a call returns are 1-based.
module purlin
  use purlin_types
  use purlin_library, only: purlin_version, purlin_build_info, purlin_status_string, purlin_last_error_message, &
    purlin_live_handles, purlin_string, purlin_device_count, purlin_device_properties, purlin_init
  use purlin_execution, only: purlin_context, purlin_group, purlin_stream
  use purlin_tensors, only: purlin_tensor
  use purlin_matrices, only: purlin_matrix
  use purlin_symmetric
  use purlin_sshopm_module
  use purlin_dwi_module
  use purlin_blocks, only: purlin_source, purlin_sink
  use purlin_fdk_module
  use purlin_rsvd_module, only: purlin_rsvd
  use purlin_pca_module
  use purlin_rpca_module
  use purlin_rsvd_arrays
  use purlin_sparse_arrays
  use purlin_sparse_module
  use purlin_spmv_module, only: purlin_spmv
  use purlin_lanczos_module
  use purlin_graph_module
  use purlin_tt_cores, only: purlin_tt_core
  use purlin_tt_module, only: purlin_tt
  use purlin_tt_matrix_module, only: purlin_tt_matrix
  use purlin_tt_contraction_module, only: purlin_tt_contraction
  use purlin_tt_environments_module, only: purlin_tt_environments
  use purlin_tt_plans_module
  use purlin_tt_once_module
  use purlin_tt_enqueued_module
  use purlin_tt_algebra_module
  use purlin_tt_entries_module
  use purlin_arrays_f32
  use purlin_arrays_f64
  implicit none
  public
end module purlin

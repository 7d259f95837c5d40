//! A test of every check on the CPU, and one on a GPU.

macro_rules! on_both_backends {
    ($($module:ident: $($check:ident)+;)+) => {
        mod on_a_cpu {$(
            mod $module {$(
                #[test]
                fn $check() {
                    super::super::super::$module::$check(&crate::testing::sparse::cpu(2));
                }
            )+}
        )+}

        mod on_a_gpu {$(
            mod $module {$(
                #[test]
                #[ignore = "needs a GPU"]
                fn $check() {
                    super::super::super::$module::$check(&crate::testing::sparse::gpu());
                }
            )+}
        )+}
    };
}

on_both_backends! {
    closed:
        closed_forms_are_met
        grids_have_the_sums_of_paths
        every_copy_of_a_multiple_eigenvalue_is_found
        three_copies_of_a_graph_have_its_values_three_times
        tight_clusters_are_found_with_every_copy
        clusters_have_the_space_that_is_known
        invariant_spaces_do_not_stop_the_search
    ;
    complete:
        no_copy_is_missing_by_default
        loose_tolerances_hide_no_copies
        no_copy_is_missing_whatever_the_method
        a_residual_that_contradicts_is_no_success
        restarts_that_run_out_contradict_nothing
        zero_eigenvalues_converge_to_roundings_of_the_norm
        options_without_effect_are_refused
        copies_of_zero_are_as_accurate_as_the_pairs_before_them
        all_pairs_of_a_cluster_as_wide_as_rounding_are_found
        a_loose_tolerance_leaves_out_nothing_nearer
        places_within_copies_and_grades_are_searched_in_bounds
    ;
    edges:
        absent_entries_are_zeros
        an_order_of_one_or_two_is_solved_by_every_method
        components_and_empty_rows_do_not_hide_values
        one_row_that_holds_everything_is_a_star
        operators_whose_terms_cancel_are_zero
        blocks_of_rounding_stay_orthogonal
        a_huge_range_keeps_its_absolute_accuracy_and_a_solve_the_relative_one
        rows_need_not_be_canonical
        numbers_that_are_not_finite_stop_a_solve
        one_wrong_product_is_no_norm_to_judge_by
        matrices_that_are_not_symmetric_are_refused_whatever_their_order
        a_space_may_be_as_large_as_the_whole
        the_search_is_orthogonal_to_known_vectors
        hermitian_matrices_and_single_precision
        isolated_vertices_add_zeros_to_the_normalized_laplacian
        runs_that_are_cut_short_return_what_converged
        operators_of_the_caller_are_used_and_their_errors_passed_on
        operators_of_the_caller_are_asked_for_whole_blocks
        known_vectors_may_leave_the_null_space_alone
        vectors_given_may_have_any_norm
        arguments_are_checked_and_named
    ;
    filtered_copies:
        copies_at_an_end_take_few_products
        copies_about_a_point_take_few_products
    ;
    given:
        a_solve_that_does_not_invert_is_named
        a_solve_that_inverts_is_not_named_where_restarts_end
        products_of_the_tests_of_what_is_given_are_counted
        known_vectors_that_are_no_eigenvectors_are_named
        a_matrix_that_is_not_finite_is_named_beside_a_solve
    ;
    methods:
        blocks_hold_the_copies_of_multiple_eigenvalues
        blocks_survive_invariant_spaces_and_types
        partial_orthogonality_costs_no_accuracy
        the_plain_recurrence_gives_pairs
        the_plain_recurrence_keeps_values_of_small_components
        the_plain_recurrence_skips_no_value
        filters_find_the_crowded_end
        filters_find_what_lies_within
        a_solve_of_the_callers_finds_what_is_nearest
        a_sigma_next_to_an_eigenvalue_leaves_digits_of_the_others
        options_that_exclude_each_other_are_refused
        the_plain_recurrence_accepts_nothing_that_is_no_eigenvalue
    ;
    plan_memory:
        runs_take_what_was_planned
        limits_are_promises
    ;
    recorded:
        graphs_have_the_recorded_eigenvalues
        adjacency_matrices_have_every_value_on_record
        laplacians_have_every_value_on_record
        normalized_adjacency_matrices_have_every_value_on_record
        the_karate_club_has_its_three_spectra
        a_stiffness_matrix_has_the_recorded_small_end_by_a_solve
    ;
    products:
        products_whose_squares_underflow_are_refused
        operators_of_low_rank_are_given_finite_vectors
    ;
    scales:
        multiples_of_the_identity_are_solved_by_every_method
        matrices_whose_squares_underflow_are_refused
        matrices_whose_squares_overflow_are_refused
        grams_whose_products_underflow_are_refused
        spaces_of_many_vectors_are_solved_at_every_scale
        what_is_nearest_is_found_or_the_solve_says_no
        ties_about_the_place_are_solved
        many_values_far_from_the_place_hide_none_near_it
        a_filter_of_no_use_is_given_up
        partial_orthogonality_gives_way_where_it_is_lost
        cancelling_is_heard_within_a_cycle
        progress_has_the_figures_of_the_header
        the_last_report_is_that_of_the_end
        a_basis_that_is_given_is_used_on_small_matrices_too
        a_verified_solve_takes_no_more_products_than_the_search
    ;
    singular:
        singular_values_come_through_either_operator
        graded_values_are_accurate_to_the_norm
        a_thousandth_in_single_precision_is_not_squared
        every_copy_of_a_singular_value_is_found
        values_of_a_deficient_matrix_are_zero_and_their_vectors_orthonormal
        start_vectors_and_wishes_for_vectors_are_heeded
        arguments_of_singular_values_are_named
        a_search_that_is_cut_short_says_so
        a_product_that_is_not_the_adjoints_is_no_success
        an_adjoint_of_another_matrix_is_refused
        values_of_zero_are_found_beside_empty_rows_and_columns
        values_of_zero_of_square_matrices_have_vectors_on_both_sides
        a_looser_tolerance_finds_what_the_default_one_does
    ;
    singular_plans:
        a_plan_counts_the_search_that_may_follow
    ;
}

function run_tests(golden, volume)
% RUN_TESTS  Runs every test of the package with the folders of the reference numbers and of the real volume.
  test_library();
  test_objects();
  test_symmetric();
  test_eigenpairs(golden);
  test_options(golden);
  test_option_values();
  test_arguments();
  test_messages();
  test_classes();
  test_diffusion(golden, volume);
  test_fdk(golden);
  test_rsvd();
  test_pca();
  test_rpca();
  test_spectra(golden);
  test_sparse();
  test_operators();
  test_tt();
  test_tt_contraction();
  test_interrupts();
  test_examples();
  test_gallery();
  purlin.release();
  check(purlin.live_handles() == 0, 'no handle is left');
  disp('all tests passed');
end

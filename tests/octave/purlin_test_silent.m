function purlin_test_silent()
% PURLIN_TEST_SILENT  Returns nothing.
end

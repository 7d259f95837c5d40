function purlin_test_nothing()
% PURLIN_TEST_NOTHING  Returns nothing.
end

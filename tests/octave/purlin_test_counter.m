function result = purlin_test_counter(plausible)
% PURLIN_TEST_COUNTER  Without arguments, returns the number of calls so far; as a progress function, counts and continues.
  persistent calls
  if isempty(calls)
    calls = 0;
  end
  if nargin == 0
    result = calls;
    return;
  end
  check(plausible, 'no more steps than there are');
  calls = calls + 1;
  result = false;
end

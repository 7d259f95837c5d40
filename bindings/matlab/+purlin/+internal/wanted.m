function [k, which, options] = wanted(name, count, given)
%WANTED  Reads GIVEN, the arguments behind A of the function NAME: K, WHICH and the cell of its options.
%   COUNT is the number of all arguments. K is 6 and WHICH 'largest' where they are absent or empty.
  purlin.internal.at_least(count, 1, name);
  given(end + 1:2) = {[]};
  [k, which] = given{1:2};
  options = given(3:end);
  if isempty(k)
    k = 6;
  end
  if isempty(which)
    which = 'largest';
  end
  purlin.internal.whole(k, 'k', 1);
  which = purlin.internal.which_of(which);
end

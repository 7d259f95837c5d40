function [k, which, options] = wanted(name, count, given)
%WANTED  Reads GIVEN, the arguments behind A of the function NAME: K, WHICH and the cell of its options.
%   COUNT is the number of all arguments. K is 6 and WHICH 'largest' where they are absent or empty. Options may begin in the
%   place of WHICH: a struct, or a pair whose name is none of the words for WHICH.
  purlin.internal.at_least(count, 1, name);
  if numel(given) > 1 && begins_options(given(2:end))
    given = [given(1), {[]}, given(2:end)];
  end
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

function yes = begins_options(rest)
%BEGINS_OPTIONS  Whether the cell REST is a struct of options or name/value pairs.
  yes = isstruct(rest{1}) && numel(rest) == 1;
  if ischar(rest{1}) && size(rest{1}, 1) == 1 && mod(numel(rest), 2) == 0
    [~, words] = purlin.internal.which_of('largest');
    yes = ~any(strcmp(rest{1}, words));
  end
end

function [k, which] = wanted(k, which)
%WANTED  How many values of which part of a spectrum: 6 and 'largest' where they are empty.
  if isempty(k)
    k = 6;
  end
  if isempty(which)
    which = 'largest';
  end
  purlin.internal.whole(k, 'k', 1);
  which = purlin.internal.which_of(which);
end

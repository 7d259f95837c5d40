function [which, words] = which_of(which)
%WHICH_OF  The word for a part of a spectrum; the words of eigs, svds and SciPy are answered with the word here.
%   WORDS are all these words.
  if isnumeric(which)
    error('purlin:invalidArgument', 'which: is a number; values near it are asked for by ''nearest'' with ''sigma'', %s', ...
          mat2str(which));
  end
  other = {'LA', 'largest'; 'largestreal', 'largest'; 'SA', 'smallest'; 'smallestreal', 'smallest'; ...
           'LM', 'largest_magnitude'; 'largestabs', 'largest_magnitude'; 'BE', 'both_ends'; 'bothendsreal', 'both_ends'; ...
           'SM', 'nearest'' with ''sigma'', 0, or of singular values ''smallest'; ...
           'smallestabs', 'nearest'' with ''sigma'', 0, or of singular values ''smallest'; ...
           'smallestnz', 'smallest'};
  words = [{'largest', 'smallest', 'largest_magnitude', 'both_ends', 'nearest'}, other(:, 1)'];
  if ischar(which)
    at = find(strcmp(which, other(:, 1)), 1);
    if ~isempty(at)
      error('purlin:invalidArgument', 'which: is ''%s''; it is ''%s'' here', which, other{at, 2});
    end
  end
end

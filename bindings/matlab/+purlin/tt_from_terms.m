function H = tt_from_terms(modes, terms, varargin)
%TT_FROM_TERMS  A sum of products of operators at single sites, a purlin.TTMatrix of small ranks.
%   H = purlin.tt_from_terms(modes, terms) with TERMS a cell of terms, each {coefficient, site, operator, site, operator, ..};
%   sites count from 1, operators are n-by-n. Names: 'cyclic' (false) lets terms go round a ring, 'dtype', 'complex'.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_ising, purlin.tt_heisenberg.
%
%   Example
%     Z = [1 0; 0 -1];
%     H = purlin.tt_from_terms([2 2 2], {{1, 1, Z, 2, Z}, {0.5, 3, Z}});
  purlin.internal.at_least(nargin, 2, 'tt_from_terms');
  opts = purlin.internal.options({'cyclic', 'dtype', 'complex'}, varargin);
  if ~iscell(terms)
    error('purlin:invalidArgument', 'terms: is of class %s, expected a cell array of terms', class(terms));
  end
  for k = 1:numel(terms)
    expect_term(terms{k}, k);
  end
  coefficients = cellfun(@(t) t{1}, terms);
  factors = cellfun(@(t) (numel(t) - 1) / 2, terms);
  sites = cell2mat(cellfun(@(t) reshape(cell2mat(t(2:2:end)), 1, []), terms(:)', 'UniformOutput', false));
  operators = cellfun(@(t) reshape(t(3:2:end), 1, []), terms(:)', 'UniformOutput', false);
  operators = [operators{:}];
  if isempty(terms)
    % No terms: zero.
    [sites, operators] = deal(zeros(1, 0), cell(1, 0));
  end
  H = purlin.TTMatrix(purlin_mex('tt_from_terms', purlin.internal.numbers(modes, 'modes'), double(coefficients), factors, ...
                                 double(sites), operators, opts));
end

function expect_term(term, k)
% Refuses all but {coefficient, site, operator, site, operator, ..}.
  if ~iscell(term) || mod(numel(term), 2) ~= 1
    error('purlin:invalidArgument', 'terms: term %d is not {coefficient, site, operator, ..}', k);
  end
  for at = [1, 2:2:numel(term)]
    if ~isnumeric(term{at}) || numel(term{at}) ~= 1
      error('purlin:invalidArgument', 'terms: element %d of term %d is not a number', at, k);
    end
  end
end

function check(A, varargin)
%CHECK  Refuses a sparse matrix that is not as asked for.
%   purlin.check(A) returns without an error if the rows that the library sees are sorted, no place is stored twice and
%   no value is NaN or infinite; else its error names the entry. Solvers meet such values only in their products.
%   purlin.check(A, what, ...) checks some of that: 'sorted', 'distinct', 'finite'. Only 'finite' can fail of a sparse array, the
%   others of a purlin.Matrix too.
%   Of a sparse array the library looks at the rows of A.' (compressed columns are the rows of the transpose): row and column in
%   the message are those of A.'.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.lanczos, purlin.spmv.
%
%   Example
%     W = sprand(100, 100, 0.1);
%     purlin.check(W, 'finite');
  purlin.internal.at_least(nargin, 1, 'check');
  words = {'sorted', 'distinct', 'finite'};
  for k = 1:numel(varargin)
    if ~ischar(varargin{k}) || ~any(strcmp(varargin{k}, words))
      error('purlin:invalidArgument', 'what: is none of %s', strjoin(words, ', '));
    end
  end
  wanted = cellfun(@(word) isempty(varargin) || any(strcmp(word, varargin)), words, 'UniformOutput', false);
  if isa(A, 'purlin.Matrix')
    A = A.key;
  elseif ~issparse(A)
    error('purlin:invalidArgument', 'A: is neither sparse nor a purlin.Matrix');
  elseif ~islogical(A)
    A = double(A);
  end
  purlin_mex('matrix_check', A, wanted{:});
end

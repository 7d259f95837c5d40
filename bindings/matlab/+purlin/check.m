function check(A)
%CHECK  Refuses a sparse matrix that holds a NaN or an infinity.
%   purlin.check(A) is silent if all is well; else its error names the entry. Solvers meet such values only in their products.
%   The library looks at the rows of A.' (compressed columns are the rows of the transpose): row and column in the message are
%   those of A.', counted from 0.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.lanczos, purlin.spmv.
%
%   Example
%     purlin.check(W);
  if ~issparse(A)
    error('purlin:invalidArgument', 'A: is not sparse');
  end
  purlin_mex('matrix_check', double(A));
end

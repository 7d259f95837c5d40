function z = tt_product_state(vectors)
%TT_PRODUCT_STATE  The tensor train of rank 1 of one vector a site.
%   z = purlin.tt_product_state(vectors) with a cell array of vectors: entry (i, j, ..) is vectors{1}(i)*vectors{2}(j)*..
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_ones.
%
%   Example
%     z = purlin.tt_product_state({[1 0], [0 1], [1 1]});
  purlin.internal.at_least(nargin, 1, 'tt_product_state');
  if ~iscell(vectors)
    error('purlin:invalidArgument', 'vectors: is of class %s, expected a cell array of vectors', class(vectors));
  end
  empty = find(cellfun(@isempty, vectors), 1);
  if ~isempty(empty)
    error('purlin:invalidArgument', 'vectors: vector %d is empty, at least 1 number is needed', empty);
  end
  columns = cellfun(@(v) reshape(purlin.internal.numbers(v, 'vectors', class(v)), [], 1), vectors(:), 'UniformOutput', false);
  z = purlin.TT(purlin_mex('tt_product_state', cellfun(@numel, vectors), vertcat(columns{:})));
end

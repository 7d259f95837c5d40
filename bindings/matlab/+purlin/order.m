function list = order(A, method)
%ORDER  An order of the vertices of a graph that brings together the entries that products gather.
%   list = purlin.order(A, 'degree') has the vertices with the longest rows of the sparse matrix A first, for power-law graphs;
%   purlin.order(A, 'cuthill_mckee') gives neighbours near numbers, for meshes. A(list, list) is in that order.
%
%   Errors: purlin:invalidArgument, purlin:outOfMemory.
%
%   See also purlin.SpmvPlan, symrcm.
%
%   Example
%     A = sprand(300, 300, 0.05);
%     A = double(A + A' > 0);
%     list = purlin.order(A, 'cuthill_mckee');
%     B = A(list, list);   % spy(B) shows it
  purlin.internal.at_least(nargin, 2, 'order');
  list = purlin_mex('matrix_order', purlin.internal.matrix(A, 'A'), method);
end

function info = tt_plan_gram(x, y, varargin)
%TT_PLAN_GRAM  The plan of purlin.tt_gram: method, operations, bytes, workspace.
%   info = purlin.tt_plan_gram(x, y, name, value, ...) takes the arguments of purlin.tt_gram. Method
%   and kernel are those of the first pair, the rest of all together; an empty Y stands for X.
%
%   Errors: purlin:invalidArgument, purlin:notSupported, purlin:outOfMemory.
%
%   See also purlin.tt_plan_inner, purlin.tt_gram.
%
%   Example
%     x = {{rand(1, 2, 3), rand(3, 2)}, {rand(1, 2, 2), rand(2, 2)}};
%     info = purlin.tt_plan_gram(x);
  purlin.internal.at_least(nargin, 1, 'tt_plan_gram');
  if nargin < 2
    y = [];
  end
  y = purlin.internal.other_trains(y);
  opts = purlin.internal.tt_options(varargin, 'a Gram matrix', {'norm_method', 'assume_hermitian'});
  info = purlin_mex('tt_plan_gram', purlin.internal.trains(x, 'x'), y, opts, false);
end

function [value, info, numerator, denominator] = tt_rayleigh(H, x, varargin)
%TT_RAYLEIGH  Rayleigh quotient <x|H|x> / <x|x> of a tensor train.
%   value = purlin.tt_rayleigh(H, x)
%   [value, info, numerator, denominator] = purlin.tt_rayleigh(H, x, name, value, ...) also gives both numbers, as
%   purlin.tt_inner_scaled does. H is a purlin.TTMatrix or a cell array of cores w-by-m-by-n-by-v.
%   Trains are purlin.TT objects or cell arrays of cores r-by-n-by-s, which are used in place.
%   Names, besides those of purlin.tt_inner: 'assume_hermitian' (false), the real part alone.
%
%   Errors: purlin:invalidArgument, purlin:numerical (a number that is not finite), purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_sandwich, purlin.tt_ising.
%
%   Example
%     e = purlin.tt_rayleigh(purlin.tt_heisenberg(2), {rand(1, 2, 3), rand(3, 2)});
  purlin.internal.at_least(nargin, 2, 'tt_rayleigh');
  opts = purlin.internal.tt_options(varargin, 'a Rayleigh quotient', {'norm_method', 'conjugate', 'kernel'});
  [value, info, numerator, denominator] = purlin_mex('tt_rayleigh', purlin.internal.train(H), ...
    purlin.internal.train(x), opts);
end

function H = tt_heisenberg(length, couplings, field, varargin)
%TT_HEISENBERG  Hamiltonian of a Heisenberg chain, a purlin.TTMatrix.
%   H = purlin.tt_heisenberg(length, [Jx Jy Jz], h) couples neighbouring spins by Jx Sx Sx + Jy Sy Sy + Jz Sz Sz, 1 by default,
%   in a field h along z, 0 by default. Names: 'twice_spin' (1), 'cyclic' (false), 'dtype' 'double' or 'single', 'complex'.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_ising, purlin.tt_from_terms.
%
%   Example
%     H = purlin.tt_heisenberg(10, [1 1 1], 0, 'cyclic', true);
  purlin.internal.at_least(nargin, 1, 'tt_heisenberg');
  if nargin < 2 || isempty(couplings)
    couplings = [1 1 1];
  end
  if nargin < 3 || isempty(field)
    field = 0;
  end
  opts = purlin.internal.options({'twice_spin', 'cyclic', 'dtype', 'complex'}, varargin);
  H = purlin.TTMatrix(purlin_mex('tt_heisenberg', length, purlin.internal.numbers(couplings, 'couplings'), field, opts));
end

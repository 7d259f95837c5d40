function H = tt_ising(length, coupling, field, varargin)
%TT_ISING  Hamiltonian of the transverse-field Ising chain, a purlin.TTMatrix.
%   H = purlin.tt_ising(length, J, h) is -J sum of sigma_x sigma_x over bonds - h sum of sigma_z over sites, with Pauli
%   matrices. Names: 'cyclic' (false) couples the last site to the first; 'dtype' 'double' or 'single'; 'complex'.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:outOfMemory.
%
%   See also purlin.tt_heisenberg, purlin.tt_from_terms.
%
%   Example
%     H = purlin.tt_ising(16, 1, 1);
  purlin.internal.at_least(nargin, 3, 'tt_ising');
  opts = purlin.internal.options({'cyclic', 'dtype', 'complex'}, varargin);
  H = purlin.TTMatrix(purlin_mex('tt_ising', length, coupling, field, opts));
end

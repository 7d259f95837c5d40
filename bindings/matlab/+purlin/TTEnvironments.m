classdef TTEnvironments < handle
%TTENVIRONMENTS  Environments of <y|H|x>, or of <y|x>, kept at the bonds of tensor trains for sweeps.
%   e = purlin.TTEnvironments(y, x), e = purlin.TTEnvironments(y, x, H, name, value, ...) with purlin.TT objects or cell
%   arrays of cores, and a purlin.TTMatrix; it keeps them. Of the names of purlin.tt_inner, 'scaling' and 'conjugate' count. Sites count from 1;
%   bond k lies before site k, so that there are bonds 1 to d+1.
%   build(e, side, bond)       a step of a sweep: the environment of 'left' or 'right' at a bond, and those on the way
%   update_core(e, k)          core K of the bra or of the ket has changed
%   set_trains(e, y, x, first, last)   other trains from now on, which differ in the cores FIRST to LAST and in the ranks
%                              between these alone: a two-site step; environments that do not depend on them are kept
%   [E, q] = get(e, side, bond)   the environment, ranks of bra, operator, boundary and ket, to be multiplied with 2^q
%   [w, q] = apply(e, k, v)    the effective operator of 0, 1 or 2 sites from K on times V, rank by modes by rank
%   [w, q] = apply(e, k, v, sites)   with the number of sites, needed where V fits several: a rank of 1 at its right end,
%                              as at the end of a chain, is no dimension of an array
%   s = value(e, bond)         <y|H|x> from the environments at a bond, as purlin.tt_inner_scaled gives it
%   s = local(e, k, op)        <y|A_k|x> with OP at site K, without H
%   delete(e)
%
%   Errors: purlin:invalidArgument, purlin:invalidHandle (a train that was deleted), purlin:outOfMemory.
%
%   See also purlin.TT, purlin.tt_sandwich.
%
%   Example
%     x = purlin.TT({rand(1, 2, 3), rand(3, 2)});
%     e = purlin.TTEnvironments(x, x, purlin.tt_ising(2, 1, 1));
%     s = value(e, 2);
  properties (SetAccess = private)
    key = uint64(0)
  end
  properties (Access = private)
    bra
    ket
    operator = []
  end
  methods
    function obj = TTEnvironments(y, x, H, varargin)
      purlin.internal.at_least(nargin, 2, 'TTEnvironments');
      % Cells are made trains here: these are kept.
      y = as_train(y);
      x = as_train(x);
      obj.bra = y;
      obj.ket = x;
      if nargin > 2
        if iscell(H)
          H = purlin.TTMatrix(H);
        end
        obj.operator = H;
      end
      opts = purlin.internal.tt_options(varargin);
      obj.key = purlin_mex('environments_create', purlin.internal.train(y), purlin.internal.train(x), ...
                           purlin.internal.train(obj.operator), opts);
    end

    function build(obj, side, bond)
      purlin.internal.at_least(nargin - 1, 2, 'TTEnvironments.build');
      purlin_mex('environments_build', obj.key, side, bond);
    end

    function update_core(obj, k)
      purlin.internal.at_least(nargin - 1, 1, 'TTEnvironments.update_core');
      purlin_mex('environments_update', obj.key, k);
    end

    function set_trains(obj, y, x, first, last)
      purlin.internal.at_least(nargin - 1, 4, 'TTEnvironments.set_trains');
      y = as_train(y);
      x = as_train(x);
      purlin_mex('environments_set_trains', obj.key, purlin.internal.train(y), purlin.internal.train(x), first, last);
      obj.bra = y;
      obj.ket = x;
    end

    function [values, exponent] = get(obj, side, bond)
      purlin.internal.at_least(nargin - 1, 2, 'TTEnvironments.get');
      [values, exponent] = purlin_mex('environments_get', obj.key, side, bond);
    end

    function [out, exponent] = apply(obj, k, v, sites)
      purlin.internal.at_least(nargin - 1, 2, 'TTEnvironments.apply');
      purlin.internal.whole(k, 'k', 1);
      ket = describe(obj.ket);
      bra = describe(obj.bra);
      bonds = numel(ket.ranks);
      candidates = 0:2;
      last = bonds;
      if nargin > 3
        purlin.internal.whole(sites, 'sites', 0);
        most = min(2, bonds - 1);
        if sites > most
          error('purlin:invalidArgument', 'sites: is %d, expected 0 to %d', sites, most);
        end
        candidates = sites;
        last = bonds - sites;
      end
      if k > last
        error('purlin:invalidArgument', 'k: is %d, expected 1 to %d', k, last);
      end
      fits = [];
      for n = candidates
        if k + n <= bonds && same_extents(size(v), [ket.ranks(k), ket.modes(k:k + n - 1), ket.ranks(k + n)])
          fits(end + 1) = n;
        end
      end
      if isempty(fits)
        error('purlin:invalidArgument', 'v: is %s, which are not ranks and modes of the ket from site %d on', mat2str(size(v)), k);
      end
      if numel(fits) > 1
        error('purlin:invalidArgument', 'sites: is needed, for v, %s, fits %d and %d sites from site %d on', ...
              mat2str(size(v)), fits(1), fits(2), k);
      end
      sites = fits;
      extents = [bra.ranks(k), bra.modes(k:k + sites - 1), bra.ranks(k + sites)];
      [out, exponent] = purlin_mex('environments_apply', obj.key, k, sites, v, extents);
    end

    function result = value(obj, bond)
      purlin.internal.at_least(nargin - 1, 1, 'TTEnvironments.value');
      result = purlin_mex('environments_value', obj.key, bond);
    end

    function result = local(obj, k, op)
      purlin.internal.at_least(nargin - 1, 2, 'TTEnvironments.local');
      result = purlin_mex('environments_value', obj.key, k, op);
    end

    function delete(obj)
      % Called again when the variable goes, and then a key that is gone already means nothing.
      purlin_mex('environments_destroy', obj.key);
    end
  end
end

function yes = same_extents(found, wanted)
% Whether an array has these extents; MATLAB drops trailing ones.
  found(end + 1:numel(wanted)) = 1;
  wanted(end + 1:numel(found)) = 1;
  yes = isequal(found, wanted);
end

function x = as_train(x)
  if iscell(x)
    x = purlin.TT(x);
  end
end

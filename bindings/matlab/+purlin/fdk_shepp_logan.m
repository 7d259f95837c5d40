function ellipsoids = fdk_shepp_logan(radius)
%FDK_SHEPP_LOGAN  The ten ellipsoids of the Shepp-Logan head in three dimensions.
%   ellipsoids = purlin.fdk_shepp_logan(radius) is 8-by-10: density, three half axes, centre and rotation about z (rad)
%   of each, for a head in a ball of RADIUS mm.
%
%   Errors: purlin:invalidArgument.
%
%   See also purlin.Fdk.
%
%   Example
%     f = purlin.Fdk(geometry);
%     p = ellipsoids(f, purlin.fdk_shepp_logan(60));
  ellipsoids = purlin_mex('fdk_shepp_logan', radius);
end

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
%     g = struct('detector_columns', 64, 'detector_rows', 48, 'column_pitch', 3, 'row_pitch', 3, 'source_to_axis', 500, ...
%                'source_to_detector', 1000, 'angles', (0:59) * pi / 30);
%     f = purlin.Fdk(g);
%     p = ellipsoids(f, purlin.fdk_shepp_logan(40));
%     delete(f);
  purlin.internal.at_least(nargin, 1, 'fdk_shepp_logan');
  ellipsoids = purlin_mex('fdk_shepp_logan', radius);
end

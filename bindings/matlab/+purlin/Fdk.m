classdef Fdk < handle
%FDK  A cone-beam reconstruction: made once, used for many scans.
%   f = purlin.Fdk(geometry, name, value, ...). GEOMETRY is a struct, lengths in mm, angles in rad:
%     detector_columns, detector_rows  pixels of the panel
%     column_pitch, row_pitch         their distances
%     source_to_axis, source_to_detector
%     angles                          of the views, in any order: a circular orbit; or
%     matrices                        3-by-4-by-views, from mm to pixel indices that begin at 0
%     column_offset, row_offset       shift of the panel, default 0
%     allow_inside_panel              a panel between source and axis, default false
%   Names:
%     'grid'          struct: size, spacing, origin, each [x y z], origin the centre of the first voxel (default: about
%                     the isocentre); without it cubes that match the panel
%     'window'        'none' (default), 'shepp_logan', 'cosine', 'hamming', 'hann'
%     'cutoff'        0 to 1, default 1
%     'redundancy'    'auto' (default), 'none', 'full', 'short', 'half_fan'
%     'edge'          'zero' (default) or 'skip', as RTK
%     'truncation'    width of the extrapolation of rows, 0 (default) to 1
%     'precision'     'single' (default) or 'double', a slow check
%     'mode'          'fdk' (default) or 'rabbitct'
%     'interpolation' 'exact' (default) or 'fast'
%     'fov_mask', 'allow_missing', 'allow_short_arc', 'sanitize'   logical, default false. Pixels that are not finite are
%                     counted in last_info(f).pixels_not_finite, in the panel rows that the volume is seen through; with
%                     'sanitize' they count as 0, else voxels become NaN
%     'output_scale', 'output_offset'   default 1 and 0
%     'slab', 'view_batch', 'fft_length'   default 0, which chooses
%     'devices'       further GPUs, by number, that slabs of the volume are distributed over, with the same bits
%     'progress'      @(step, steps, measure) that returns true to cancel
%
%   reconstruct(f, projections)          columns-by-rows-by-views, single, double or integers, to a single volume
%   reconstruct(f, input, output)        from and to files and functions: see purlin.fdk_reconstruct
%   begin(f), push(f, views, projections), finish(f)   a scan that arrives in pieces; views are numbered from 1
%   plan(f)                              the choices, and the plan of a run; the views pushed so far. Its 'grid' is
%                                        the struct of that name above
%   last_info(f)                         the report of the last run
%   [redundancy, angular] = weights(f)   the weights that a scan is reconstructed with: of rays that are measured
%                                        twice, columns-by-views, and of views, rad
%   set_counts(f, i0, dark)              the input is raw counts; i0 is a number or an image, [] ends it
%   weight, filter, backproject          the steps on their own
%   ellipsoids(f, e), ellipsoid_volume(f, e)   exact projections of ellipsoids, and the truth
%   delete(f)
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:io, purlin:outOfMemory.
%
%   See also purlin.fdk_reconstruct, purlin.fdk_shepp_logan.
%
%   Example
%     g = struct('detector_columns', 64, 'detector_rows', 48, 'column_pitch', 3, 'row_pitch', 3, 'source_to_axis', 500, ...
%                'source_to_detector', 1000, 'angles', (0:59) * pi / 30);
%     f = purlin.Fdk(g);
%     frames = ellipsoids(f, purlin.fdk_shepp_logan(40));
%     begin(f);
%     for view = 1:60
%       push(f, view, frames(:, :, view));
%     end
%     volume = finish(f);
%     delete(f);
  properties (SetAccess = private)
    key = uint64(0)
    geometry
  end
  properties (Access = private)
    watched = struct()
  end
  methods
    function obj = Fdk(geometry, varargin)
      purlin.internal.at_least(nargin, 1, 'Fdk');
      if ~isstruct(geometry) || numel(geometry) ~= 1
        error('purlin:invalidArgument', 'geometry: is not a struct');
      end
      known = {'detector_columns', 'detector_rows', 'column_pitch', 'row_pitch', 'source_to_axis', ...
               'source_to_detector', 'angles', ...
               'matrices', 'column_offset', 'row_offset', 'allow_inside_panel'};
      geometry = purlin.internal.options(known, {geometry}, cell(0, 2), 'geometry');
      names = [purlin.internal.option_names('fdk'), {'grid', 'devices', 'progress'}];
      opts = purlin.internal.options(names, varargin);
      grid = struct();
      if isfield(opts, 'grid') && ~isempty(opts.grid)
        if ~isstruct(opts.grid) || numel(opts.grid) ~= 1
          error('purlin:invalidArgument', 'grid: is not a struct');
        end
        grid = purlin.internal.options({'size', 'spacing', 'origin'}, {opts.grid}, cell(0, 2), 'grid');
      end
      obj.key = purlin_mex('fdk_create', geometry, grid, opts);
      obj.geometry = geometry;
      if isfield(opts, 'progress')
        obj.watched.progress = opts.progress;
      end
    end

    function volume = reconstruct(obj, projections, output)
      purlin.internal.at_least(nargin - 1, 1, 'Fdk.reconstruct');
      if nargin < 3
        output = [];
      end
      volume = purlin_mex('fdk_reconstruct', obj.key, purlin.internal.wrapped(projections), ...
                          purlin.internal.wrapped(output), obj.watched);
    end

    function begin(obj)
      purlin_mex('fdk_begin', obj.key);
    end

    function push(obj, views, projections)
      purlin.internal.at_least(nargin - 1, 2, 'Fdk.push');
      purlin_mex('fdk_push', obj.key, purlin.internal.numbers(views, 'views'), projections, obj.watched);
    end

    function volume = finish(obj, output)
      if nargin < 2
        output = [];
      end
      volume = purlin_mex('fdk_finish', obj.key, purlin.internal.wrapped(output), obj.watched);
    end

    function info = plan(obj)
      info = purlin_mex('fdk_plan', obj.key);
    end

    function info = last_info(obj)
      info = purlin_mex('fdk_last_info', obj.key);
    end

    function [redundancy, angular] = weights(obj)
      [redundancy, angular] = purlin_mex('fdk_weights', obj.key, obj.geometry.detector_columns, views(obj));
    end

    function set_counts(obj, i0, dark, epsilon)
      purlin.internal.at_least(nargin - 1, 1, 'Fdk.set_counts');
      if nargin < 3
        dark = [];
      end
      if nargin < 4
        epsilon = 0;
      end
      if isnumeric(i0) && isscalar(i0) && ~(i0 > 0)
        error('purlin:invalidArgument', 'i0: is %g, expected above 0, or [] for line integrals', double(i0));
      end
      [number, image] = purlin.internal.number_or_image(i0);
      purlin_mex('fdk_set_counts', obj.key, number, image, purlin.internal.numbers(dark, 'dark'), epsilon);
    end

    function out = weight(obj, views, projections)
      purlin.internal.at_least(nargin - 1, 2, 'Fdk.weight');
      out = purlin_mex('fdk_weight', obj.key, purlin.internal.numbers(views, 'views'), projections);
    end

    function out = filter(obj, views, weighted)
      purlin.internal.at_least(nargin - 1, 2, 'Fdk.filter');
      out = purlin_mex('fdk_filter', obj.key, purlin.internal.numbers(views, 'views'), weighted);
    end

    function volume = backproject(obj, views, filtered, volume)
      purlin.internal.at_least(nargin - 1, 3, 'Fdk.backproject');
      volume = purlin_mex('fdk_backproject', obj.key, purlin.internal.numbers(views, 'views'), filtered, volume);
    end

    function projections = ellipsoids(obj, list)
      purlin.internal.at_least(nargin - 1, 1, 'Fdk.ellipsoids');
      g = obj.geometry;
      projections = purlin_mex('fdk_ellipsoids', obj.key, list, g.detector_columns, g.detector_rows, views(obj));
    end

    function volume = ellipsoid_volume(obj, list)
      purlin.internal.at_least(nargin - 1, 1, 'Fdk.ellipsoid_volume');
      volume = purlin_mex('fdk_ellipsoid_volume', obj.key, list);
    end

    function n = views(obj)
      if isfield(obj.geometry, 'angles')
        n = numel(obj.geometry.angles);
      else
        n = size(obj.geometry.matrices, 3);
      end
    end

    function delete(obj)
      % Called again when the variable goes, and then a key that is gone already means nothing.
      purlin_mex('fdk_destroy', obj.key);
    end
  end
end

function [volume, info] = fdk_reconstruct(projections, geometry, varargin)
%FDK_RECONSTRUCT  A volume from cone-beam projections, in one call.
%   volume = purlin.fdk_reconstruct(projections, geometry, name, value, ...). PROJECTIONS are line integrals,
%   columns-by-rows-by-views, of class single, double or an integer class, and are used where they lie; VOLUME is
%   single, nx-by-ny-by-nz. GEOMETRY and the names are those of purlin.Fdk.
%   [volume, info] = ... also has the report: see last_info of purlin.Fdk.
%
%   Neither end need fit in memory. PROJECTIONS may also be
%     the name of an .mha, .mhd or .tif file, or a cell of the names of .tif files;
%     a struct that describes a raw file: file, size, dtype ('single'), offset (0), endianness ('little');
%     a struct with a function: read, size, dtype ('double'). block = read(first, count) returns the elements from the
%     indices FIRST on, COUNT along each of the three axes; a run may ask for a block more than once;
%   and 'output', the name of an .mha, .mhd or .tif file or such a struct without the size, takes the volume, as class
%   'single' unless the struct says otherwise; VOLUME is then empty. A file gets its name when all is well. A struct with a function write gets write(first, count, block),
%   once for each element. An error of the functions ends the run.
%   'counts', i0 or {i0, dark}: the projections are raw counts.
%
%   Errors: purlin:invalidArgument, purlin:cancelled, purlin:io, purlin:outOfMemory.
%
%   See also purlin.Fdk, purlin.fdk_shepp_logan, purlin.fdk_log_transform.
%
%   Example
%     g = struct('detector_columns', 64, 'detector_rows', 48, 'column_pitch', 3, 'row_pitch', 3, 'source_to_axis', 500, ...
%                'source_to_detector', 1000, 'angles', (0:59) * pi / 30);
%     f = purlin.Fdk(g);
%     lines = ellipsoids(f, purlin.fdk_shepp_logan(40));
%     delete(f);
%     volume = purlin.fdk_reconstruct(lines, g);
%     name = tempname();   % the same from raw counts in a file, to a file
%     file = fopen(name, 'w');
%     fwrite(file, 60000 * exp(-lines / 100), 'uint16');
%     fclose(file);
%     scan = struct('file', name, 'size', size(lines), 'dtype', 'uint16');
%     purlin.fdk_reconstruct(scan, g, 'counts', 60000, 'output', [name, '.mha']);
%     delete(name);
%     delete([name, '.mha']);
  purlin.internal.at_least(nargin, 2, 'fdk_reconstruct');
  if numel(varargin) == 1 && isstruct(varargin{1})
    given = varargin{1};
  elseif mod(numel(varargin), 2) == 0
    given = struct();
    for k = 1:2:numel(varargin)
      if ~ischar(varargin{k})
        error('purlin:invalidArgument', 'options: there is no argument of class %s; names are text', class(varargin{k}));
      end
      given.(varargin{k}) = varargin{k + 1};
    end
  else
    error('purlin:invalidArgument', 'options: are not name/value pairs or a struct');
  end
  output = [];
  if isfield(given, 'output')
    output = given.output;
    given = rmfield(given, 'output');
  end
  counts = [];
  if isfield(given, 'counts')
    counts = given.counts;
    given = rmfield(given, 'counts');
  end
  plan = purlin.Fdk(geometry, given);
  if ~isempty(counts)
    if ~iscell(counts)
      counts = {counts};
    end
    set_counts(plan, counts{:});
  end
  volume = reconstruct(plan, projections, output);
  if nargout > 1
    info = last_info(plan);
  end
  delete(plan);
end

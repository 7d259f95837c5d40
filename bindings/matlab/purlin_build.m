function purlin_build(prefix, folder)
%PURLIN_BUILD  Builds purlin_mex, the gateway of the package purlin, with MATLAB or Octave.
%   purlin_build() builds against the installation this file lies in.
%   purlin_build(prefix) builds against the libpurlin installed under PREFIX.
%   purlin_build(prefix, folder) puts purlin_mex into FOLDER instead of beside this file. Both FOLDER and the folder
%   of +purlin must then be on the path.
%
%   Needs a C compiler (mex -setup C in MATLAB; mkoctfile in Octave, which needs a C++ compiler too), and MATLAB R2018a
%   or Octave 7 at least: older Octaves pass complex sparse matrices in another way, which gives wrong numbers.
%
%   Example
%     addpath /usr/local/share/purlin/matlab
%     purlin_build
  if exist('OCTAVE_VERSION', 'builtin')
    purlin.internal.require_octave(OCTAVE_VERSION());
  end
  here = fileparts(mfilename('fullpath'));
  if nargin < 1 || isempty(prefix)
    prefix = fullfile(here, '..', '..', '..');
  end
  if nargin < 2 || isempty(folder)
    folder = here;
  end
  if ~exist(fullfile(prefix, 'include', 'purlin.h'), 'file')
    error('purlin:notFound', 'purlin_build: there is no include/purlin.h under %s', prefix);
  end
  if ~exist(folder, 'dir')
    error('purlin:notFound', 'purlin_build: there is no folder %s', folder);
  end
  include = absolute(fullfile(prefix, 'include'));
  lib = absolute(library_folder(prefix));
  folder = absolute(folder);
  names = {'purlin_mex', 'errors', 'context', 'arguments', 'elements', 'arrays', 'progress', 'symmetric', 'sshopm', 'dwi', ...
           'functions', 'blocks', 'fdk', 'rsvd', 'pca', 'rpca', 'tt', 'tt_contraction', 'tt_plan', ...
           'tt_algebra', 'spectra', 'spmv', 'graph', 'sparse', 'objects', ...
           'classes'};
  sources = cellfun(@(name) absolute(fullfile(here, 'src', [name, '.c'])), names, 'UniformOutput', false);
  rpath = ['-Wl,-rpath,', lib];
  if exist('OCTAVE_VERSION', 'builtin')
    % mkoctfile leaves object files in the current folder.
    old = pwd();
    work = tempname();
    mkdir(work);
    restore = onCleanup(@() leave(old, work));
    make_path_absolute();
    cd(work);
    sources{end + 1} = absolute(fullfile(here, 'src', 'exceptions.cpp'));
    [report, status] = mkoctfile('--mex', '-DPURLIN_OCTAVE', ['-I', include], sources{:}, ['-L', lib], '-lpurlin', rpath, ...
                                 '-o', fullfile(folder, 'purlin_mex.mex'));
    if status ~= 0
      error('purlin:build', 'purlin_build: mkoctfile failed: %s', report);
    end
    clear restore;
  else
    mex('-R2018a', ['-I', include], sources{:}, ['-L', lib], '-lpurlin', ['LDFLAGS=$LDFLAGS ', rpath], ...
        '-outdir', folder, '-output', 'purlin_mex');
  end
end

function lib = library_folder(prefix)
  names = {'lib', 'lib64', fullfile('lib', 'x86_64-linux-gnu'), fullfile('lib', 'aarch64-linux-gnu')};
  for k = 1:numel(names)
    lib = fullfile(prefix, names{k});
    if exist(fullfile(lib, 'libpurlin.so'), 'file')
      return;
    end
  end
  error('purlin:notFound', 'purlin_build: there is no lib/libpurlin.so under %s', prefix);
end

function path = absolute(path)
  [found, info] = fileattrib(path);
  if found
    path = info.Name;
  end
end

function make_path_absolute()
% Octave drops relative folders from the path when the current folder changes.
  folders = strsplit(path(), pathsep());
  for k = 1:numel(folders)
    if ~strcmp(folders{k}, '.')
      folders{k} = make_absolute_filename(folders{k});
    end
  end
  path(strjoin(folders, pathsep()));
end

function leave(old, work)
  cd(old);
  rmdir(work, 's');
end

function test_library()
% TEST_LIBRARY  Version, devices, context: properties and failures.
  [number, text] = purlin.version();
  check(number >= 100 && number == floor(number), 'a version');
  check(ischar(text) && ~isempty(strfind(text, 'purlin')), 'a line about the build');
  check(isstruct(purlin.devices()) && isfield(purlin.devices(), 'memory_total'), 'a list of GPUs');
  purlin.release();
  check(purlin.live_handles() == 0, 'nothing lives before the first call');
  purlin.configure('backend', 'cpu', 'threads', 2);
  check(purlin.live_handles() == 1, 'one context');
  info = purlin.context_info();
  check(strcmp(info.backend, 'cpu') && info.threads == 2, 'as configured');
  purlin.configure(struct('threads', 1, 'host_memory_limit', 123456789));
  info = purlin.context_info();
  check(strcmp(info.backend, 'cpu') && info.threads == 1, 'options that are not named stay');
  check(info.host_memory_limit == 123456789, 'the limit');
  purlin.configure('host_memory_limit', 0);
  check_error('purlin:invalidArgument', 'expected one of auto, cpu, cuda', @() purlin.configure('backend', 'gpu'));
  check_error('purlin:invalidArgument', 'there is no bakend', @() purlin.configure('bakend', 'cpu'));
  check_error('purlin:invalidArgument', 'threads', @() purlin.configure('threads', -3));
  check_error('purlin:invalidArgument', 'whole', @() purlin.configure('threads', 1.5));
  check_error('purlin:invalidArgument', 'name/value', @() purlin.configure('threads'));
  check_error('purlin:invalidArgument', 'device: is 100, the backend CPU has no device', ...
              @() purlin.configure('backend', 'cpu', 'device', 100));
  check_error('purlin:invalidArgument', 'device_memory_limit: is 4096, the backend CPU has no device memory', ...
              @() purlin.configure('backend', 'cpu', 'device_memory_limit', 4096));
  check_error('purlin:noDevice', '', @() purlin.configure('backend', 'auto', 'device', 100));
  if isempty(purlin.devices())
    check_error('purlin:noDevice', '', @() purlin.configure('backend', 'cuda'));
  end
  info = purlin.context_info();
  check(info.threads == 1, 'a refused setting changes nothing');
  c = purlin.codes();
  check(c.TENSOR_OK == 0 && c.PAIR_UNSTABLE ~= c.PAIR_NEGATIVE_STABLE, 'codes');
  % Before Octave 7 complex sparse matrices are silently wrong, so the gateway is not built for it.
  for version = {'6.2.0', '6.4.0', '4.4.1', '', 'x'}
    check_error('purlin:notSupported', 'at least 7 is needed', @() purlin.internal.require_octave(version{1}));
  end
  for version = {'7.1.0', '7.3.0', '8.4.0', '10.1.0', '9.0.0~rc1'}
    purlin.internal.require_octave(version{1});
  end
  if exist('OCTAVE_VERSION', 'builtin')
    builds_from_7_on();
  end
  too_few();
  too_few_of_classes();
  check_error('purlin:invalidArgument', 'there is no command', @() purlin_mex('nonsense'));
  check_error('purlin:invalidArgument', 'not a command', @() purlin_mex());
  check_error('purlin:invalidArgument', 'has 2 arguments', @() purlin_mex('symmetric_count', 4));
end

function builds_from_7_on()
% BUILDS_FROM_7_ON  purlin_build asks for the version of Octave before anything else.
  folder = tempname();
  mkdir(folder);
  remove = onCleanup(@() rmdir(folder, 's'));
  file = fopen(fullfile(folder, 'OCTAVE_VERSION.m'), 'w');
  fprintf(file, 'function version = OCTAVE_VERSION()\n  version = ''6.2.0'';\nend\n');
  fclose(file);
  % A prefix without purlin and a folder that is not there would be refused next.
  build = @() purlin_build(folder, fullfile(folder, 'none'));
  check_error('purlin:notFound', 'purlin.h', build);
  state = warning('off', 'Octave:shadowed-function');
  restore = onCleanup(@() warning(state));
  addpath(folder);
  off = onCleanup(@() rmpath(folder));
  check_error('purlin:notSupported', 'this is Octave 6.2.0, at least 7 is needed', build);
end

function too_few()
% TOO_FEW  Every function that needs arguments reports their number when it has none.
  files = dir(fullfile(fileparts(which('purlin.version')), '*.m'));
  count = 0;
  for k = 1:numel(files)
    [~, name] = fileparts(files(k).name);
    text = fileread(fullfile(fileparts(which('purlin.version')), files(k).name));
    if ~strncmp(text, 'function', 8) || isempty(strfind(text, 'purlin.internal.at_least('))
      continue;
    end
    check_error('purlin:invalidArgument', [name, ': has 0 arguments, at least '], str2func(['purlin.', name]));
    count = count + 1;
  end
  check(count >= 104, 'all functions were tried');
end

function too_few_of_classes()
% TOO_FEW_OF_CLASSES  So does every constructor and method of a class that needs arguments.
  folder = fileparts(which('purlin.version'));
  angles = (0:11) * pi / 6;
  panel = struct('detector_columns', 8, 'detector_rows', 4, 'column_pitch', 3, 'row_pitch', 3, 'source_to_axis', 500, ...
                 'source_to_detector', 1000, 'angles', angles);
  train = purlin.TT({rand(1, 2, 3), rand(3, 2, 1)});
  made = struct('Fdk', purlin.Fdk(panel), 'PcaModel', purlin.PcaModel(1), 'SpmvPlan', purlin.SpmvPlan(speye(3)), ...
                'TTEnvironments', purlin.TTEnvironments(train, train));
  count = 0;
  for file = dir(fullfile(folder, '*.m'))'
    [~, class_name] = fileparts(file.name);
    text = fileread(fullfile(folder, file.name));
    % Every method but those that take the object alone begins with a check.
    heads = regexp(text, '\n    function (?:[^\n]*= *)?(\w+)\((obj, [^\n]*)\)\n([^\n]*)', 'tokens');
    for k = 1:numel(heads)
      % One is private, the other's argument may be left out.
      is_free = any(strcmp(heads{k}{1}, {'run', 'finish'}));
      check(is_free || ~isempty(strfind(heads{k}{3}, 'purlin.internal.at_least(nargin - 1, ')), ...
            [class_name, '.', heads{k}{1}, ' counts its arguments']);
    end
    names = regexp(text, 'at_least\(nargin(?: - 1)?, \d, ''([\w.]+)''\)', 'tokens');
    for k = 1:numel(names)
      name = names{k}{1};
      if ~strncmp(text, 'classdef', 8)
        continue;
      end
      [class_of, method] = strtok(name, '.');
      if isempty(method)
        call = str2func(['purlin.', name]);
      else
        object = made.(class_of);
        call = @() feval(method(2:end), object);
      end
      check_error('purlin:invalidArgument', [name, ': has 0 arguments, at least '], call);
      count = count + 1;
    end
  end
  check(count == 29, 'all methods were tried');
  delete(made.Fdk);
  delete(made.PcaModel);
  delete(made.SpmvPlan);
  delete(made.TTEnvironments);
  delete(train);
end

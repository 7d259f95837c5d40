function test_examples()
% TEST_EXAMPLES  Runs the example of every help text as it is printed, each in a workspace and a folder of its own.
  package = fileparts(which('purlin.version'));
  files = [dir(fullfile(package, '*.m')); dir(fullfile(package, '..', '*.m'))];
  folders = [repmat({package}, numel(dir(fullfile(package, '*.m'))), 1); ...
             repmat({fullfile(package, '..')}, numel(dir(fullfile(package, '..', '*.m'))), 1)];
  % It builds the gateway, which run.sh has done; Contents.m lists the functions.
  without = {'purlin_build.m', 'Contents.m'};
  old = pwd();
  work = tempname();
  mkdir(work);
  restore = onCleanup(@() leave(old, work));
  cd(work);
  count = 0;
  failed = {};
  for k = 1:numel(files)
    if any(strcmp(files(k).name, without))
      continue;
    end
    code = example_of(fullfile(folders{k}, files(k).name));
    check(~isempty(code), [files(k).name, ' has an example']);
    count = count + 1;
    try
      run_alone(code);
    catch caught
      failed{end + 1} = sprintf('%s: %s', files(k).name, caught.message); %#ok<AGROW>
    end
  end
  clear restore;
  check(~isempty(strfind(evalc('help purlin.Contents'), 'sshopm_solve_all')), 'the list of functions is shown');
  fprintf('%d examples of help texts, %d failed\n', count, numel(failed));
  if ~isempty(failed)
    fprintf('  %s\n', failed{:});
  end
  check(isempty(failed), 'every example runs as it is printed');
  check(count > 100, 'the examples were found');
end

function code = example_of(path)
% EXAMPLE_OF  The lines below "Example" in the first comment of a file, without the comment's marks.
  lines = strsplit(fileread(path), sprintf('\n'), 'CollapseDelimiters', false);
  code = '';
  found = false;
  begun = false;
  for k = 1:numel(lines)
    text = strtrim(lines{k});
    if isempty(text) || text(1) ~= '%'
      if begun
        break;
      end
      continue;
    end
    begun = true;
    text = text(2:end);
    if found
      code = [code, text, sprintf('\n')]; %#ok<AGROW>
    end
    found = found || strcmp(strtrim(text), 'Example');
  end
end

function run_alone(code)
% RUN_ALONE  Runs code in a scope without the test's variables, except for the code's own text.
  purlin.configure('backend', 'cpu');
  evalc(code);
end

function leave(old, work)
  cd(old);
  if exist('OCTAVE_VERSION', 'builtin')
    confirm_recursive_rmdir(false, 'local');
  end
  rmdir(work, 's');
end

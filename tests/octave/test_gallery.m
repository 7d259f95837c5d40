function test_gallery()
% TEST_GALLERY  Runs every program of the package's examples: a number of each, and the picture that it writes.
  folder = fullfile(fileparts(which('purlin.version')), '..', 'examples');
  addpath(folder);
  work = tempname();
  mkdir(work);
  restore = onCleanup(@() leave(folder, work));
  picture = fullfile(work, 'picture.png');
  programs = {'ct', @() ct(picture, 64) < 0.01, [128, 384]; ...
              'eigenpairs', @() eigenpairs(picture), [480, 480]; ...
              'fibres', @() fibres([], picture) < 4, [480, 480]; ...
              'snapshots', @() snapshots(600, 80, picture) < 1, [300, 900]; ...
              'clusters', @() clusters(1500, picture) == 1, [480, 480]; ...
              'trains', @() trains(picture, 12) < 1e-8, [480, 480]};
  files = dir(fullfile(folder, '*.m'));
  check(numel(files) == size(programs, 1), 'every example is run here');
  for k = 1:size(programs, 1)
    check(programs{k, 2}(), [programs{k, 1}, ' finds the known result']);
    image = imread(picture);
    check(isequal([size(image, 1), size(image, 2)], programs{k, 3}), [programs{k, 1}, ' writes its picture']);
    % Neither blank nor a few stray points.
    check(std(double(image(:))) > 20, [programs{k, 1}, ' draws something']);
    delete(picture);
  end
end

function leave(folder, work)
  rmpath(folder);
  if exist('OCTAVE_VERSION', 'builtin')
    confirm_recursive_rmdir(false, 'local');
  end
  rmdir(work, 's');
end

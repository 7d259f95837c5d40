function test_interrupts()
% TEST_INTERRUPTS  Ctrl-C in a function that the library calls, and in a call without one, ends the call and nothing else.
  if ~exist('OCTAVE_VERSION', 'builtin')
    return;
  end
  expect_prompt('purlin.rsvd(rand(200, 100), 5, ''progress'', @(a, b, c) pressed(false));');
  expect_prompt('purlin.rpca(rand(60, 30), ''progress'', @(a, b, c) pressed(false));');
  expect_prompt('purlin.sshopm_solve_all(rand(15, 50), 4, 3, ''progress'', @(a, b, c) pressed(false));');
  expect_prompt('purlin.rsvd(struct(''apply'', @(X, adjoint) pressed(ones(30, 30) * X), ''size'', [30 30]), 3);');
  expect_prompt('purlin.rsvd(struct(''read'', @(first, count) pressed(ones(count)), ''size'', [40 30]), 3);');
  expect_prompt('purlin.lanczos(struct(''apply'', @(X, adjoint) pressed(diag(1:30) * X), ''size'', [30 30]), 3);');
  expect_prompt(['purlin.rpca(rand(60, 30), ''sparse'', struct(''write'', @(first, count, block) ', ...
                 'pressed(false)));']);
  % These calls take more than a minute of a processor, and their objects have no function of the user's.
  expect_soon('', 'purlin.rsvd(rand(2000, 500), 100, ''power_iterations'', 20000, ''method'', ''fused'')', '');
  views = 10000;
  scan = sprintf(['g = struct(''detector_columns'', 8, ''detector_rows'', 8, ''column_pitch'', 30, ''row_pitch'', 30, ', ...
                  '''source_to_axis'', 500, ''source_to_detector'', 1000, ''angles'', (0:%d) * 2 * pi / %d); ', ...
                  'f = purlin.Fdk(g, ''grid'', struct(''size'', [256 256 256], ''spacing'', [.4 .4 .4])); ', ...
                  'lines = ones(8, 8, %d, ''single'');'], views - 1, views, views);
  expect_soon([scan, ' begin(f);'], sprintf('push(f, 1:%d, lines)', views), 'delete(f);');
  expect_soon(scan, 'reconstruct(f, lines)', 'delete(f);');
  expect_soon(['c = purlin.TTContraction(); core = rand(1000, 2, 1000); ', ...
               'x = [{rand(1, 2, 1000)}, repmat({core}, 1, 6000), {rand(1000, 2)}];'], ...
              'purlin.tt_inner(x, x, c)', 'delete(c);');
end

function expect_soon(before, call, after)
% Another process sends the signal a second after CALL began, which ends soon: on a busy machine by the processor's time.
  expect_prompt([before, ' system(sprintf(''(sleep 1; kill -INT %d) > /dev/null 2>&1 &'', getpid())); ', ...
                 'began = cputime(); ', ...
                 'unwind_protect, ', call, '; unwind_protect_cleanup, ', after, ...
                 ' if cputime() - began < 30, disp(''soon''), end, end_unwind_protect'], 'soon');
end

function expect_prompt(call, more)
% Runs CALL in a process of its own, and says whether later calls are right and the call did not return.
  script = [tempname(), '.m'];
  file = fopen(script, 'w');
  fprintf(file, ['1;\nfunction value = pressed(value)\n  kill(getpid(), SIG().INT);\n  for k = 1:4000, pause(0.005); end\n', ...
                 'end\npath(''%s'');\npurlin.configure(''backend'', ''cpu'', ''threads'', 1);\n', ...
                 'unwind_protect\n  %s\n  disp(''it returned'');\nunwind_protect_cleanup\n', ...
                 '  printf(''later %%d, handles %%d\\n'', abs(purlin.rsvd(magic(4), 1) - 34) < 1e-12, ', ...
                 'purlin.live_handles());\nend_unwind_protect\n'], path(), call);
  fclose(file);
  [~, said] = system(['octave-cli -q --no-init-file "', script, '" 2>&1']);
  delete(script);
  said = strrep(said, 'error: ignoring const execution_exception& while preparing to exit', '');
  check(~isempty(strfind(said, 'later 1, handles 1')), ['after Ctrl-C in ', call, ': ', said]);
  check(isempty(strfind(said, 'it returned')), ['the call went on: ', call]);
  check(isempty(strfind(said, 'error: ')), ['another error in ', call, ': ', said]);
  if nargin > 1
    check(~isempty(strfind(said, more)), ['it took long: ', call, ': ', said]);
  end
end

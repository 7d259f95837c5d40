function test_classes()
% TEST_CLASSES  Arguments of any class give a result or an error of the package; none ends the process.
% A process of its own makes the calls of every function of the package, with each argument in turn replaced by values of other
% classes. Where it dies, the next one goes on after the call.
  if ~exist('OCTAVE_VERSION', 'builtin')
    return;
  end
  names_of_arguments();
  structs();
  folder = tempname();
  mkdir(folder);
  gone = onCleanup(@() remove(folder));
  first = 1;
  deaths = {};
  finished = false;
  while ~finished
    [~, said] = system(sprintf(['cd ''%s'' && octave-cli -q --no-init-file --no-history --eval ', ...
                                '"path(''%s''); call_with_any_class(%d);" 2>&1'], folder, path(), first));
    finished = ~isempty(strfind(said, 'all calls made'));
    if ~finished
      file = fopen(fullfile(folder, 'call.txt'), 'r');
      check(file >= 0, ['the process made no call: ', said]);
      call = fgetl(file);
      fclose(file);
      deaths{end + 1} = call; %#ok<AGROW>
      first = sscanf(call, '%d') + 1;
      check(numel(deaths) < 20, ['processes died in ', strjoin(deaths, '; ')]);
    end
    wrong = regexp(said, 'wrong: [^\n]*', 'match');
    check(isempty(wrong), strjoin(wrong, '; '));
  end
  check(isempty(deaths), ['processes died in ', strjoin(deaths, '; ')]);
end

function names_of_arguments()
% The message has the name of the argument, and where in it the value lies.
  M = purlin.Matrix(speye(2));
  x = purlin.tt_ones([2 2]);
  refused = {'i: is of class function_handle, expected numbers', @() purlin.from_coordinates(@sin, [1 2], [1 2], 2, 2); ...
             'i: is of class purlin.Matrix, expected numbers', @() purlin.from_coordinates(M, [1 2], [1 2], 2, 2); ...
             'm: is of class function_handle', @() purlin.from_coordinates([1 2], [1 2], [1 2], @sin, 2); ...
             'seed: is of class function_handle', @() purlin.rsvd(magic(4), 2, 'seed', @sin); ...
             'x{2}: is of class purlin.Matrix', @() purlin.tt_norm({ones(1, 2), M}); ...
             'bond: is of class function_handle', @() build(purlin.TTEnvironments(x, x), 'left', @sin)};
  for k = 1:size(refused, 1)
    check_error('purlin:invalidArgument', refused{k, 1}, refused{k, 2});
  end
  nested = 1;
  for k = 1:1000
    nested = {nested};
  end
  check_error('purlin:invalidArgument', 'is nested deeper than', @() purlin.tt_norm(nested));
end

function structs()
% A struct is a matrix only where it is an operator of purlin.graph_operator_of_image.
  product = struct('apply', @(X, adjoint) 2 * X, 'size', [5 5]);
  operator = purlin.graph_operator_of_image(rand(3, 4));
  check(size(purlin.spmv(operator, ones(12, 1)), 1) == 12, 'the graph of an image');
  check_error('purlin:invalidArgument', 'has a field ''apply''', @() purlin.Matrix(setfield(operator, 'apply', 1)));
  plan = purlin.SpmvPlan(speye(5));
  for given = {struct(), product, struct('pixels', {1, 2}), struct('pixels', []), struct('pixels', {})}
    S = given{1};
    check_error('purlin:invalidArgument', 'array: is a struct', @() purlin.Matrix(S));
    check_error('purlin:invalidArgument', 'A: is a struct', @() purlin.SpmvPlan(S));
    check_error('purlin:invalidArgument', 'A: is a struct', @() update(plan, S));
    check_error('purlin:invalidArgument', 'A: is a struct', @() purlin.spmv(S, ones(5, 1)));
  end
  check_error('purlin:invalidArgument', 'expected an operator of purlin.graph_operator_of_image', @() purlin.Matrix(struct()));
end

function remove(folder)
  confirm_recursive_rmdir(false, 'local');
  rmdir(folder, 's');
end

function test_library()
% TEST_LIBRARY  Version, devices, context: what they say and how they fail.
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
  check(strcmp(info.backend, 'cpu') && info.threads == 1, 'what is not named stays');
  check(info.host_memory_limit == 123456789, 'the limit');
  purlin.configure('host_memory_limit', 0);
  check_error('purlin:invalidArgument', 'expected one of auto, cpu, cuda', @() purlin.configure('backend', 'gpu'));
  check_error('purlin:invalidArgument', 'there is no bakend', @() purlin.configure('bakend', 'cpu'));
  check_error('purlin:invalidArgument', 'threads', @() purlin.configure('threads', -3));
  check_error('purlin:invalidArgument', 'whole', @() purlin.configure('threads', 1.5));
  check_error('purlin:invalidArgument', 'name/value', @() purlin.configure('threads'));
  if isempty(purlin.devices())
    check_error('purlin:noDevice', '', @() purlin.configure('backend', 'cuda'));
  end
  info = purlin.context_info();
  check(info.threads == 1, 'a refused setting changes nothing');
  c = purlin.codes();
  check(c.TENSOR_OK == 0 && c.PAIR_UNSTABLE ~= c.PAIR_NEGATIVE_STABLE, 'codes');
  check_error('purlin:invalidArgument', 'there is no command', @() purlin_mex('nonsense'));
  check_error('purlin:invalidArgument', 'not a command', @() purlin_mex());
  check_error('purlin:invalidArgument', 'has 2 arguments', @() purlin_mex('symmetric_count', 4));
end

function value = wrapped(value)
%WRAPPED  Wraps the functions of a struct that describes a source, a sink or a matrix, so that their errors are returned.
  if ~isstruct(value) || numel(value) ~= 1
    return;
  end
  % Functions deliver doubles unless their description says otherwise, as described_dtype of the gateway has it.
  type = {'double', false};
  names = {'dtype', 'complex'};
  for n = 1:2
    if isfield(value, names{n}) && ~isempty(value.(names{n}))
      type{n} = value.(names{n});
    end
  end
  if handle(value, 'read')
    read = value.read;
    value.read = @(first, count) purlin.internal.called('read', type, prod(count), read, first, count);
  end
  if handle(value, 'write')
    write = value.write;
    value.write = @(first, count, block) purlin.internal.called('write', {}, 0, write, first, count, block);
  end
  if handle(value, 'apply')
    apply = value.apply;
    sizes = [];   % which the gateway refuses
    if isfield(value, 'size')
      sizes = value.size;
    end
    value.apply = @(X, adjoint) purlin.internal.called('apply', type, sizes(1 + adjoint) * size(X, 2), apply, X, adjoint);
  end
end

function yes = handle(value, name)
  yes = isfield(value, name) && isa(value.(name), 'function_handle');
end

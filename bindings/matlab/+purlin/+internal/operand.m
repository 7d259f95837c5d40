function matrix = operand(A, opts)
%OPERAND  A matrix for the eigensolver: a symmetric one, but any for the kinds that make a symmetric operator of it.
  if isfield(opts, 'kind') && any(strcmp(opts.kind, {'gram', 'outer_gram', 'augmented'}))
    matrix = purlin.internal.matrix(A, 'A');
  else
    matrix = purlin.internal.symmetric_matrix(A, 'A');
  end
end

function s = values(S)
%VALUES  Singular values as a column, from a vector or a diagonal matrix.
  if ~isnumeric(S) && ~islogical(S)
    error('purlin:invalidArgument', 'S: is of class %s, expected numbers', class(S));
  end
  if ~isvector(S)
    S = diag(S);
  end
  s = S(:);
end

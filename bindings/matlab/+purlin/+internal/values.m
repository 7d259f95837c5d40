function s = values(S)
%VALUES  Singular values as a column, from a vector or a diagonal matrix.
  if ~isvector(S)
    S = diag(S);
  end
  s = S(:);
end

function yes = single_class(name)
%SINGLE_CLASS  Whether a dtype is 'single'; refuses any but 'single' and 'double'.
  if ~ischar(name) || ~any(strcmp(name, {'double', 'single'}))
    error('purlin:invalidArgument', 'dtype: is not double or single');
  end
  yes = strcmp(name, 'single');
end

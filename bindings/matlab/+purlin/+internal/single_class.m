function yes = single_class(name)
%SINGLE_CLASS  Whether a dtype is 'single'; refuses any but 'single' and 'double'.
  purlin.internal.dtype_word(name);
  yes = strcmp(name, 'single');
end

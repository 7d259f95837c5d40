function s = scaled_list(mantissas, exponents)
%SCALED_LIST  Numbers with exponents of their own as a struct of arrays, with the fields of purlin.tt_inner_scaled.
  size_of = abs(mantissas);
  phase = mantissas ./ size_of;
  phase(size_of == 0) = 0;
  s = struct('mantissa', mantissas, 'exponent', exponents, 'log_abs', log(size_of) + exponents * log(2), 'phase', phase);
end

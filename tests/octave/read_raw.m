function array = read_raw(path, precision, rows)
% READ_RAW  Little-endian numbers of a file, ROWS in a column.
  file = fopen(path, 'r', 'ieee-le');
  check(file >= 0, ['opening ', path]);
  array = fread(file, [rows, Inf], precision);
  fclose(file);
end

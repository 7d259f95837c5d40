function opts = peaks_options(given, more)
%PEAKS_OPTIONS  The options of a search for peaks, and the names in MORE, from name/value pairs or a struct.
  names = {'basis', 'relative_threshold', 'absolute_threshold', 'min_separation', 'format', 'missing', 'layout', ...
           'starts', 'start_kind', 'seed', 'method', 'max_iterations', 'tolerance', 'merge_angle'};
  opts = purlin.internal.options([names, more], given);
end

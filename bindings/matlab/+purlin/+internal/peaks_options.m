function opts = peaks_options(given, more)
%PEAKS_OPTIONS  The options of a search for peaks, and the names in MORE, from name/value pairs or a struct.
  names = [purlin.internal.option_names('peaks'), {'basis', 'layout'}];
  opts = purlin.internal.options([names, more], given);
end

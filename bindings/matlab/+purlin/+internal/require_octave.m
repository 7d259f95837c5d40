function require_octave(version)
%REQUIRE_OCTAVE  Refuses an Octave whose version, a text such as OCTAVE_VERSION, is below 7.
%   Versions below 7 hand the values of complex sparse matrices to a gateway in another way, and would give wrong numbers.
  major = sscanf(version, '%d', 1);
  if isempty(major) || major < 7
    error('purlin:notSupported', ...
          'purlin_build: this is Octave %s, at least 7 is needed: older ones pass complex sparse matrices wrongly', version);
  end
end

# Whether two programs print the same directions: awk -f same_directions.awk ONE OTHER
# Compared are the lines "(x, y, z)  dx dy dz  value", numbers within two units of the last of their four digits.
/^ *\([0-9]+, [0-9]+, [0-9]+\)/ {
  gsub(/[(),]/, " ")
  if (FILENAME == ARGV[1]) { one[++count] = $0; next }
  seen++
  if (split(one[seen], a) != split($0, b)) bad = 1
  for (i in b) if (a[i] - b[i] > 2.1e-4 || b[i] - a[i] > 2.1e-4) bad = 1
  if (bad) { print "differs: " one[seen] " and " $0; exit }
}
END {
  if (bad || count == 0 || count != seen) { print "directions: " count + 0 " and " seen + 0; exit 1 }
  print "the same " count " directions"
}

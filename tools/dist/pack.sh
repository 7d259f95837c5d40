#!/usr/bin/env bash
# Packs a folder so that the same files give the same bytes.
#
#   pack.sh FOLDER ARCHIVE       ARCHIVE ends in .tar.xz or .tar.gz
set -euo pipefail
folder=$1
case $2 in
*.tar.xz) compress='xz -9e -T1' ;;
*.tar.gz) compress='gzip -9n' ;;
*) echo "$2: neither .tar.xz nor .tar.gz" >&2 && exit 1 ;;
esac
tar -C "$(dirname "$folder")" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --mode='u+rwX,go+rX,go-w' -cf - "$(basename "$folder")" | $compress >"$2.partial"
mv "$2.partial" "$2"

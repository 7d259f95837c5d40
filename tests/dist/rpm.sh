# In a Debian with rpm and compilers: both packages are installed, verified, used and removed. This needs no mirror of Fedora
# or RHEL. Their dependency on glibc by its name is not checked, because Debian's package has another name.
packages=(/dist/purlin-[0-9]*.rpm /dist/purlin-devel-*.rpm)
# The loader of Fedora and RHEL looks there.
echo /usr/lib64 >/etc/ld.so.conf.d/lib64.conf
rpm --initdb
echo "== install"
rpm -i --nodeps "${packages[@]}"
rpm -V --nodeps purlin purlin-devel
rpm -ql purlin purlin-devel >/tmp/files
while read -r file; do
    [ -e "$file" ] || { echo "$file: is missing, or a link to nothing" && exit 1; }
done </tmp/files
soname=$(readlink /usr/lib64/libpurlin.so)
[ "$(rpm -q --provides purlin | grep -c "^$soname()(64bit)")" = 1 ] || { echo "no package provides $soname" && exit 1; }
# Only the package's own script has run ldconfig since.
[ -n "$(ldconfig -p | grep "$soname ")" ] || { echo "the loader does not find $soname" && exit 1; }
mkdir /work
cd /work
export PKG_CONFIG_PATH=/usr/lib64/pkgconfig
echo "== pkg-config"
# shellcheck disable=SC2046
cc -std=c99 /source/tests/package/main.c -o by_pkg_config $(pkg-config --cflags --libs purlin)
./by_pkg_config
# CMake of Fedora and RHEL looks in lib64 by itself.
echo "== CMake"
cmake -S /source/tests/dist -B build -DPurlin_DIR=/usr/lib64/cmake/Purlin
cmake --build build
for program in build/dist_*; do "$program"; done
echo "== remove"
rpm -e purlin-devel purlin
[ -z "$(ldconfig -p | grep libpurlin)" ] || { echo "the loader still lists libpurlin" && exit 1; }
while read -r file; do
    case $file in
    *[Pp]urlin*) [ ! -e "$file" ] || { echo "$file: is left" && exit 1; } ;;
    esac
done </tmp/files

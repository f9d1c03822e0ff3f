#!/bin/sh
# Run as root of a tree of Debian 11 with the source in /build: compiles the server for each machine of the arguments (GNU triplets), side
# by side, and leaves what it consists of in /build/TRIPLET.tar. Nothing here depends on when, where and by whom it is run: server.ts holds
# the bytes against a checksum.
set -eu
export LC_ALL=C TZ=UTC PATH=/usr/sbin:/usr/bin:/sbin:/bin
umask 022

source=/build/source
mkdir "$source"
tar -C "$source" --strip-components=1 -xf /build/*.orig.tar.*
tar -C "$source" -xf /build/*.debian.tar.*
# All that Debian has changed but its directories: the programs find theirs from where they are (src/port/path.c).
grep -v '^#' "$source/debian/patches/series" | while read -r patch; do
  test "$patch" = 50-per-version-dirs.patch || patch --quiet -d "$source" -p1 -i "debian/patches/$patch"
done
# The one that makes the time zones runs here, whatever machine the server is for; libc's is too old for these.
zic=/build/zic/src/timezone/zic
cp -a "$source" /build/zic
cd /build/zic
./configure --quiet --build=x86_64-linux-gnu --without-icu --without-readline --without-zlib
make --silent --jobs="$(nproc)" -C src/timezone zic

# What it could only find out by running a program of the other machine. Without the second, the server's modules find none of its functions.
export pgac_cv_prog_cc_LDFLAGS__Wl___as_needed=yes pgac_cv_prog_cc_LDFLAGS_EX_BE__Wl___export_dynamic=yes
# The one program that uses the client library contains it, and has PostgreSQL's names of encodings under the names that programs use.
private="-Wl,--defsym=pg_char_to_encoding=pg_char_to_encoding_private,--defsym=pg_encoding_to_char=pg_encoding_to_char_private"
build() {
  make --silent --jobs="$(nproc)" MAKELEVEL=0 ZIC_OPTIONS="-b slim" libpq_pgport="../../interfaces/libpq/libpq.a $private" "$@"
}

compile() {
  machine=$1
  work=/build/$machine
  cp -a "$source" "$work"
  cd "$work"
  ./configure --quiet --build=x86_64-linux-gnu --host="$machine" --prefix=/usr/local --disable-rpath \
    --without-icu --without-readline --without-zlib \
    CC="$machine-gcc" AR="$machine-gcc-ar" RANLIB="$machine-gcc-ranlib" STRIP="$machine-strip" ZIC="$zic" \
    CFLAGS="-O2 -fPIE -fstack-protector-strong -fstack-clash-protection" CPPFLAGS="-D_FORTIFY_SOURCE=2" \
    LDFLAGS="-Wl,-z,relro,-z,now" LDFLAGS_EX="-pie"
  build -C src/backend generated-headers
  for part in src/backend src/include/catalog src/bin/initdb src/timezone src/backend/snowball src/pl/plpgsql/src contrib/amcheck; do
    build -C "$part"
    build -C "$part" install DESTDIR="$work/out"
  done

  cd out/usr/local
  # Samples and grammars are what initdb reads; headers and what builds extensions are nothing to a server.
  find . -type f ! -path './bin/postgres' ! -path './bin/initdb' ! -path './share/*' \
    ! -path './lib/postgresql/amcheck.so' ! -path './lib/postgresql/dict_snowball.so' ! -path './lib/postgresql/plpgsql.so' -delete
  find bin lib -type f -exec "$machine-strip" --strip-unneeded --remove-section=.comment {} +
  find bin lib share -type f -printf '%p\n' | sort | tar --create --file="/build/$machine.tar" --no-recursion --files-from=- \
    --format=ustar --hard-dereference --owner=0 --group=0 --numeric-owner --mtime=@0 --mode=u=rwX,go=rX
}

# Neither uses two processors all the time: configure and the linker have one each.
running=""
for each in "$@"; do
  compile "$each" &
  running="$running $!"
done
for each in $running; do wait "$each"; done

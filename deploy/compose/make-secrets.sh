# Runs in the database's image, as root, before the database and the service start. What is there stays as it is.
set -eu
umask 077

# 32 random bytes in the file, as hexadecimal digits, unless it is there: in one step, so that half of them never are.
random() {
  test -s "$1" && return
  od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$1.part"
  mv "$1.part" "$1"
}

for name in superuser owner service; do random "/secrets/database/$name"; done
random /secrets/service/audit-key
url() { printf 'postgres://%s:%s@database/uam' "$1" "$(cat "/secrets/database/$2")"; }
url uam service >/secrets/service/database-url
url uam_owner owner >/secrets/service/database-owner-url

chown -R postgres /secrets/database
# The numeric user of the service's image.
chown -R 990:990 /secrets/service
# Where the service puts its socket; Caddy comes as root.
chown 990:990 /run/uam
chmod 0700 /run/uam

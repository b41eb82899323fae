// Prints the definitions of PHP files as the package `php-parser` reads them: PATH, line, kind, name and container, separated by
// tabs. usage: node php.mjs < LIST-OF-FILES, in a folder with that package. Kinds: namespace, class, interface, trait, enum,
// variant, function, method, property, constant, and `optional` for what only a function or an unnamed class sees. A file that
// does not parse prints PATH and `unreadable`.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const { Engine } = createRequire(`${process.cwd()}/`)("php-parser");
const engine = new Engine({ parser: { extractDoc: false, php8: true, version: "8.4" }, ast: { withPositions: true, withSource: false } });

for (const path of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const text = readFileSync(path, "utf8");
  let tree;
  try {
    tree = engine.parseCode(text, path);
  } catch {
    process.stdout.write(`${path}\tunreadable\n`);
    continue;
  }
  const print = (kind, node, container, isLocal) => {
    const name = typeof node.name === "string" ? node.name : node.name.name;
    if (!name) return;
    const at = typeof node.name === "string" ? from(node, name) : (node.name.loc ? node.name.loc.start.line : from(node, name));
    process.stdout.write(`${path}\t${at}\t${isLocal ? "optional" : kind}\t${name}\t${container}\n`);
  };
  // The line of the first whole word in a node that is its name.
  const from = (node, name) => {
    const own = text.slice(node.loc.start.offset, node.loc.end.offset);
    const at = own.search(new RegExp(`(?<![\\w$])\\$?${name.replace(/\\/g, "\\\\")}(?!\\w)`));
    return node.loc.start.line + own.slice(0, Math.max(at, 0)).split("\n").length - 1;
  };
  const visit = (node, container, isLocal) => {
    if (!node || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach((one) => visit(one, container, isLocal));
    let [inner, local] = [container, isLocal];
    switch (node.kind) {
      case "namespace":
        if (node.name) print("namespace", node, "", false);
        break;
      case "class":
      case "interface":
      case "trait":
      case "enum":
        if (node.name) print(node.kind, node, container, isLocal);
        inner = node.name?.name ?? "";
        local = isLocal || !node.name;
        break;
      case "function":
        print("function", node, container, isLocal);
        local = true;
        break;
      case "method":
        print("method", node, container, isLocal);
        for (const parameter of node.arguments) if (parameter.flags || parameter.readonly) print("property", parameter, container, isLocal);
        local = true;
        break;
      case "traitalias":
        if (node.as) process.stdout.write(`${path}\t${node.as.loc.start.line}\tmethod\t${node.as.name}\t${container}\n`);
        break;
      case "closure":
      case "arrowfunc":
        local = true;
        break;
      case "enumcase":
        print("variant", node, container, isLocal);
        break;
      case "property":
        print("property", node, container, isLocal);
        break;
      case "constant":
        print("constant", node, container, isLocal);
        break;
    }
    for (const [key, value] of Object.entries(node)) if (key !== "loc" && key !== "comments" && key !== "leadingComments") visit(value, inner, local);
  };
  visit(tree, "", false);
}

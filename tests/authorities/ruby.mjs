// Prints the definitions of Ruby files as Prism reads them: PATH, line, kind, name and container, separated by tabs.
// usage: node ruby.mjs < LIST-OF-FILES, in a folder with the package `@ruby/prism`. Kinds: class, module, method, constant,
// attribute (of `attr_reader` and its kin, and of a struct), and `optional` for what a block or method defines. A file with errors
// prints PATH and `unreadable`.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const { loadPrism } = await import(pathToFileURL(require.resolve("@ruby/prism")));
const parse = await loadPrism();

for (const path of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const bytes = readFileSync(path);
  const starts = [0];
  bytes.forEach((byte, at) => byte === 10 && starts.push(at + 1));
  const lineOf = (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
  const result = parse(bytes.toString("utf8"));
  if (result.errors.length) {
    process.stdout.write(`${path}\tunreadable\n`);
    continue;
  }
  const print = (kind, name, location, container) =>
    process.stdout.write(`${path}\t${lineOf(location.startOffset)}\t${kind}\t${name}\t${container}\n`);
  const isStruct = (node) => node?.constructor.name === "CallNode" && /^(Struct\.new|Data\.define)$/.test(`${node.receiver?.name}.${node.name}`);
  const visit = (node, container, isLocal) => {
    const kind = node.constructor.name;
    let [inner, local] = [container, isLocal];
    if (kind === "ClassNode" || kind === "ModuleNode") {
      print(kind === "ClassNode" ? "class" : "module", node.name, node.constantPath.nameLoc ?? node.constantPath.location, container);
      inner = node.name;
    } else if (kind === "DefNode") {
      print(isLocal ? "optional" : "method", node.name, node.nameLoc, container);
      local = true;
    } else if (/^Constant(Path)?(Or|And|Operator)?WriteNode$/.test(kind)) {
      const target = node.target ?? node;
      print(isLocal ? "optional" : "constant", target.name, target.nameLoc ?? target.location, container);
      if (isStruct(node.value)) inner = target.name;
    } else if (isStruct(node)) {
      for (const argument of node.arguments_?.arguments_ ?? []) {
        if (argument.constructor.name === "SymbolNode") print(isLocal ? "optional" : "attribute", argument.unescaped.value, argument.valueLoc, container);
      }
    } else if (kind === "ConstantTargetNode" || kind === "ConstantPathTargetNode") {
      print(isLocal ? "optional" : "constant", node.name, node.nameLoc ?? node.location, container);
    } else if (kind === "CallNode" && !node.receiver && /^(c|m)?attr(_internal|_accessor|_reader|_writer)*$/.test(node.name)) {
      for (const argument of node.arguments_?.arguments_ ?? []) {
        if (argument.constructor.name === "SymbolNode" || argument.constructor.name === "StringNode") {
          const isOwn = /^attr_(reader|writer|accessor)$/.test(node.name);
          print(isLocal || !isOwn ? "optional" : "attribute", argument.unescaped.value, argument.valueLoc ?? argument.contentLoc, container);
        }
      }
    } else if (kind === "AliasMethodNode" || kind === "AliasGlobalVariableNode") {
      print("optional", node.newName.unescaped?.value ?? node.newName.name ?? "", node.newName.valueLoc ?? node.newName.location, container);
    } else if (kind === "CallNode" && /^(alias_method|define_method|define_singleton_method|alias_attribute|scope|let|let!|subject|task|desc|namespace|describe|it|context)$/.test(node.name)) {
      const argument = node.arguments_?.arguments_[0];
      if (argument?.unescaped) print("optional", argument.unescaped.value, argument.valueLoc ?? argument.contentLoc, container);
    } else if (kind === "CallNode" && /^(delegate|def(_instance)?_delegators?)$/.test(node.name)) {
      for (const argument of node.arguments_?.arguments_ ?? []) {
        if (argument.unescaped) print("optional", argument.unescaped.value, argument.valueLoc ?? argument.contentLoc, container);
      }
    } else if (kind === "BlockNode") {
      local = true;
    }
    // Not `compactChildNodes`: findings/prism-compact-child-nodes.sh
    for (const child of node.childNodes()) if (child) visit(child, inner, local);
  };
  visit(result.value, "", false);
}

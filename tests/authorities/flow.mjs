// Prints the definitions of JavaScript files with Flow's types as `hermes-parser` reads them: PATH, line, kind, name and container,
// separated by tabs. usage: node flow.mjs < LIST-OF-FILES, in a folder with that package. Kinds: class, interface, enum, type,
// function, method, field, variant, value (bound at the top level), and `optional` for what only a block or a literal has. A file
// that does not parse prints PATH and `unreadable`.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const { parse } = createRequire(`${process.cwd()}/`)("hermes-parser");
const options = { flow: "all", enableExperimentalComponentSyntax: true, enableEnums: true, tokens: false, allowReturnOutsideFunction: true };

function* bound(pattern) {
  if (!pattern) return;
  if (pattern.type === "Identifier") yield pattern;
  else if (pattern.type === "ObjectPattern") for (const one of pattern.properties) yield* bound(one.value ?? one.argument);
  else if (pattern.type === "ArrayPattern") for (const one of pattern.elements) yield* bound(one);
  else if (pattern.type === "AssignmentPattern") yield* bound(pattern.left);
  else if (pattern.type === "RestElement") yield* bound(pattern.argument);
}

const KINDS = {
  ClassDeclaration: "class", DeclareClass: "class", InterfaceDeclaration: "interface", DeclareInterface: "interface",
  EnumDeclaration: "enum", DeclareEnum: "enum", TypeAlias: "type", OpaqueType: "type", DeclareTypeAlias: "type",
  DeclareOpaqueType: "type", FunctionDeclaration: "function", DeclareFunction: "function", ComponentDeclaration: "function",
  DeclareComponent: "function", HookDeclaration: "function", DeclareHook: "function", DeclareVariable: "value",
};

for (const path of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const text = readFileSync(path, "utf8");
  let tree;
  try {
    tree = parse(text, options);
  } catch {
    process.stdout.write(`${path}\tunreadable\n`);
    continue;
  }
  const print = (kind, name, container, isComputed = false) => {
    const isPrivate = /^Private/.test(name.type);
    const word = (isPrivate ? "#" : "") + (name.name ?? name.value ?? name.id?.name);
    const shown = isComputed && typeof name.value !== "string" ? `[${text.slice(...name.range)}]` : word;
    process.stdout.write(`${path}\t${name.loc.start.line}\t${kind}\t${shown}\t${container}\n`);
  };
  const visit = (node, parent, container, isLocal) => {
    if (!node || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach((one) => visit(one, parent, container, isLocal));
    if (!node.type) return;
    let [inner, local] = [container, isLocal];
    const kind = KINDS[node.type];
    if (kind && node.id) {
      // A function in a function is a symbol of its own; a type in one is its own, too.
      print(kind === "value" && isLocal ? "optional" : kind, node.id, container);
      inner = kind === "function" ? container : (node.id.name ?? container);
    } else if ((node.type === "ClassExpression" || node.type === "FunctionExpression") && node.id) print("optional", node.id, container);
    else if (node.type === "MethodDefinition") print("method", node.key, container, node.computed);
    else if (node.type === "PropertyDefinition") print("field", node.key, container, node.computed);
    else if (/^Enum\w*Member$/.test(node.type)) print("variant", node.id, container);
    else if (node.type === "ObjectTypeProperty") {
      const isOwn = /^(Interface|DeclareClass|DeclareInterface)/.test(parent?.type);
      print(isOwn ? (node.method ? "method" : "field") : "optional", node.key, container);
    } else if (node.type === "Property") print("optional", node.key, container, node.computed);
    else if (node.type === "AssignmentExpression" && node.left.type === "MemberExpression") {
      print("optional", node.left.property, container);
    } else if (node.type === "VariableDeclaration") {
      for (const declaration of node.declarations) {
        const own = declaration.init ? text.slice(...declaration.init.range) : "";
        const kind = isLocal || /^(await )?(require|import)\b/.test(own) ? "optional" : "value";
        for (const name of bound(declaration.id)) print(kind, name, container);
      }
    }
    if (/^(Function|ArrowFunction|Component|Hook|ForStatement|CatchClause|StaticBlock)/.test(node.type)) local = true;
    for (const [key, value] of Object.entries(node)) {
      // The members of an interface are in the object that is its body.
      if (!["parent", "loc", "range"].includes(key)) visit(value, node.type === "ObjectTypeAnnotation" ? parent : node, inner, local);
    }
  };
  visit(tree.body, tree, "", false);
}

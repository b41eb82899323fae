// Prints the definitions of TypeScript and JavaScript files as TypeScript's own parser reads them: PATH, line, kind and
// name, separated by tabs. usage: node typescript.mjs < LIST-OF-FILES, with the package `typescript` installed.
// Kinds: class, interface, enum, namespace, type, function, method, field, variant, value (bound at the top level), and
// `optional` for what only a block or a literal has, and what an assignment names.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const ts = createRequire(`${process.cwd()}/`)("typescript");
/** A computed name is its text, unless that is a string. */
const worded = (file, name) => {
  if (!ts.isComputedPropertyName(name)) return name.text;
  return ts.isStringLiteralLike(name.expression) ? name.expression.text : name.getText(file).replace(/\s+/g, " ");
};
const print = (path, file, name, kind) => {
  const line = file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1;
  process.stdout.write(`${path}\t${line}\t${kind}\t${worded(file, name)}\n`);
};
/** Prints a word of a declaration that has no name. */
const printAt = (path, file, node, word) => {
  const start = node.getStart(file);
  const at = start + Math.max(file.text.slice(start, node.end).search(new RegExp(`\\b${word}\\b`)), 0);
  process.stdout.write(`${path}\t${file.getLineAndCharacterOfPosition(at).line + 1}\toptional\t${word}\n`);
};
const named = (name) => name && !ts.isObjectBindingPattern(name) && !ts.isArrayBindingPattern(name);

function* bound(name) {
  if (ts.isIdentifier(name)) yield name;
  else for (const element of name.elements) if (element.name) yield* bound(element.name);
}

function visit(path, file, node, isLocal) {
  const S = ts.SyntaxKind;
  const kinds = {
    [S.ClassDeclaration]: "class", [S.InterfaceDeclaration]: "interface", [S.EnumDeclaration]: "enum",
    [S.ModuleDeclaration]: "namespace", [S.TypeAliasDeclaration]: "type", [S.FunctionDeclaration]: "function",
    [S.MethodDeclaration]: "method", [S.MethodSignature]: "method", [S.GetAccessor]: "method", [S.SetAccessor]: "method",
    [S.PropertyDeclaration]: "field", [S.EnumMember]: "variant",
  };
  const kind = kinds[node.kind];
  const isMember = node.parent && (ts.isObjectLiteralExpression(node.parent) || ts.isTypeLiteralNode(node.parent));
  if (kind && named(node.name) && !isMember && node.name.text !== "__global" && node.name.text !== "global") {
    print(path, file, node.name, kind);
  }
  if (ts.isPropertySignature(node) && named(node.name) && ts.isInterfaceDeclaration(node.parent)) print(path, file, node.name, "field");
  if (ts.isVariableStatement(node) && !isLocal) {
    for (const declaration of node.declarationList.declarations) {
      const required = declaration.initializer && /^(await )?(require|import)\b/.test(declaration.initializer.getText(file));
      if (!required) for (const name of bound(declaration.name)) print(path, file, name, "value");
    }
  }
  const optional = (name) => name && print(path, file, name, "optional");
  if (kind && isMember && named(node.name)) optional(node.name);
  if (ts.isConstructorDeclaration(node)) printAt(path, file, node, "constructor");
  if ((ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) && named(node.name)) optional(node.name);
  if (ts.isPropertySignature(node) && named(node.name) && !ts.isInterfaceDeclaration(node.parent)) optional(node.name);
  if ((ts.isFunctionExpression(node) || ts.isClassExpression(node)) && node.name) optional(node.name);
  if (ts.isParameter(node) && ts.isParameterPropertyDeclaration(node, node.parent)) optional(node.name);
  if (ts.isVariableDeclaration(node)) for (const name of bound(node.name)) optional(name);
  if (ts.isImportEqualsDeclaration(node)) optional(node.name);
  if (ts.isExportAssignment(node) || node.modifiers?.some((one) => one.kind === S.DefaultKeyword)) printAt(path, file, node, "default");
  if (ts.isBinaryExpression(node) && ts.isPropertyAccessExpression(node.left)) optional(node.left.name);
  const inner = isLocal || ts.isFunctionLike(node) || ts.isForStatement(node) || ts.isCatchClause(node)
    || ts.isClassStaticBlockDeclaration?.(node);
  ts.forEachChild(node, (child) => visit(path, file, child, inner));
}

for (const path of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
  if (file.parseDiagnostics.length) process.stdout.write(`${path}\tunreadable\n`);
  else visit(path, file, file, false);
}

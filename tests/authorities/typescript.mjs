// Prints the definitions of TypeScript and JavaScript files as TypeScript's own parser reads them: PATH, line, kind and
// name, separated by tabs. usage: node typescript.mjs < LIST-OF-FILES, with the package `typescript` installed.
// Kinds: class, interface, enum, namespace, type, function, method, field, variant, value (bound at the top level).
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const ts = createRequire(`${process.cwd()}/`)("typescript");
const print = (path, file, name, kind) => {
  const line = file.getLineAndCharacterOfPosition(name.getStart(file)).line + 1;
  process.stdout.write(`${path}\t${line}\t${kind}\t${name.text}\n`);
};
const named = (name) => name && (ts.isIdentifier(name) || ts.isStringLiteral(name) || ts.isPrivateIdentifier(name));

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
  const inner = isLocal || ts.isFunctionLike(node) || ts.isForStatement(node) || ts.isCatchClause(node)
    || ts.isClassStaticBlockDeclaration?.(node);
  ts.forEachChild(node, (child) => visit(path, file, child, inner));
}

for (const path of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);
  if (file.parseDiagnostics.length) process.stdout.write(`${path}\tunreadable\n`);
  else visit(path, file, file, false);
}

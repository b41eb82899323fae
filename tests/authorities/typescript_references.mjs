// The references to definitions of JavaScript and TypeScript, by the language service of the `typescript` package, which is what
// `tsserver` answers from.
// usage: typescript_references.mjs FOLDER COUNT SEED   (in a folder with node_modules/typescript)
// Prints the files and the names of members whose receivers have stated types, {files: […], declared: [[file, line, column], …]}, then one
// JSON object a line: {name, kind, file, line, column, references: [[file, line, column], …]}, columns in code points from 1.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const ts = createRequire(path.join(process.cwd(), 'x.js'))('typescript');
const [folder, count, seed] = [fs.realpathSync(process.argv[2]), Number(process.argv[3]), Number(process.argv[4])];

const files = [];
const walk = (at) => {
  for (const entry of fs.readdirSync(at, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const whole = path.join(at, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) walk(whole);
    if (entry.isFile() && /\.(ts|tsx|mts|cts|js|jsx|mjs|cjs)$/.test(entry.name)) files.push(whole);
  }
};
walk(folder);

const options = {
  allowJs: true, checkJs: true, noEmit: true, noLib: false, skipLibCheck: true, jsx: ts.JsxEmit.Preserve,
  target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler,
  esModuleInterop: true, types: [], maxNodeModuleJsDepth: 0,
};
const host = {
  getScriptFileNames: () => files,
  getScriptVersion: () => '1',
  getScriptSnapshot: (name) => (fs.existsSync(name) ? ts.ScriptSnapshot.fromString(fs.readFileSync(name, 'utf8')) : undefined),
  getCurrentDirectory: () => folder,
  getCompilationSettings: () => options,
  getDefaultLibFileName: (settings) => ts.getDefaultLibFilePath(settings),
  fileExists: ts.sys.fileExists, readFile: ts.sys.readFile, readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists, getDirectories: ts.sys.getDirectories, realpath: ts.sys.realpath,
};
const service = ts.createLanguageService(host);
const program = service.getProgram();

// The service finds names in comments, too.
const inComment = (one) => {
  const source = program.getSourceFile(one.fileName);
  return source && !!ts.findAncestor(ts.getTokenAtPosition(source, one.textSpan.start), ts.isJSDoc);
};

const place = (name, offset) => {
  const text = program.getSourceFile(name).text;
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const line = program.getSourceFile(name).getLineAndCharacterOfPosition(offset).line + 1;
  return [path.relative(folder, name), line, [...text.slice(start, offset)].length + 1];
};

// Functions, types and values of modules, and members of types.
const definitions = [];
for (const name of files) {
  const source = program.getSourceFile(name);
  const visit = (node, depth) => {
    const add = (kind) => node.name && ts.isIdentifier(node.name) && definitions.push([kind, name, node.name.getStart(source), node.name.text]);
    if (depth === 0 || (depth === 1 && ts.isVariableDeclaration(node))) {
      if (ts.isFunctionDeclaration(node)) add('function');
      else if (ts.isClassDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isEnumDeclaration(node)) add('type');
      else if (ts.isVariableDeclaration(node) && !/^(await )?(require|import)\b/.test(node.initializer?.getText(source) ?? '')) add('value');
    }
    if (ts.isMethodDeclaration(node) && ts.isClassLike(node.parent)) add('method');
    else if (ts.isPropertyDeclaration(node)) add('field');
    const isType = ts.isClassLike(node) || ts.isSourceFile(node) || ts.isVariableStatement(node) || ts.isVariableDeclarationList(node);
    if (isType) ts.forEachChild(node, (child) => visit(child, ts.isSourceFile(node) ? 0 : ts.isClassLike(node) ? 2 : 1));
  };
  ts.forEachChild(source, (node) => visit(node, 0));
}
// The names that are selected from values of stated types: `this`, parameters and variables with a type or a `new`, and fields of those.
const checker = program.getTypeChecker();
const isStated = (value) => {
  if (value.kind === ts.SyntaxKind.ThisKeyword) {
    const around = ts.getThisContainer(value, false, false);
    return ts.isClassLike(around.parent) || !!around.parameters?.some((one) => one.name.getText() === 'this');
  }
  if (!ts.isIdentifier(value) && !ts.isPropertyAccessExpression(value)) return false;
  if (ts.isPropertyAccessExpression(value) && !isStated(value.expression)) return false;
  const declared = checker.getSymbolAtLocation(ts.isIdentifier(value) ? value : value.name)?.declarations?.[0];
  if (!declared) return false;
  if (ts.isClassLike(declared) || ts.isEnumDeclaration(declared) || ts.isModuleDeclaration(declared)) return true;
  const type = declared.type ?? (declared.initializer && ts.isNewExpression(declared.initializer) ? declared.initializer.expression : undefined);
  return !!type && (ts.isTypeReferenceNode(type) || ts.isIdentifier(type)) && !(checker.getTypeAtLocation(type).flags & ts.TypeFlags.TypeParameter);
};
const declared = [];
for (const name of files) {
  const visit = (node) => {
    if (ts.isPropertyAccessExpression(node) && isStated(node.expression)) declared.push(place(name, node.name.getStart()));
    ts.forEachChild(node, visit);
  };
  visit(program.getSourceFile(name));
}
console.log(JSON.stringify({ files: files.map((name) => path.relative(folder, name)), declared }));
let state = seed >>> 0 || 1;
const random = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32);
for (let at = definitions.length - 1; at > 0; at--) {
  const other = Math.floor(random() * (at + 1));
  [definitions[at], definitions[other]] = [definitions[other], definitions[at]];
}
for (const [kind, name, offset, text] of definitions.slice(0, count)) {
  const found = service.findReferences(name, offset) ?? [];
  const references = found.flatMap((symbol) => symbol.references)
    .filter((one) => !inComment(one))
    .filter((one) => one.fileName.startsWith(folder + path.sep) && program.getSourceFile(one.fileName))
    .map((one) => place(one.fileName, one.textSpan.start));
  const [file, line, column] = place(name, offset);
  console.log(JSON.stringify({ name: text, kind, file, line, column, references }));
}

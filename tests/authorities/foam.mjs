// Prints the links between notes that Foam's own code makes of a folder: a line of JSON [from, to] each.
// Usage: node foam.mjs FOAM-CORE-BUNDLE FOLDER
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [bundle, folder] = process.argv.slice(2).map((one) => path.resolve(one));
const { FoamWorkspace, FoamGraph, MarkdownResourceProvider, createMarkdownParser, URI } = await import(pathToFileURL(bundle));

const files = fs.readdirSync(folder, { recursive: true }).filter((file) => file.endsWith(".md"));
const visible = files.filter((file) => !file.split(path.sep).some((part) => part.startsWith(".")));
const store = {
  list: async () => visible.map((file) => URI.file(path.join(folder, file))),
  read: async (uri) => fs.readFileSync(uri.toFsPath(), "utf8"),
};
const provider = new MarkdownResourceProvider(store, createMarkdownParser([]));
const workspace = await FoamWorkspace.fromProviders([URI.file(folder)], [provider], store);
const graph = FoamGraph.fromWorkspace(workspace);
const name = (uri) => path.relative(folder, uri.toFsPath());
for (const { source, target } of graph.getAllConnections()) {
  if (!target.isPlaceholder() && target.scheme === "file") console.log(JSON.stringify([name(source), name(target)]));
}

// One name: where it is defined, where it is referenced, by file, and what calls it and what it calls.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { tool, view } from './ask.ts';
import { Painted, type Spans } from './code.tsx';
import { Icon, Message, Pending, SymbolKind } from './parts.tsx';
import { count, cut, many, split, visible } from './say.ts';
import { address, fileAddress, useAnswer } from './use.ts';

type Position = { file: string; line: number; column: number };
type Reference = Position & { preview: string; role: string };
type Definition = Position & { name: string; kind: string; preview: string };
type Item = { file: string; line: number; name: string; kind: string; how: string };
type Relations = { name: string; kind: string; container?: string; groups: { relation: string; items: Item[]; total: number }[]; unexamined: number };

const PRECISION: Record<string, string> = {
  scip: 'stated by a SCIP file',
  types: 'resolved by types',
  syntax: 'resolved by names and imports',
  name: 'found by name alone',
};

/// Files that are listed at first, and how many of them open.
const FILES = 50;
const OPEN = 8;

/// The address of a file with the references of a name in it.
export const nameAddress = (path: string, line: number, column: number) => address('/files', { path, line, at: `${line}:${column}` });

export function References({ path, line, column, name }: { path: string; line: number; column: number; name: string }) {
  const position = { file: path, line, column };
  const defined = useAnswer<{ definitions: Definition[]; precision: string }>([path, line, column], (signal, waiting) => tool('goto_definition', position, signal, waiting));
  const found = useAnswer<{ references: Reference[]; total?: number; truncated: boolean; precision: string; left_out?: string }>(
    [path, line, column], (signal, waiting) => tool('find_references', { ...position, include_declaration: false, limit: 1000 }, signal, waiting),
  );
  const first = defined.value?.definitions[0];
  const isOwn = first && !first.file.startsWith('/');
  const relations = useAnswer<Relations | null>(
    [first?.file, first?.line],
    isOwn ? (signal, waiting) => view('relations', { file: first.file, line: first.line, limit: 100 }, signal, waiting).catch((error) => {
      if (error instanceof DOMException) throw error;
      return null; // A parameter or a local variable has no relations.
    }) : null,
  );
  const references = found.value?.references ?? [];
  const previews = useSnippets(defined.value?.definitions ?? []);
  const groups = useMemo(() => {
    const byFile = new Map<string, Reference[]>();
    for (const reference of found.value?.references ?? []) {
      const group = byFile.get(reference.file);
      if (group) group.push(reference);
      else byFile.set(reference.file, [reference]);
    }
    return byFile;
  }, [found.value]);
  const [mostFiles, setMostFiles] = useState(FILES);
  useEffect(() => setMostFiles(FILES), [path, line, column]);
  return (
    <aside class="references" aria-label={`References of ${name}`}>
      <header>
        <h2><code>{name}</code></h2>
        <a class="close" href={fileAddress(path, line)} aria-label="Close references"><Icon name="close" /></a>
      </header>
      <h3>Definition</h3>
      <Pending answer={defined} />
      {defined.value?.definitions.length === 0 && <p class="faint">No definition was found: it may be outside of the repository.</p>}
      <ul class="refs">
        {defined.value?.definitions.map((one) => (
          <li key={`${one.file}:${one.line}`}>
            <a href={one.file.startsWith('/') ? undefined : nameAddress(one.file, one.line, one.column)}>
              <span class="ref-file"><SymbolKind kind={one.kind} /> <Path path={one.file} />:{one.line}</span>
              <code class="preview"><Painted text={one.preview.trim()} spans={previews(one)} from={indent(one.preview)} /></code>
            </a>
          </li>
        ))}
      </ul>
      {relations.value && <Calls relations={relations.value} />}
      <h3>
        References {found.value && <span class="faint">{many(found.value.total ?? references.length, 'reference')} in {many(groups.size, 'file')}</span>}
        {found.value && <span class="precision" title="How the references were found">{PRECISION[found.value.precision] ?? found.value.precision}</span>}
      </h3>
      <Pending answer={found} />
      {found.value && references.length === 0 && <p class="faint">Nothing refers to it.</p>}
      {found.value?.left_out && <p class="warn"><Message text={found.value.left_out} /></p>}
      {[...groups].slice(0, mostFiles).map(([file, all], at) => <Group key={file} file={file} all={all} isOpen={at < OPEN} />)}
      {groups.size > mostFiles && <button class="link" onClick={() => setMostFiles(mostFiles + 4 * FILES)}>{many(groups.size - mostFiles, 'more file')}</button>}
      {found.value?.truncated && <p class="faint">The first {count(references.length)} are shown.</p>}
      {relations.value && <Others relations={relations.value} />}
    </aside>
  );
}

const indent = (text: string) => text.length - text.trimStart().length;

function Path({ path }: { path: string }) {
  const [folder, name] = split(visible(path));
  return <span class="where"><bdi><span class="faint">{folder}</span>{name}</bdi></span>;
}

/// The references in one file. Those of a closed group are not there, because there may be very many.
function Group({ file, all, isOpen: opens }: { file: string; all: Reference[]; isOpen: boolean }) {
  const [most, setMost] = useState(20);
  const [isOpen, setOpen] = useState(opens);
  const shown = isOpen ? all.slice(0, most) : [];
  const previews = useSnippets(shown);
  return (
    <details class="ref-group" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary><Path path={file} /> <span class="faint">{count(all.length)}</span></summary>
      <ul class="refs">
        {shown.map((one) => (
          <li key={`${one.line}:${one.column}`}>
            <a href={nameAddress(one.file, one.line, one.column)}>
              <span class="ref-line">{one.line}</span>
              <code class="preview"><Painted text={one.preview.trim()} spans={previews(one)} from={indent(one.preview)} /></code>
              {one.role && !['read', 'use', 'reference'].includes(one.role) && <span class="faint">{one.role}</span>}
            </a>
          </li>
        ))}
      </ul>
      {isOpen && all.length > most && <button class="link" onClick={() => setMost(most + 200)}>{count(all.length - most)} more</button>}
    </details>
  );
}

/// Spans for single lines: of at most 200 lines and 300 characters each.
export function useSnippets(of: { file: string; preview: string }[]): (one: { file: string; preview: string }) => Spans | undefined {
  const key = (one: { file: string; preview: string }) => `${one.file.slice(one.file.lastIndexOf('.'))}\n${one.preview}`;
  const some = of.slice(0, 200);
  const all = some.map(key).join('\n');
  const answer = useAnswer<Map<string, Spans>>([all], some.length ? async (signal) => {
    const { lines } = await view('snippets', { snippets: some.map((one) => ({ file: one.file, text: cut(one.preview, 250) })) }, signal);
    return new Map(some.map((one, at) => [key(one), lines[at]]));
  } : null);
  return (one) => answer.value?.get(key(one));
}

/// The height of a row, the width of the lines between two columns, the least width of a column, and the width of a letter.
const [ROW, GAP, NARROW, LETTER] = [24, 30, 126, 7.3];
const MOST_CALLS = 8;

const CALLS = ['called by', 'calls'];
const named = (group: Relations['groups'][number]) => group.relation.replaceAll('_', ' ');

/// The relations that are not calls, as lists. References are listed already.
function Others({ relations }: { relations: Relations }) {
  const others = relations.groups.filter((group) => ![...CALLS, 'used by', 'imported by'].includes(named(group)));
  if (!others.length) return null;
  return <><h3>Relations</h3>{others.map((group) => <Related key={group.relation} group={group} isOpen={group.total <= 12} />)}</>;
}

/// Callers at the left, the symbol in the middle, callees at the right.
function Calls({ relations }: { relations: Relations }) {
  const [callers, callees] = CALLS.map((name) => relations.groups.find((group) => named(group) === name));
  const sides = [callers?.items.slice(0, MOST_CALLS) ?? [], callees?.items.slice(0, MOST_CALLS) ?? []];
  const rows = Math.max(1, sides[0].length, sides[1].length);
  const height = rows * ROW + 8;
  const middle = height / 2;
  const y = (at: number, all: Item[]) => middle + (at - (all.length - 1) / 2) * ROW;
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [!callers && !callees]);
  // A side without calls takes no width.
  const gaps = sides.filter((items) => items.length > 0).length;
  const column = Math.max(NARROW, Math.floor((width - gaps * GAP) / (gaps + 1)));
  const own = sides[0].length ? column + GAP : 0;
  const letters = Math.floor((column - 8) / LETTER);
  return (
    <>
      {(callers || callees) && (
        <>
          <h3>Calls <span class="faint">{count(callers?.total ?? 0)} in, {count(callees?.total ?? 0)} out</span></h3>
          <div class="calls-graph scroll" ref={box} tabIndex={0} role="group" aria-label="Callers and callees">
            <svg width={(gaps + 1) * column + gaps * GAP} height={height} role="group" aria-label={`Callers and callees of ${relations.name}`}>
              {sides.map((items, side) => items.map((item, at) => (
                <g key={`${side} ${item.file}:${item.line} ${item.name}`}>
                  <path class="call-edge" d={side === 0
                    ? `M${column} ${y(at, items)}C${column + 20} ${y(at, items)} ${column + 10} ${middle} ${own} ${middle}`
                    : `M${own + column} ${middle}C${own + column + 20} ${middle} ${own + column + 10} ${y(at, items)} ${own + column + GAP} ${y(at, items)}`} />
                  <a href={fileAddress(item.file, item.line)}>
                    <title>{visible(`${item.kind} ${item.name}, ${item.file}:${item.line} (${item.how})`)}</title>
                    <text class="call-name" x={side === 0 ? column - 6 : own + column + GAP + 6} y={y(at, items) + 4} text-anchor={side === 0 ? 'end' : 'start'}>{cut(last(item.name), letters)}</text>
                  </a>
                </g>
              )))}
              <g>
                <title>{visible(relations.name)}</title>
                <rect class="call-own" x={own} y={middle - 12} width={column} height={24} rx={7} />
                <text class="call-name is-own" x={own + column / 2} y={middle + 4} text-anchor="middle">{cut(visible(relations.name), letters)}</text>
              </g>
            </svg>
          </div>
          {[callers, callees].map((group) => group && group.total > MOST_CALLS && <Related key={group.relation} group={group} isOpen={false} />)}
        </>
      )}
    </>
  );
}

const last = (name: string) => visible(name.split(/\.|::|#/).at(-1) ?? name);

function Related({ group, isOpen }: { group: Relations['groups'][number]; isOpen: boolean }) {
  return (
    <details class="ref-group" open={isOpen}>
      <summary>{named(group)} <span class="faint">{count(group.total)}</span></summary>
      <ul class="refs">
        {group.items.map((item) => (
          <li key={`${item.file}:${item.line} ${item.name}`}>
            <a href={fileAddress(item.file, item.line)} title={visible(`${item.kind} ${item.name}, ${item.file}:${item.line} (${item.how})`)}><SymbolKind kind={item.kind} /> <span class="name">{visible(item.name)}</span> <span class="faint where"><bdi>{visible(item.file)}</bdi>:{item.line}</span></a>
          </li>
        ))}
        {group.total > group.items.length && <li class="faint">and {count(group.total - group.items.length)} more</li>}
      </ul>
    </details>
  );
}


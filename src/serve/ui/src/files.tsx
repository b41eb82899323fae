// The indexed files as a tree, and one file: its text, its chunks, its symbols.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { tool, view, type Progress } from './ask.ts';
import { Painted, nameAt, nameIn, useSpans } from './code.tsx';
import { Find, useFind } from './find.tsx';
import { Markdown } from './markdown.tsx';
import { Choice, Divider, Icon, Message, Nothing, Pending, Rows, SymbolKind, useWidth } from './parts.tsx';
import { References, nameAddress } from './references.tsx';
import { ago, bytes, count, cut, many, split, visible } from './say.ts';
import { address, asFault, fileAddress, go, route, useAnswer, useChanged, useEvery, useMedia, type Answer, type Route } from './use.ts';

export function Files({ route }: { route: Route }) {
  const path = route.query.get('path');
  const isWide = useMedia('(min-width: 860px)');
  const size = useWidth('tree', 290, [180, 640]);
  return (
    <section class={`files ${path ? 'has-file' : ''}`} style={isWide ? { gridTemplateColumns: `${size.width}px 0 minmax(0, 1fr)` } : undefined}>
      {(isWide || !path) && <Tree path={path} />}
      {isWide && <Divider label="Width of the tree" size={size} />}
      {path ? <FileView key={path} path={path} line={route.query.get('line')} at={route.query.get('at')} isRaw={route.query.get('raw') === '1'} /> : isWide && (
        <Nothing title="Choose a file">
          <p>Shows its text as indexed, its chunks, and its symbols.</p>
        </Nothing>
      )}
    </section>
  );
}

type Row = { name: string; path: string; depth: number; isFolder: boolean; files: number };

/// The end of the paths from `at` on that begin with `prefix`. Paths are sorted, so these follow each other: the steps double
/// until one is past the end.
function endOf(files: string[], prefix: string, at: number, to: number): number {
  let [inside, step] = [at, 1];
  while (inside + step < to && files[inside + step].startsWith(prefix)) {
    inside += step;
    step *= 2;
  }
  let past = Math.min(to, inside + step);
  while (past - inside > 1) {
    const middle = (inside + past) >> 1;
    if (files[middle].startsWith(prefix)) inside = middle;
    else past = middle;
  }
  return past;
}

/// The rows of the tree: the contents of open folders, or all paths that contain the filter. A folder that contains nothing but
/// one folder is one row with it.
function rows(files: string[], open: Set<string>, filter: string): Row[] {
  const wanted = filter.trim().toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length) {
    return files
      .filter((path) => wanted.every((part) => path.toLowerCase().includes(part)))
      .map((path) => ({ name: path, path, depth: 0, isFolder: false, files: 1 }));
  }
  const found: Row[] = [];
  const walk = (from: number, to: number, prefix: number, depth: number) => {
    const own: Row[] = [];
    for (let at = from; at < to; ) {
      let slash = files[at].indexOf('/', prefix);
      if (slash <= prefix) {
        own.push({ name: files[at].slice(prefix), path: files[at], depth, isFolder: false, files: 1 });
        at += 1;
        continue;
      }
      const end = endOf(files, files[at].slice(0, slash + 1), at, to);
      // The first and the last path have a folder in common only if all between them do.
      for (;;) {
        const next = files[at].indexOf('/', slash + 1);
        if (next <= slash + 1 || !files[end - 1].startsWith(files[at].slice(0, next + 1))) break;
        slash = next;
      }
      const folder = files[at].slice(0, slash + 1);
      found.push({ name: folder.slice(prefix, -1), path: folder, depth, isFolder: true, files: end - at });
      if (open.has(folder)) walk(at, end, slash + 1, depth + 1);
      at = end;
    }
    for (const row of own) found.push(row);
  };
  walk(0, files.length, 0, 0);
  return found;
}

/// Deep levels are indented less, such that names stay visible.
const indent = (depth: number) => Math.min(depth, 6) * 14 + Math.max(0, depth - 6) * 5;

const above = (path: string) => path.split('/').slice(0, -1).map((_, at, all) => `${all.slice(0, at + 1).join('/')}/`);

/// The files of a repository as they were listed last, for the moment until they are listed again.
const listed = new Map<string, string[]>();

function Tree({ path }: { path: string | null }) {
  const repo = route().query.get('repo') ?? '';
  const [edition, setEdition] = useState(0);
  const answer = useAnswer<{ files: string[]; indexing?: Progress }>([edition], async (signal, waiting) => {
    const files: string[] = [];
    let indexing: Progress | undefined;
    let before = '';
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page: { paths: string[]; next_offset?: number; indexing?: Progress } = await view('paths', { offset }, signal, waiting);
      for (const path of page.paths) {
        const space = path.indexOf(' ');
        before = before.slice(0, Number(path.slice(0, space))) + path.slice(space + 1);
        files.push(before);
      }
      offset = page.next_offset;
      indexing = page.indexing;
    }
    listed.set(repo, files);
    return { files, indexing };
  });
  const [filter, setFilter] = useState('');
  const [open, setOpen] = useState(() => new Set(path ? above(path) : []));
  const [at, setAt] = useState(0);
  const files = answer.value?.files ?? listed.get(repo) ?? [];
  const shown = useMemo(() => rows(files, open, filter), [files, open, filter]);
  /// Paths that were written and are not listed, such as folders and ignored files.
  const unlisted = useRef(new Set<string>());
  useChanged(({ everything, saved, removed }) => {
    const known = new Set(files);
    const added = saved.filter((path) => !known.has(path) && !unlisted.current.has(path));
    const isGone = (path: string) => known.has(path) || files.some((file) => file.startsWith(`${path}/`));
    if (!everything && !added.length && !removed.some(isGone)) return;
    for (const path of added) unlisted.current.add(path);
    for (const path of removed) unlisted.current.delete(path);
    setEdition((before) => before + 1);
  });
  useEffect(() => {
    if (path) setOpen((before) => new Set([...before, ...above(path)]));
  }, [path]);
  const current = shown.findIndex((row) => row.path === path);
  useEffect(() => setAt(Math.max(0, current)), [current, filter]);
  const toggle = (folder: string) =>
    setOpen((before) => {
      const now = new Set(before);
      if (!now.delete(folder)) now.add(folder);
      return now;
    });
  const onKey = (event: KeyboardEvent) => {
    const row = shown[at];
    if (event.key === 'ArrowDown') setAt(Math.min(shown.length - 1, at + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
    else if (event.key === 'Home') setAt(0);
    else if (event.key === 'End') setAt(shown.length - 1);
    else if (!row) return;
    else if (event.key === 'Enter' || event.key === ' ') row.isFolder ? toggle(row.path) : go(fileAddress(row.path));
    else if (event.key === 'ArrowRight' && row.isFolder && !open.has(row.path)) toggle(row.path);
    else if (event.key === 'ArrowLeft' && row.isFolder && open.has(row.path)) toggle(row.path);
    else return;
    event.preventDefault();
  };
  return (
    <nav class="tree" aria-label="Files">
      <div class="tree-head">
        <input type="search" value={filter} placeholder="Filter files" aria-label="Filter files" autocomplete="off" spellcheck={false}
          onInput={(event) => setFilter(event.currentTarget.value)}
          onKeyDown={(event) => (event.key === 'Enter' && shown[0] && !shown[0].isFolder ? go(fileAddress(shown[0].path)) : event.key === 'ArrowDown' && onKey(event))} />
        <span class="faint" role="status">{(answer.value || listed.has(repo)) && (filter ? `${count(shown.length)} of ${many(files.length, 'file')}` : many(files.length, 'file'))}</span>
      </div>
      {(answer.fault || !listed.has(repo)) && <Pending answer={answer} />}
      {answer.value && files.length === 0 && <Nothing title="No file is indexed"><p><code>ixmcp files --skipped</code> says why.</p></Nothing>}
      <Rows label="Files, arrow keys to move" role="tree" count={shown.length} height={30} onKeyDown={onKey}
        show={{ at, key: `${at} ${path} ${filter}` }}
        row={(index) => {
          const row = shown[index];
          const inside = row.isFolder ? (
            <><span class={`twist ${open.has(row.path) ? 'is-open' : ''}`}><Icon name="chevron" /></span><Icon name="folder" /><span class="name"><bdi>{visible(row.name)}</bdi></span><span class="faint">{count(row.files)}</span></>
          ) : (
            <><Icon name="file" /><span class="name"><bdi>{visible(row.name)}</bdi></span></>
          );
          const look = `tree-row ${index === at ? 'is-at' : ''} ${row.path === path ? 'is-current' : ''} ${filter ? 'is-path' : ''}`;
          const style = { paddingInlineStart: `${10 + indent(row.depth) + (row.isFolder || filter ? 0 : 18)}px` };
          return row.isFolder ? (
            <div key={row.path} class={look} style={style} role="treeitem" aria-expanded={open.has(row.path)} aria-level={row.depth + 1} title={visible(row.path)} onClick={() => { setAt(index); toggle(row.path); }}>{inside}</div>
          ) : (
            <a key={row.path} class={look} style={style} role="treeitem" aria-level={row.depth + 1} aria-selected={row.path === path} tabIndex={-1} title={visible(row.path)} href={fileAddress(row.path)}>{inside}</a>
          );
        }}
      />
    </nav>
  );
}

type Details = { content: string; total_lines: number; language?: string; size?: number; modified?: string; encoding?: string; chunks?: number; notIndexed?: boolean; isCut?: boolean; isStale?: boolean };
type Chunk = { index: number; start_line: number; end_line: number; headings?: string[]; page?: number };
type Symbol = { name: string; kind: string; container?: string; type?: string; signature?: string; line: number; column?: number; end_line: number; children: Symbol[] };

/// A larger file is not shown completely.
const MOST = 12_000_000;

async function read(path: string, signal: AbortSignal, waiting: (why: string) => void): Promise<Details> {
  let details: Details | undefined;
  try {
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const page: any = await tool('get_file_details', { filePath: path, offset }, signal, waiting);
      details ??= { content: '', total_lines: page.totalLines, language: page.language, size: page.fileSize, modified: page.lastModified, encoding: page.encoding, chunks: page.totalChunks, isStale: page.stale !== undefined };
      details.content += page.content;
      offset = page.next_offset;
      if (offset !== undefined && details.content.length > MOST) {
        details.isCut = true;
        break;
      }
    }
    return details!;
  } catch (error) {
    const fault = asFault(error);
    if (fault.code !== 'INVALID_PATH') throw error;
    // The file is not indexed, but it may still be readable.
    let read: Details | undefined;
    for (let at: { start_line: number; start_column?: number } | undefined = { start_line: 1 }; at; ) {
      const slice: any = await tool('get_slice', { file_path: path, end_line: 1e7, ...at }, signal, waiting).catch((failed) => {
        if (failed instanceof DOMException) throw failed;
        return null;
      });
      if (!slice) {
        if (!read) throw error;
        break;
      }
      read ??= { content: '', total_lines: slice.total_lines, encoding: slice.encoding, notIndexed: true };
      read.content += slice.content;
      read.isCut = slice.truncated;
      at = slice.truncated && read.content.length < MOST ? { start_line: slice.next_start_line, start_column: slice.next_column } : undefined;
    }
    return read!;
  }
}

const LINE = 20;
/// Longer lines are truncated.
const WIDEST = 2000;

const FORMS = [['rendered', 'Rendered'], ['raw', 'Raw']] as const;
/// A longer text of Markdown is shown raw.
const MOST_RENDERED = 1_000_000;
/// Extracted text has lines as long as paragraphs.
const WRAPPED = new Set(['pdf', 'docx', 'odt', 'epub', 'email']);
const MOST_WRAPPED = 50_000;

function FileView({ path, line, at, isRaw }: { path: string; line: string | null; at: string | null; isRaw: boolean }) {
  const [from, to] = useMemo(() => {
    const [first, last] = (line ?? '').split('-').map(Number);
    return first > 0 ? [first, last >= first ? last : first] : [0, 0];
  }, [line]);
  const isRoomy = useMedia('(min-width: 1180px)');
  const [showsOutline, setShowsOutline] = useState(false);
  const [showsHistory, setShowsHistory] = useState(false);
  /// How often the file has changed since it was opened.
  const [edition, setEdition] = useState(0);
  const [isGone, setGone] = useState(false);
  useChanged((changed) => {
    if (changed.file !== path) return;
    setGone(changed.isGone);
    if (!changed.isGone) setEdition((before) => before + 1);
  });
  const [, look] = useState(0);
  useEvery(20_000, () => look((before) => before + 1));
  const answer = useAnswer<Details>([path, edition], (signal, waiting) => read(path, signal, waiting));
  // The last text stays where the new one cannot be shown.
  const last = useRef<Details>(undefined);
  last.current = answer.value ?? last.current;
  const text = { ...answer, value: last.current };
  // A file that is not indexed has no chunks and no outline. If the tree does not have it, its text says whether it is.
  const isListed = useMemo(() => listed.get(route().query.get('repo') ?? '')?.includes(path) ?? false, [path]);
  const isIndexed = isListed || (text.value !== undefined && !text.value.notIndexed);
  const cuts = useAnswer<{ chunks: Chunk[] }>([path, isIndexed, edition], isIndexed ? async (signal, waiting) => {
    const chunks: Chunk[] = [];
    for (let total = Infinity; chunks.length < total; ) {
      const page = await view('chunks', { file: path, offset: chunks.length }, signal, waiting);
      chunks.push(...page.chunks);
      total = page.chunks.length ? page.total : 0;
    }
    return { chunks };
  } : null);
  const quick = useAnswer<{ symbols: Symbol[]; precision: string }>([path, isIndexed, edition], isIndexed ? (signal, waiting) => view('outline', { file: path }, signal, waiting) : null);
  // Types take a while after the start; until then the outline is without them. The type engine reads only UTF-8.
  const isTyped = isIndexed && /\.(py|pyi|pyw|ipynb)$/.test(path) && text.value?.encoding === 'UTF-8';
  const typed = useAnswer<{ symbols: Symbol[]; precision: string }>([path, isTyped, edition], isTyped ? (signal, waiting) => tool('symbols', { file: path }, signal, waiting) : null);
  const outline = typed.value ? typed : quick;
  const lines = useMemo(() => {
    const all = (text.value?.content ?? '').split(/\r?\n/);
    if (all.length > 1 && all.at(-1) === '') all.pop();
    return all.map(visible);
  }, [text.value]);
  const isHiding = useMemo(() => lines.some((line) => line.includes('\ufffd')), [lines]);
  const chunkOf = useMemo(() => {
    const of = new Array<number>(lines.length + 1).fill(-1);
    cuts.value?.chunks.forEach((chunk, at) => {
      for (let line = chunk.start_line; line <= Math.min(chunk.end_line, lines.length); line += 1) if (of[line] < 0) of[line] = at;
    });
    return of;
  }, [cuts.value, lines]);
  const defined = useMemo(() => {
    const at = new Map<number, string>();
    const walk = (symbols: Symbol[]) => symbols.forEach((symbol) => {
      if (!at.has(symbol.line)) at.set(symbol.line, `${symbol.kind} ${symbol.name}`);
      walk(symbol.children ?? []);
    });
    walk(outline.value?.symbols ?? []);
    return at;
  }, [outline.value]);
  const spans = useSpans(path, edition);
  const isMarkdown = text.value?.language === 'markdown' && !text.value.notIndexed && (text.value.size ?? 0) < MOST_RENDERED;
  // A line and a name are those of the text.
  const isRendered = isMarkdown && !isRaw && !from && !at;
  const wraps = WRAPPED.has(text.value?.language ?? '');
  const isCode = !isRendered && !wraps;
  const find = useFind(lines, isCode, from);
  const [nameLine, nameColumn] = (at ?? '').split(':').map(Number);
  const named = nameLine > 0 && nameColumn > 0 ? nameIn(lines[nameLine - 1] ?? '', Array.from(lines[nameLine - 1] ?? '').slice(0, nameColumn - 1).join('').length) : null;
  const outlineSide = useWidth('side', 320, [200, 720]);
  const nameSide = useWidth('name', 480, [260, 800]);
  const side = named ? nameSide : outlineSide;
  const onClick = (event: MouseEvent) => {
    if (!getSelection()?.isCollapsed || event.ctrlKey || event.metaKey) return;
    const row = (event.target as Element).closest<HTMLElement>('.codeline');
    const name = row && nameAt(event);
    const number = Number(row?.dataset.line);
    if (name && number > 0 && (text.value?.language ?? '') !== 'text') go(nameAddress(path, number, name.column));
  };
  // The find bar comes first.
  // What is seen takes keys: an effect after the frame would miss one.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (target.closest('input, textarea, select, dialog')) return;
      if (event.key === 'Escape' && find.isAll) find.setAll(false);
      else if (event.key === 'Escape' && find.isOpen) find.close();
      else if (event.key === 'Escape' && named) go(fileAddress(path, nameLine));
      else if (event.key.toLowerCase() === 'a' && (event.ctrlKey || event.metaKey) && isCode) find.setAll(true);
      else return;
      event.preventDefault();
    };
    const onCopy = (event: ClipboardEvent) => {
      if (!find.isAll || !text.value) return;
      event.clipboardData?.setData('text/plain', text.value.content);
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    addEventListener('copy', onCopy);
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener('copy', onCopy);
    };
  });
  const current = from > 0 ? chunkOf[from] : -1;
  const chunk = cuts.value?.chunks[current];
  const digits = String(lines.length).length;
  const widest = useMemo(() => Math.min(WIDEST, lines.reduce((most, text) => Math.max(most, text.length), 0)), [lines]);
  const [folder, name] = split(visible(path));
  const about = text.value;
  const references = named && <References path={path} line={nameLine} column={named.column} name={named.name} />;
  // Plain text has no symbols: its lines take the whole width.
  const hasSide = !!references || (isIndexed && (showsHistory || !outline.value || outline.value.symbols.length > 0));
  const outlined = references || (showsHistory && isIndexed && <History path={path} />) || <Outline outline={outline} path={path} line={from} onPick={() => setShowsOutline(false)} />;
  return (
    <article class="file" aria-label={visible(path)}>
      <header class="file-head">
        <a class="back" href={address('/files')} aria-label="All files"><Icon name="back" /></a>
        <h1><bdi><span class="faint">{folder}</span><wbr />{name}</bdi></h1>
        <p class="facts">
          {about?.language && <span>{about.language}</span>}
          {about && <span>{many(about.total_lines, 'line')}</span>}
          {about?.size !== undefined && <span>{bytes(about.size)}</span>}
          {about?.chunks !== undefined && <span>{many(about.chunks, 'chunk')}</span>}
          {about?.encoding && about.encoding !== 'UTF-8' && <span title="The text was decoded from this encoding">{about.encoding}</span>}
          {about?.modified && <span title={about.modified}>saved {ago(about.modified)}</span>}
          {isGone ? <span class="warn">deleted on disk</span> : about && (about.isStale || answer.fault) && <span class="warn">changed on disk</span>}
          {about?.notIndexed && <span class="warn">not indexed</span>}
          {isHiding && <span class="warn">has characters that cannot be shown, as \ufffd</span>}
          {about?.isCut && <span class="warn">only its beginning is shown</span>}
          {chunk && <span class="in-chunk">in chunk {chunk.index + 1}: lines {chunk.start_line}–{chunk.end_line}{chunk.headings && ` · ${visible(chunk.headings.join(' › '))}`}</span>}
          {isIndexed && <button class="link" aria-pressed={showsHistory} onClick={() => setShowsHistory(!showsHistory)}>History</button>}
          {!isRoomy && hasSide && <button class="link" aria-expanded={showsOutline} onClick={() => setShowsOutline(!showsOutline)}>Symbols</button>}
        </p>
        {isMarkdown && <Choice label="View" value={isRendered ? 'rendered' : 'raw'} of={FORMS} onPick={(form) => go(address('/files', { path, raw: form === 'raw' ? 1 : '' }), true)} />}
      </header>
      {!isRoomy && (showsOutline || showsHistory || references) && outlined}
      {find.isOpen && <Find find={find} />}
      <Pending answer={text} />
      {about && (
        <div class="file-body" style={isRoomy ? { gridTemplateColumns: hasSide ? `minmax(0, 1fr) 0 ${side.width}px` : 'minmax(0, 1fr)' } : undefined}>
          {isRendered ? <div class="rendered" tabIndex={0} role="group" aria-label={`Text of ${name}`}><Markdown path={path} edition={edition} /></div> : wraps ? (
            <div class="wrapped" tabIndex={0} role="group" aria-label={`Text of ${name}`}>
              {lines.slice(0, MOST_WRAPPED).map((text, at) => <p key={at} id={`line-${at + 1}`} class={at + 1 >= from && at + 1 <= to && from > 0 ? 'is-line' : undefined}>{text || '\u00a0'}</p>)}
              {lines.length > MOST_WRAPPED && <p class="faint">{count(lines.length - MOST_WRAPPED)} more lines</p>}
            </div>
          ) : (
            <Rows class={`code ${find.isAll ? 'is-all' : ''}`} label={`Text of ${name}`} count={lines.length} height={LINE} wide show={find.show ?? { at: find.isAway ? -1 : (from || nameLine || 0) - 1, key: `${from} ${path}` }} onSeen={spans.need} onClick={onClick}
              row={(at) => {
                const number = at + 1;
                const of = chunkOf[number];
                const starts = of >= 0 && chunkOf[number - 1] !== of;
                const text = lines[at];
                const look = ['codeline', of >= 0 ? (of % 2 ? 'is-odd' : 'is-even') : '', starts && at > 0 ? 'starts' : '', of >= 0 && of === current ? 'is-chunk' : '',
                  number >= from && number <= to && from > 0 ? 'is-line' : '', defined.has(number) ? 'defines' : '', find.show?.at === at ? 'is-found' : ''].join(' ');
                return (
                  <div key={number} class={look} data-line={number} style={{ width: `max(100%, ${widest + digits + 8}ch)` }}>
                    <a class="number" style={{ width: `${digits + 2.5}ch` }} tabIndex={-1} href={fileAddress(path, number)} aria-label={`Line ${number}`} title={defined.get(number)}>{number}</a>
                    <span class="text"><Painted text={cut(text, WIDEST)} spans={spans.of(at)} marks={find.marks(at)} />{text.length > WIDEST && <span class="faint"> {count(text.length - WIDEST)} more characters</span>}</span>
                  </div>
                );
              }}
            />
          )}
          {isRoomy && hasSide && <Divider label="Width of the panel" size={side} isAfter />}
          {isRoomy && hasSide && outlined}
        </div>
      )}
    </article>
  );
}

type Past = { history: { commit: string; time: string; subject: string }[]; changes_with: { file_path: string; commits: number; share: number }[]; warning?: string };

/// The commits that changed the file, and the files that change together with it.
function History({ path }: { path: string }) {
  const past = useAnswer<Past>([path], (signal, waiting) => view('history', { file: path, limit: 50 }, signal, waiting));
  const { history = [], changes_with: together = [], warning } = past.value ?? {};
  return (
    <aside class="outline past" aria-label="History">
      <h2>History {past.value && <span class="faint">{count(history.length)}</span>}</h2>
      <Pending answer={past} />
      {warning && <p class="warn"><Message text={warning} /></p>}
      {past.value && history.length === 0 && <p class="faint">No commit is known that changed the file.</p>}
      <ul class="plain ranked">
        {history.map((commit) => (
          <li key={commit.commit}><span class="name" title={`${commit.commit}\n${visible(commit.subject)}`}><bdi>{visible(commit.subject)}</bdi></span><span class="faint" title={commit.time}>{ago(commit.time)}</span></li>
        ))}
      </ul>
      {together.length > 0 && <h2>Changes together with</h2>}
      <ul class="plain ranked">
        {together.map((file) => (
          <li key={file.file_path}><a href={fileAddress(file.file_path)} title={visible(file.file_path)}><bdi>{visible(split(file.file_path)[1])}</bdi></a><span class="faint">{Math.round(file.share * 100)} %, {many(file.commits, 'commit')}</span></li>
        ))}
      </ul>
    </aside>
  );
}

function Outline({ outline, path, line, onPick }: { outline: Answer<{ symbols: Symbol[]; precision: string }>; path: string; line: number; onPick: () => void }) {
  const flat: { symbol: Symbol; depth: number }[] = [];
  const walk = (symbols: Symbol[], depth: number) => symbols.forEach((symbol) => {
    flat.push({ symbol, depth });
    walk(symbol.children ?? [], depth + 1);
  });
  walk(outline.value?.symbols ?? [], 0);
  const within = flat.findLastIndex(({ symbol }) => line >= symbol.line && line <= symbol.end_line);
  return (
    <aside class="outline" aria-label="Symbols">
      <h2>Symbols {outline.value && <span class="faint">{count(flat.length)}{outline.value.precision === 'types' ? ', typed' : ''}</span>}</h2>
      <Pending answer={outline} />
      {outline.value && flat.length === 0 && <p class="faint">The file defines no symbols.</p>}
      {flat.length > 0 && (
        <Rows label="Symbols" count={flat.length} height={26} show={{ at: within, key: `${within} ${path}` }} row={(at) => {
          const { symbol, depth } = flat[at];
          return (
            <a key={at} class={`outline-row ${at === within ? 'is-current' : ''}`} style={{ paddingInlineStart: `${8 + indent(depth)}px` }} onClick={onPick}
              href={fileAddress(path, symbol.line)} title={visible([symbol.container, symbol.name].filter(Boolean).join(' › ') + (symbol.signature ?? symbol.type ? `\n${symbol.signature ?? symbol.type}` : ''))}>
              <SymbolKind kind={symbol.kind} /><span class="name">{symbol.container && <span class="faint">{visible(symbol.container)} › </span>}<bdi>{visible(symbol.name)}</bdi></span>
              {symbol.type && !/^(<|def |bound method|async def |Unknown$)/.test(symbol.type) && <span class="type faint">{symbol.type}</span>}
            </a>
          );
        }} />
      )}
    </aside>
  );
}

// Search as you type: the hits of `query` in their order, with the components of their scores.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { state, tool, view } from './ask.ts';
import { Painted, type Marks, type Spans } from './code.tsx';
import { Choice, Message, Nothing, Pending, Switch, marks } from './parts.tsx';
import { useSnippets } from './references.tsx';
import { ago, count, many, split, visible } from './say.ts';
import { address, fileAddress, go, route as routeNow, useAnswer, useMedia, type Route } from './use.ts';

type Hit = {
  repo?: string; file_path: string; line: number; start_line: number; end_line: number;
  symbol_name?: string; similar?: number; similar_in?: string; score: number; preview: string; parts?: Record<string, number>;
};
type CommitHit = { repo?: string; commit: string; time: string; subject: string; files?: string[] };
type Found = { indexing?: { done: number; total: number }; results: Hit[]; total?: number; truncated: boolean; next_offset?: number; suggestion?: string; warning?: string };

const MODES = [['smart', 'Smart'], ['literal', 'Literal'], ['regex', 'Regex']] as const;
const PAGE = 30;
/// Example queries: filters, a phrase, an excluded word; kinds of symbols in the largest languages.
const KINDS = ['class', 'struct', 'interface', 'function'];
const EXAMPLES = ['path:tests', 'kind:decision', '"not found"', 'error -test', 'kind:document', 'kind:commit', 'path:src', 'open file'];
const MAX_EXAMPLES = 5;

/// Languages without such kinds.
const PLAIN = new Set(['text', 'markdown', 'json', 'csv', 'html', 'css', 'toml', 'yaml', 'xml', 'restructuredtext', 'pdf', 'notebook', 'log', 'svg', 'ini']);
/// By repository, what was found once.
const known = new Map<string, string[]>();

/// The examples that have hits in this repository.
async function examples(repo: string, signal: AbortSignal): Promise<string[]> {
  if (known.has(repo)) return known.get(repo)!;
  const { languages }: { languages: Record<string, { lines: number }> } = await tool('stats', {}, signal);
  const largest = Object.entries(languages).filter(([name]) => !PLAIN.has(name)).sort((a, b) => b[1].lines - a[1].lines).slice(0, 2).map(([name]) => name);
  const finds = async (text: string) => {
    const found: Found = await tool('query', { text, limit: 1 }, signal);
    return found.results.length > 0 && !found.warning;
  };
  const firstOf = async (language: string) => {
    for (const text of [...KINDS.map((kind) => `lang:${language} kind:${kind}`), `lang:${language}`]) if (await finds(text)) return [text];
    return [];
  };
  // Each request waits a little for changes of files: they wait at the same time.
  const [first, others] = await Promise.all([Promise.all(largest.map(firstOf)), Promise.all(EXAMPLES.map(async (text) => ((await finds(text)) ? [text] : [])))]);
  const found = [...first, ...others].flat().slice(0, MAX_EXAMPLES);
  if (found.length) known.set(repo, found);
  return found;
}

/// The hit that was chosen last, and what it was a hit of: back from its file it is chosen again.
let chosen = { about: '', at: 0, limit: PAGE };

export function Search({ route }: { route: Route }) {
  const query = route.query;
  const given = query.get('q') ?? '';
  const repo = query.get('repo') ?? '';
  const repositories = useAnswer<{ repositories: string[] }>([], (signal) => state(signal)).value?.repositories ?? [];
  const [text, setText] = useState(given);
  const mode = (query.get('mode') ?? 'smart') as 'smart' | 'literal' | 'regex';
  const [explain, isWord, isCased] = ['explain', 'word', 'case'].map((name) => query.get(name) === '1');
  const about = [given, mode, isWord, isCased, repo].join('\n');
  const [limit, setLimit] = useState(chosen.about === about ? chosen.limit : PAGE);
  const [selected, setSelected] = useState(chosen.about === about ? chosen.at : 0);
  const box = useRef<HTMLInputElement>(null);
  const isWide = useMedia('(min-width: 1000px)');

  // Not `given`: that would lose characters that were typed since the last render.
  useEffect(() => setText(routeNow().query.get('q') ?? ''), [given]);
  // Layout effects run before the next frame. Other effects run after it, and are dropped if Enter leaves this view first.
  useLayoutEffect(() => {
    if (chosen.about === about) return;
    setLimit(PAGE);
    setSelected(0);
  }, [about]);
  useLayoutEffect(() => {
    if (chosen.about === about || isAsked) chosen = { about, at: selected, limit };
  }, [about, selected, limit]);
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches) box.current?.focus();
  }, []);

  const asked = (change: Record<string, string | undefined>) => {
    const now = { q: given, mode: mode === 'smart' ? '' : mode, explain: explain ? '1' : '', word: isWord ? '1' : '', case: isCased ? '1' : '' };
    go(address('/search', { ...now, ...change }), true);
  };
  const exact = mode === 'smart' ? {} : { word: isWord, case_sensitive: isCased };
  const isAsked = mode === 'smart' ? given.trim() !== '' : given !== '';
  const [again, setAgain] = useState(0);
  const answer = useAnswer<Found>(
    [given, mode, explain, isWord, isCased, limit, again, repo],
    isAsked ? (signal, waiting) => tool('query', { text: given, mode, limit, explain, ...exact }, signal, waiting) : null,
    30,
  );
  // While the index is being built, the same search finds more after a while.
  useEffect(() => {
    if (!answer.value?.indexing) return;
    const timer = setTimeout(() => setAgain((before) => before + 1), 1500);
    return () => clearTimeout(timer);
  }, [answer.value]);
  const chips = useAnswer<string[]>([isAsked, repo], isAsked ? null : (signal) => examples(repo, signal));
  const results = isAsked ? (answer.value?.results ?? []) : [];
  const hits = results.filter((hit) => hit.file_path);
  // Commits are in no file.
  const commits = results.filter((hit) => !hit.file_path) as unknown as CommitHit[];
  const words = marks(given, mode, isCased);
  const current = hits[Math.min(selected, hits.length - 1)];
  const previews = hits.map((hit) => ({ file: hit.file_path, preview: hit.preview }));
  const snippets = useSnippets(previews);

  const isFound = hits.length > 0;
  useEffect(() => {
    if (isFound && selected > 0) document.getElementById(`hit-${selected}`)?.scrollIntoView({ block: 'nearest' });
  }, [isFound]);
  const move = (to: number) => {
    const at = Math.max(0, Math.min(hits.length - 1, to));
    setSelected(at);
    document.getElementById(`hit-${at}`)?.scrollIntoView({ block: 'nearest' });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') move(selected + 1);
    else if (event.key === 'ArrowUp') move(selected - 1);
    else if (event.key === 'PageDown') move(selected + 8);
    else if (event.key === 'PageUp') move(selected - 8);
    else if (event.key === 'Enter' && current) go(fileAddress(current.file_path, current.line, undefined, current.repo));
    else if (event.key === 'Escape' && text) asked({ q: '' });
    // The key that leads here from elsewhere. A path begins with it only in an exact search.
    else if (event.key === '/' && text === '' && mode === 'smart') box.current?.select();
    else return;
    event.preventDefault();
  };

  return (
    <section class="search">
      <form class="ask" role="search" onSubmit={(event) => event.preventDefault()}>
        <input
          ref={box} id="search-box" type="search" value={text} placeholder="Search code, documents and decisions"
          aria-label="Search" autocomplete="off" autocapitalize="off" spellcheck={false} enterkeyhint="search"
          role="combobox" list={undefined} aria-expanded={hits.length > 0} aria-controls="hits" aria-activedescendant={current ? `hit-${selected}` : undefined}
          onInput={(event) => {
            setText(event.currentTarget.value);
            asked({ q: event.currentTarget.value });
          }}
          onKeyDown={onKey}
        />
        <div class="options">
          <Choice label="Mode" value={mode} of={MODES} onPick={(mode) => asked({ mode: mode === 'smart' ? '' : mode })} />
          {mode !== 'smart' && <Switch label="Aa" title="Match case" value={isCased} onPick={(on) => asked({ case: on ? '1' : '' })} />}
          {mode !== 'smart' && <Switch label="Word" title="Whole words only" value={isWord} onPick={(on) => asked({ word: on ? '1' : '' })} />}
          {mode === 'smart' && <Switch label="Explain" title="Show what each score is made of" value={explain} onPick={(on) => asked({ explain: on ? '1' : '' })} />}
          <span class="counts" role="status" aria-live="polite">
            {isAsked && answer.value && (answer.value.total !== undefined ? many(answer.value.total, 'hit') : results.length ? `first ${count(results.length)} hits` : '')}
          </span>
        </div>
      </form>

      {repositories.length > 1 && <Repositories all={repositories} chosen={repo} hits={isAsked && !repo ? hits : null} />}
      {!isAsked && (
        <Nothing title="Search what agents search">
          <p>Identifiers are split into words: <em>user id</em> finds <code>getUserById</code>. A query can contain filters:</p>
          <p class="chips">
            {(chips.value ?? []).map((example) => (
              <a class="chip" key={example} href={address('/search', { q: example })}><code>{example}</code></a>
            ))}
          </p>
          <p class="faint"><kbd>/</kbd> search <kbd>↑</kbd><kbd>↓</kbd> choose <kbd>Enter</kbd> open <kbd>Esc</kbd> clear <kbd>?</kbd> all keys</p>
        </Nothing>
      )}
      {isAsked && <Pending answer={answer} />}
      {isAsked && answer.value && results.length === 0 && (
        <Nothing title="Nothing found">
          {answer.value.warning && <p class="warn"><Message text={answer.value.warning} /></p>}
          {answer.value.suggestion && (
            <p>Did you mean <a href={address('/search', { q: answer.value.suggestion })}>{answer.value.suggestion}</a>?</p>
          )}
          <p class="faint">{mode === 'smart' ? 'Try fewer words, or Literal, which searches every line for the exact text.' : 'Smart also finds other forms of words.'}</p>
        </Nothing>
      )}
      {hits.length > 0 && answer.value?.warning && <p class="warn" role="status"><Message text={answer.value.warning} /></p>}
      {commits.length > 0 && (
        <ul class="commits" aria-label="Commits">
          {commits.map((hit) => (
            <li key={`${hit.repo}:${hit.commit}`}>
              <p>{hit.repo && <span class="chip repository" title={hit.repo}>{short(hit.repo)}</span>}<strong><bdi>{visible(hit.subject)}</bdi></strong> <span class="faint" title={hit.time}>{ago(hit.time)} · <code>{hit.commit.slice(0, 12)}</code></span></p>
              <p class="faint">{(hit.files ?? []).map((path) => <a key={path} href={fileAddress(path, undefined, undefined, hit.repo)}><bdi>{visible(path)}</bdi></a>)}</p>
            </li>
          ))}
        </ul>
      )}
      {hits.length > 0 && (
        <div class={`found ${answer.isAsking ? 'is-asking' : ''}`}>
          <div class="hits">
            <ol id="hits" role="listbox" aria-label="Hits">
              {hits.map((hit, at) => (
                <HitRow key={`${hit.repo}:${hit.file_path}:${hit.line}`} hit={hit} at={at} words={words} isCurrent={isWide && at === selected}
                  best={hits[0].score} spans={snippets(previews[at])} onSeen={() => isWide && setSelected(at)} />
              ))}
            </ol>
            {answer.value?.truncated && (
              <button class="more" disabled={answer.isAsking} onClick={() => setLimit(Math.min(1000, limit + 2 * PAGE))}>More hits</button>
            )}
          </div>
          {isWide && current && <Preview hit={current} words={words} isChunk={mode === 'smart'} />}
        </div>
      )}
    </section>
  );
}

/// The last part of the path of a repository; the name of a published one.
const short = (repo: string) => visible(repo.split('/').filter(Boolean).at(-1) ?? repo);

/// The repositories of the page, with how many of the listed hits each has; one can be chosen.
function Repositories({ all, chosen, hits }: { all: string[]; chosen: string; hits: Hit[] | null }) {
  const counts = new Map<string, number>();
  for (const hit of hits ?? []) counts.set(hit.repo ?? '', (counts.get(hit.repo ?? '') ?? 0) + 1);
  const sorted = [...all].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
  const link = (repo: string, label: string) => (
    <a class={`chip ${repo === chosen ? 'is-on' : ''}`} key={repo} aria-current={repo === chosen ? 'true' : undefined} title={repo || undefined}
      href={address('/search', { ...Object.fromEntries(routeNow().query), repo })}>
      {label}{repo && counts.has(repo) && <span class="faint">{count(counts.get(repo)!)}</span>}
    </a>
  );
  return <nav class="repositories" aria-label="Repositories">{link('', `All ${many(all.length, 'repository', 'repositories')}`)}{sorted.map((repo) => link(repo, short(repo)))}</nav>;
}

function HitRow(props: { hit: Hit; at: number; words: Marks | null; isCurrent: boolean; best: number; spans?: Spans; onSeen: () => void }) {
  const { hit, words } = props;
  const [folder, name] = split(visible(hit.file_path));
  return (
    <li role="none" class={`hit ${props.isCurrent ? 'is-current' : ''}`} onPointerMove={props.onSeen}>
      <a id={`hit-${props.at}`} role="option" aria-selected={props.isCurrent} href={fileAddress(hit.file_path, hit.line, undefined, hit.repo)} tabIndex={props.isCurrent ? 0 : -1}>
        <span class="place">
          {hit.repo && <span class="chip repository" title={hit.repo}>{short(hit.repo)}</span>}
          <span class="where"><bdi><span class="faint">{folder}</span><strong>{name}</strong></bdi></span><span class="line">:{hit.line}</span>
          {hit.symbol_name && <span class="symbol">{visible(hit.symbol_name)}</span>}
        </span>
        <code class="preview"><Painted text={visible(hit.preview.trim())} marks={words} spans={props.spans} from={hit.preview.length - hit.preview.trimStart().length} /></code>
        {hit.similar !== undefined && <span class="faint similar">{many(hit.similar, 'more identical copy', 'more identical copies')}{hit.similar_in && <> in <bdi>{visible(hit.similar_in)}</bdi></>}</span>}
        {hit.parts && <Parts hit={hit} best={props.best} />}
      </a>
    </li>
  );
}

function Parts({ hit, best }: { hit: Hit; best: number }) {
  const parts = Object.entries(hit.parts ?? {}).filter(([, value]) => Math.abs(value) > 0.0005).sort((a, b) => b[1] - a[1]);
  return (
    <span class="parts" title={`score ${hit.score.toFixed(3)}`}>
      <span class="part is-score"><b>score</b><i><u style={{ width: `${best > 0 ? Math.max(0, (100 * hit.score) / best) : 0}%` }} /></i>{hit.score.toFixed(2)}</span>
      {parts.map(([name, value]) => (
        <span class={`part ${value < 0 ? 'is-minus' : ''}`} key={name}><b>{name.replaceAll('_', ' ')}</b><i><u style={{ width: `${Math.min(100, Math.abs(value) * 100)}%` }} /></i>{value.toFixed(2)}</span>
      ))}
    </span>
  );
}

const AROUND = 6;
const MOST_LINES = 120;
/// Characters of a line.
const MOST_LETTERS = 400;

/// The repository of a hit, if the page shows several.
const of = (hit: { repo?: string }) => (hit.repo ? { repo: hit.repo } : {});

/// Lines of a file; of a document, such as a PDF, those of its text.
async function lines({ file_path: path, ...hit }: Hit, from: number, to: number, signal: AbortSignal, waiting: (why: string) => void): Promise<{ content: string; start_line: number }> {
  const isDocument = /\.(pdf|docx|odt|epub|ipynb|eml|mbox)$/i.test(path);
  if (!isDocument) return tool('get_slice', { ...of(hit), file_path: path, start_line: from, end_line: to }, signal, waiting);
  const { content } = await tool('get_file_details', { ...of(hit), filePath: path }, signal, waiting);
  return { content: content.split('\n').slice(from - 1, to).join('\n'), start_line: from };
}

/// The chunk or line of a hit, with surrounding lines.
function Preview({ hit, words, isChunk }: { hit: Hit; words: Marks | null; isChunk: boolean }) {
  const from = Math.max(1, Math.max(hit.start_line - AROUND, hit.line - MOST_LINES / 2));
  const to = Math.min(hit.end_line + AROUND, from + MOST_LINES);
  const answer = useAnswer<{ content: string; start_line: number }>(
    [hit.repo, hit.file_path, from, to],
    (signal, waiting) => lines(hit, from, to, signal, waiting),
    40,
  );
  const spans = useAnswer<{ lines: Spans[]; start_line: number }>(
    [hit.repo, hit.file_path, from, to],
    (signal) => view('highlight', { ...of(hit), file: hit.file_path, start_line: from, lines: to - from + 1 }, signal).catch((error) => {
      if (error instanceof DOMException) throw error;
      return { lines: [], start_line: from };
    }),
    40,
  );
  const [folder, name] = split(visible(hit.file_path));
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const row = box.current?.querySelector<HTMLElement>('.is-line');
    if (row && box.current) box.current.scrollTop = row.offsetTop - box.current.clientHeight / 3;
  }, [answer.value, hit.line]);
  return (
    <aside class="look" aria-label="Preview">
      <header>
        <a href={fileAddress(hit.file_path, hit.line, undefined, hit.repo)}>{hit.repo && <span class="chip repository" title={hit.repo}>{short(hit.repo)}</span>}<span class="faint">{folder}</span><strong>{name}</strong></a>
        <span class="faint">{isChunk ? `chunk ${hit.start_line}–${hit.end_line}` : `line ${hit.line}`}</span>
      </header>
      <Pending answer={answer} />
      <div class="code" ref={box} tabIndex={0} role="group" aria-label="Lines around the hit">
        {answer.value?.content.replace(/\r?\n$/, '').split(/\r?\n/).map((text, at) => {
          const line = answer.value!.start_line + at;
          const isIn = line >= hit.start_line && line <= hit.end_line;
          // Of a long line, the part that matches.
          const from = line === hit.line && text.length > MOST_LETTERS ? Math.max(0, text.indexOf(hit.preview)) : 0;
          return (
            <div key={line} class={`codeline ${isIn ? 'is-chunk' : ''} ${line === hit.line ? 'is-line' : ''}`}>
              <span class="number" style={{ width: `${String(to).length + 2.5}ch` }}>{line}</span>
              <span class="text">{from > 0 && '…'}<Painted text={visible(text.slice(from, from + MOST_LETTERS))} from={from} marks={isIn ? words : null} spans={spans.value?.lines[line - spans.value.start_line]} /></span>
            </div>
          );
        })}
      </div>
    </aside>
  );
}

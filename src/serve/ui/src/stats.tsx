// What the repository contains, what changed last and what agents asked; and how the index is kept up to date.
import { useState } from 'preact/hooks';
import { calls as askCalls, state, tool, view } from './ask.ts';
import { summary } from './calls.tsx';
import { Bars, Choice, Kind, Pending, SymbolKind } from './parts.tsx';
import { ago, bytes, clock, count, cut, duration, many, short, split, uptime, visible } from './say.ts';
import { address, fileAddress, useAnswer, useEvery } from './use.ts';

type Stats = {
  root: string; total_files: number; total_chunks: number; total_symbols: number; total_references: number; index_size_bytes: number;
  last_update?: string; languages: Record<string, { files: number; lines: number }>; skipped: Record<string, number>; entities: number; tags: number;
  vectors: number; vectors_pending: number; model: { name: string; dimension: number; device: string }; schema_version: number; watch_mode: string;
};
type Requests = Record<string, { calls: number; errors: number; p50_us: number; p99_us: number }>;
type Daemon = { pid: number; version: string; uptime_seconds: number; clients: number; pending_changes: number; memory: { own_bytes?: number }; watch_mode: string; requests: Requests };

type Overview = {
  folders: { path: string; files: number; lines: number }[];
  symbols: { name: string; kind: string; file: string; line: number; files: number }[];
  latest: { file: string; modified: string }[];
  open: { id: string; kind: string; title: string; status?: string }[];
  total_open: number;
  /// An older daemon sends none.
  commits?: { subject: string; when: string }[];
};
type Asked = { id: number; tool: string; arguments: Record<string, unknown>; begun_ms: number };

/// Cards for a newcomer: largest folders, most referenced symbols, latest commits.
function First({ value, asked }: { value: Overview; asked: Asked[] }) {
  const commits = value.commits ?? [];
  return (
    <>
      <div class="card">
        <h2>Largest folders</h2>
        <Bars label="Lines by folder" isOfPaths rows={value.folders.map((folder) => ({
          name: folder.path || 'top level', value: folder.lines, shown: `${short(folder.lines)} lines`, to: folder.path ? address('/search', { q: `path:${folder.path}` }) : undefined,
        }))} />
      </div>
      {value.symbols.length > 0 && (
        <div class="card">
          <h2>Most referenced symbols</h2>
          <ul class="plain ranked">
            {value.symbols.map((symbol) => (
              <li key={`${symbol.file}:${symbol.line}`}>
                <a href={fileAddress(symbol.file, symbol.line)} title={visible(`${symbol.file}:${symbol.line}`)}><SymbolKind kind={symbol.kind} /> <code>{visible(cut(symbol.name, 40))}</code></a>
                <span class="faint">{many(symbol.files, 'file')}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {commits.length > 0 && (
        <div class="card">
          <h2>Latest commits</h2>
          <ul class="plain ranked">
            {commits.map((commit, at) => (
              <li key={at}><span class="name" title={visible(commit.subject)}><bdi>{visible(commit.subject)}</bdi></span><span class="faint" title={commit.when}>{ago(commit.when)}</span></li>
            ))}
          </ul>
        </div>
      )}
      <div class="card">
        <h2>Changed last</h2>
        <ul class="plain ranked">
          {value.latest.map((file) => (
            <li key={file.file}><a href={fileAddress(file.file)} title={visible(file.file)}><bdi>{visible(split(file.file)[1])} <span class="faint">{visible(split(file.file)[0])}</span></bdi></a><span class="faint" title={file.modified}>{ago(file.modified)}</span></li>
          ))}
        </ul>
      </div>
      {value.total_open > 0 && (
        <div class="card">
          <h2>Open <span class="faint">{count(value.total_open)}</span></h2>
          <ul class="plain ranked">
            {value.open.map((entity) => (
              <li key={entity.id}><a href={address('/graph', { id: entity.id })}><Kind kind={entity.kind} /> <bdi>{visible(entity.title || entity.id)}</bdi></a><span class="faint">{visible(entity.status ?? '')}</span></li>
            ))}
          </ul>
        </div>
      )}
      {asked.length > 0 && (
        <div class="card">
          <h2>Asked today <span class="faint">{many(asked.length, 'call')}</span></h2>
          <ul class="plain ranked">
            {asked.slice(0, 12).map((call) => (
              <li key={call.id}><a href={address('/calls')}><code>{call.tool}</code> <bdi>{visible(cut(summary(call.arguments).main, 60))}</bdi></a><span class="faint">{clock(call.begun_ms)}</span></li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

export function Stats() {
  const [look, setLook] = useState(0);
  const [by, setBy] = useState<'lines' | 'files'>('lines');
  useEvery(5000, () => setLook((before) => before + 1));
  const stats = useAnswer<Stats>([look], (signal, waiting) => tool('stats', {}, signal, waiting));
  const now = useAnswer<{ version: string; daemon: Daemon | null }>([look], (signal) => state(signal));
  const first = useAnswer<Overview>([Math.floor(look / 12)], (signal, waiting) => view('overview', {}, signal, waiting));
  const recent = useAnswer<{ calls: Asked[] }>([Math.floor(look / 12)], (signal) => askCalls(undefined, signal));
  const today = new Date().setHours(0, 0, 0, 0);
  const asked = (recent.value?.calls ?? []).filter((call) => call.begun_ms >= today).reverse();
  const value = stats.value;
  if (!value) return <section class="stats"><Pending answer={stats} /></section>;
  const languages = Object.entries(value.languages).sort((a, b) => b[1][by] - a[1][by]);
  const rest = languages.slice(14);
  const skipped = Object.entries(value.skipped).sort((a, b) => b[1] - a[1]);
  const share = value.total_chunks ? value.vectors / value.total_chunks : 1;
  const daemon = now.value?.daemon;
  const requests = Object.entries(daemon?.requests ?? {}).sort((a, b) => b[1].calls - a[1].calls);
  return (
    <section class="stats">
      <dl class="tiles">
        {([['Files', value.total_files], ['Chunks', value.total_chunks], ['Symbols', value.total_symbols], ['References', value.total_references], ['Entities', value.entities], ['Tags', value.tags]] as const).map(([name, amount]) => (
          <div key={name}><dt>{name}</dt><dd title={count(amount)}>{short(amount)}</dd></div>
        ))}
      </dl>
      <div class="cards">
        <div class="card">
          <header><h2>Languages</h2><Choice label="By" value={by} of={[['lines', 'Lines'], ['files', 'Files']]} onPick={setBy} /></header>
          <Bars label={`Languages by ${by}`} rows={languages.slice(0, 14).map(([name, amounts]) => ({
            name, value: amounts[by], shown: count(amounts[by]), to: address('/search', { q: `lang:${name}` }),
          }))} />
          {rest.length > 0 && <p class="faint">and {many(rest.length, 'language')} more with {count(rest.reduce((sum, [, amounts]) => sum + amounts[by], 0))} {by}</p>}
          {languages.length === 0 && <p class="faint">Nothing is indexed yet.</p>}
        </div>
        {first.value ? <First value={first.value} asked={asked} /> : <div class="card"><Pending answer={first} /></div>}
        <div class="card">
          <h2>Index</h2>
          <dl class="facts-list">
            <dt>Size</dt><dd>{bytes(value.index_size_bytes)}</dd>
            <dt>Changed</dt><dd title={value.last_update}>{value.last_update ? ago(value.last_update) : 'never'}</dd>
            <dt>Updated by</dt><dd>{value.watch_mode}</dd>
            <dt>Schema</dt><dd>{value.schema_version}</dd>
            <dt>Folder</dt><dd class="path">{value.root}</dd>
          </dl>
        </div>
        <div class="card">
          <h2>Meaning</h2>
          <div class="meter" role="img" aria-label={`${Math.round(share * 100)} % of chunks have a vector`}><span style={{ width: `${share * 100}%` }} /></div>
          <p>{count(value.vectors)} of {many(value.total_chunks, 'chunk')} have a vector{value.vectors_pending > 0 && `; ${count(value.vectors_pending)} follow`}.</p>
          <p class="faint">{value.model.name}, {value.model.dimension} dimensions, {value.model.device}</p>
        </div>
        <div class="card">
          <h2>Left out</h2>
          {skipped.length > 0 ? <Bars label="Files left out, by reason" rows={skipped.map(([name, amount]) => ({ name, value: amount, shown: count(amount) }))} /> : <p class="faint">No file was left out.</p>}
        </div>
        <div class="card">
          <h2>Daemon</h2>
          {daemon ? (
            <dl class="facts-list">
              <dt>Process</dt><dd>{daemon.pid}, for {uptime(daemon.uptime_seconds)}</dd>
              <dt>Clients</dt><dd>{count(daemon.clients)}</dd>
              {daemon.memory.own_bytes !== undefined && daemon.memory.own_bytes !== null && <><dt>Memory</dt><dd>{bytes(daemon.memory.own_bytes)}</dd></>}
              <dt>Version</dt><dd>{daemon.version}</dd>
            </dl>
          ) : now.value ? <p class="faint">No daemon is running: the process of this page answers.</p> : <Pending answer={now} />}
        </div>
        {requests.length > 0 && (
          <div class="card is-wide">
            <h2>Answered by the daemon</h2>
            <div class="scroll">
              <table class="requests">
                <thead><tr><th scope="col">tool</th><th scope="col">calls</th><th scope="col">errors</th><th scope="col">median</th><th scope="col">99 %</th></tr></thead>
                <tbody>
                  {requests.map(([name, figures]) => (
                    <tr key={name}><th scope="row">{name}</th><td>{count(figures.calls)}</td><td class={figures.errors ? 'bad' : 'faint'}>{count(figures.errors)}</td><td>{duration(figures.p50_us ?? 0)}</td><td>{duration(figures.p99_us ?? 0)}</td></tr>
                  ))}
                </tbody>
              </table>
            </div>
          </div>
        )}
      </div>
    </section>
  );
}

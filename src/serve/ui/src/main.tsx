// The page: routing, the frame, and global keyboard shortcuts.
import { render } from 'preact';
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import 'uplot/dist/uPlot.min.css';
import './page.css';
import { BACK, BUILDING, Fault, findToken, pause, state, tool, type Progress } from './ask.ts';
import { Calls } from './calls.tsx';
import { Files } from './files.tsx';
import { GraphView } from './graph.tsx';
import { Icon, Nothing, Problem } from './parts.tsx';
import { count, many, visible } from './say.ts';
import { Search } from './search.tsx';
import { Stats } from './stats.tsx';
import { TagsView } from './tags.tsx';
import { address, asFault, go, useAnswer, useDiskChanges, useEvery, useRoute, type Route } from './use.ts';

const VIEWS = [
  ['search', 'Search', Search],
  ['files', 'Files', Files],
  ['graph', 'Graph', GraphView],
  ['tags', 'Tags', TagsView],
  ['calls', 'Calls', Calls],
  ['index', 'Overview', Stats],
] as const;

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(() => THEMES.find((one) => one === localStorage.getItem('ixmcp-theme')) ?? 'auto');
  useEffect(() => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    localStorage.setItem('ixmcp-theme', theme);
  }, [theme]);
  return [theme, () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length])];
}

/// One view. An exception in it does not affect the others.
function Shown({ of: View, route }: { of: (typeof VIEWS)[number][2]; route: Route }) {
  const [broken] = useErrorBoundary((error) => console.error(error));
  return broken ? <Problem fault={asFault(broken)} /> : <View route={route} />;
}

/// How far the index is, while it is being built; then `BACK` is dispatched.
function useBuilding(): Progress | null {
  const [building, setBuilding] = useState<Progress | null>(null);
  useEffect(() => {
    const heard = (event: Event) => setBuilding((event as CustomEvent<Progress>).detail);
    addEventListener(BUILDING, heard);
    return () => removeEventListener(BUILDING, heard);
  }, []);
  const isBuilding = building !== null;
  useEffect(() => {
    if (!isBuilding) return;
    const stop = new AbortController();
    const follow = async () => {
      for (;;) {
        await pause(1000, stop.signal);
        // An answer that says how far it is sets the progress.
        const now = await tool('stats', {}, stop.signal).catch(() => ({ indexing: true }));
        if (!now.indexing) break;
      }
      setBuilding(null);
      dispatchEvent(new Event(BACK));
    };
    follow().catch(() => undefined);
    return () => stop.abort();
  }, [isBuilding]);
  return building;
}

/// The keys of each view. Those of the graph are in its description.
const KEYS: [keys: string[], what: string][] = [
  [['1', '…', '6'], 'go to a view'],
  [['/'], 'go to the search box of the view'],
  [['↑', '↓'], 'choose a hit, a file or an entity'],
  [['Enter'], 'open what is chosen'],
  [['Ctrl F'], 'find in the whole file'],
  [['Ctrl A'], 'select the whole file'],
  [['Esc'], 'clear the search; close the find bar or the references'],
  [['?'], 'show these keys'],
];

function Keys({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="keys" ref={dialog} aria-label="Keys" onClose={onClose} onClick={(event) => event.target === dialog.current && onClose()}>
      <h2>Keys</h2>
      <button class="close" onClick={onClose} aria-label="Close"><Icon name="close" /></button>
      <dl>{KEYS.map(([keys, what]) => <div key={what}><dt>{keys.map((key) => (key === '…' ? '…' : <kbd key={key}>{key}</kbd>))}</dt><dd>{what}</dd></div>)}</dl>
    </dialog>
  );
}

function Page() {
  const route = useRoute();
  const [theme, nextTheme] = useTheme();
  const [look, setLook] = useState(0);
  useEvery(5000, () => setLook((before) => before + 1));
  const now = useAnswer<{ root: string; daemon: { pid: number } | null }>([look], (signal) => state(signal));
  const hasDaemon = useDiskChanges(route.path === '/files' ? route.query.get('path') : null, route.query.get('repo') ?? '');
  useEffect(() => setLook((before) => before + 1), [hasDaemon]);
  const [showsKeys, setShowsKeys] = useState(false);
  const shown = route.query.get('repo') ?? now.value?.root ?? '';
  const name = visible(shown.split('/').filter(Boolean).at(-1) ?? '');
  const building = useBuilding();
  const at = VIEWS.find(([path]) => route.path === `/${path}`);
  useEffect(() => {
    document.title = `${at ? `${at[1]} · ` : ''}${name || 'ixmcp'}`;
  }, [at, name]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input[type=search], textarea, select, dialog')) return;
      if (event.key === '?') setShowsKeys(true);
      else if (event.key === '/') {
        const box = document.querySelector<HTMLInputElement>('main input[type=search]');
        if (box) box.focus();
        else go(address('/search'));
      } else if (/^[1-6]$/.test(event.key)) go(address(`/${VIEWS[Number(event.key) - 1][0]}`));
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const View = at?.[2];
  const isRunning = !!now.value?.daemon;
  const fault = now.fault ?? now.gone;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>('main')?.focus(); }}>Skip to content</a>
      <header class="bar">
        <a class="brand" href="#/search"><img src="/icon.svg" alt="" width="24" height="24" /><strong title={shown}>{name || 'ixmcp'}</strong></a>
        <nav aria-label="Views">
          {VIEWS.map(([path, label], index) => (
            <a key={path} href={address(`/${path}`)} aria-current={route.path === `/${path}` ? 'page' : undefined} title={`${label} (${index + 1})`}><Icon name={path} /><span>{label}</span></a>
          ))}
        </nav>
        <span class="daemon" title={isRunning ? `The daemon, process ${now.value!.daemon!.pid}, answers` : 'No daemon is running: the process of this page answers'}>
          <i class={`dot ${isRunning && !fault ? 'is-live' : 'is-off'}`} /><span>{fault ? 'gone' : isRunning ? 'daemon' : 'no daemon'}</span>
        </span>
        <button class="theme of-keys" onClick={() => setShowsKeys(true)} aria-label="Keys" title="Keys (?)">?</button>
        <button class="theme" onClick={nextTheme} aria-label={`Colours: ${theme}`} title={`Colours: ${theme}`}><Icon name={theme} /></button>
      </header>
      {showsKeys && <Keys onClose={() => setShowsKeys(false)} />}
      <main id="main" tabIndex={-1}>
        {fault && <Problem fault={fault} />}
        {building && (
          <p class="indexing" role="status">
            <progress value={building.done} max={Math.max(1, building.total)} aria-label="Indexing" /> The index is being built: {count(building.done)} of {many(building.total, 'file')}. More may follow.
          </p>
        )}
        {View ? <Shown key={at?.[0] === 'search' ? route.path : `${route.path} ${shown}`} of={View} route={route} /> : <Nothing title="There is no such view"><p><a href="#/search">Search</a></p></Nothing>}
      </main>
    </>
  );
}

function Locked() {
  return (
    <main>
      <Problem fault={new Fault('TOKEN', 'This page needs its token.', 'Open the complete address that `ixmcp ui` printed, including the part after #.')} />
    </main>
  );
}

// The address of another run was opened in this tab.
addEventListener('hashchange', () => location.hash.startsWith('#token=') && location.reload());
findToken().then((token) => render(token ? <Page /> : <Locked />, document.body));

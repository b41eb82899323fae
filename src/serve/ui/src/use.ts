// Hooks that several views use: asynchronous answers, changes on disk, the address, the window's width.
import { useEffect, useRef, useState } from 'preact/hooks';
import { BACK, CHANGED, Fault, changes, looked, pause, type Changed, type KnownState } from './ask.ts';

/// `gone`: the server does not answer; once it does, the request is repeated.
export type Answer<T> = { value?: T; fault?: Fault; gone?: Fault; waiting?: string; isAsking: boolean };

/// The answer to a request that depends on `about`. A new request aborts the previous one, whose answer stays visible until the
/// new one arrives.
export function useAnswer<T>(
  about: unknown[],
  ask: ((signal: AbortSignal, waiting: (why: string) => void) => Promise<T>) | null,
  delay = 0,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ isAsking: ask !== null });
  const [again, setAgain] = useState(0);
  useEffect(() => {
    if (!ask) {
      setAnswer({ isAsking: false });
      return;
    }
    const stop = new AbortController();
    setAnswer((before) => ({ ...before, isAsking: true }));
    const onBack = () => addEventListener(BACK, () => setAgain((before) => before + 1), { once: true, signal: stop.signal });
    const timer = setTimeout(() => {
      const waiting = (why: string) => !stop.signal.aborted && setAnswer((before) => ({ ...before, waiting: why }));
      ask(stop.signal, waiting).then(
        (value) => {
          if (stop.signal.aborted) return;
          if ((value as { indexing?: unknown } | null)?.indexing) onBack();
          setAnswer({ value, isAsking: false });
        },
        (error) => {
          if (stop.signal.aborted) return;
          const fault = asFault(error);
          if (fault.code !== 'GONE') return setAnswer({ fault, isAsking: false });
          // The frame of the page says so. What was shown stays.
          onBack();
          setAnswer(({ value }) => ({ value, gone: fault, waiting: 'Waiting for the connection…', isAsking: false }));
        },
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [...about, again]);
  return answer;
}

/// Follows what changes on disk while the page is visible, and dispatches it. Returns whether the daemon answers.
export function useDiskChanges(file: string | null, repo: string): boolean | undefined {
  const [hasDaemon, setHasDaemon] = useState<boolean>();
  const known = useRef<KnownState & { repo: string }>({ repo });
  useEffect(() => {
    const stop = new AbortController();
    const follow = async () => {
      while (!stop.signal.aborted) {
        await looked(stop.signal);
        // A hidden tab must not keep one of the browser's few connections.
        const hidden = new AbortController();
        const onHide = () => document.visibilityState !== 'visible' && hidden.abort();
        const onStop = () => hidden.abort();
        document.addEventListener('visibilitychange', onHide);
        stop.signal.addEventListener('abort', onStop);
        const before = known.current.repo === repo ? known.current : { repo };
        const isSame = file !== null && before.file === file;
        try {
          const given = { feed: before.feed, position: before.position, file: file ?? undefined, stamp: isSame ? before.stamp : undefined };
          const now = await changes(given, hidden.signal);
          if (hidden.signal.aborted) continue;
          known.current = { repo, feed: now.feed, position: now.position, file: file ?? undefined, stamp: now.stamp ?? undefined };
          setHasDaemon(now.daemon);
          const isChanged = isSame && (now.stamp ?? undefined) !== before.stamp;
          if (isChanged || now.everything || now.saved.length || now.removed.length) {
            const detail: Changed = { ...now, file: isChanged ? file : null, isGone: now.stamp === null };
            dispatchEvent(new CustomEvent(CHANGED, { detail }));
          }
          await pause(SPACING, stop.signal);
        } catch (error) {
          if (stop.signal.aborted) return;
          // A published repository is not on this disk.
          if (error instanceof Fault && error.code === 'NOT_FOUND') return;
          if (!hidden.signal.aborted) await pause(AFTER_FAILURE, stop.signal);
        } finally {
          document.removeEventListener('visibilitychange', onHide);
          stop.signal.removeEventListener('abort', onStop);
        }
      }
    };
    follow().catch(() => undefined);
    return () => stop.abort();
  }, [file, repo]);
  return hasDaemon;
}

/// The pauses between two requests for changes: many saves are few requests.
const [SPACING, AFTER_FAILURE] = [250, 3000];

export function useChanged(work: (changed: Changed) => void) {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    const heard = (event: Event) => latest.current((event as CustomEvent<Changed>).detail);
    addEventListener(CHANGED, heard);
    return () => removeEventListener(CHANGED, heard);
  }, []);
}

export function asFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('PAGE', error instanceof Error ? error.message : String(error));
}

/// The fragment of the address: a path and its parameters.
export type Route = { path: string; query: URLSearchParams };

/// The current address, which may be ahead of the rendered one while the user types.
export function route(): Route {
  const [path, query] = location.hash.replace(/^#/, '').split('?', 2);
  return { path: path || '/search', query: new URLSearchParams(query ?? '') };
}

export function useRoute(): Route {
  const [now, setNow] = useState(route);
  useEffect(() => {
    const changed = () => setNow(route());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return now;
}

/// Makes an address. On a page of several repositories it keeps the one that is shown, unless it names another.
export function address(path: string, query: Record<string, string | number | undefined | null> = {}): string {
  const given = Object.entries({ repo: route().query.get('repo'), ...query }).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#${path}${text ? `?${text}` : ''}`;
}

export const fileAddress = (path: string, from?: number, to?: number, repo?: string) =>
  address('/files', { path, line: from ? (to && to !== from ? `${from}-${to}` : from) : undefined, ...(repo ? { repo } : {}) });

/// Navigates to an address; `replace` adds no entry to the history.
export function go(to: string, replace = false) {
  if (location.hash === to) return;
  if (replace) {
    history.replaceState(null, '', to);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else {
    location.hash = to;
  }
}

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = () => setMatches(media.matches);
    changed();
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, [query]);
  return matches;
}

/// Runs periodically while the page is visible, and as soon as it is visible or connected again.
export function useEvery(ms: number, work: () => void, about: unknown[] = []) {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    const run = () => document.visibilityState === 'visible' && latest.current();
    const timer = setInterval(run, ms);
    document.addEventListener('visibilitychange', run);
    addEventListener('online', run);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', run);
      removeEventListener('online', run);
    };
  }, about);
}

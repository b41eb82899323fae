// Hooks that several views use: asynchronous answers, the address, the window's width.
import { useEffect, useRef, useState } from 'preact/hooks';
import { BACK, Fault } from './ask.ts';

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

/// Of a page of several repositories, an address keeps the one that is shown, unless it names another.
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

// Hooks that several views use: answers that come later, the address, the window's width.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Fault } from './ask.ts';

export type Answer<T> = { value?: T; fault?: Fault; waiting?: string; isAsking: boolean };

/// The answer to a question that changes with `about`. What was asked before is given up; its answer stays shown until the
/// next one comes.
export function useAnswer<T>(
  about: unknown[],
  ask: ((signal: AbortSignal, waiting: (why: string) => void) => Promise<T>) | null,
  delay = 0,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({ isAsking: ask !== null });
  useEffect(() => {
    if (!ask) {
      setAnswer({ isAsking: false });
      return;
    }
    const stop = new AbortController();
    setAnswer((before) => ({ ...before, isAsking: true }));
    const timer = setTimeout(() => {
      const waiting = (why: string) => !stop.signal.aborted && setAnswer((before) => ({ ...before, waiting: why }));
      ask(stop.signal, waiting).then(
        (value) => !stop.signal.aborted && setAnswer({ value, isAsking: false }),
        (fault) => !stop.signal.aborted && setAnswer({ fault: asFault(fault), isAsking: false }),
      );
    }, delay);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, about);
  return answer;
}

export function asFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('PAGE', error instanceof Error ? error.message : String(error));
}

/// The address behind the #: a path and what is asked of it.
export type Route = { path: string; query: URLSearchParams };

/// What the address says now: ahead of what is drawn, while a person types.
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

export function address(path: string, query: Record<string, string | number | undefined | null> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#${path}${text ? `?${text}` : ''}`;
}

export const fileAddress = (path: string, from?: number, to?: number) =>
  address('/files', { path, line: from ? (to && to !== from ? `${from}-${to}` : from) : undefined });

/// Goes elsewhere; `replace` leaves no step to come back to.
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

/// Runs now and then while the page is seen.
export function useEvery(ms: number, work: () => void, about: unknown[] = []) {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && latest.current(), ms);
    return () => clearInterval(timer);
  }, about);
}

// Requests to the server: the token, calls, errors.

import { route } from './use.ts';

const KEPT = 'ixmcp-token';

/// Event of the window: the server answers again after it did not, or the index is complete. Incomplete answers are requested again.
export const BACK = 'ixmcp-back';
let isGone = false;

/// How far the index is, while it is being built.
export type Progress = { done: number; total: number };
/// Event of the window: an answer says that the index is being built; `detail` is the progress.
export const BUILDING = 'ixmcp-building';

/// An error that the server returned.
export class Fault extends Error {
  constructor(readonly code: string, message: string, readonly hint?: string | null) {
    super(message);
  }
}

/// The token of this run: from the address, from which it is then removed; or from this tab's storage; or from another tab.
export async function findToken(): Promise<string | null> {
  const given = /^#token=([0-9a-f]+)$/.exec(location.hash);
  if (given) {
    sessionStorage.setItem(KEPT, given[1]);
    history.replaceState(null, '', '#/search');
  }
  const channel = new BroadcastChannel('ixmcp');
  const kept = sessionStorage.getItem(KEPT) ?? (await fromOtherTab(channel));
  if (kept) {
    sessionStorage.setItem(KEPT, kept);
    channel.onmessage = (event) => event.data === 'token?' && channel.postMessage({ token: kept });
  } else {
    // The other tab may be busy: its answer is taken whenever it comes.
    channel.onmessage = (event) => {
      if (typeof event.data?.token !== 'string') return;
      sessionStorage.setItem(KEPT, event.data.token);
      location.reload();
    };
  }
  return kept;
}

function fromOtherTab(channel: BroadcastChannel): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), 300);
    channel.onmessage = (event) => {
      if (typeof event.data?.token !== 'string') return;
      clearTimeout(timer);
      resolve(event.data.token);
    };
    channel.postMessage('token?');
  });
}

async function request(path: string, init: RequestInit): Promise<any> {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEPT) ?? ''}`, 'Content-Type': 'application/json' };
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, cache: 'no-store', credentials: 'omit' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    isGone = true;
    throw new Fault('GONE', 'The program behind this page does not answer.', 'Start `ixmcp ui` again and open the address it prints.');
  }
  if (isGone) {
    isGone = false;
    dispatchEvent(new Event(BACK));
  }
  if (response.status === 401) {
    throw new Fault('TOKEN', 'This page has no valid token.', 'Open the complete address that `ixmcp ui` printed, including the part after #.');
  }
  const type = response.headers.get('Content-Type') ?? '';
  if (!type.startsWith('application/json')) throw new Fault('REFUSED', await response.text());
  const body = await response.json();
  if (!response.ok) throw new Fault(body.code, body.message, body.hint);
  if (body.indexing) dispatchEvent(new CustomEvent(BUILDING, { detail: body.indexing }));
  return body;
}

/// Sends a request. On a page of several repositories it is for the one in the address, unless it names another.
const post = (path: string, given: object, signal?: AbortSignal) =>
  request(path, { method: 'POST', body: JSON.stringify({ repo: route().query.get('repo') ?? undefined, ...given }), signal });

/// Calls a tool. While the index is being built, repeats the call, and reports the reason to `waiting`.
export async function tool(name: string, given: object = {}, signal?: AbortSignal, waiting?: (why: string) => void): Promise<any> {
  return retrying(() => post(`/api/tool/${name}`, given, signal), signal, waiting);
}

export async function view(name: string, given: object = {}, signal?: AbortSignal, waiting?: (why: string) => void): Promise<any> {
  return retrying(() => post(`/api/view/${name}`, given, signal), signal, waiting);
}

async function retrying(ask: () => Promise<any>, signal?: AbortSignal, waiting?: (why: string) => void) {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof Fault && error.code === 'BUSY' && waiting)) throw error;
      waiting(error.message);
      await pause(700, signal);
    }
  }
}

export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new DOMException('', 'AbortError'));
    });
  });
}

/// Waits until this tab is visible: background tabs must not use up the browser's few connections.
export function looked(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (document.visibilityState !== 'visible' && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}

/// Changes on disk since an earlier answer. `stamp` identifies the state of the shown file.
export type DiskChanges = { feed: number; position: number; stamp: string | null; saved: string[]; removed: string[]; everything: boolean; daemon: boolean };
export type KnownState = { file?: string; stamp?: string; feed?: number; position?: number };
export const changes = (known: KnownState, signal?: AbortSignal): Promise<DiskChanges> => post('/api/changes', known, signal);
/// Event of the window: something changed on disk; `detail` is a `Changed`.
export const CHANGED = 'ixmcp-changed';
/// `file` is the file that is shown, if that changed; `isGone`: it is no longer there.
export type Changed = DiskChanges & { file: string | null; isGone: boolean };

export const state = (signal?: AbortSignal) => request('/api/state', { signal });
/// The current calls, or those after a version as soon as there is one.
export const calls = (after?: number, signal?: AbortSignal) => request(`/api/calls${after === undefined ? '' : `?after=${after}`}`, { signal });

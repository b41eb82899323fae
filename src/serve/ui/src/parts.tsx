// Components that several views use: icons, errors, loading indicators, highlighted text, badges, long lists.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Marks } from './code.tsx';
import type { Answer } from './use.ts';
import type { Fault } from './ask.ts';
import { visible } from './say.ts';

const ICONS = {
  search: 'M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM15.5 15.5 20 20',
  files: 'M6 3.5h8l4.5 4.5v12.5H6ZM14 3.5V8h4.5M9 13h6M9 16.5h6',
  graph: 'M6 8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM18 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM9 20.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8.3 7l7.4 2.200M16.300 11.900 10.700 16.300M6.500 8.500l1.900 7.100',
  tags: 'M4 4h7.500l8.500 8.500-7.500 7.500L4 11.500ZM8 8h.01',
  calls: 'M3.500 12h4l2.500-7 4 14 2.500-7h4',
  index: 'M5 20V11M12 20V4M19 20v-6',
  close: 'M6 6l12 12M18 6 6 18',
  back: 'M14.500 5 7.500 12l7 7',
  light: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2.500v2M12 19.500v2M2.500 12h2M19.500 12h2M5.300 5.300l1.400 1.400M17.300 17.300l1.400 1.400M18.700 5.300l-1.400 1.400M6.700 17.300l-1.400 1.400',
  dark: 'M19.500 14.500A8 8 0 0 1 9.500 4.500a8 8 0 1 0 10 10Z',
  auto: 'M12 3.500a8.500 8.500 0 1 0 0 17 8.500 8.500 0 0 0 0-17ZM12 3.500v17',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5',
  folder: 'M3.500 6.500h6l2 2.500h9v9.500h-17Z',
  file: 'M6.500 3.500h7l4 4v13h-11Z',
  chevron: 'M9 6l6 6-6 6',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
} as const;

export function Icon({ name }: { name: keyof typeof ICONS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={ICONS[name]} />
    </svg>
  );
}

/// Messages for people, by error code.
const WORDS: Record<string, string> = {
  INVALID_ARGUMENT: 'This cannot be searched or shown as it is written',
  INVALID_PATH: 'There is no such file in the index',
  NOT_FOUND: 'It does not exist, or no longer',
  TIMEOUT: 'This took too long',
  BUSY: 'The index is busy',
  UNSUPPORTED_FORMAT: 'This kind of file has no such view',
  INDEX_NOT_FOUND: 'There is no index',
  INTERNAL: 'Something went wrong in ixmcp',
};

export function Problem({ fault }: { fault: Fault }) {
  const words = WORDS[fault.code];
  return (
    <div class="problem" role="alert">
      <strong>{words ?? <Message text={fault.message} />}</strong>
      {words && <p><Message text={fault.message} /></p>}
      {fault.hint && <p><Message text={fault.hint} /></p>}
      <code>{fault.code}</code>
    </div>
  );
}

/// A message that the server wrote: what it has between backticks as code. Its first letter is in upper case where it begins with
/// a word: names stay as they are.
export function Message({ text }: { text: string }) {
  const parts = visible(text.replace('mode "literal"', 'Literal').replace(/^(a|an|any|cannot|each|it|no|not|nothing|only|the|there|this|to)\b/, (word) => word[0].toUpperCase() + word.slice(1))).split('`');
  if (parts.length % 2 === 0) return <>{parts.join('`')}</>;
  return <>{parts.map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part))}</>;
}

export function Nothing({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="nothing">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/// An answer's error, or an indicator that it is loading, with the reason if that is known.
export function Pending({ answer }: { answer: Answer<unknown> }) {
  if (answer.fault) return <Problem fault={answer.fault} />;
  if (answer.value !== undefined) return null;
  return (
    <p class="pending" role="status">
      <span class="spinner" />
      {answer.waiting ?? 'Loading…'}
    </p>
  );
}

export const KINDS = ['decision', 'issue', 'idea', 'report', 'source', 'citation', 'agent', 'session', 'note'];
export const kindClass = (kind?: string | null) => (kind && KINDS.includes(kind) ? `kind-${kind}` : kind ? 'kind-other' : 'kind-missing');

export function Kind({ kind }: { kind?: string | null }) {
  return <span class={`kind ${kindClass(kind)}`}>{visible(kind ?? 'missing')}</span>;
}

export const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/// Marks in one line.
const MOST_MARKS = 60;

/// Finds the text to mark for a query: its words as whole words or parts of identifiers, or the pattern itself.
export function marks(text: string, mode: string, isCased: boolean): Marks | null {
  const all = (pattern: RegExp, isWanted: (found: RegExpExecArray, line: string) => boolean) => (line: string) => {
    const ranges: [number, number][] = [];
    for (const found of line.matchAll(pattern)) {
      if (!found[0] || ranges.length > MOST_MARKS) break;
      if (isWanted(found, line)) ranges.push([found.index, found.index + found[0].length]);
    }
    return ranges;
  };
  try {
    if (mode === 'regex') return text ? all(new RegExp(text, isCased ? 'gu' : 'giu'), () => true) : null;
    if (mode === 'literal') return text ? all(new RegExp(escaped(text), isCased ? 'g' : 'gi'), () => true) : null;
  } catch {
    return null; // The search engine supports patterns that the browser does not.
  }
  const words = text
    .replace(/(^|\s)-\S+/g, ' ')
    .replace(/(^|\s)(path|lang|kind|tag):\S+/g, ' ')
    .split(/[^\p{L}\p{N}_]+/u)
    .flatMap((word) => [word, ...word.split(/_|(?<=\p{Ll})(?=\p{Lu})/u)])
    .filter((word) => word.length > 1);
  if (!words.length) return null;
  const longest = [...new Set(words)].sort((a, b) => b.length - a.length).slice(0, 30);
  // A search finds other forms of a word, too.
  return all(new RegExp(`(?:${longest.map(escaped).join('|')})(?:es|s|ed|ing|d)?`, 'giu'), isToken);
}

/// Whether a match is a word, or a part of an identifier: `size` in `pageSize` and `page_size`, not in `usize`.
function isToken(found: RegExpExecArray, line: string): boolean {
  const [before, first] = [line.slice(0, found.index).at(-1) ?? '', found[0][0]];
  const [last, after] = [found[0].at(-1)!, line[found.index + found[0].length] ?? ''];
  const begins = !/\p{L}/u.test(before) || (/\p{Ll}/u.test(before) && /\p{Lu}/u.test(first));
  const ends = !/\p{L}/u.test(after) || (/\p{Lu}/u.test(after) && /[\p{Ll}\p{N}]/u.test(last));
  return begins && ends;
}

/// A virtual list: only the visible rows are rendered. All rows have the same height.
export function Rows(props: {
  count: number;
  height: number;
  row: (at: number) => ComponentChildren;
  /// A row to scroll to, once for each `key`.
  show?: { at: number; key: unknown };
  label: string;
  class?: string;
  wide?: boolean;
  role?: 'tree';
  /// The rows that are rendered now.
  onSeen?: (from: number, to: number) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
  onClick?: (event: MouseEvent) => void;
}) {
  const { count, height, row, show } = props;
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ from: 0, to: 60 });
  const look = () => {
    const element = box.current;
    if (!element) return;
    const from = Math.max(0, Math.floor(element.scrollTop / height) - 12);
    const to = Math.min(count, Math.ceil((element.scrollTop + element.clientHeight) / height) + 12);
    setSeen((before) => (before.from === from && before.to === to ? before : { from, to }));
  };
  useLayoutEffect(() => {
    look();
    const observer = new ResizeObserver(look);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [count, height]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !show || show.at < 0) return;
    const top = show.at * height;
    const isSeen = top >= element.scrollTop && top + height <= element.scrollTop + element.clientHeight;
    if (!isSeen) element.scrollTop = Math.max(0, top - element.clientHeight / 3);
    look();
  }, [show?.key, count > 0]);
  useEffect(() => {
    if (count > 0) props.onSeen?.(seen.from, Math.max(seen.from, Math.min(count, seen.to) - 1));
  }, [seen, count]);
  const rows: ComponentChildren[] = [];
  for (let at = seen.from; at < Math.min(seen.to, count); at += 1) rows.push(row(at));
  return (
    <div class={`rows ${props.class ?? ''}`} ref={box} role={props.role ?? 'group'} onScroll={look} onKeyDown={props.onKeyDown} onClick={props.onClick} aria-label={props.label} tabIndex={0}>
      <div class="rows-all" style={{ height: `${count * height}px` }}>
        <div class={props.wide ? 'rows-seen rows-wide' : 'rows-seen'} style={{ transform: `translateY(${seen.from * height}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}

/// A group of buttons of which one is selected.
export function Choice<T extends string>(props: { label: string; value: T; of: readonly (readonly [T, string])[]; onPick: (value: T) => void }) {
  return (
    <div class="choice" role="radiogroup" aria-label={props.label}>
      {props.of.map(([value, text]) => (
        <label key={value} class={value === props.value ? 'is-on' : ''}>
          <input type="radio" name={props.label} checked={value === props.value} onChange={() => props.onPick(value)} />
          {text}
        </label>
      ))}
    </div>
  );
}

export function Switch(props: { label: string; title?: string; value: boolean; onPick: (value: boolean) => void }) {
  return (
    <label class={`switch ${props.value ? 'is-on' : ''}`} title={props.title}>
      <input type="checkbox" checked={props.value} onChange={(event) => props.onPick(event.currentTarget.checked)} />
      {props.label}
    </label>
  );
}

/// A bar chart. The largest bar takes the whole width.
export function Bars({ rows, label, isOfPaths }: { label: string; isOfPaths?: boolean; rows: { name: string; value: number; shown: string; to?: string; second?: string }[] }) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  return (
    <table class={`bars ${isOfPaths ? 'is-of-paths' : ''}`} aria-label={label}>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <th scope="row">{row.to ? <a href={row.to} title={visible(row.name)}><bdi>{visible(row.name)}</bdi></a> : visible(row.name)}</th>
            <td class="bar">
              <span style={{ width: `${Math.max(0.5, (100 * row.value) / most)}%` }} />
            </td>
            <td class="amount">{row.shown}</td>
            {row.second !== undefined && <td class="amount faint">{row.second}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/// A bar between two panels that the user moves, with the pointer or the arrow keys. The width is kept.
export function useWidth(name: string, first: number, [least, most]: readonly [number, number]) {
  const [width, setWidth] = useState(() => bounded(Number(localStorage.getItem(`ixmcp-${name}`)) || first));
  function bounded(width: number) {
    return Math.round(Math.max(least, Math.min(most, width)));
  }
  const change = (width: number) => {
    setWidth(bounded(width));
    localStorage.setItem(`ixmcp-${name}`, String(bounded(width)));
  };
  return { width, change, least, most };
}

export function Divider({ label, size, isAfter }: { label: string; size: ReturnType<typeof useWidth>; isAfter?: boolean }) {
  const way = isAfter ? -1 : 1;
  const drag = (event: PointerEvent) => {
    const [from, before] = [event.clientX, size.width];
    const bar = event.currentTarget as HTMLElement;
    bar.setPointerCapture(event.pointerId);
    const move = (now: PointerEvent) => size.change(before + way * (now.clientX - from));
    const end = () => {
      bar.removeEventListener('pointermove', move);
      bar.removeEventListener('pointerup', end);
      bar.removeEventListener('pointercancel', end);
    };
    bar.addEventListener('pointermove', move);
    bar.addEventListener('pointerup', end);
    bar.addEventListener('pointercancel', end);
    event.preventDefault();
  };
  const onKey = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowLeft: -24, ArrowRight: 24 };
    if (event.key === 'Home') size.change(size.least);
    else if (event.key === 'End') size.change(size.most);
    else if (event.key in steps) size.change(size.width + way * steps[event.key]);
    else return;
    event.preventDefault();
  };
  return (
    <div class="divider" role="separator" aria-orientation="vertical" aria-label={label} tabIndex={0}
      aria-valuenow={size.width} aria-valuemin={size.least} aria-valuemax={size.most} onPointerDown={drag} onKeyDown={onKey} />
  );
}

/// The word for a kind of symbol, in the color of its group.
export function SymbolKind({ kind }: { kind: string }) {
  return <span class={`of of-${GROUPS[kind] ?? 'other'}`}>{kind}</span>;
}

const GROUPS: Record<string, string> = Object.fromEntries(
  Object.entries({
    type: ['class', 'struct', 'enum', 'union', 'interface', 'trait', 'protocol', 'object', 'record', 'mixin', 'extension', 'instance', 'exception', 'type', 'table', 'message'],
    function: ['function', 'method', 'constructor', 'macro', 'operator', 'service', 'rule', 'trigger'],
    value: ['field', 'attribute', 'property', 'variant', 'variable', 'constant', 'key', 'parameter', 'event', 'id'],
  }).flatMap(([group, kinds]) => kinds.map((kind) => [kind, group])),
);

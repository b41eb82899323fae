// Highlighted code: the classes that the server computes, the words of a query, and the name under the pointer.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { view } from './ask.ts';

/// In the order of the server's numbers.
const CLASSES = ['', 'comment', 'string', 'escape', 'number', 'constant', 'keyword', 'type', 'function', 'property', 'attribute', 'tag', 'heading'];

/// The start, length and class of each span of a line, one after the other.
export type Spans = readonly number[];

/// The ranges of a text to mark.
export type Marks = (text: string) => [from: number, to: number][];

/// A line with its classes and marks. `from` is where `text` begins in the line that the spans are of.
export function Painted({ text, spans, marks, from = 0 }: { text: string; spans?: Spans; marks?: Marks | null; from?: number }) {
  const marked = marks ? marks(text) : [];
  if (!spans?.length && !marked.length) return <>{text}</>;
  const shown: ComponentChildren[] = [];
  let mark = 0;
  /// A part of one class, with the marks in it.
  const part = (begin: number, end: number, name: string) => {
    for (let at = begin; at < end; ) {
      while (mark < marked.length && marked[mark][1] <= at) mark += 1;
      const next = marked[mark];
      const isMarked = next !== undefined && next[0] <= at;
      const stop = Math.min(end, isMarked ? next[1] : next && next[0] < end ? next[0] : end);
      const piece = text.slice(at, stop);
      const look = name ? `hl-${name}` : undefined;
      shown.push(isMarked ? <mark key={at} class={look}>{piece}</mark> : look ? <span key={at} class={look}>{piece}</span> : piece);
      at = stop;
    }
  };
  let at = 0;
  for (let index = 0; index + 2 < (spans?.length ?? 0); index += 3) {
    const begin = Math.min(text.length, Math.max(at, spans![index] - from));
    const end = Math.min(text.length, spans![index] + spans![index + 1] - from);
    if (end <= begin) continue;
    part(at, begin, '');
    part(begin, end, CLASSES[spans![index + 2]] ?? '');
    at = end;
  }
  part(at, text.length, '');
  return <>{shown}</>;
}

const BLOCK = 4000;

/// The spans of a file's lines, loaded where they are looked at, and again for each edition of the file. A file that cannot be highlighted stays plain.
export function useSpans(path: string, edition: number) {
  const [, setLoaded] = useState(0);
  const blocks = useRef(new Map<number, Spans[]>());
  const stop = useRef(new AbortController());
  useEffect(() => {
    blocks.current = new Map();
    stop.current = new AbortController();
    return () => stop.current.abort();
  }, [path]);
  const load = (block: number) => {
    const known = blocks.current;
    view('highlight', { file: path, start_line: block * BLOCK + 1, lines: BLOCK }, stop.current.signal, () => {}).then(
      (answer) => {
        known.set(block, answer.lines);
        setLoaded((before) => before + 1);
      },
      () => {},
    );
  };
  // The old spans stay until the new ones arrive.
  useEffect(() => {
    if (edition > 0) for (const block of blocks.current.keys()) load(block);
  }, [edition]);
  /// Loads the lines from `from` to `to`, from 0.
  const need = (from: number, to: number) => {
    for (let block = Math.floor(from / BLOCK); block <= Math.floor(to / BLOCK); block += 1) {
      if (blocks.current.has(block)) continue;
      blocks.current.set(block, []);
      load(block);
    }
  };
  const of = (line: number): Spans | undefined => blocks.current.get(Math.floor(line / BLOCK))?.[line % BLOCK];
  return { need, of };
}

/// The name at a point of the screen in a line of text: where it begins, in characters from 1.
export function nameAt(event: MouseEvent): { name: string; column: number } | null {
  const line = (event.target as Element).closest<HTMLElement>('.text');
  if (!line) return null;
  const found = caret(event.clientX, event.clientY);
  if (!found || !line.contains(found.node)) return null;
  const before = document.createRange();
  before.setStart(line, 0);
  before.setEnd(found.node, found.offset);
  return nameIn(line.textContent ?? '', before.toString().length);
}

function caret(x: number, y: number): { node: Node; offset: number } | null {
  const position = (document as any).caretPositionFromPoint?.(x, y);
  if (position) return { node: position.offsetNode, offset: position.offset };
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? { node: range.startContainer, offset: range.startOffset } : null;
}

/// The name at an offset of a text, or just before it.
export function nameIn(text: string, offset: number): { name: string; column: number } | null {
  for (const found of text.matchAll(/[\p{L}_$][\p{L}\p{N}_$]*/gu)) {
    if (found.index > offset) break;
    if (offset <= found.index + found[0].length) return { name: found[0], column: Array.from(text.slice(0, found.index)).length + 1 };
  }
  return null;
}

// Finding in a whole file. Only the visible lines are in the page, so the browser's own find misses the others.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Marks } from './code.tsx';
import { Icon, Switch, escaped } from './parts.tsx';
import { count } from './say.ts';

type Occurrence = { line: number; from: number; to: number };
type Finding = ReturnType<typeof useFind>;

/// Occurrences that are counted and marked.
const MOST = 20_000;

function occurrences(lines: string[], wanted: string, isCased: boolean): Occurrence[] {
  const found: Occurrence[] = [];
  if (!wanted) return found;
  const pattern = new RegExp(escaped(wanted), isCased ? 'gu' : 'giu');
  for (let line = 0; line < lines.length && found.length < MOST; line += 1) {
    for (const { index, 0: text } of lines[line].matchAll(pattern)) found.push({ line, from: index, to: index + text.length });
  }
  return found;
}

/// The find bar of a text, which Ctrl+F opens, and whether all of the text is selected.
export function useFind(lines: string[], isOn: boolean, from: number) {
  const [isOpen, setOpen] = useState(false);
  const [wanted, setWanted] = useState('');
  const [isCased, setCased] = useState(false);
  const [at, setAt] = useState(0);
  const [isAll, setAll] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const found = useMemo(() => (isOpen && isOn ? occurrences(lines, wanted, isCased) : []), [lines, wanted, isCased, isOpen, isOn]);
  const byLine = useMemo(() => {
    const all = new Map<number, [number, number][]>();
    for (const { line, from, to } of found) all.set(line, [...(all.get(line) ?? []), [from, to]]);
    return all;
  }, [found]);
  const current = found[Math.min(at, found.length - 1)] as Occurrence | undefined;
  /// The line of the address when something was found: the text does not scroll back to it.
  const away = useRef<number>(undefined);
  if (current) away.current = from;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isOn || event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      // A second time it is the browser's own.
      if (document.activeElement === input.current && input.current) return;
      event.preventDefault();
      const selected = getSelection()?.toString() ?? '';
      if (selected && !selected.includes('\n')) setWanted(selected);
      setOpen(true);
      input.current?.select();
    };
    const onPointer = () => setAll(false);
    addEventListener('keydown', onKey);
    addEventListener('pointerdown', onPointer);
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener('pointerdown', onPointer);
    };
  }, [isOn]);
  useEffect(() => {
    if (current) document.querySelector('.codeline.is-found mark')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [current]);
  const step = (by: number) => found.length && setAt((Math.min(at, found.length - 1) + by + found.length) % found.length);
  const ask = (text: string) => {
    setWanted(text);
    setAt(0);
  };
  /// The marks in a line, from 0.
  const marks = (line: number): Marks | null => (byLine.has(line) ? () => byLine.get(line)! : null);
  return {
    isOpen: isOpen && isOn, close: () => setOpen(false), wanted, ask, isCased, setCased, found, at: Math.min(at, found.length - 1), step, marks, input, isAll: isAll && isOn, setAll,
    isAway: away.current === from,
    /// The row of the current occurrence.
    show: current && { at: current.line, key: `${current.line}:${current.from} ${wanted}` },
  };
}

export function Find({ find }: { find: Finding }) {
  useEffect(() => find.input.current?.select(), []);
  return (
    <div class="find" role="search" aria-label="Find in this file">
      <input ref={find.input} type="search" value={find.wanted} placeholder="Find in this file" aria-label="Find in this file" autocomplete="off" spellcheck={false}
        onInput={(event) => find.ask(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') find.step(event.shiftKey ? -1 : 1);
          else if (event.key === 'Escape') find.close();
          else return;
          event.preventDefault();
        }} />
      <span class="faint" role="status">{find.wanted && (find.found.length ? `${count(find.at + 1)} of ${count(find.found.length)}${find.found.length >= MOST ? ' or more' : ''}` : 'Not found')}</span>
      <Switch label="Aa" title="Match case" value={find.isCased} onPick={find.setCased} />
      <button class="link" aria-label="Previous" title="Previous (Shift Enter)" onClick={() => find.step(-1)}>↑</button>
      <button class="link" aria-label="Next" title="Next (Enter)" onClick={() => find.step(1)}>↓</button>
      <button class="theme" aria-label="Close find" onClick={find.close}><Icon name="close" /></button>
    </div>
  );
}

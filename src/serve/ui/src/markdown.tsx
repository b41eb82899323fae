// Markdown as elements. The server sends a tree without markup, so that no file can bring a script or a style along.
import type { ComponentChildren } from 'preact';
import { view } from './ask.ts';
import { Painted, type Spans } from './code.tsx';
import { Pending } from './parts.tsx';
import { upright, visible } from './say.ts';
import { address, fileAddress, useAnswer } from './use.ts';

type Piece = string | {
  tag: string; children?: Piece[]; id?: string; to?: string; file?: string; entity?: string;
  align?: 'left' | 'center' | 'right'; start?: number; checked?: boolean; spans?: Spans[];
};

const TAGS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'table', 'tr', 'th', 'td', 'blockquote', 'em', 'strong', 'del', 'sup', 'sub', 'div', 'span', 'code']);

const textOf = (pieces: Piece[] = []): string => pieces.map((piece) => (typeof piece === 'string' ? piece : textOf(piece.children))).join('');

/// A file of Markdown. `bodyOf` is the title under which it is shown: the same as a heading, and front matter, are left out.
export function Markdown({ path, bodyOf, edition = 0 }: { path: string; bodyOf?: string; edition?: number }) {
  const answer = useAnswer<{ elements: Piece[] }>([path, edition], (signal, waiting) => view('markdown', { file: path }, signal, waiting));
  return (
    <>
      <Pending answer={answer} />
      {answer.value && <div class="markdown">{shown(bodyOf === undefined ? answer.value.elements : body(answer.value.elements, bodyOf))}</div>}
    </>
  );
}

function body(pieces: Piece[], title: string): Piece[] {
  const rest = pieces.filter((piece) => typeof piece === 'string' || piece.tag !== 'front');
  const [first] = rest;
  const words = (text: string) => text.replaceAll('`', '').trim();
  return typeof first === 'object' && first.tag === 'h1' && words(textOf(first.children)) === words(title) ? rest.slice(1) : rest;
}

function shown(pieces: Piece[] = []): ComponentChildren {
  return pieces.map((piece, at) => (typeof piece === 'string' ? upright(piece) : <Element key={at} piece={piece} />));
}

function Element({ piece }: { piece: Exclude<Piece, string> }) {
  const { tag, children } = piece;
  if (tag === 'br' || tag === 'hr') return tag === 'br' ? <br /> : <hr />;
  if (tag === 'front') return <pre class="front" tabIndex={0}>{shown(children)}</pre>;
  if (tag === 'footnote') return <div class="footnote" data-id={piece.id}><span class="faint">{piece.start}.</span><div>{shown(children)}</div></div>;
  if (tag === 'pre') {
    const lines = visible(textOf(children)).replace(/\n$/, '').split('\n');
    return (
      <pre tabIndex={0}>
        {lines.map((line, at) => [<Painted key={at} text={line} spans={piece.spans?.[at]} />, '\n'])}
      </pre>
    );
  }
  if (tag === 'task') return <input type="checkbox" checked={piece.checked} disabled aria-label={piece.checked ? 'done' : 'open'} />;
  if (tag === 'image') return <span class="image" title={visible(piece.to ?? '')}>{upright(textOf(children)) || 'image'}</span>;
  if (tag === 'a') return <Link piece={piece} />;
  if (tag === 'code' && (piece.entity || piece.file)) return <Link piece={{ ...piece, children: [{ tag: 'code', children }] }} />;
  if (!TAGS.has(tag)) return <>{shown(children)}</>;
  const Tag = tag as 'p';
  const given = {
    ...(piece.id ? { 'data-id': piece.id } : {}),
    ...(piece.align ? { class: `to-${piece.align}` } : {}),
    ...(piece.start !== undefined && piece.start !== 1 ? { start: piece.start } : {}),
  };
  const inside = <Tag {...given}>{shown(children)}</Tag>;
  return tag === 'table' ? <div class="scroll" tabIndex={0}>{inside}</div> : inside;
}

function Link({ piece }: { piece: Exclude<Piece, string> }) {
  const to = piece.to ?? '';
  const inside = shown(piece.children);
  if (piece.entity) return <a href={address('/graph', { id: piece.entity })}>{inside}</a>;
  if (piece.file) {
    const line = /(?:#L|:)(\d+)(?:-L?(\d+))?$/.exec(to);
    return <a href={fileAddress(piece.file, line ? Number(line[1]) : undefined, line?.[2] ? Number(line[2]) : undefined)}>{inside}</a>;
  }
  if (to.startsWith('#') && to.length > 1) {
    return <button class="anchor" onClick={(event) => {
      const within = event.currentTarget.closest('.markdown');
      within?.querySelector(`[data-id="${CSS.escape(decodeURIComponent(to.slice(1)))}"]`)?.scrollIntoView({ block: 'start' });
    }}>{inside}</button>;
  }
  // Only these can be opened without harm; any other address is shown, not linked.
  if (/^(https?:|mailto:)/i.test(to)) return <a href={to} target="_blank" rel="noopener noreferrer">{inside}</a>;
  return <span title={visible(to)}>{inside}</span>;
}

// The entity graph: a neighborhood that grows where the user clicks, with pan and zoom.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type Simulation } from 'd3-force';
import { select } from 'd3-selection';
import { zoom as zooming, zoomIdentity, type ZoomBehavior } from 'd3-zoom';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { tool, view, type Fault } from './ask.ts';
import { Markdown } from './markdown.tsx';
import { Choice, Icon, Kind, Nothing, Pending, Problem, Switch, kindClass } from './parts.tsx';
import { layered, savePng, saveSvg } from './picture.ts';
import { count, cut, many, visible } from './say.ts';
import { address, asFault, fileAddress, go, useAnswer, type Route } from './use.ts';

export type Node = { id: string; kind?: string; title: string; status?: string; path?: string; tags?: string[]; links: number; line?: number };
type Edge = { from: string; to: string; rel: string };
/// A part of the graph that the server returned, with the size of the whole graph.
export type Part = { nodes: Node[]; edges: Edge[]; found?: number; total: number; total_edges: number; kinds: { kind?: string; count: number }[] };
/// The loaded part of the graph. A large graph is loaded in parts.
type Known = { nodes: Map<string, Node>; links: Map<string, Edge[]>; edges: Edge[]; about: Omit<Part, 'nodes' | 'edges'> };
type Which = { around?: string; find?: string; tag?: string; limit?: number };

export const part = (which: Which, signal?: AbortSignal, waiting?: (why: string) => void): Promise<Part> => view('graph', which, signal, waiting);

function joined(known: Known | null, part: Part): Known {
  const nodes = new Map(known?.nodes);
  const links = new Map(known?.links);
  for (const node of part.nodes) {
    nodes.set(node.id, node);
    if (!links.has(node.id)) links.set(node.id, []);
  }
  const key = (edge: Edge) => `${edge.from}\n${edge.to}\n${edge.rel}`;
  const before = new Set(known?.edges.map(key));
  const more = part.edges.filter((edge) => !before.has(key(edge)) && nodes.has(edge.from) && nodes.has(edge.to));
  for (const edge of more) {
    for (const end of new Set([edge.from, edge.to])) links.set(end, [...links.get(end)!, edge]);
  }
  return { nodes, links, edges: [...(known?.edges ?? []), ...more], about: part };
}

/// Whether all neighbors of a node are loaded.
const isWhole = (graph: Known, id: string) => (graph.links.get(id)?.length ?? -1) >= (graph.nodes.get(id)?.links ?? 0);

/// Code that an entity names, as a node, and the relationship to it.
const CODE = 'code';
const NAMES = 'names';

/// A title without the marks of code, for names in the picture.
const plain = (node: Node) => visible((node.title || node.id).replaceAll('`', ''));

/// The graph with the code that the drawn entities name.
function withCode(graph: Known, code: Map<string, Node[]>, drawn: Set<string>): { graph: Known; drawn: Set<string> } {
  if (![...code.keys()].some((id) => drawn.has(id))) return { graph, drawn };
  const [nodes, links, edges, all] = [new Map(graph.nodes), new Map(graph.links), [...graph.edges], new Set(drawn)];
  for (const [id, named] of code) {
    if (!drawn.has(id)) continue;
    for (const node of named) {
      const edge = { from: id, to: node.id, rel: NAMES };
      nodes.set(node.id, node);
      all.add(node.id);
      edges.push(edge);
      for (const end of [id, node.id]) links.set(end, [...(links.get(end) ?? []), edge]);
    }
  }
  return { graph: { ...graph, nodes, links, edges }, drawn: all };
}

/// The number of nodes that are drawn at first, and the maximum: a larger picture is not readable.
const FIRST = 60;
const MOST = 500;
/// The number of nodes that a click adds.
const GROWTH = 30;

const other = (edge: Edge, id: string) => (edge.from === id ? edge.to : edge.from);

/// The ids of the nodes that are nearest to one.
function around(graph: Known, id: string, most: number): Set<string> {
  const found = new Set([id]);
  for (const next of found) {
    for (const edge of graph.links.get(next) ?? []) {
      if (found.size >= most) return found;
      found.add(other(edge, next));
    }
  }
  return found;
}

/// Adds more neighbors of a node, the most connected first.
function grown(graph: Known, shown: Set<string>, id: string): Set<string> {
  const more = new Set(shown).add(id);
  const ends = new Set((graph.links.get(id) ?? []).map((edge) => other(edge, id)).filter((end) => !more.has(end)));
  const ranked = [...ends].sort((a, b) => graph.nodes.get(b)!.links - graph.nodes.get(a)!.links);
  for (const end of ranked.slice(0, Math.max(0, Math.min(GROWTH, MOST - more.size)))) more.add(end);
  return more.size > shown.size ? more : shown;
}

export function GraphView({ route }: { route: Route }) {
  const answer = useAnswer<Part>([], (signal, waiting) => part({}, signal, waiting));
  if (!answer.value) return <section class="graph is-empty"><Pending answer={answer} /></section>;
  if (answer.value.nodes.length === 0) {
    return (
      <section class="graph is-empty">
        <Nothing title="This repository has no entities yet">
          <p>Decisions, issues and ideas are Markdown files in <code>.ixchel</code>. Begin with <code>ixmcp init</code>, then <code>ixmcp entity create decision "…"</code>.</p>
        </Nothing>
      </section>
    );
  }
  return <Picture first={answer.value} id={route.query.get('id')} />;
}

function Picture({ first, id }: { first: Part; id: string | null }) {
  const [graph, setGraph] = useState(() => joined(null, first));
  const latest = useRef(graph);
  const asked = useRef(new Map<string, Promise<Known>>());
  const [fault, setFault] = useState<Fault | null>(null);
  /// The graph with all neighbors of a node.
  const reach = (id: string): Promise<Known> => {
    const known = asked.current.get(id) ?? (isWhole(latest.current, id) ? Promise.resolve(latest.current) : null);
    if (known) return known.then(() => latest.current);
    const asking = part({ around: id }).then((more) => {
      latest.current = joined(latest.current, more);
      setGraph(latest.current);
      return latest.current;
    });
    asked.current.set(id, asking);
    asking.catch(() => asked.current.delete(id));
    return asking;
  };
  const known = id && graph.nodes.has(id) ? id : null;
  /// The most connected nodes; all nodes of a small graph.
  const beginning = useRef(new Set(first.nodes.slice(0, FIRST).map((node) => node.id)));
  const [shown, setShown] = useState<Set<string>>(beginning.current);
  useEffect(() => {
    setFault(null);
    if (!id) return;
    let isLate = false;
    reach(id).then(
      (graph) => !isLate && setShown((before) => (before.has(id) ? before : around(graph, id, FIRST / 2))),
      (fault) => !isLate && setFault(asFault(fault)),
    );
    return () => { isLate = true; };
  }, [id]);
  const [off, setOff] = useState<Set<string>>(new Set());
  const [status, setStatus] = useState('');
  const [tag, setTag] = useState('');
  const [relsOff, setRelsOff] = useState<Set<string>>(new Set());
  const [layout, setLayout] = useState<Layout>('force');
  const [showsCode, setShowsCode] = useState(true);
  const [code, setCode] = useState(new Map<string, Node[]>());
  const drawn = useMemo(() => new Set([...shown].filter((id) => {
    const node = graph.nodes.get(id);
    return id === known || (!off.has(node?.kind ?? 'missing') && (!status || node?.status === status) && (!tag || node?.tags?.includes(tag)));
  })), [shown, off, status, tag, known, graph]);
  // The code that the chosen entity names.
  useEffect(() => {
    if (!known || code.has(known) || !graph.nodes.get(known)?.kind) return;
    const stop = new AbortController();
    tool('ixchel_context', { id: known, budget_tokens: 4000 }, stop.signal, () => {}).then(
      (answer: { code: { path: string; symbol?: string; line?: number; why: string }[] }) => {
        // The answer has the code that its neighbors name, too.
        const named = answer.code.filter((one) => one.why.split(', ')[0].endsWith(` in ${known}`)).slice(0, 12).map((one) => ({
          id: `code:${one.path}:${one.symbol ?? one.line ?? ''}`, kind: CODE, title: one.symbol ?? one.path.split('/').at(-1)!, path: one.path, line: one.line, links: 1,
        }));
        setCode((before) => new Map(before).set(known, named));
      },
      () => {},
    );
    return () => stop.abort();
  }, [known]);
  const picture = useMemo(() => {
    const all = showsCode ? withCode(graph, code, drawn) : { graph, drawn };
    return { graph: { ...all.graph, edges: all.graph.edges.filter((edge) => !relsOff.has(edge.rel)) }, drawn: all.drawn };
  }, [graph, code, drawn, showsCode, relsOff]);
  /// The code that the drawn entities name.
  const named = useMemo(() => new Set([...code].flatMap(([id, nodes]) => (drawn.has(id) ? nodes.map((node) => node.id) : []))), [code, drawn]);
  /// All relationships of the loaded part, the most frequent first; then that to code.
  const rels = useMemo(() => {
    const counts = new Map<string, number>();
    for (const edge of graph.edges) counts.set(edge.rel, (counts.get(edge.rel) ?? 0) + 1);
    const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MOST_RELS);
    return showsCode && named.size && !counts.has(NAMES) ? [...sorted, [NAMES, named.size] as [string, number]] : sorted;
  }, [graph, showsCode, named]);
  const [statuses, tags] = useMemo(() => {
    const nodes = [...graph.nodes.values()];
    const sorted = (all: (string | undefined)[]) => [...new Set(all.filter((one) => one !== undefined))].sort() as string[];
    return [sorted(nodes.map((node) => node.status)), sorted(nodes.flatMap((node) => node.tags ?? [])).slice(0, 500)];
  }, [graph]);
  const choose = (id: string) => {
    const named = picture.graph.nodes.get(id);
    if (named?.kind === CODE) return go(fileAddress(named.path!, named.line));
    reach(id).then((graph) => setShown((before) => grown(graph, before, id)), (fault) => setFault(asFault(fault)));
    go(address('/graph', { id }), true);
  };
  /// The number of neighbors of each node that are not drawn.
  const hidden = useMemo(() => new Map([...drawn].map((id) => {
    const seen = (graph.links.get(id) ?? []).filter((edge) => drawn.has(other(edge, id))).length;
    return [id, Math.max(0, (graph.nodes.get(id)?.links ?? 0) - seen)];
  })), [graph, drawn]);
  const { total, total_edges, kinds } = graph.about;
  const isBeginning = total > FIRST && shown === beginning.current;
  return (
    <section class={`graph ${known || fault ? 'has-entity' : ''}`}>
      <div class="stage">
        <div class="stage-head">
          <Finder onPick={(id) => go(address('/graph', { id }))} />
          <div class="legend" role="group" aria-label="Kinds">
            {kinds.map(({ kind = 'missing', count: amount }) => (
              <button key={kind} class={`kind ${kindClass(kind === 'missing' ? null : kind)} ${off.has(kind) ? 'is-off' : ''}`} aria-pressed={!off.has(kind)}
                onClick={() => setOff((before) => { const now = new Set(before); if (!now.delete(kind)) now.add(kind); return now; })}>
                {visible(kind)} <span>{count(amount)}</span>
              </button>
            ))}
            {named.size > 0 && (
              <button class={`kind of-code ${showsCode ? '' : 'is-off'}`} aria-pressed={showsCode} title="Code that the chosen entities name" onClick={() => setShowsCode(!showsCode)}>
                {CODE} <span>{count(named.size)}</span>
              </button>
            )}
          </div>
          {rels.length > 0 && (
            <div class="legend rels" role="group" aria-label="Relationships">
              {rels.map(([rel, amount], at) => (
                <button key={rel} class={`rel ${relsOff.has(rel) ? 'is-off' : ''}`} aria-pressed={!relsOff.has(rel)}
                  onClick={() => setRelsOff((before) => { const now = new Set(before); if (!now.delete(rel)) now.add(rel); return now; })}>
                  <svg class={`swatch rel-${at % STYLES}`} width="26" height="8" aria-hidden="true"><line x1="1" y1="4" x2="25" y2="4" /></svg>
                  {visible(rel.replaceAll('_', ' '))} <span>{count(amount)}</span>
                </button>
              ))}
            </div>
          )}
          <details class="view-options">
            <summary>View</summary>
            <div>
              <Choice label="Layout" value={layout} of={LAYOUTS} onPick={setLayout} />
              {statuses.length > 0 && <Select label="Status" value={status} of={statuses} onPick={setStatus} />}
              {tags.length > 0 && <Select label="Tag" value={tag} of={tags} onPick={setTag} />}
              <Switch label="Code" title="Show the code that the chosen entity names" value={showsCode} onPick={setShowsCode} />
            </div>
          </details>
        </div>
        <Canvas graph={picture.graph} drawn={picture.drawn} chosen={known} hidden={hidden} layout={layout} styles={rels.map(([rel]) => rel)} onChoose={choose} />
        <p class="stage-foot faint" role="status">
          {isBeginning ? `The ${count(drawn.size)} most connected of` : `${count(drawn.size)} of`} {many(total, 'entity', 'entities')}, {many(total_edges, 'edge')}
          {drawn.size >= MOST && '. No more can be shown: search for another entity to start from.'}
          {total > drawn.size && drawn.size < MOST && '. Click an entity to show more of its neighbors.'}
        </p>
      </div>
      {known ? <Entity graph={graph} node={graph.nodes.get(known)!} code={code.get(known) ?? []} fault={fault} /> : fault && <aside class="entity"><Problem fault={fault} /></aside>}
    </section>
  );
}

type Layout = 'force' | 'layers';
const LAYOUTS = [['force', 'Force'], ['layers', 'Layers']] as const;
/// Relationships in the legend, and the number of styles of edges.
const MOST_RELS = 10;
const STYLES = 9;

function Select({ label, value, of, onPick }: { label: string; value: string; of: string[]; onPick: (value: string) => void }) {
  return (
    <select class="select" aria-label={label} value={value} onChange={(event) => onPick(event.currentTarget.value)}>
      <option value="">Any {label.toLowerCase()}</option>
      {of.map((one) => <option key={one} value={one}>{one}</option>)}
    </select>
  );
}

function Finder({ onPick }: { onPick: (id: string) => void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const words = text.trim();
  const answer = useAnswer<Part & { words: string }>(
    [words],
    words ? async (signal, waiting) => ({ ...(await part({ find: words, limit: 12 }, signal, waiting)), words }) : null,
    words ? 100 : 0,
  );
  /// The user may press Enter before the answer arrives.
  const [isEntered, setEntered] = useState(false);
  const isThere = answer.value?.words === words;
  const found = (words && answer.value?.nodes) || [];
  const pick = (node?: Node) => {
    setEntered(false);
    if (!node) return;
    setText('');
    onPick(node.id);
  };
  useEffect(() => {
    if (isEntered && isThere) pick(found[at]);
  }, [isEntered, isThere]);
  return (
    <div class="finder">
      <input type="search" value={text} placeholder="Find an entity" aria-label="Find an entity" autocomplete="off" spellcheck={false}
        role="combobox" list={undefined} aria-expanded={found.length > 0} aria-controls="finder-list"
        onInput={(event) => { setText(event.currentTarget.value); setAt(0); setEntered(false); }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, at + 1));
          else if (event.key === 'ArrowUp') setAt(Math.max(0, at - 1));
          else if (event.key === 'Enter') setEntered(words !== '');
          else if (event.key === 'Escape') setText('');
          else return;
          event.preventDefault();
        }} />
      {words && (
        <ul id="finder-list" role="listbox" aria-label="Entities">
          {found.map((node, index) => (
            <li key={node.id} role="option" aria-selected={index === at} class={index === at ? 'is-at' : ''} onPointerDown={(event) => { event.preventDefault(); pick(node); }}>
              <Kind kind={node.kind} /> <span class="name"><bdi>{plain(node)}</bdi></span> <code class="faint">{visible(node.id)}</code>
            </li>
          ))}
          {!isThere && found.length === 0 && <li class="faint"><Pending answer={answer} /></li>}
          {isThere && found.length === 0 && <li class="faint">No entity has this text in its id, title or tags.</li>}
          {isThere && (answer.value!.found ?? 0) > found.length && <li class="faint">and {count(answer.value!.found! - found.length)} more</li>}
        </ul>
      )}
    </div>
  );
}

type Spot = { id: string; x: number; y: number; vx?: number; vy?: number; fx?: number | null; fy?: number | null; r: number };
type Line = { source: Spot; target: Spot; rels: string[] };

/// The limits of the zoom.
const CLOSEST: [number, number] = [0.1, 4];
/// Characters of a name under a node.
const LETTERS = matchMedia('(max-width: 719px)').matches ? 14 : 24;
/// The font sizes of names and of edge labels on the screen.
const [NAME, EDGE_LABEL] = [11.5, 10.5];

/// The bounding box of a text.
type Box = [left: number, right: number, top: number, bottom: number];

/// Selects the labels to draw, the most important first, such that none overlap.
function legible(graph: Known, points: Spot[], lines: Line[], lit: string | null, near: Set<string>, k: number, layout: Layout): { named: Map<string, Box>; labeled: Set<Line> } {
  // Names do not lie on nodes.
  const taken: Box[] = points.map((spot) => {
    const r = Math.max(spot.r, 5 / k);
    return [spot.x - r, spot.x + r, spot.y - r, spot.y + r];
  });
  const fits = (x: number, top: number, letters: number, size: number) => {
    const half = (0.29 * size * letters) / k;
    const [left, right, bottom] = [x - half, x + half, top + (1.3 * size) / k];
    if (taken.some((other) => left < other[1] && right > other[0] && top < other[3] && bottom > other[2])) return undefined;
    const box: Box = [left, right, top, bottom];
    taken.push(box);
    return box;
  };
  const rank = (spot: Spot) => (spot.id === lit ? 2000 : near.has(spot.id) ? 1000 : 0) + spot.r;
  const named = new Map<string, Box>();
  for (const spot of [...points].sort((a, b) => rank(b) - rank(a))) {
    const node = graph.nodes.get(spot.id)!;
    const [r, letters] = [Math.max(spot.r, 5 / k), Math.min(LETTERS + 1, plain(node).length)];
    const [half, high] = [(0.29 * NAME * letters) / k, (1.3 * NAME) / k];
    const below = () => fits(spot.x, spot.y + r + 2 / k, letters, NAME) ?? fits(spot.x, spot.y - r - high - 2 / k, letters, NAME);
    const right = () => fits(spot.x + r + half + 3 / k, spot.y - high / 2, letters, NAME);
    const left = () => fits(spot.x - r - half - 3 / k, spot.y - high / 2, letters, NAME);
    // In a column, at the right of its node, such that names are read below each other.
    const box = layout === 'layers' ? right() ?? below() : below() ?? right() ?? left();
    if (box) named.set(spot.id, box);
  }
  const labeled = new Set<Line>();
  for (const line of lit ? lines : []) {
    if (lit !== line.source.id && lit !== line.target.id) continue;
    if (Math.hypot(line.target.x - line.source.x, line.target.y - line.source.y) * k < 60) continue;
    const [x, y] = middle(line);
    if (fits(x, y - EDGE_LABEL / k, Math.min(31, line.rels.join(', ').length), EDGE_LABEL)) labeled.add(line);
  }
  return { named, labeled };
}

/// The distance from the center of a node at which a line in this direction leaves the box of its name; 0 if the name does not
/// cover an arrow that ends at the given distance from the center.
function past([left, right, top, bottom]: Box, { x, y }: Spot, dx: number, dy: number, end: number): number {
  const isUnder = (way: number) => x + dx * way > left && x + dx * way < right && y + dy * way > top && y + dy * way < bottom;
  if (![end, end + 5, end + 10].some(isUnder)) return 0;
  return Math.min(Math.max((left - x) / dx, (right - x) / dx), Math.max((top - y) / dy, (bottom - y) / dy));
}

const middle = ({ source, target }: Line) => [(source.x + target.x) / 2, (source.y + target.y) / 2 - 3];

function Canvas(props: { graph: Known; drawn: Set<string>; chosen: string | null; hidden: Map<string, number>; layout: Layout; styles: string[]; onChoose: (id: string) => void }) {
  const { graph, drawn, chosen, layout } = props;
  const svg = useRef<SVGSVGElement>(null);
  const spots = useRef(new Map<string, Spot>());
  const simulation = useRef<Simulation<Spot, undefined>>(undefined);
  const behavior = useRef<ZoomBehavior<SVGSVGElement, unknown>>(undefined);
  const [view, setView] = useState({ x: 0, y: 0, k: 1 });
  const [tick, setTick] = useState(0);
  const [pointed, setPointed] = useState<string | null>(null);
  /// Whether the user has chosen the visible part. Then a panel that opens next to the picture does not change it.
  const isMoved = useRef(false);
  const drawnAs = useRef<Layout>(layout);

  const { points, lines } = useMemo(() => {
    const before = spots.current;
    const now = new Map<string, Spot>();
    let at = 0;
    for (const id of drawn) {
      const r = 6 + Math.min(10, 2 * Math.sqrt(graph.links.get(id)?.length ?? 0));
      const kept = before.get(id);
      if (kept) {
        now.set(id, kept);
        continue;
      }
      // Next to a neighbor, or else on a spiral, so that the same graph always results in the same picture.
      const from = (graph.links.get(id) ?? []).map((edge) => before.get(other(edge, id))).find(Boolean);
      const angle = at * 2.399963;
      const distance = from ? 60 : 24 * Math.sqrt(at + 0.5);
      now.set(id, { id, r, x: (from?.x ?? 0) + distance * Math.cos(angle), y: (from?.y ?? 0) + distance * Math.sin(angle) });
      at += 1;
    }
    spots.current = now;
    const merged = new Map<string, Line>();
    for (const edge of graph.edges) {
      const [source, target] = [now.get(edge.from), now.get(edge.to)];
      if (!source || !target || source === target) continue;
      const key = `${edge.from}\n${edge.to}`;
      const line = merged.get(key);
      if (line) line.rels.push(edge.rel);
      else merged.set(key, { source, target, rels: [edge.rel] });
    }
    return { points: [...now.values()], lines: [...merged.values()] };
  }, [graph, drawn]);

  useEffect(() => {
    const isFirst = !simulation.current || drawnAs.current !== layout;
    drawnAs.current = layout;
    simulation.current?.stop();
    if (layout === 'layers') {
      const { width, height } = box();
      layered(points, lines, Math.max(0.4, (width - 240) / Math.max(120, height - 180)));
      setTick((before) => before + 1);
      if (isFirst || !isMoved.current) fit();
      return;
    }
    // Fits the shape of the picture, and keeps isolated nodes near.
    const { width, height } = box();
    const tied = new Set(lines.flatMap((line) => [line.source.id, line.target.id]));
    const towards = (middle: number) => (spot: Spot) => (tied.has(spot.id) ? middle : 3 * middle);
    const forces = forceSimulation(points)
      .force('links', forceLink<Spot, any>(lines).distance(70).strength(0.5))
      .force('apart', forceManyBody<Spot>().strength(-230).distanceMax(600))
      .force('x', forceX<Spot>(0).strength(towards(width > height ? 0.045 : 0.09)))
      .force('y', forceY<Spot>(0).strength(towards(width > height ? 0.06 : 0.035)))
      .force('room', forceCollide<Spot>((spot) => spot.r + 14))
      .stop();
    simulation.current = forces as any;
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (isFirst || isStill) {
      forces.tick(isFirst ? 260 : 160);
      setTick((before) => before + 1);
      if (isFirst || !isMoved.current) fit();
    } else {
      const moving = forces.alpha(0.6).on('tick', () => setTick((before) => before + 1));
      // Added and removed nodes have moved the others.
      moving.on('end', () => isMoved.current || fit()).restart();
    }
    return () => void forces.stop();
  }, [points, lines, layout]);

  useEffect(() => {
    const element = select(svg.current!);
    behavior.current = zooming<SVGSVGElement, unknown>().scaleExtent(CLOSEST).on('zoom', (event) => {
      if (event.sourceEvent) isMoved.current = true;
      setView({ x: event.transform.x, y: event.transform.y, k: event.transform.k });
    });
    element.call(behavior.current).on('dblclick.zoom', null);
    const observer = new ResizeObserver(() => isMoved.current || fit());
    observer.observe(svg.current!);
    return () => {
      observer.disconnect();
      element.on('.zoom', null);
    };
  }, []);

  const box = () => svg.current!.getBoundingClientRect();
  /// Shows everything, names included, in the area that no panel covers.
  const fit = () => {
    const all = [...spots.current.values()];
    if (!all.length || !behavior.current || !svg.current) return;
    const { width, height } = box();
    if (!width || !height) return;
    const head = (svg.current.closest('.stage')?.querySelector<HTMLElement>('.stage-head')?.offsetHeight ?? 0) + 36;
    const [side, foot] = [layout === 'layers' ? 110 : 64, 64];
    const xs = all.map((spot) => spot.x);
    const ys = all.map((spot) => spot.y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const free = (whole: number, taken: number) => Math.max(80, whole - taken);
    const k = Math.max(CLOSEST[0], Math.min(1.6, free(width, 2 * side) / Math.max(1, right - left), free(height, head + foot) / Math.max(1, bottom - top)));
    const to = zoomIdentity.translate(width / 2 - (k * (left + right)) / 2, (head + height - foot) / 2 - (k * (top + bottom)) / 2).scale(k);
    behavior.current.transform(select(svg.current), to);
    isMoved.current = false;
  };
  const scale = (by: number) => {
    isMoved.current = true;
    behavior.current!.scaleBy(select(svg.current!), by);
  };
  const pan = (x: number, y: number) => {
    isMoved.current = true;
    behavior.current!.translateBy(select(svg.current!), x / view.k, y / view.k);
  };

  // Scrolls to a node that was selected outside the picture.
  useEffect(() => {
    const spot = chosen ? spots.current.get(chosen) : undefined;
    if (!spot || !behavior.current) return;
    const { width, height } = box();
    const [x, y] = [view.x + view.k * spot.x, view.y + view.k * spot.y];
    if (x < 30 || y < 30 || x > width - 30 || y > height - 30) behavior.current.translateTo(select(svg.current!), spot.x, spot.y);
  }, [chosen, drawn]);

  /// The nearest node in a direction from the focused one.
  const step = (from: Spot, dx: number, dy: number) => {
    let best: Spot | undefined;
    let least = Infinity;
    for (const spot of spots.current.values()) {
      const [x, y] = [spot.x - from.x, spot.y - from.y];
      const along = x * dx + y * dy;
      const aside = Math.abs(x * dy - y * dx);
      if (spot === from || along <= 0 || aside > along * 1.5) continue;
      if (along + aside < least) [best, least] = [spot, along + aside];
    }
    if (best) svg.current?.querySelector<SVGGElement>(`[data-id="${CSS.escape(best.id)}"]`)?.focus();
  };
  const DIRECTIONS: Record<string, [number, number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  const onKey = (event: KeyboardEvent) => {
    const id = (event.target as Element).getAttribute('data-id');
    const way = DIRECTIONS[event.key];
    if (way && id && !event.shiftKey) step(spots.current.get(id)!, ...way);
    else if (way) pan(-60 * way[0], -60 * way[1]);
    else if (event.key === '+' || event.key === '=') scale(1.3);
    else if (event.key === '-') scale(1 / 1.3);
    else if (event.key === '0') fit();
    else if ((event.key === 'Enter' || event.key === ' ') && id) props.onChoose(id);
    else return;
    event.preventDefault();
  };

  const lit = pointed ?? chosen;
  const style = (line: Line) => Math.max(0, props.styles.indexOf(line.rels[0])) % STYLES;
  // All nodes and edges, whether or not they are visible, so that panning does not render them again.
  const drawing = useMemo(() => {
    const near = new Set<string>();
    if (lit) for (const edge of graph.links.get(lit) ?? []) near.add(other(edge, lit));
    // Nodes stay visible when zoomed out.
    const radius = (spot: Spot) => Math.max(spot.r, 5 / view.k);
    const { named, labeled } = legible(graph, points, lines, lit, near, view.k, layout);
    const look = (spot: Spot) => [spot.id === chosen ? 'is-chosen' : '', lit && spot.id !== lit && !near.has(spot.id) ? 'is-dim' : ''].join(' ');
    // Names have the same size on the screen at all zoom levels.
    const letters = (size: number) => ({ fontSize: `${size / view.k}px`, strokeWidth: `${3.5 / view.k}px` });
    return (
      <>
        {lines.map((line) => {
          const [dx, dy] = [line.target.x - line.source.x, line.target.y - line.source.y];
          const length = Math.hypot(dx, dy) || 1;
          const [x1, y1] = [line.source.x + (dx / length) * radius(line.source), line.source.y + (dy / length) * radius(line.source)];
          // The name of the target node must not hide the arrow's direction.
          const [box, near] = [named.get(line.target.id), radius(line.target) + 3];
          const clear = box ? past(box, line.target, -dx / length, -dy / length, near) + 2 / view.k : 0;
          const end = clear < length - radius(line.source) - 14 / view.k ? Math.max(near, clear) : near;
          const [x2, y2] = [line.target.x - (dx / length) * end, line.target.y - (dy / length) * end];
          const isLit = lit === line.source.id || lit === line.target.id;
          return (
            <g key={`${line.source.id}\n${line.target.id}`} class={`edge rel-${style(line)} ${isLit ? 'is-lit' : lit ? 'is-dim' : ''}`}>
              <line x1={x1} y1={y1} x2={x2} y2={y2} marker-end={isLit ? 'url(#arrow-lit)' : `url(#arrow-${style(line)})`} />
            </g>
          );
        })}
        {points.map((spot) => {
          const node = graph.nodes.get(spot.id)!;
          const more = props.hidden.get(spot.id) ?? 0;
          return (
            <g key={spot.id} class={`node ${kindClass(node.kind)} ${look(spot)}`} data-id={spot.id} transform={`translate(${spot.x} ${spot.y})`} tabindex={0} role="button"
              aria-label={visible(`${node.kind ?? 'missing'} ${node.id}: ${node.title || 'nothing has this id'}${more ? `, ${more} more around it` : ''}`)} aria-pressed={spot.id === chosen}
              onClick={() => props.onChoose(spot.id)} onPointerEnter={() => setPointed(spot.id)} onPointerLeave={() => setPointed(null)}>
              {node.kind === CODE ? <rect x={-radius(spot)} y={-radius(spot)} width={2 * radius(spot)} height={2 * radius(spot)} rx={3 / view.k} /> : <circle r={radius(spot)} />}
              {more > 0 && <circle class="more" r={radius(spot) + 4} />}
              <title>{visible(`${node.id}: ${node.title}`)}</title>
            </g>
          );
        })}
        <g class="texts" aria-hidden="true">
          {[...labeled].map((line) => {
            const [x, y] = middle(line);
            return <text key={`${line.source.id}\n${line.target.id}`} class="of-edge" x={x} y={y} style={letters(EDGE_LABEL)}>{visible(cut(line.rels.join(', ').replaceAll('_', ' '), 30))}</text>;
          })}
          {points.filter((spot) => named.has(spot.id)).map((spot) => {
            const node = graph.nodes.get(spot.id)!;
            return <text key={spot.id} class={look(spot)} x={(named.get(spot.id)![0] + named.get(spot.id)![1]) / 2} y={named.get(spot.id)![2] + 11 / view.k} style={letters(NAME)}>{cut(plain(node), LETTERS)}</text>;
          })}
        </g>
      </>
    );
  }, [graph, points, lines, tick, view.k, lit, chosen, props.hidden]);
  return (
    <div class="canvas">
      <svg ref={svg} tabindex={0} role="application" aria-label="Entity graph. Tab to an entity, arrow keys to move, Enter to choose, plus and minus to zoom." onKeyDown={onKey}>
        <defs>
          {Array.from({ length: STYLES }, (_, at) => (
            <marker key={at} id={`arrow-${at}`} class={`rel-${at}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 .8 7 4 0 7.200Z" /></marker>
          ))}
          <marker id="arrow-lit" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 .8 7 4 0 7.200Z" /></marker>
        </defs>
        <g transform={`translate(${view.x} ${view.y}) scale(${view.k})`}>
          {drawing}
        </g>
      </svg>
      <div class="zoom" role="group" aria-label="Zoom">
        <button aria-label="Zoom in" onClick={() => scale(1.4)}><Icon name="plus" /></button>
        <button aria-label="Zoom out" onClick={() => scale(1 / 1.4)}><Icon name="minus" /></button>
        <button aria-label="Show all" onClick={() => fit()}><Icon name="fit" /></button>
        <button aria-label="Save as SVG" title="Save as SVG" onClick={() => saveSvg(svg.current!)}>SVG</button>
        <button aria-label="Save as PNG" title="Save as PNG" onClick={() => void savePng(svg.current!)}>PNG</button>
      </div>
    </div>
  );
}

function Entity({ graph, node, code, fault }: { graph: Known; node: Node; code: Node[]; fault: Fault | null }) {
  const groups = useMemo(() => {
    const found = new Map<string, string[]>();
    for (const edge of graph.links.get(node.id) ?? []) {
      const way = edge.from === node.id ? `${edge.rel.replaceAll('_', ' ')} →` : `← ${edge.rel.replaceAll('_', ' ')}`;
      found.set(way, [...(found.get(way) ?? []), other(edge, node.id)]);
    }
    return [...found];
  }, [graph, node.id]);
  return (
    <aside class="entity" aria-label={`Entity ${node.id}`}>
      <header>
        <p><Kind kind={node.kind} /> {node.status && <span class="status">{visible(node.status)}</span>} <code class="faint">{visible(node.id)}</code></p>
        <h2><bdi>{node.title ? plain(node) : 'No entity has this id'}</bdi></h2>
        <a class="close" href={address('/graph')} aria-label="Close"><Icon name="close" /></a>
        {node.tags && node.tags.length > 0 && <p class="chips">{node.tags.map((tag) => <a class="chip" key={tag} href={address('/tags', { tag })}>#{visible(tag)}</a>)}</p>}
        {node.path && <p><a href={fileAddress(node.path)}><bdi>{visible(node.path)}</bdi></a></p>}
      </header>
      {groups.map(([way, ids]) => (
        <div class="relations" key={way}>
          <h3>{visible(way)} <span class="faint">{count(ids.length)}{!isWhole(graph, node.id) && '+'}</span></h3>
          <ul>
            {ids.slice(0, 60).map((id) => (
              <li key={id}><a href={address('/graph', { id })}><i class={`dot ${kindClass(graph.nodes.get(id)?.kind)}`} /><bdi>{graph.nodes.has(id) ? plain(graph.nodes.get(id)!) : visible(id)}</bdi></a></li>
            ))}
            {ids.length > 60 && <li class="faint">and {count(ids.length - 60)} more</li>}
          </ul>
        </div>
      ))}
      {code.length > 0 && (
        <div class="relations of-code">
          <h3>{NAMES} {CODE} <span class="faint">{count(code.length)}</span></h3>
          <ul>
            {code.map((one) => (
              <li key={one.id}><a href={fileAddress(one.path!, one.line)} title={visible(one.path!)}><i class="dot kind-other" /><code><bdi>{visible(one.title)}</bdi></code> <span class="faint"><bdi>{visible(one.path!)}</bdi>{one.line !== undefined && `:${one.line}`}</span></a></li>
            ))}
          </ul>
        </div>
      )}
      {fault ? <Problem fault={fault} /> : !isWhole(graph, node.id) && <p class="faint">{many(node.links - graph.links.get(node.id)!.length, 'edge')} more</p>}
      {node.kind && node.path && <div class="prose"><Markdown key={node.path} path={node.path} bodyOf={node.title} /></div>}
    </aside>
  );
}

// What a graph drawing needs besides its data: layers, styles of edges, and files of the picture.

export type Point = { id: string; x: number; y: number; r: number };
type Tie = { source: Point; target: Point };

const [ACROSS, DOWN] = [210, 52];
/// Sweeps that order the layers such that few edges cross.
const SWEEPS = 6;

/// Places nodes in layers from left to right along their edges; what has no edge is in a grid below. A layer with many nodes takes
/// several columns, such that the picture gets about the shape of its area, given as width by height.
export function layered(points: Point[], ties: Tie[], shape: number) {
  const out = new Map<Point, Point[]>(points.map((point) => [point, []]));
  const into = new Map<Point, Point[]>(points.map((point) => [point, []]));
  // Edges that close a cycle point back, and count for no layer.
  const state = new Map<Point, 'open' | 'done'>();
  const next = new Map<Point, Point[]>(points.map((point) => [point, []]));
  for (const { source, target } of ties) next.get(source)!.push(target);
  for (const start of points) {
    if (state.has(start)) continue;
    state.set(start, 'open');
    const stack: [Point, number][] = [[start, 0]];
    while (stack.length) {
      const top = stack[stack.length - 1];
      const target = next.get(top[0])![top[1]];
      top[1] += 1;
      if (!target) {
        state.set(top[0], 'done');
        stack.pop();
      } else if (state.get(target) !== 'open') {
        out.get(top[0])!.push(target);
        into.get(target)!.push(top[0]);
        if (!state.has(target)) {
          state.set(target, 'open');
          stack.push([target, 0]);
        }
      }
    }
  }
  const layer = new Map<Point, number>();
  const waiting = new Map(points.map((point) => [point, into.get(point)!.length]));
  const queue = points.filter((point) => waiting.get(point) === 0);
  for (const point of queue) {
    layer.set(point, Math.max(0, ...into.get(point)!.map((before) => (layer.get(before) ?? -1) + 1)));
    for (const after of out.get(point)!) {
      waiting.set(after, waiting.get(after)! - 1);
      if (waiting.get(after) === 0) queue.push(after);
    }
  }
  // What begins an edge is next to where that leads, not at the far left.
  for (const point of [...queue].reverse()) {
    const after = out.get(point)!.map((next) => layer.get(next) ?? 0);
    if (into.get(point)!.length === 0 && after.length) layer.set(point, Math.max(0, Math.min(...after) - 1));
  }
  const tied = points.filter((point) => into.get(point)!.length + out.get(point)!.length > 0);
  const layers: Point[][] = [];
  for (const point of tied) (layers[layer.get(point) ?? 0] ??= []).push(point);
  const rank = new Map<Point, number>();
  const number = () => layers.forEach((row) => row?.forEach((point, at) => rank.set(point, at - row.length / 2)));
  number();
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const sides = sweep % 2 ? out : into;
    for (const row of sweep % 2 ? [...layers].reverse() : layers) {
      const wanted = new Map((row ?? []).map((point) => {
        const others = sides.get(point)!;
        return [point, others.length ? others.reduce((sum, other) => sum + rank.get(other)!, 0) / others.length : rank.get(point)!];
      }));
      row?.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
      number();
    }
  }
  const [rows, columnsOf] = fitting(layers.map((row) => row?.length ?? 0), shape);
  let [foot, column] = [0, 0];
  layers.forEach((row, at) => {
    const [across, most] = [columnsOf(at), Math.min(rows, row?.length ?? 0)];
    row?.forEach((point, index) => {
      // Neighbours in the order of a layer are below each other.
      point.x = (column + Math.floor(index / rows)) * ACROSS;
      const inColumn = Math.min(rows, row.length - Math.floor(index / rows) * rows);
      // Every second column is lower, such that names of neighbours do not touch.
      point.y = ((index % rows) - (inColumn - 1) / 2) * DOWN + ((column + Math.floor(index / rows)) % 2) * (DOWN / 3);
      foot = Math.max(foot, point.y, (most / 2) * DOWN);
    });
    column += across;
  });
  const alone = points.filter((point) => !tied.includes(point));
  const columns = Math.max(4, Math.ceil(Math.sqrt(alone.length * 1.6)));
  alone.forEach((point, at) => {
    point.x = (at % columns) * 120;
    point.y = foot + 90 + Math.floor(at / columns) * DOWN;
  });
}

/// How many rows a column has at most, such that all layers together fit a shape best, and how many columns each layer takes.
function fitting(sizes: number[], shape: number): [rows: number, columns: (at: number) => number] {
  let [best, least] = [1, Infinity];
  for (let rows = 1; rows <= Math.max(1, ...sizes); rows += 1) {
    const columns = sizes.reduce((sum, size) => sum + Math.ceil(size / rows), 0);
    const extent = Math.max((columns * ACROSS) / shape, Math.min(rows, Math.max(...sizes)) * DOWN);
    if (extent < least) [best, least] = [rows, extent];
  }
  return [best, (at) => Math.ceil(sizes[at] / best)];
}

const KEPT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor', 'paint-order', 'stroke-linejoin'];

/// The picture as a file of its own, with colors and fonts, everything visible.
function asSvg(svg: SVGSVGElement): { text: string; width: number; height: number } {
  const content = svg.querySelector<SVGGElement>(':scope > g')!;
  const box = content.getBBox();
  const [x, y, width, height] = [box.x - 30, box.y - 30, box.width + 60, box.height + 60];
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const [from, to] = [[...svg.querySelectorAll('*')], [...copy.querySelectorAll('*')]];
  from.forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const name of KEPT) to[at].setAttribute(name, style.getPropertyValue(name));
    to[at].removeAttribute('style');
    to[at].removeAttribute('tabindex');
  });
  copy.querySelector(':scope > g')!.setAttribute('transform', `translate(${-x} ${-y})`);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(Math.ceil(width)));
  copy.setAttribute('height', String(Math.ceil(height)));
  copy.setAttribute('viewBox', `0 0 ${width} ${height}`);
  const back = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  back.setAttribute('width', '100%');
  back.setAttribute('height', '100%');
  back.setAttribute('fill', getComputedStyle(document.body).backgroundColor);
  copy.prepend(back);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

function save(blob: Blob, name: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export const saveSvg = (svg: SVGSVGElement) => save(new Blob([asSvg(svg).text], { type: 'image/svg+xml' }), 'graph.svg');

/// Pixels of a side: browsers draw no larger picture.
const MOST_PIXELS = 8000;

export async function savePng(svg: SVGSVGElement) {
  const { text, width, height } = asSvg(svg);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const scale = Math.min(2, MOST_PIXELS / width, MOST_PIXELS / height);
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
  canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (blob) save(blob, 'graph.png');
}

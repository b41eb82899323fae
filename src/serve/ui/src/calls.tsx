// The calls of agents to the running daemon, live.
import { useEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { Fault, calls as askCalls, looked, pause } from './ask.ts';
import { Message, Nothing, Problem, Switch } from './parts.tsx';
import { bytes, clock, count, cut, duration, many, visible } from './say.ts';
import { asFault, fileAddress, useEvery } from './use.ts';

type Outcome = { error?: string; message?: string; bytes?: number; more?: boolean; items?: number; total?: number; places?: string[]; status?: string };
type Call = { id: number; tool: string; way: string; arguments: Record<string, unknown>; begun_ms: number; took_us?: number; outcome?: Outcome };

const WAYS: Record<string, string> = { mcp: 'MCP', plain: 'JSON-RPC', command: 'command line' };
/// The number of calls that the daemon keeps.
const KEPT = 500;

/// The daemon's recent calls, newest first, while the view is shown.
function useCalls(): { calls: Call[]; daemon?: boolean; fault?: Fault } {
  const [received, setReceived] = useState<{ calls: Map<number, Call>; daemon?: boolean; fault?: Fault }>({ calls: new Map() });
  useEffect(() => {
    const stop = new AbortController();
    const listen = async () => {
      let version: number | undefined;
      let pid = 0;
      let calls = new Map<number, Call>();
      while (!stop.signal.aborted) {
        try {
          await looked(stop.signal);
          const answer = await askCalls(version, stop.signal);
          if (stop.signal.aborted) return;
          // A new daemon counts from the start.
          if (answer.daemon && answer.pid !== pid) {
            const isFirst = pid === 0;
            pid = answer.pid;
            if (!isFirst) {
              version = undefined;
              calls = new Map();
              continue;
            }
          }
          if (answer.daemon) version = answer.version;
          if (answer.calls.length) {
            calls = new Map(calls);
            for (const call of answer.calls) calls.set(call.id, call);
            for (const id of [...calls.keys()].slice(0, Math.max(0, calls.size - KEPT))) calls.delete(id);
          }
          setReceived({ calls, daemon: answer.daemon });
          if (!answer.daemon) await pause(2000, stop.signal);
        } catch (error) {
          if (stop.signal.aborted) return;
          setReceived({ calls, fault: asFault(error) });
          await pause(3000, stop.signal).catch(() => undefined);
        }
      }
    };
    listen().catch(() => undefined);
    return () => stop.abort();
  }, []);
  return { calls: [...received.calls.values()].reverse(), daemon: received.daemon, fault: received.fault };
}

export function Calls() {
  const { calls, daemon, fault } = useCalls();
  const [only, setOnly] = useState<string | null>(null);
  const [isHeld, setHeld] = useState(false);
  const held = useRef<Call[]>([]);
  if (!isHeld) held.current = calls;
  const [, tick] = useReducer((ticks: number, _: null) => ticks + 1, 0);
  const isRunning = held.current.some((call) => !call.outcome);
  useEvery(isRunning ? 200 : 60_000, () => tick(null), [isRunning]);
  const tools = useMemo(() => {
    const counts = new Map<string, { calls: number; errors: number }>();
    for (const call of calls) {
      const one = counts.get(call.tool) ?? { calls: 0, errors: 0 };
      one.calls += 1;
      one.errors += call.outcome?.error ? 1 : 0;
      counts.set(call.tool, one);
    }
    return [...counts].sort((a, b) => b[1].calls - a[1].calls);
  }, [calls]);
  const shown = held.current.filter((call) => !only || call.tool === only);
  const failed = calls.filter((call) => call.outcome?.error).length;
  return (
    <section class="calls">
      <header class="calls-head">
        <p class="live" role="status">
          <i class={`dot ${daemon ? 'is-live' : 'is-off'}`} />
          {daemon ? (calls.length ? `${many(calls.length, 'call')}${failed ? `, ${count(failed)} failed` : ''}` : 'The daemon is running and has received no calls yet.') : daemon === false ? 'No daemon is running for this repository.' : 'Connecting…'}
        </p>
        {calls.length > 0 && <Switch label="Hold" title="Stop the list from moving" value={isHeld} onPick={setHeld} />}
      </header>
      {fault && <Problem fault={fault} />}
      {daemon === false && !fault && calls.length === 0 && (
        <Nothing title="No calls to show">
          <p>This page shows calls while the repository’s daemon runs. An MCP client starts the daemon with its first request, and so does <code>ixmcp daemon start</code>. The page updates automatically.</p>
        </Nothing>
      )}
      {calls.length > 1 && <Times calls={calls} />}
      {tools.length > 1 && (
        <div class="chips" role="group" aria-label="Only one tool">
          {tools.map(([tool, { calls, errors }]) => (
            <button key={tool} class={`chip ${only === tool ? 'is-on' : ''}`} aria-pressed={only === tool} onClick={() => setOnly(only === tool ? null : tool)}>
              {tool} <span class="faint">{count(calls)}{errors > 0 && <span class="bad"> {count(errors)}!</span>}</span>
            </button>
          ))}
        </div>
      )}
      {shown.length > 0 && (
        <ol class="log" aria-label="Calls, newest first">
          {shown.slice(0, 200).map((call) => <CallRow key={call.id} call={call} />)}
        </ol>
      )}
      {shown.length > 200 && <p class="faint">and {count(shown.length - 200)} before these</p>}
    </section>
  );
}

/// The most important argument, and a short form of the others.
export function summary(given: Record<string, unknown>): { main: string; rest: string } {
  const first = ['text', 'query', 'symbol_name', 'id', 'file_path', 'filePath', 'file', 'folderPath'].find((name) => typeof given[name] === 'string');
  const rest = Object.entries(given).filter(([name]) => name !== first).map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return { main: first ? String(given[first]) : '', rest: rest.join(' · ') };
}

function CallRow({ call }: { call: Call }) {
  const { main, rest } = summary(call.arguments);
  const { outcome } = call;
  const took = call.took_us ?? (Date.now() - call.begun_ms) * 1000;
  // A logarithmic scale from 100 µs to 10 s.
  const width = Math.max(2, Math.min(100, 20 * Math.log10(Math.max(1, took / 100))));
  return (
    <li class={outcome ? (outcome.error ? 'is-bad' : '') : 'is-running'}>
      <details>
        <summary>
          <time>{clock(call.begun_ms)}</time>
          <span class="tool">{call.tool}</span>
          <span class="asked"><bdi>{main && <q>{visible(cut(main, 200))}</q>}</bdi> <span class="faint">{visible(cut(rest, 120))}</span></span>
          <span class="took"><i style={{ width: `${width}%` }} />{duration(took)}</span>
          <span class="got">{!outcome ? <><span class="spinner" /> running</> : outcome.error ? outcome.error : got(outcome)}</span>
        </summary>
        <div class="call-more">
          {outcome?.message && <p class="bad"><Message text={outcome.message} /></p>}
          <pre>{JSON.stringify(call.arguments, null, 2)}</pre>
          {outcome?.places && (
            <ul class="plain">
              {outcome.places.map((place) => {
                const at = /^(.*):(\d+)$/.exec(place);
                const isPath = /[./]/.test(place);
                return <li key={place}>{isPath ? <a href={fileAddress(at ? at[1] : place, at ? Number(at[2]) : undefined)}><bdi>{visible(place)}</bdi></a> : visible(place)}</li>;
              })}
            </ul>
          )}
          <p class="faint">By {WAYS[call.way] ?? call.way}{outcome?.bytes !== undefined && `, ${bytes(outcome.bytes)}${outcome.more ? ' or more' : ''} of answer`}.</p>
        </div>
      </details>
    </li>
  );
}

function got(outcome: Outcome): string {
  if (outcome.status === 'running') return 'still running';
  if (outcome.items !== undefined) return outcome.total !== undefined && outcome.total > outcome.items ? `${count(outcome.items)} of ${count(outcome.total)}` : many(outcome.items, 'item');
  return outcome.bytes !== undefined ? bytes(outcome.bytes) : 'done';
}

/// The duration of each call over its start time, with separate dots for failed calls.
function Times({ calls }: { calls: Call[] }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = useMemo<uPlot.AlignedData>(() => {
    const done = calls.filter((call) => call.took_us !== undefined).reverse();
    const ms = (call: Call) => Math.max(0.01, call.took_us! / 1000);
    return [done.map((call) => call.begun_ms / 1000), done.map((call) => (call.outcome?.error ? null : ms(call))), done.map((call) => (call.outcome?.error ? ms(call) : null))];
  }, [calls]);
  useEffect(() => {
    const element = box.current!;
    const color = (name: string) => getComputedStyle(element).getPropertyValue(name).trim();
    const make = () => {
      plot.current?.destroy();
      const axis = { stroke: color('--faint'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
      const isTen = (value: number) => value > 0 && /^1e/.test(value.toExponential());
      const tens = (_: uPlot, at: number[]) => at.map((value) => (isTen(value) ? value : null));
      const dots = (name: string) => ({ stroke: color(name), paths: () => null, points: { show: true, size: 7, fill: color(name), stroke: color('--card') } });
      plot.current = new uPlot(
        {
          width: element.clientWidth, height: 130, legend: { show: false }, cursor: { show: false },
          scales: { x: { time: true }, y: { distr: 3, range: (_, min, max) => [Math.min(0.1, 0.7 * (min ?? 1)), Math.max(20, 1.5 * (max ?? 1))] } },
          axes: [{ ...axis, size: 26, incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400], values: (_, at) => at.map((seconds) => clock(seconds * 1000)), space: 90 },
            { ...axis, grid: { ...axis.grid, filter: tens as any }, size: 56, filter: tens as any, values: (_, at) => at.map((ms) => (ms ? duration(ms * 1000) : '')) },
          ],
          series: [{}, dots('--accent'), dots('--bad')],
        },
        data,
        element,
      );
    };
    make();
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: 130 }));
    resized.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const themed = new MutationObserver(make);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    dark.addEventListener('change', make);
    return () => {
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener('change', make);
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(data), [data]);
  return <figure class="times" aria-label="How long each call took, over time"><div ref={box} /></figure>;
}

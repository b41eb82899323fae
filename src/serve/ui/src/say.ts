// Formatting of numbers, times and locations.

const number = new Intl.NumberFormat('en');
export const count = (value: number) => number.format(value);

export function short(value: number): string {
  if (value < 10_000) return count(value);
  return value < 1_000_000 ? `${(value / 1000).toFixed(value < 100_000 ? 1 : 0)}k` : `${(value / 1_000_000).toFixed(1)}M`;
}

export const many = (value: number, one: string, more = `${one}s`) => `${count(value)} ${value === 1 ? one : more}`;

/// Formats a size as the command line does, in powers of 1000.
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  const units = ['kB', 'MB', 'GB'];
  let at = -1;
  do {
    value /= 1000;
    at += 1;
  } while (value >= 1000 && at < units.length - 1);
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[at]}`;
}

export function duration(micros: number): string {
  if (micros < 1000) return `${Math.round(micros)} µs`;
  if (micros < 1_000_000) return `${(micros / 1000).toFixed(micros < 10_000 ? 1 : 0)} ms`;
  return `${(micros / 1_000_000).toFixed(micros < 10_000_000 ? 2 : 1)} s`;
}

export const clock = (ms: number) => new Date(ms).toLocaleTimeString('en-GB');

export function ago(when: string | number): string {
  const seconds = Math.max(0, (Date.now() - new Date(when).getTime()) / 1000);
  if (seconds < 45) return 'just now';
  for (const [limit, size, unit] of [[3600, 60, 'min'], [86_400, 3600, 'h'], [60 * 86_400, 86_400, 'd']] as const) {
    if (seconds < limit) return `${Math.max(1, Math.round(seconds / size))} ${unit} ago`;
  }
  const years = seconds / (365.25 * 86_400);
  return years < 1.5 ? `${many(Math.round(years * 12), 'month')} ago` : `${many(Math.round(years), 'year')} ago`;
}

export function uptime(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

export function split(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf('/') + 1;
  return [path.slice(0, at), path.slice(at)];
}

/// Truncates a text without splitting a character.
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${Array.from(text.slice(0, most + 1)).slice(0, -1).join('')}…`;
}

/// Control characters, and those that turn the direction of a text: they would make it look like another one.
const HIDDEN = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/// In prose, marks of direction have their use; embeddings and overrides do not.
const TURNING = /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u202a-\u202e]/g;

/// Prose with each character that would hide or turn the rest of it shown as one that is seen.
export const upright = (text: string) => text.replace(TURNING, '\ufffd');

/// A text with each hidden character shown as one that is seen. Its length stays.
export const visible = (text: string) => text.replace(HIDDEN, '\ufffd');

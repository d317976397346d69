import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

/** A stretch of time on the machine's monotonic clock, in microseconds. */
export interface Span {
  readonly name: string;
  readonly fromUs: number;
  readonly toUs: number;
}

const TOP = 15;

/** Says for each span where our service spent its time: by package or folder, by file, and by function. */
export async function summarizeProfiles(folder: string, spans: readonly Span[]): Promise<string> {
  const profile = await readServiceProfile(folder);
  return spans.map((span) => summarizeSpan(profile, span)).join('\n\n');
}

/** Processes that the service starts leave profiles beside its own: it is the one that ran main.ts. */
async function readServiceProfile(folder: string): Promise<CpuProfile> {
  for (const name of await readdir(folder)) {
    const profile = JSON.parse(await readFile(join(folder, name), 'utf8')) as CpuProfile;
    if (profile.nodes.some(({ callFrame }) => callFrame.url.endsWith('service/src/main.ts'))) return profile;
  }
  throw new Error(`no profile of the service in ${folder}`);
}

function summarizeSpan(profile: CpuProfile, span: Span): string {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const causeOf = (id: number): string => {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const url = nodes.get(at)?.callFrame.url ?? '';
      if (url.startsWith('file:')) return shortFile(url);
    }
    return 'node itself';
  };
  const byPackage = new Map<string, number>();
  const byFile = new Map<string, number>();
  const byFunction = new Map<string, number>();
  let idleUs = 0;
  let busyUs = 0;
  for (const [id, us] of selfTimes(profile, span)) {
    const { functionName, url, lineNumber } = nodes.get(id)?.callFrame ?? { functionName: '?', url: '', lineNumber: 0 };
    if (functionName === '(idle)') {
      idleUs += us;
      continue;
    }
    busyUs += us;
    const cause = functionName === '(garbage collector)' ? functionName : causeOf(id);
    add(byPackage, ownerOf(cause), us);
    add(byFile, cause, us);
    add(
      byFunction,
      url === '' ? functionName : `${functionName || '(anonymous)'} ${shortFile(url)}:${lineNumber + 1}`,
      us,
    );
  }
  const lists = [
    `by package, with what it calls in Node\n${topOf(byPackage, busyUs)}`,
    `by file, with what it calls in Node\n${topOf(byFile, busyUs)}`,
    `by function, itself\n${topOf(byFunction, busyUs)}`,
  ];
  const idle = ((100 * idleUs) / (idleUs + busyUs)).toFixed(0);
  return `Where the time goes: ${span.name}, ${idle} % idle, shares of the rest\n${lists.join('\n')}`;
}

function selfTimes({ samples, timeDeltas, startTime }: CpuProfile, { fromUs, toUs }: Span): Map<number, number> {
  const byNode = new Map<number, number>();
  let atUs = startTime;
  for (const [index, id] of samples.entries()) {
    atUs += timeDeltas[index] ?? 0;
    if (atUs >= fromUs && atUs < toUs) add(byNode, id, timeDeltas[index + 1] ?? 0);
  }
  return byNode;
}

function add<K>(sums: Map<K, number>, key: K, us: number): void {
  sums.set(key, (sums.get(key) ?? 0) + us);
}

/** `pg/lib/client.js`, `service/src/http/api/mount.ts`, `node:net`. */
const shortFile = (url: string) => url.replace(/^.*\/node_modules\//, '').replace(/^.*\/packages\//, '');

function ownerOf(file: string): string {
  const parts = file.split('/');
  const depth = file.startsWith('service/src/') || file.startsWith('contracts/') ? 3 : file.startsWith('@') ? 2 : 1;
  return file.startsWith('node:') ? 'node' : parts.slice(0, depth).join('/');
}

const topOf = (sums: ReadonlyMap<string, number>, totalUs: number): string =>
  [...sums]
    .sort((a, b) => b[1] - a[1])
    .slice(0, TOP)
    .map(([name, us]) => `  ${((100 * us) / totalUs).toFixed(1).padStart(5)} %  ${name}`)
    .join('\n');

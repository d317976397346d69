import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startNode } from './child-process.ts';
import { openConnection, requestText } from './http-connection.ts';
import { measure } from './measure.ts';
import { type SearchKind, searchKinds } from './search-questions.ts';
import type { StopList } from './stop-list.ts';

export const CALLERS = 4;

const ms = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(2)).padStart(9);

/** Asks a node of its own on that database, from several callers at once. */
export async function throughHttp(
  databaseUrl: string,
  folder: string,
  stops: StopList,
): Promise<Map<SearchKind, string>> {
  const main = fileURLToPath(new URL('../packages/service/src/main.ts', import.meta.url));
  const dataDir = join(folder, `node-${Date.now()}`);
  const child = startNode([main], { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: databaseUrl });
  stops.add(() => child.stop());
  await child.line(/is running at/);
  const { baseUrl } = JSON.parse(await readFile(join(dataDir, 'local.json'), 'utf8')) as { baseUrl: string };
  const url = new URL('/agents/search', baseUrl);
  const connections = await Promise.all(Array.from({ length: CALLERS }, () => openConnection(url)));
  const lines = new Map<SearchKind, string>();
  for (const kind of searchKinds) {
    const ask = async (caller: number) => {
      const body = kind.body();
      const answer = await connections[caller]?.send(requestText({ method: 'POST', url: url.href, headers: {}, body }));
      if (answer?.status !== 200) throw new Error(`${JSON.stringify(body)} was answered with ${answer?.body}`);
      return true;
    };
    await measure(ask, { callers: CALLERS, seconds: 1 });
    const { perSecond, p50Ms, p99Ms } = await measure(ask, { callers: CALLERS, seconds: 2 });
    lines.set(kind, ms(p50Ms) + ms(p99Ms) + perSecond.toFixed(0).padStart(8));
  }
  for (const connection of connections) connection.close();
  await child.stop();
  return lines;
}

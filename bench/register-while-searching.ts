import { type BenchContext, type Figure, figureOf } from './bench-context.ts';
import { type Connection, openConnection, requestText } from './http-connection.ts';
import { measure } from './measure.ts';
import { tell } from './progress.ts';
import { questionKinds, questionOf } from './registry-questions.ts';

const WRITERS = 8;
const READERS = 8;
const LAG_EVERY = 20;

/**
 * Agents are registered while others search. Each writer looks for every agent that it has registered: an answer without it ends the run.
 */
export async function registerWhileSearching(
  ctx: BenchContext,
  agents: number,
  node: { readonly baseUrl: string; readonly apiKey: string },
): Promise<Figure> {
  tell(`${agents} agents: registering while searching`);
  const url = new URL(node.baseUrl);
  const connections = await Promise.all(Array.from({ length: WRITERS }, () => openConnection(url)));
  const headers = { authorization: `Bearer ${node.apiKey}` };
  const lags: number[] = [];
  let registered = 0;
  const register = async (writer: number) => {
    const connection = connections[writer] as Connection;
    const name = `registered${agents}x${registered++}`;
    const rates = { perRequest: '0.01' };
    const body = {
      name,
      description: 'Registered by the bench.',
      capabilities: [name],
      rates,
      endpoint: 'http://127.0.0.1:9/',
    };
    await sent(connection, { method: 'POST', url: `${node.baseUrl}/agents`, headers, body }, 200, name);
    await sent(connection, { method: 'GET', url: `${node.baseUrl}/agents?capability=${name}`, headers }, 200, name);
    if (registered % LAG_EVERY === 0) lags.push(await lagOf(node.baseUrl));
    return true;
  };
  const search = questionKinds.filter(({ isFacets }) => !isFacets);
  const questions = search.flatMap((kind) =>
    Array.from({ length: 10 }, () => ({ ...questionOf(node.baseUrl, kind.variant(), 0), includes: '"total":' })),
  );
  const reading = ctx.load.run({ kind: 'plain', callers: READERS, seconds: ctx.seconds, questions });
  // If registering fails, that error is reported, not this one.
  reading.catch(() => undefined);
  const writing = await measure(register, { callers: WRITERS, seconds: ctx.seconds });
  const searches = await reading;
  for (const connection of connections) connection.close();
  const note = `registered and found again at once, beside ${searches.perSecond.toFixed(0)} searches/s (p99 ${searches.p99Ms.toFixed(1)} ms); copies at most ${Math.max(0, ...lags).toFixed(3)} s old`;
  const result = { ...writing, eachPerSecond: [writing.perSecond] };
  return { ...figureOf('i', `registered while searching, ${agents} agents`, WRITERS, result), note };
}

async function sent(
  connection: Connection,
  request: { method: string; url: string; headers: Record<string, string>; body?: object },
  status: number,
  includes: string,
): Promise<void> {
  const answer = await connection.send(requestText(request));
  if (answer.status !== status || !answer.body.includes(includes))
    throw new Error(`${request.method} ${request.url} was answered with ${answer.status} ${answer.body.slice(0, 300)}`);
}

async function lagOf(baseUrl: string): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(/^registry_read_model_lag_seconds(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1] ?? Number.NaN);
}

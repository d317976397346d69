import { type BenchContext, type Figure, figureOf } from './bench-context.ts';
import { runRounds } from './rounds.ts';
import { seedAgents } from './seed-agents.ts';

const AGENTS = 10_000;
const CALLERS = 32;

/** (d) The first page of the agents with one capability, and their exact number. Every call asks for another capability. */
export async function benchListing(ctx: BenchContext): Promise<Figure[]> {
  const { baseUrl, apiKey, database } = ctx.service.local;
  const { counts } = await seedAgents(database, AGENTS);
  const questions = [...counts].map(([capability, count]) => ({
    request: {
      method: 'GET',
      url: `${baseUrl}/agents?capability=${capability}`,
      headers: { authorization: `Bearer ${apiKey}` },
    },
    status: 200,
    includes: `"total":${count},`,
  }));
  const job = { kind: 'plain', callers: CALLERS, seconds: ctx.seconds, questions } as const;
  const [ours] = await runRounds(ctx.load, ctx.rounds, [{ name: 'ours', job }]);
  if (!ours) return [];
  const aim = { text: 'at least 5,000/s', isReached: ours.perSecond >= 5000 };
  const what = `GET /agents?capability=…, ${AGENTS} agents`;
  return [{ ...figureOf('d', what, CALLERS, ours), aim }];
}

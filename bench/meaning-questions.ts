import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createLocalModel } from '../packages/service/src/agents/meaning/local-model.ts';
import { toBytes } from '../packages/service/src/agents/meaning/text-model.ts';
import { type BenchContext, type Figure, figureOf } from './bench-context.ts';
import { type LoadGenerator, startLoadGenerator } from './load-generator.ts';
import type { Question } from './load-jobs.ts';
import { tell } from './progress.ts';
import { questionKinds, questionOf } from './registry-questions.ts';
import { residentMib } from './resident-memory.ts';

const CALLERS = 8;
const BATCH = 5000;

/** Tasks in the words of people: none is in a description. */
const tasks = [
  ...['turn words into snake case', 'how hard is this article to read', 'translate a letter into French'],
  ...['what is one bitcoin worth today', 'make this text shorter', 'find the names of people in a document'],
  ...['write a poem about the sea', 'check my contract for risks', 'plan a trip to Lisbon', 'convert a table to JSON'],
  ...['explain this error message', 'remove the background of a picture', 'is this e-mail spam'],
  ...['which words occur most often', 'book a table for two', 'compare two versions of a file'],
] as const;

/**
 * Gives every agent a vector of random direction, near enough to none to be chosen by chance: a search looks through all of them, as it does
 * through real ones.
 */
export async function seedVectors(databaseUrl: string): Promise<void> {
  const model = createLocalModel();
  const sample = await model.ofSearch(tasks[0], 60_000);
  if (!sample) throw new Error('the model of search by meaning is not installed');
  const { byteLength } = toBytes(sample);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    // Nodes load vectors at their start: no change needs a note.
    await client.query('alter table agent_vector disable trigger agent_vector_changed');
    for (let after = ''; ; ) {
      const { rows } = await client.query<{ id: string }>('select id from agent where id > $1 order by id limit $2', [
        after,
        BATCH,
      ]);
      if (rows.length === 0) break;
      const ids = rows.map(({ id }) => id);
      const vectors = ids.map(() => randomBytes(byteLength));
      await client.query(
        `insert into agent_vector (agent_id, model, vector, stored_at)
         select id, $3, vector, now() from unnest($1::text[], $2::bytea[]) as v(id, vector)
         on conflict (agent_id) do update set model = $3, vector = excluded.vector, stored_at = now(), due_at = null`,
        [ids, vectors, model.id],
      );
      after = ids.at(-1) ?? after;
    }
    await client.query('alter table agent_vector enable trigger agent_vector_changed');
    await client.query('vacuum analyze agent_vector');
  } finally {
    await client.end();
  }
}

/** Searches by meaning, alone and beside lists, whose p99 is compared with theirs alone. */
export async function searchByMeaning(
  ctx: BenchContext,
  agents: number,
  { baseUrl }: { readonly baseUrl: string },
): Promise<Figure[]> {
  tell(`${agents} agents: search by meaning`);
  const meant: Question[] = tasks.map((text) => ({
    request: { method: 'POST', url: `${baseUrl}/agents/search`, headers: {}, body: { query: { text }, by: 'meaning' } },
    status: 200,
    includes: '"rankedBy":"meaning"',
  }));
  const [list] = questionKinds;
  if (!list) throw new Error('there is no list');
  const listed = Array.from({ length: 40 }, () => ({
    ...questionOf(baseUrl, list.variant(), 0),
    includes: '"total":',
  }));
  const others = startLoadGenerator(ctx.stops);
  const ask = (load: LoadGenerator, questions: readonly Question[]) =>
    load.run({ kind: 'plain', callers: CALLERS, seconds: ctx.seconds, questions });
  const alone = await ask(ctx.load, meant);
  const lists = await ask(ctx.load, listed);
  const [both] = await Promise.all([ask(ctx.load, listed), ask(others, meant)]);
  const figure = (what: string, result: typeof alone) =>
    figureOf('i', `${what}, ${agents} agents`, CALLERS, { ...result, eachPerSecond: [result.perSecond] });
  const note = `${(await residentMib(baseUrl)).toFixed(0)} MiB with the model and the vectors`;
  return [
    { ...figure('search by meaning', alone), note },
    figure('lists alone', lists),
    figure('lists beside 8 who search by meaning', both),
  ];
}

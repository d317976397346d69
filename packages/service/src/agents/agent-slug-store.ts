import type { Sql } from '../store/sql.ts';
import { agentMeant, type Meant, type SlugTaker, slugOf } from './agent-slug.ts';

/** Slugs that an agent takes at most: by its first names. */
const MAX_SLUGS = 5;
/** Agents that are looked at for one slug. */
const MAX_TAKERS = 100;

const takers = `select s.slug, s.seq, g.id, g.account_id as "accountId", g.name, g.status = 'removed' as "isRemoved"
  from agent_slug s join agent g on g.id = s.agent_id`;

/** Has an agent take the slug of its name, behind those that took it before. A name without a slug, or a sixth one, takes none. */
export async function takeSlug(sql: Sql, agent: { readonly id: string; readonly name: string }): Promise<void> {
  const slug = slugOf(agent.name);
  if (slug === null) return;
  await sql.query(
    'take-slug',
    `insert into agent_slug (slug, agent_id)
     select $1, $2 where (select count(*) from agent_slug where agent_id = $2) < $3 on conflict do nothing`,
    [slug, agent.id, MAX_SLUGS],
  );
}

/** The agent that a slug or name means. */
export async function findMeant(sql: Sql, text: string): Promise<Meant> {
  const slug = slugOf(text);
  if (slug === null) return { ids: [] };
  const found = await sql.query<SlugTaker>('find-slug', `${takers} where s.slug = $1 order by s.seq limit $2`, [
    slug,
    MAX_TAKERS,
  ]);
  return agentMeant(text, found);
}

/** The slug that means an agent, of its newest name that has one; null: none. */
export async function findSlugOf(sql: Sql, id: string): Promise<string | null> {
  const rows = await sql.query<SlugTaker & { readonly slug: string }>(
    'find-slugs-of',
    `select taken.* from agent_slug own
     cross join lateral (${takers} where s.slug = own.slug order by s.seq limit $2) taken
     where own.agent_id = $1 order by own.seq desc, taken.seq`,
    [id, MAX_TAKERS],
  );
  const slugs = new Set(rows.map(({ slug }) => slug));
  for (const slug of slugs) {
    const meant = agentMeant(
      slug,
      rows.filter((row) => row.slug === slug),
    );
    if ('id' in meant && meant.id === id) return slug;
  }
  return null;
}

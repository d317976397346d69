const ID = /^agt_([0-9a-z]{26})$/;
const SLUG = /^[0-9a-z-]{1,80}-([0-9a-z]{26})$/;
const MAX_NAME_CHARS = 60;

/**
 * Last part of the address of an agent's page: words of its name, then its id, which alone is looked up. So an agent can't take another's
 * address, and addresses with a former name keep working.
 */
export function agentSlug({ id, name }: { readonly id: string; readonly name: string }): string {
  const ending = ID.exec(id)?.[1];
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^0-9a-z]+/g, '-')
    .slice(0, MAX_NAME_CHARS)
    .replace(/^-|-$/g, '');
  return ending === undefined || words === '' ? id : `${words}-${ending}`;
}

/** The id of the agent that the last part of an address names; null: it is neither a slug nor an id. */
export function agentIdOf(part: string): string | null {
  if (ID.test(part)) return part;
  const ending = SLUG.exec(part)?.[1];
  return ending === undefined ? null : `agt_${ending}`;
}

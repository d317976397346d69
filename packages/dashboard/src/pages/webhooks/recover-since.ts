export type Since = '1' | '6' | '24' | '72' | '168' | 'failing' | 'own';

const HOUR_MS = 3_600_000;

interface Chosen {
  readonly since: Since;
  /** Value of a `datetime-local` input: it has no zone, and is in the browser's. */
  readonly own: string;
  readonly failingSince: string | null;
}

/** The time that was chosen, as the API takes it; null: none yet. */
export function sinceTime({ since, own, failingSince }: Chosen, nowMs: number): string | null {
  if (since === 'failing') return failingSince;
  const atMs = since === 'own' ? Date.parse(own) : nowMs - Number(since) * HOUR_MS;
  return Number.isNaN(atMs) ? null : new Date(atMs).toISOString();
}

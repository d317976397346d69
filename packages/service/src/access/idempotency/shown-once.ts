import type { ShownOnce } from '@agent-network/contracts/access/shown-once';

/** The data of an answer as repetitions get it, and the secret that was in it, if there was one. */
export function splitSecret(
  data: unknown,
  shownOnce: ShownOnce | undefined,
): { readonly data: unknown; readonly secret: string | null } {
  const secret = shownOnce && (data as Readonly<Record<string, unknown>> | null)?.[shownOnce.field];
  if (!shownOnce || typeof secret !== 'string') return { data, secret: null };
  const secretNotice = `This was shown once, with the first answer. ${shownOnce.insteadOfIt}`;
  return { data: { ...(data as object), [shownOnce.field]: null, secretNotice }, secret };
}

/** Puts a secret back that no answer has shown. */
export function joinSecret(data: unknown, { field }: ShownOnce, secret: string): unknown {
  const { secretNotice: _, ...rest } = data as Readonly<Record<string, unknown>>;
  return { ...rest, [field]: secret };
}

import type { ShownOnce } from '@agent-network/contracts/access/shown-once';

/** Splits an answer into its data for repeats and its secret, if any. */
export function splitSecret(
  data: unknown,
  shownOnce: ShownOnce | undefined,
): { readonly data: unknown; readonly secret: string | null } {
  const secret = shownOnce && (data as Readonly<Record<string, unknown>> | null)?.[shownOnce.field];
  if (!shownOnce || typeof secret !== 'string') return { data, secret: null };
  const secretNotice = `This was shown once, with the first answer. ${shownOnce.insteadOfIt}`;
  return { data: { ...(data as object), [shownOnce.field]: null, secretNotice }, secret };
}

/** Restores a secret that no answer has shown. */
export function joinSecret(data: unknown, { field }: ShownOnce, secret: string): unknown {
  const { secretNotice: _, ...rest } = data as Readonly<Record<string, unknown>>;
  return { ...rest, [field]: secret };
}

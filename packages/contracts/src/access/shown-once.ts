import { z } from 'zod';

/** A secret field that an answer shows once, and the client's way to recover from losing it. */
export interface ShownOnce {
  readonly field: string;
  readonly insteadOfIt: string;
}

/**
 * A secret that only the first answer contains; null in a repetition's answer, which has `secretNotice` besides. Its type is that of the
 * first answer: the SDK rejects with the notice when the secret is missing.
 */
export const secretShownOnce = (description: string): z.ZodString =>
  z.string().nullable().describe(`${description} null in a repetition's answer.`) as unknown as z.ZodString;

export const secretNotice = z
  .string()
  .optional()
  .describe('Only in the answer of a repetition under the same `Idempotency-Key`: the way to get a new secret.');

export const identityTokenShownOnce: ShownOnce = {
  field: 'identityToken',
  insteadOfIt:
    'Prove the owner wallet again with POST /identity/verify and `newIdentityToken: true` beside the signature: the agent gets a new one.',
};

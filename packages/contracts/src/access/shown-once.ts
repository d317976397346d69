import { z } from 'zod';

/** Which field of an answer is a secret that is shown once, and what a client does that has lost it. */
export interface ShownOnce {
  readonly field: string;
  readonly insteadOfIt: string;
}

/**
 * A secret that its first answer shows; null in the answer of a repetition, which has `secretNotice` beside it. Its type is that of
 * the first answer: the SDK rejects with the notice when it is answered without the secret.
 */
export const secretShownOnce = (description: string): z.ZodString =>
  z.string().nullable().describe(`${description} null in a repetition's answer.`) as unknown as z.ZodString;

export const secretNotice = z
  .string()
  .optional()
  .describe('Only in the answer of a repetition under the same `Idempotency-Key`: how to get a secret instead.');

export const identityTokenShownOnce: ShownOnce = {
  field: 'identityToken',
  insteadOfIt:
    'Prove the owner wallet again with POST /identity/verify and `newIdentityToken: true` beside the signature: the agent gets a new one.',
};

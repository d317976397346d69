import { type ErrorCode, errorCatalogue, errorEnvelope } from '@agent-network/contracts/errors';
import { expect } from 'vitest';
import type { Answer } from '../../../support/harness.ts';

/** Made once for each code: making a schema takes longer than checking an answer by it. */
const envelopes = new Map<ErrorCode, ReturnType<typeof errorEnvelope>>();
const envelopeOf = (code: ErrorCode): ReturnType<typeof errorEnvelope> => {
  const envelope = envelopes.get(code) ?? errorEnvelope(code);
  envelopes.set(code, envelope);
  return envelope;
};

/** Why an answer is not the documented error; null when it is: status, envelope, echo of the request id, and the field named. */
export function problemWithError(answer: Answer, code: ErrorCode, field?: string): string | null {
  const { status } = errorCatalogue[code];
  if (answer.status !== status)
    return `status ${answer.status}, not ${status}: ${JSON.stringify(answer.body).slice(0, 300)}`;
  const envelope = envelopeOf(code).safeParse(answer.body);
  if (!envelope.success)
    return `not the envelope of ${code}: ${envelope.error.message} in ${JSON.stringify(answer.body)}`;
  if (answer.headers.get('x-request-id') !== answer.body.error.requestId)
    return 'the request ids of header and body differ';
  if (field === undefined) return null;
  const paths: string[] = answer.body.error.details.fields.map(({ path }: { path: string }) => path);
  const isNamed = paths.some((path) => path === field || path.startsWith(`${field}.`));
  return isNamed ? null : `names ${paths.join(', ')} and not ${field}`;
}

/** Expects the documented error of this code; `field` is one that `details.fields` must name. */
export function expectError(answer: Answer, code: ErrorCode, field?: string): void {
  expect(problemWithError(answer, code, field)).toBeNull();
}

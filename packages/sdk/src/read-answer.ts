import type { ErrorCode } from '@agent-network/contracts/errors';
import { wireErrorCodes } from '@agent-network/contracts/wire.generated';
import { ApiError, NoAnswerError } from './api-error.ts';
import { parseRetryAfterS } from './retry-schedule.ts';

interface Envelope {
  readonly status?: unknown;
  readonly data?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly requestId?: unknown };
}

function parseEnvelope(text: string): Envelope | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

const isErrorCode = (code: unknown): code is ErrorCode => (wireErrorCodes as readonly unknown[]).includes(code);

/** Takes `data` out of the success envelope. Throws `ApiError` for an error envelope and `NoAnswerError` for anything else. */
export async function readAnswer(response: Response): Promise<unknown> {
  const envelope = parseEnvelope(await response.text());
  if (response.ok && envelope?.status === 'success') return envelope.data;
  const { code, message, requestId, ...extra } = envelope?.error ?? {};
  if (!isErrorCode(code))
    throw new NoAnswerError(`${response.url || 'The node'} answered ${response.status} with something else`, {
      status: response.status,
    });
  throw new ApiError({
    code,
    message: String(message),
    status: response.status,
    extra,
    requestId: typeof requestId === 'string' ? requestId : (response.headers.get('x-request-id') ?? undefined),
    retryAfterS: parseRetryAfterS(response.headers.get('retry-after'), new Date()),
  } as ConstructorParameters<typeof ApiError>[0]);
}

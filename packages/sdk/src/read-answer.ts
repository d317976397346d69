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

/** Maximum bytes of an answer, more than any honest node sends. */
const maxAnswerBytes = 64 * 1024 * 1024;

/** Maximum bytes of the content of a file: what a node may store. */
const maxContentBytes = 1024 * 1024 * 1024;

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let text = '';
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.byteLength;
    if (bytes > maxAnswerBytes) {
      void reader.cancel().catch(() => undefined);
      throw new NoAnswerError(`${response.url || 'The node'} answered more than 64 MiB`, { status: response.status });
    }
    text += decoder.decode(value, { stream: true });
  }
  return text + decoder.decode();
}

const isErrorCode = (code: unknown): code is ErrorCode => (wireErrorCodes as readonly unknown[]).includes(code);

/** The content of a file, or a range of it. Throws as `readAnswer` does. */
export async function readContent(response: Response): Promise<Uint8Array> {
  if (!response.ok) return (await readAnswer(response)) as never;
  if (Number(response.headers.get('content-length')) > maxContentBytes)
    throw new NoAnswerError(`${response.url || 'The node'} answered more than 1 GiB`, { status: response.status });
  return new Uint8Array(await response.arrayBuffer());
}

/** Takes `data` out of the success envelope. Throws `ApiError` for an error envelope and `NoAnswerError` for anything else. */
export async function readAnswer(response: Response): Promise<unknown> {
  const envelope = parseEnvelope(await textOf(response));
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

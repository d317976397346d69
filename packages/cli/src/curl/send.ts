import { CommandError } from '../exit-codes.ts';

/** A request as it is sent, without its payment. */
export interface CurlRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly timeoutMs: number;
}

export interface CurlAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** No answer came: whether the request was done is not known. */
export class NobodyAnsweredError extends Error {
  override readonly name = 'NobodyAnsweredError';
}

const MAX_ANSWER_BYTES = 10 * 1024 * 1024;
/** Pauses before a paid request is sent again after no answer came, with the same payment. */
const PAUSES_MS = [1_000, 3_000];

/** Sends a request once. Redirects are answers: a payment is for the address that asked for it. */
export async function send(request: CurlRequest, payment: Readonly<Record<string, string>> = {}): Promise<CurlAnswer> {
  const { url, method, headers, body, timeoutMs } = request;
  let response: Response;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    response = await fetch(url, {
      method,
      headers: { ...headers, ...payment },
      body: body ?? null,
      signal,
      redirect: 'manual',
    });
    return { status: response.status, headers: response.headers, body: await readBody(response) };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NobodyAnsweredError(`No answer from ${new URL(url).host}: ${reason}`, { cause: error });
  }
}

/** Sends a request with its payment; when no answer comes, again with the same payment, which can't be taken twice. */
export async function sendPaid(request: CurlRequest, payment: Readonly<Record<string, string>>): Promise<CurlAnswer> {
  for (const pauseMs of PAUSES_MS) {
    try {
      return await send(request, payment);
    } catch (error) {
      if (!(error instanceof NobodyAnsweredError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return send(request, payment);
}

async function readBody({ body }: Response): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new CommandError(`The answer is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB.`, {
        code: 'ANSWER_TOO_LARGE',
      });
    parts.push(part);
  }
  return Buffer.concat(parts);
}

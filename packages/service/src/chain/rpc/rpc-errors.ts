import {
  BaseError,
  HttpRequestError,
  type PublicClient,
  ResponseBodyTooLargeError,
  RpcRequestError,
  TimeoutError,
} from 'viem';

const isAny = (error: unknown, test: (cause: unknown) => boolean): boolean =>
  error instanceof BaseError && error.walk(test) !== null;

/** Texts of rate limits, as JSON-RPC has no error code for them, and viem drops the HTTP status of a JSON-RPC error. */
const RATE_LIMITED = /\brate\b|too many requests|(per |\/)second/i;

/** True if the RPC node would refuse a query of a smaller range too: it lacks the blocks, or limits the rate. */
export const isOfAnySize = (error: unknown): boolean =>
  error instanceof BehindError ||
  isAny(
    error,
    (cause) =>
      (cause instanceof HttpRequestError && cause.status === 429) ||
      (cause instanceof RpcRequestError && (cause.code === 429 || RATE_LIMITED.test(cause.details))),
  );

/** True if no RPC node answered: none was reached, not in time, or it failed. */
export const isUnanswered = (error: unknown): boolean =>
  isAny(
    error,
    (cause) =>
      cause instanceof TimeoutError ||
      (cause instanceof HttpRequestError && (cause.status === undefined || cause.status >= 500)),
  );

/** True if the RPC node answered with an error, or with more than is read: a smaller question may succeed. */
export const isRefusedSize = (error: unknown): boolean =>
  !isOfAnySize(error) &&
  isAny(
    error,
    (cause) =>
      cause instanceof RpcRequestError ||
      cause instanceof ResponseBodyTooLargeError ||
      (cause instanceof HttpRequestError && (cause.status === 400 || cause.status === 413)),
  );

/** The RPC node that answered does not have all the requested blocks yet. */
export class BehindError extends Error {}

/**
 * The logs that `ask` requests of blocks up to this one. Throws when the RPC node that answers is behind the block: it would answer with the
 * logs that it has, and those of the newest blocks would never be read. Of several nodes behind one address, one may be. Its height goes in
 * the same request (the client has to batch), before the logs.
 */
export async function logsUpTo<Logs>(
  client: Pick<PublicClient, 'request'>,
  toBlock: bigint,
  ask: () => Promise<Logs>,
): Promise<Logs> {
  const [head, logs] = await Promise.all([client.request({ method: 'eth_blockNumber' }), ask()]);
  if (BigInt(head) < toBlock)
    throw new BehindError(`the RPC node that was asked for logs up to block ${toBlock} is only at ${BigInt(head)}`);
  return logs;
}

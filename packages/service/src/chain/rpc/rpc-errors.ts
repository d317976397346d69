import { BaseError, HttpRequestError, ResponseBodyTooLargeError, RpcRequestError, TimeoutError } from 'viem';
import { BehindError } from './logs-up-to.ts';

const isAny = (error: unknown, test: (cause: unknown) => boolean): boolean =>
  error instanceof BaseError && error.walk(test) !== null;

/** Texts of rate limits: JSON-RPC has no code of their own for them, and viem keeps no HTTP status beside a JSON-RPC error. */
const RATE_LIMITED = /\brate\b|too many requests|(per |\/)second/i;

/** True if the RPC node would refuse a query of a smaller range too: it is behind the blocks, or was asked too often. */
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

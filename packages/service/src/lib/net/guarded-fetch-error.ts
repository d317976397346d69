export type GuardedFetchErrorKind =
  | 'invalid_url'
  | 'blocked'
  | 'dns'
  | 'connect'
  | 'timeout'
  | 'too_large'
  | 'redirect'
  | 'encoding'
  | 'reset'
  | 'aborted';

/**
 * Message for a name that does not resolve and for one that resolves to a refused address: a difference would let callers map a private
 * network.
 */
const UNREACHABLE = 'The endpoint could not be reached at a public address.';

const PUBLIC_MESSAGES: Record<GuardedFetchErrorKind, string> = {
  invalid_url: 'The URL is not allowed.',
  blocked: UNREACHABLE,
  dns: UNREACHABLE,
  connect: UNREACHABLE,
  timeout: 'The endpoint did not answer in time.',
  too_large: 'The answer of the endpoint is too large.',
  redirect: 'The endpoint answered with a redirect, which is not followed.',
  encoding: 'The endpoint compressed its answer although it was asked not to.',
  reset: 'The endpoint broke the connection off or did not speak HTTP.',
  aborted: 'The call was cancelled.',
};

/**
 * Failure of an outbound call. `message` is public: it reveals no addresses and no services behind them; `cause` is for the log.
 * `isRetryable` guarantees that the request never reached the server.
 */
export class GuardedFetchError extends Error {
  override readonly name = 'GuardedFetchError';
  readonly kind: GuardedFetchErrorKind;
  readonly isRetryable: boolean;

  constructor(kind: GuardedFetchErrorKind, options: { message?: string; cause?: unknown; isSent?: boolean } = {}) {
    super(options.message ?? PUBLIC_MESSAGES[kind], options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = kind;
    this.isRetryable = (kind === 'connect' || kind === 'dns') && !options.isSent;
  }
}

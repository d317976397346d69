import type { HttpContext } from '../../request/http-context.ts';
import { gatewayErrorOf } from '../common/gateway-error.ts';

/** Errors of the protocol (specification, 5.4 and 9.5), by their reason: code of JSON-RPC and status of HTTP+JSON. */
const protocol = {
  TASK_NOT_FOUND: [-32_001, 404],
  TASK_NOT_CANCELABLE: [-32_002, 400],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32_003, 400],
  UNSUPPORTED_OPERATION: [-32_004, 400],
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: [-32_007, 400],
  VERSION_NOT_SUPPORTED: [-32_009, 400],
  PARSE_ERROR: [-32_700, 400],
  INVALID_REQUEST: [-32_600, 400],
  METHOD_NOT_FOUND: [-32_601, 404],
  INVALID_PARAMS: [-32_602, 400],
} as const;
type Reason = keyof typeof protocol;

export interface FieldViolation {
  readonly field: string;
  readonly description: string;
}

interface MoreOfError {
  readonly violations?: readonly FieldViolation[];
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error that the protocol names. */
export class A2aError extends Error {
  readonly reason: Reason;
  readonly violations: readonly FieldViolation[];
  /** HTTP status that overrides the reason's own. */
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: Reason, message: string, more: MoreOfError = {}) {
    super(message);
    this.reason = reason;
    this.violations = more.violations ?? [];
    this.status = more.status;
    this.headers = more.headers ?? {};
  }
}

export const taskNotFound = () =>
  new A2aError(
    'TASK_NOT_FOUND',
    'Task not found for this agent and caller. Read tasks of calls without a key with X-Result-Token.',
  );

export const invalidParam = (field: string, description: string) =>
  new A2aError('INVALID_PARAMS', `Invalid parameters: ${field} ${description}.`, {
    violations: [{ field, description }],
  });

/** An error in both bindings. */
export interface ShownError {
  /** Status of HTTP+JSON. */
  readonly status: number;
  /** Status of JSON-RPC: errors of its own are answers like any other. */
  readonly rpcStatus: number;
  readonly code: number;
  readonly message: string;
  readonly details: readonly object[];
  readonly headers: Readonly<Record<string, string>>;
}

const ANY = 'type.googleapis.com/google.rpc.';
const errorInfo = (reason: string, domain: string, metadata: Readonly<Record<string, string>> = {}) => ({
  '@type': `${ANY}ErrorInfo`,
  reason,
  domain,
  ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
});
const badRequest = (fieldViolations: readonly FieldViolation[]) => ({ '@type': `${ANY}BadRequest`, fieldViolations });

/** Statuses that JSON-RPC answers have too, as clients and proxies must see them. */
const httpOnly: ReadonlySet<number> = new Set([401, 403, 413, 415, 429, 503]);
const rpcStatusOf = (status: number) => (httpOnly.has(status) ? status : 200);

/** Puts an error into the form of the protocol, and logs those that are the node's own. */
export function shownError(ctx: HttpContext, route: string, requestId: string, thrown: unknown): ShownError {
  if (thrown instanceof A2aError) return shownProtocolError(thrown);
  const { status, headers, error, offer } = gatewayErrorOf(ctx, route, requestId, thrown);
  const { code: reason, message, details, ...more } = error;
  const fields = (details as { fields?: readonly { path: string; message: string }[] } | undefined)?.fields;
  const violations = (fields ?? []).map(({ path, message: description }) => ({ field: path, description }));
  const metadata = Object.fromEntries(
    Object.entries(more).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
    ),
  );
  const code = status === 400 ? protocol.INVALID_PARAMS[0] : status === 500 ? -32_603 : -30_000 - status;
  return {
    ...{ status, headers, message, code, rpcStatus: rpcStatusOf(status) },
    details: [
      errorInfo(reason, 'agent-network', metadata),
      ...(violations.length > 0 ? [badRequest(violations)] : []),
      ...(details === undefined || fields ? [] : [{ '@type': `${ANY}Struct`, value: details }]),
      ...(offer ? [{ '@type': 'urn:x402:PaymentRequired', ...offer }] : []),
    ],
  };
}

function shownProtocolError(error: A2aError): ShownError {
  const [code, itsStatus] = protocol[error.reason];
  const status = error.status ?? itsStatus;
  const timestamp = new Date().toISOString();
  return {
    ...{ status, code, message: error.message, headers: error.headers, rpcStatus: rpcStatusOf(status) },
    details: [
      errorInfo(error.reason, 'a2a-protocol.org', { timestamp }),
      ...(error.violations.length > 0 ? [badRequest(error.violations)] : []),
    ],
  };
}

const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  410: 'NOT_FOUND',
  422: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** The error of HTTP+JSON: google.rpc.Status. */
export const restError = ({ status, message, details }: ShownError) => ({
  error: { code: status, status: statusNames[status] ?? 'INVALID_ARGUMENT', message, details },
});

/** The error of JSON-RPC. */
export const rpcError = (id: unknown, { code, message, details }: ShownError) => ({
  jsonrpc: '2.0',
  id: id ?? null,
  error: { code, message, data: details },
});

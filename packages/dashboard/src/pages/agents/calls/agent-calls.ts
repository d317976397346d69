import type { AgentCallItem } from '@agent-network/contracts/agents/agent-calls';
import { failureReasons, requestStatuses } from '@agent-network/contracts/invocations/invocations';

const callers: Readonly<Record<NonNullable<AgentCallItem['caller']>, string>> = {
  account: 'Account',
  agent: 'Agent',
  wallet: 'Wallet without a key',
  node: 'Another node',
};
const gateways: Readonly<Record<NonNullable<AgentCallItem['face']>, string>> = {
  rest: 'REST',
  mcp: 'MCP',
  a2a: 'A2A',
  openai: 'OpenAI API',
  x402: 'x402',
};

/** Kind of the caller. The owner does not see the caller's identity. */
export const callerText = ({ caller, isOwn }: Pick<AgentCallItem, 'caller' | 'isOwn'>): string =>
  isOwn ? 'You' : caller === null ? 'Not recorded' : callers[caller];

export const gatewayText = (face: AgentCallItem['face']): string => (face === null ? '–' : gateways[face]);

/** Error code in words: "agent error". */
export const errorText = (code: string): string => code.replaceAll('_', ' ');

const HOUR_MS = 3_600_000;
/** Periods of the filter, by their text in the URL. */
export const callPeriods = [
  { value: '1h', label: 'Last hour', ms: HOUR_MS },
  { value: '24h', label: 'Last 24 hours', ms: 24 * HOUR_MS },
  { value: '7d', label: 'Last 7 days', ms: 7 * 24 * HOUR_MS },
] as const;

const MINUTE_MS = 60_000;

interface CallSearch {
  readonly status?: string;
  readonly error?: string;
  readonly since?: string;
  readonly cursor?: string;
}

/**
 * The filters in the URL as a query, without unknown values. The start is a whole minute, so that the query stays the same while it is
 * read.
 */
export function callQuery({ status, error, since, cursor }: CallSearch, nowMs: number) {
  const known = requestStatuses.find((each) => each === status);
  const reason = failureReasons.find((each) => each === error);
  const period = callPeriods.find(({ value }) => value === since);
  return {
    ...(reason === undefined ? (known === undefined ? {} : { status: known }) : { error: reason }),
    ...(period ? { from: new Date(Math.floor(nowMs / MINUTE_MS) * MINUTE_MS - period.ms).toISOString() } : {}),
    ...(cursor ? { cursor } : {}),
  };
}

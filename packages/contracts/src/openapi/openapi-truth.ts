type Shown = Readonly<Record<string, unknown>>;

/** The fields that agree with the others of an object. `undefined`: the object has no such field. */
interface Fact {
  /** An object is meant when it has all of these. */
  readonly of: readonly string[];
  readonly says: (shown: Shown) => Shown;
}

const payer = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const node = '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063';

const first = (value: unknown): Shown => (Array.isArray(value) ? value[0] : value) as Shown;

/** Keeps the `fields` that the object has. */
const where = (shown: Shown, fields: Shown): Shown =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => name in shown));

const ratio = (part: unknown, whole: unknown): number => Math.round((1000 * Number(part)) / Number(whole)) / 1000;

const cents = (value: unknown): number => Math.round(Number(value) * 100);

/** A request that completed was refunded nothing and has no error; one paid from a treasury has no transaction. */
function requestFacts(request: Shown): Shown {
  const isPaidOnChain = request.paymentMethod === 'x402';
  const completed = { refund: null, error: null, errorCode: null, reason: null, message: null };
  return {
    ...where(request, { refundExpected: null, ...(isPaidOnChain ? {} : { paymentHash: null }) }),
    ...(request.status === 'completed' ? where(request, completed) : {}),
    // Only of removed content, of calls by agents, of agents that the node chose, and of interactive calls.
    ...{ contentRemovedAt: undefined, completion_time: undefined, agent_id: undefined, chosen: undefined },
    ...(request.status === 'input_required' ? {} : { turn: undefined, inputRequest: undefined, turns: undefined }),
  };
}

/** An agent earns its price less the fee; no other payment has a fee. */
function paymentFacts(payment: Shown): Shown {
  const isEarning = payment.type === 'charge' && 'fee' in payment;
  return {
    ...(isEarning ? { type: 'earning', amount: '0.0495', fee: '0.0005', transactionHash: null } : { fee: undefined }),
    ...where(payment, { withdrawalId: null }),
  };
}

const facts: readonly Fact[] = [
  { of: ['requestId', 'status', 'refund', 'completedAt'], says: requestFacts },
  {
    of: ['inputId', 'kind', 'message'],
    says: () => ({
      ...{ inputId: 'inp_01k9xq3v7m2n8p4r6t0w5y1zab', message: 'For which day?', url: undefined },
      schema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
    }),
  },
  { of: ['requestId', 'estimatedCost', 'deadline'], says: () => ({ chosen: undefined }) },
  { of: ['paymentId', 'type', 'status'], says: paymentFacts },
  {
    of: ['entryId', 'direction', 'balance'],
    says: () => ({ paymentId: null, withdrawalId: null, transactionHash: null }),
  },
  {
    of: ['event', 'at', 'reason'],
    says: () => ({ event: 'created', amount: null, transactionHash: null, reason: null }),
  },
  { of: ['code', 'message', 'requestId'], says: () => ({ message: 'The agent answered with 500.' }) },
  {
    of: ['base_fee', 'total'],
    says: ({ base_fee, units }) => ({ total: units === undefined ? base_fee : first(units).amount }),
  },
  {
    of: ['treasuries', 'agents', 'payers', 'total'],
    says: (sums) => {
      const parts = Object.entries(sums).filter(([name]) => name !== 'total');
      return { total: (parts.reduce((sum, [, part]) => sum + cents(part), 0) / 100).toFixed(2) };
    },
  },
  { of: ['limit', 'used', 'remaining'], says: ({ used, remaining }) => ({ limit: Number(used) + Number(remaining) }) },
  { of: ['hasMore', 'nextCursor'], says: () => ({ nextCursor: null }) },
  {
    of: ['checks', 'failed', 'uptime'],
    says: ({ checks, failed }) => ({ uptime: ratio(Number(checks) - Number(failed), checks) }),
  },
  {
    of: ['calls', 'succeeded', 'successRate'],
    says: ({ calls, succeeded }) => ({ successRate: ratio(succeeded, calls) }),
  },
  {
    of: ['total', 'status', 'verified'],
    says: () => ({ status: { online: 1, offline: 0 }, verified: { yes: 1, no: 0 } }),
  },
  { of: ['failingSince', 'pausedUntil'], says: () => ({ failingSince: null, pausedUntil: null }) },
  {
    of: ['verified', 'proof', 'reason'],
    says: ({ verified, reason }) => ({ reason: verified ? null : reason }),
  },
  {
    of: ['balance', 'inFlight', 'remaining'],
    says: () => ({ inFlight: '0.00', remaining: '8.50', claimed: '0.00', withdrawal: null }),
  },
  { of: ['vouchers', 'claimed'], says: () => ({ vouchers: '0.00', claimed: '0.00' }) },
  { of: ['type', 'state', 'endedAt'], says: () => ({ state: 'done' }) },
  {
    of: ['purpose', 'direction', 'lostAt'],
    says: () => ({ purpose: 'invocation', state: 'settled', from: payer, to: node, reason: null, lostAt: null }),
  },
  { of: ['voucher', 'reserved', 'charged'], says: () => ({ released: '0.00' }) },
  { of: ['deliveryId', 'state'], says: () => ({ type: 'invocation.completed', state: 'delivered' }) },
  { of: ['transferId', 'kind'], says: () => ({ kind: 'release' }) },
  { of: ['kind', 'depth'], says: () => ({ kind: 'deliveries_retrying' }) },
  { of: ['number', 'hash'], says: () => ({ number: 31_337_000 }) },
  { of: ['value', 'nodeId'], says: () => ({ value: 'eu-central' }) },
  { of: ['jobId', 'maxAttempts'], says: () => ({ maxAttempts: 10 }) },
  {
    of: ['actor', 'subject'],
    says: ({ actor }) => ({ actor: { ...first(actor), id: 'key_01k9xq3v7m2n8p4r6t0w5y1zab' } }),
  },
];

function truthOf(shown: Shown): Shown {
  const found = facts.filter(({ of }) => of.every((name) => name in shown));
  const said = Object.assign({}, shown, ...found.map(({ says }) => says(shown)));
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
}

/**
 * The example with its fields in agreement. Examples are made field by field, from the names; that a payment's fee is less than its amount, or
 * that a completed request was not refunded, no field knows by itself.
 */
export function toTruth<T>(value: T): T {
  if (Array.isArray(value)) return value.map((each) => toTruth(each)) as T;
  if (value === null || typeof value !== 'object') return value;
  return truthOf(Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toTruth(each)]))) as T;
}

/** Facts of an answer that follow from the call itself. */
export const answerFacts: Readonly<Record<string, (example: Shown) => Shown>> = {
  invokeAuto: ({ chosen }) => ({ chosen }),
  depositToTreasury: () => ({ amount: '10.00', balance: '18.55' }),
  withdraw: () => ({ amount: '5.00' }),
  getWithdrawal: () => ({ amount: '5.00' }),
  getOperatorInvocation: ({ home, ...example }) => ({
    ...{ paymentMethod: 'x402', payer },
    ...('home' in example ? {} : { home: null }),
    voucher: null,
    transfers: example.transfers,
    queues: [],
  }),
  getReceipt: ({ message }) => {
    const { createdAt, ...rest } = first(message);
    return { message: { ...rest, createdAt, completedAt: Number(createdAt) + 1, issuedAt: Number(createdAt) + 2 } };
  },
};

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { AssetName, networkStates } from '../payments/networks.ts';
import { AssetReserves, Reserves } from '../payments/reserves.ts';
import { Id, Timestamp, Usdc, WalletAddress } from '../scalars.ts';
import { ChainIndex, Gate } from './network.ts';
import { OperatorInvocation } from './operator-invocation.ts';

const Count = z.int().min(0);
const AgeS = z.number().min(0).nullable().describe('Age of the oldest, in seconds; null: none.');

const Signer = z.object({
  address: WalletAddress,
  role: z.enum(['wallet', 'sender', 'registrar']),
  gasWei: z.string().nullable().describe('null: the chain is unreachable.'),
  isLow: z.boolean(),
  openTransactions: Count,
});

const halted = z
  .string()
  .nullable()
  .describe(
    "The token's words for moving nothing from or to the node's wallet (paused, blacklisted); null: payments settle.",
  );

const AssetStatus = AssetName.extend({
  state: z.enum(networkStates).describe('State as of GET /payments/networks.'),
  halted,
  reserves: AssetReserves,
  signers: z.array(Signer).describe("The sending keys, with gas in the network's coin. Empty: the network is closed."),
  gates: z.array(Gate).describe('Chain data that the node waits for there.'),
});

/** Status of the node, for its operator. */
export const OperatorStatus = z.object({
  asOf: Timestamp,
  processes: z.array(
    z.object({
      processId: z.string(),
      label: z.string(),
      startedAt: Timestamp,
      seenAt: Timestamp.describe('Time of its last heartbeat; one every 2 seconds.'),
      isThis: z.boolean().describe('true: the process that answers this call.'),
      version: z.string().nullable().describe('Version of its code; null: a version that does not report it.'),
      drainingSince: Timestamp.nullable().describe('Time since which it refuses new calls; null: it accepts them.'),
      eventLoopDelayMs: z
        .object({ p50: z.number().min(0), p99: z.number().min(0), max: z.number().min(0) })
        .nullable()
        .describe('Maximum since its last report: at most 10 seconds; null: no report yet.'),
    }),
  ),
  queues: z
    .array(z.object({ kind: z.string(), depth: Count, oldestS: AgeS }))
    .describe('Waiting and running work. Counted up to 10,000 of each kind.'),
  settlements: z.object({
    inFlight: Count.describe('Claimed or sent, outcome not known yet.'),
    unknown: Count.describe('Overdue ones of these.'),
    lost: Count.describe('Reorganised out of a block, and not found in another yet.'),
    held: Count.describe('Payouts that the token refuses: GET /payments/held lists them.'),
    halted,
    oldestS: AgeS,
  }),
  reserves: Reserves.nullable().describe('null: the chain is unreachable.'),
  signers: z.array(Signer),
  byAsset: z
    .array(AssetStatus)
    .describe(
      'Each asset, the default one first, of whose network `settlements.halted`, `reserves` and `signers` above are. `settlements` counts payments on all networks.',
    ),
  index: ChainIndex,
  database: z.object({
    sizeBytes: Count,
    connections: Count.describe('All connections to this database.'),
    maxConnections: Count,
  }),
});
export type OperatorStatus = z.infer<typeof OperatorStatus>;

/** Totals of the whole node. */
export const OperatorTotals = z.object({
  asOf: Timestamp,
  accounts: Count.describe('With those that were opened by a payment of a wallet.'),
  agents: z.object({ total: Count, online: Count }).describe('Of this node; removed ones do not count.'),
  calls: z
    .object({ total: Count, days30: Count })
    .describe('Ended calls of all accounts; in 30 days (UTC, with today).'),
  volume: z.object({ total: Usdc, days30: Usdc }).describe('Cost of those calls.'),
  fees: Usdc.describe('Fees that the node has earned in the default asset and not withdrawn yet.'),
  feesByAsset: z
    .array(AssetName.extend({ fees: Usdc }))
    .describe('Fees in each asset of the books, the default one first.'),
});
export type OperatorTotals = z.infer<typeof OperatorTotals>;

/** A setting of the process that answers, with its value in force. */
export const OperatorSetting = z.object({
  name: z.string().meta({ examples: ['BASE_URL'] }),
  group: z
    .string()
    .describe('Its subject, as in the reference of all settings.')
    .meta({ examples: ['Addresses'] }),
  meaning: z.string().meta({ examples: ['The public address of the node.'] }),
  value: z
    .string()
    .describe('Of a secret: whether it is set, never the value.')
    .meta({ examples: ['https://node.example'] }),
  isDefault: z.boolean().describe('true: the environment does not set it.'),
});
export type OperatorSetting = z.infer<typeof OperatorSetting>;

export const checklistSteps = ['address', 'gas', 'backup', 'processes', 'alerts', 'terms', 'fee'] as const;

/** A step to a node that others can rely on. */
export const ChecklistStep = z.object({
  step: z.enum(checklistSteps),
  isDone: z.boolean(),
  note: z.string().nullable().describe('Finding of the node; null: none.'),
});
export type ChecklistStep = z.infer<typeof ChecklistStep>;

export const operatorEndpoints = {
  getOperatorChecklist: endpoint({
    method: 'GET',
    path: '/operator/checklist',
    summary:
      'Read what is missing for a node that others can rely on: address, gas, backup, processes, alerts, terms, fee',
    tag: 'Network',
    auth: 'key',
    scope: 'operator',
    limit: 'api',
    data: z.object({ steps: z.array(ChecklistStep) }),
    errors: [],
  }),
  getOperatorSettings: endpoint({
    method: 'GET',
    path: '/operator/settings',
    summary: 'Read the settings in force, without secrets',
    tag: 'Network',
    auth: 'key',
    scope: 'operator',
    limit: 'api',
    data: z.object({ settings: z.array(OperatorSetting) }),
    errors: [],
  }),
  getOperatorTotals: endpoint({
    method: 'GET',
    path: '/operator/totals',
    summary: 'Read totals of the node: accounts, agents, calls, volume, fees; at most a minute old',
    tag: 'Network',
    auth: 'key',
    scope: 'operator',
    limit: 'api',
    data: OperatorTotals,
    errors: [],
  }),
  getOperatorStatus: endpoint({
    method: 'GET',
    path: '/operator/status',
    summary: 'Read the status of the node: processes, queues, settlements, reserves, gas, index, database',
    tag: 'Network',
    auth: 'key',
    scope: 'operator',
    limit: 'api',
    data: OperatorStatus,
    errors: [],
  }),
  getOperatorInvocation: endpoint({
    method: 'GET',
    path: '/operator/invocations/{id}',
    summary: 'Any invocation: reason of its end, refund, timeline, payments, deliveries, open work',
    tag: 'Network',
    auth: 'key',
    scope: 'operator',
    limit: 'api',
    params: z.object({ id: Id }),
    data: OperatorInvocation,
    errors: [],
  }),
};

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Reserves } from '../payments/reserves.ts';
import { Timestamp, WalletAddress } from '../scalars.ts';
import { ChainIndex } from './network.ts';

const Count = z.int().min(0);
const AgeS = z.number().min(0).nullable().describe('Of the oldest, in seconds; null: there is none.');

/** Status of the node, for its operator. */
export const OperatorStatus = z.object({
  asOf: Timestamp,
  processes: z.array(
    z.object({
      processId: z.string(),
      label: z.string(),
      startedAt: Timestamp,
      seenAt: Timestamp.describe('Its last sign of life: one every 2 seconds.'),
      isThis: z.boolean().describe('The one that answers.'),
      eventLoopDelayMs: z
        .object({ p50: z.number().min(0), p99: z.number().min(0), max: z.number().min(0) })
        .nullable()
        .describe('Since it last told: at most 10 seconds; null: it has not told yet.'),
    }),
  ),
  queues: z
    .array(z.object({ kind: z.string(), depth: Count, oldestS: AgeS }))
    .describe('What waits, or is being worked on. Counted up to 10,000 of each kind.'),
  settlements: z.object({
    inFlight: Count.describe('Claimed or sent, and not known to have ended.'),
    unknown: Count.describe('Of these, those that should be known by now.'),
    lost: Count.describe('In a block that the chain took back, and not found in another yet.'),
    oldestS: AgeS,
  }),
  reserves: Reserves.nullable().describe('null: the chain does not answer.'),
  signers: z.array(
    z.object({
      address: WalletAddress,
      role: z.enum(['wallet', 'sender', 'registrar']),
      gasWei: z.string().nullable().describe('null: the chain does not answer.'),
      isLow: z.boolean(),
      openTransactions: Count,
    }),
  ),
  index: ChainIndex,
  database: z.object({
    sizeBytes: Count,
    connections: Count.describe('To this database, from everywhere.'),
    maxConnections: Count,
  }),
});
export type OperatorStatus = z.infer<typeof OperatorStatus>;

export const operatorEndpoints = {
  getOperatorStatus: endpoint({
    method: 'GET',
    path: '/operator/status',
    summary: 'How the node stands: processes, queues, settlements, reserves, gas, index, database',
    tag: 'Network',
    auth: 'key',
    scope: 'operator',
    limit: 'api',
    data: OperatorStatus,
    errors: [],
  }),
};

import type { OperatorStatus } from '@agent-network/contracts/network/operator';
import { kindText } from './figures.ts';

export interface Alarm {
  readonly tone: 'warn' | 'bad';
  readonly text: string;
}

/** Returns the name of an asset, which is that of its network for USDC. */
type NameOf = (asset: OperatorStatus['byAsset'][number]) => string;

/** Seconds without a heartbeat after which a process counts as silent; it sends one every 2 seconds. */
const SILENT_S = 10;
const SLOW_LOOP_MS = 250;
const LAG_BLOCKS = 100;
const FULL_SHARE = 0.8;

/** After how long the oldest of a kind should be gone; kinds that wait for something else are not here. */
const lateAfterS: Readonly<Record<string, number>> = {
  invocations_waiting: 60,
  events_to_tell: 30,
  deliveries_new: 60,
  agent_checks_due: 120,
  registry_writes: 900,
};

const warn = (text: string): Alarm => ({ tone: 'warn', text });
const bad = (text: string): Alarm => ({ tone: 'bad', text });

export const isSilent = ({ seenAt }: OperatorStatus['processes'][number], asOf: string): boolean =>
  Date.parse(asOf) - Date.parse(seenAt) > SILENT_S * 1000;

export const isSlow = ({ eventLoopDelayMs }: OperatorStatus['processes'][number]): boolean =>
  eventLoopDelayMs !== null && eventLoopDelayMs.p99 > SLOW_LOOP_MS;

export const isLate = ({ kind, oldestS }: OperatorStatus['queues'][number]): boolean =>
  oldestS !== null && oldestS > (lateAfterS[kind] ?? Number.POSITIVE_INFINITY);

function processAlarms({ processes, asOf }: OperatorStatus): Alarm[] {
  return processes.flatMap((process) => [
    ...(isSilent(process, asOf) ? [bad(`The process ${process.label} sends no heartbeat.`)] : []),
    ...(isSlow(process) ? [warn(`The process ${process.label} is busy: its event loop is delayed.`)] : []),
  ]);
}

const queueAlarms = ({ queues }: OperatorStatus): Alarm[] =>
  queues
    .filter(isLate)
    .map(({ kind, depth }) => warn(`Queued work is waiting too long: ${kindText(kind)} (${depth}).`));

function moneyAlarms({ settlements, reserves }: OperatorStatus): Alarm[] {
  return [
    ...(settlements.unknown > 0 ? [bad(`${settlements.unknown} settlements have an unknown outcome.`)] : []),
    ...(settlements.lost > 0 ? [bad(`A chain reorganisation removed ${settlements.lost} settlements.`)] : []),
    ...(reserves === null ? [bad('The chain is unreachable: the reserves are unknown.')] : []),
    ...(reserves?.status === 'drift' ? [bad(`The reserves contradict the books by ${reserves.difference} USDC.`)] : []),
  ];
}

function chainAlarms({ signers, index }: OperatorStatus): Alarm[] {
  const low = signers.filter(({ isLow }) => isLow);
  return [
    ...low.map(({ role, address }) => bad(`The ${role} key ${address} is running low on gas.`)),
    ...index.gates.flatMap(({ reason }) => (reason === null ? [] : [bad(`On the chain, ${reason}.`)])),
    ...(index.state === 'stalled' ? [bad('The registry index is stalled.')] : []),
    ...(index.state !== 'stalled' && index.lagBlocks > LAG_BLOCKS
      ? [warn(`The registry index is ${index.lagBlocks} blocks behind.`)]
      : []),
  ];
}

/** Alarms about the networks beside the default one. */
function networkAlarms({ byAsset }: OperatorStatus, nameOf: NameOf): Alarm[] {
  return byAsset.slice(1).flatMap((asset) => {
    const { state, reserves, signers, gates, halted } = asset;
    const name = nameOf(asset);
    const low = signers.filter(({ isLow }) => isLow);
    return [
      ...(state === 'away' ? [bad(`The chain of ${name} is unreachable.`)] : []),
      ...(halted === null ? [] : [bad(`On ${name}, the token refuses payments of the node: ${halted}.`)]),
      ...(reserves.status === 'drift'
        ? [bad(`The reserves on ${name} contradict the books by ${reserves.difference} USDC.`)]
        : []),
      ...low.map(({ role, address }) => bad(`The ${role} key ${address} is running low on gas on ${name}.`)),
      ...gates.flatMap(({ reason }) => (reason === null ? [] : [bad(`On ${name}, ${reason}.`)])),
    ];
  });
}

function databaseAlarms({ database: { connections, maxConnections } }: OperatorStatus): Alarm[] {
  if (connections < maxConnections * FULL_SHARE) return [];
  return [warn(`The database has ${connections} of at most ${maxConnections} connections.`)];
}

/** Conditions that need the operator's attention; the worst first. */
export function alarmsOf(status: OperatorStatus, nameOf: NameOf): readonly Alarm[] {
  const all = [processAlarms, queueAlarms, moneyAlarms, chainAlarms, networkAlarms, databaseAlarms].flatMap((rule) =>
    rule(status, nameOf),
  );
  return [...all.filter(({ tone }) => tone === 'bad'), ...all.filter(({ tone }) => tone === 'warn')];
}

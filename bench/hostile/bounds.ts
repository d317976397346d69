/** Maximum cost of a minute of an attack, to the node and to its other users. */
export interface Bounds {
  /** By how much its memory may grow. */
  readonly rssGrowthMib: number;
  readonly databaseGrowthMib: number;
  /** Open at a time in the node's process: to clients, agents, database and chain. */
  readonly sockets: number;
  readonly gas: number;
  readonly lookUps: number;
  /** The 99th percentile of an honest account, by that of the quiet time before. */
  readonly p99Ratio: number;
}

const common: Bounds = {
  rssGrowthMib: 150,
  databaseGrowthMib: 24,
  sockets: 400,
  gas: 0,
  lookUps: 0,
  p99Ratio: 2,
};

/** A token of the registry for an agent that proved itself; at most TOKENS_PER_DAY (5) for an account. */
const TOKEN_GAS = 200_000;

/** The bounds, and where an attack has others. Each is for a minute; operating-a-node.md says why. */
const others: Readonly<Record<string, Partial<Bounds>>> = {
  'slow-readers': { databaseGrowthMib: 80, gas: 2 * TOKEN_GAS },
  'vanished-streams': { databaseGrowthMib: 40, gas: TOKEN_GAS },
  'silent-names': { lookUps: 1200 },
  'hanging-agent': { sockets: 800, gas: TOKEN_GAS },
  'hanging-pushes': { gas: TOKEN_GAS },
  // Two fillings of at most 40 MiB each, at the rate at which an account stores, and as much again for what storing takes beside it.
  'fill-disk': { databaseGrowthMib: 160, rssGrowthMib: 250, gas: TOKEN_GAS },
  // Its bulk requests store their inputs, up to what the account may store; ten agents and a deposit.
  'locked-account': { databaseGrowthMib: 160, rssGrowthMib: 250, gas: 6 * TOKEN_GAS },
  gas: { gas: 5_000_000 },
  // The sender pays gas on chain for each of 16,800 deposits, of which the books keep some 3 KiB.
  'many-deposits': { databaseGrowthMib: 80 },
};

export const boundsOf = (attack: string): Bounds => ({ ...common, ...others[attack] });

import { AppError } from '../lib/app-error.ts';
import { cachedFlight } from '../lib/concurrency/single-flight.ts';
import { DAY_MS } from '../lib/duration.ts';
import type { Telemetry } from '../lib/telemetry/telemetry.ts';
import type { Store } from '../store/database.ts';
import type { ChainAccess } from './chain-access.ts';
import { priceOfGas } from './chain-fees.ts';
import type { NodeKeys } from './keys/node-keys.ts';
import { readSpentWei } from './keys/signer-store.ts';
import { MAX_TRANSACTION_GAS } from './settlement-call.ts';

/** Monitors whether the sending keys can pay for gas. */
export interface GasWatch {
  /** Reads the balances, updates the metrics and logs low ones. Throws when the chain does not answer. */
  refresh(): Promise<void>;
  /** Addresses of keys with a last known balance that covers a transaction of this cost. */
  fundedSenders(costWei: bigint): string[];
  /** Deducts spent gas from a key's cached balance until the next read. */
  spend(address: string, costWei: bigint): void;
  /** Throws UNAVAILABLE: with this message when no key can pay for a transaction of this gas now, in other words when the cap is reached. */
  requireGas(gas: bigint, message: string): Promise<void>;
  /** True while the operator's cap of gas for a day is reached. Throws when the database does not answer. */
  isCapReached(): Promise<boolean>;
  /** The most gas that any one key can pay for now; null when unknown. */
  maxGas(): Promise<bigint | null>;
  /** Balance of each key, at most a second old; null when the chain does not answer. */
  levels(): Promise<GasLevel[]>;
}

export interface GasLevel {
  readonly address: string;
  readonly balanceWei: bigint | null;
  readonly isLow: boolean;
}

/** The keys that sign for this node, and the gas that they have. */
export interface SigningKeys extends Pick<NodeKeys, 'wallet' | 'senders' | 'registrar'> {
  readonly gas: GasWatch;
  /** Gas watch of the key that writes to the registry; that key settles no payments. */
  readonly registrarGas: GasWatch;
}

interface SigningNeeds extends Pick<ChainAccess, 'usdc' | 'fees'>, GasCapContext {
  /** The most that the sending keys spend on gas in 24 hours; null: no cap. */
  readonly gasPerDayWei: bigint | null;
}

export function createGasWatches(
  { senders, registrar }: Pick<NodeKeys, 'senders' | 'registrar'>,
  needs: SigningNeeds,
): Pick<SigningKeys, 'gas' | 'registrarGas'> {
  const gasCap = needs.gasPerDayWei === null ? null : createGasCap(needs, addressesOf(senders), needs.gasPerDayWei);
  return {
    gas: createGasWatch({ ...needs, senders, gasCap }),
    registrarGas: createGasWatch({ ...needs, senders: registrar ? [registrar] : [], gasCap: null }),
  };
}

const addressesOf = (senders: NodeKeys['senders']): string[] => senders.map(({ address }) => address);

/** A balance below this many full transactions is reported as low. */
const LOW_AT_TRANSACTIONS = 20n;
const LOOK_AGAIN_MS = 1000;

/** The chain on which the gas is. */
interface OfChain {
  readonly chain: { readonly chainId: number };
}

type WatchContext = Pick<ChainAccess, 'usdc' | 'fees'> &
  Pick<NodeKeys, 'senders'> &
  Telemetry &
  OfChain & { readonly gasCap: GasCap | null };

const refuse = (message: string, reason: string): AppError<'UNAVAILABLE'> =>
  new AppError('UNAVAILABLE', message, { details: { outcome: 'nothing', state: 'cannot_settle', reason } });

const CAPPED =
  'The node settles nothing more for now: it has spent what its operator allows for gas in 24 hours. Nothing was charged; repeat the identical request later.';

function createGasWatch(ctx: WatchContext): GasWatch {
  /** A key without a known balance counts as sufficient: a chain that does not report balances may still accept transactions. */
  const balances = new Map<string, bigint>();
  const low = new Set<string>();
  let feePerGas = 0n;

  const fundedSenders = (costWei: bigint): string[] =>
    addressesOf(ctx.senders).filter((address) => (balances.get(address) ?? costWei) >= costWei);

  async function refresh(): Promise<void> {
    const addresses = addressesOf(ctx.senders);
    const [price, ...read] = await Promise.all([
      priceOfGas(ctx),
      ...addresses.map((address) => ctx.usdc.gasBalanceOf(address)),
    ]);
    feePerGas = price;
    for (const [index, address] of addresses.entries()) record(address, read[index] ?? 0n);
  }

  /** Refreshes the balances, as a key may have been funded since the last read. Concurrent callers share one read. */
  const lookAgain = cachedFlight(LOOK_AGAIN_MS, () => refresh().catch(() => undefined));

  function record(address: string, balanceWei: bigint): void {
    balances.set(address, balanceWei);
    ctx.metrics.gasBalance.set({ signer: address }, Number(balanceWei));
    const isLow = balanceWei < MAX_TRANSACTION_GAS * feePerGas * LOW_AT_TRANSACTIONS;
    ctx.metrics.gasLow.set({ signer: address }, isLow ? 1 : 0);
    if (isLow && !low.has(address))
      ctx.log.error(
        { signer: address, balanceWei: String(balanceWei), chainId: ctx.chain.chainId },
        'sender key is low on gas: fund it with the coin of the chain',
      );
    if (isLow) low.add(address);
    else low.delete(address);
  }

  return {
    refresh,
    fundedSenders,
    isCapReached: async () => (await ctx.gasCap?.isReached()) ?? false,
    spend(address, costWei) {
      const balance = balances.get(address);
      if (balance !== undefined) balances.set(address, balance - costWei);
    },
    async requireGas(gas, message) {
      const canPay = () => fundedSenders(gas * feePerGas).length > 0;
      if (!canPay()) await lookAgain();
      if (!canPay()) throw refuse(message, 'no sending key has the gas');
      if (await ctx.gasCap?.isReached()) throw refuse(CAPPED, 'the cap of gas for a day is reached');
    },
    async levels() {
      await lookAgain();
      return ctx.senders.map(({ address }) => ({
        address,
        balanceWei: balances.get(address) ?? null,
        isLow: low.has(address),
      }));
    },
    async maxGas() {
      const price = await priceOfGas(ctx);
      if (fundedSenders(MAX_TRANSACTION_GAS * price).length === 0) await lookAgain();
      const known = ctx.senders.map(({ address }) => balances.get(address));
      if (known.includes(undefined)) return null;
      const [maxWei = 0n] = known.filter((wei) => wei !== undefined).sort((a, b) => (a < b ? 1 : -1));
      return maxWei / price;
    },
  };
}

/** The operator's cap of gas that the sending keys of all processes may spend in 24 hours (`GAS_PER_DAY`). */
interface GasCap {
  /** True while it is reached, as of the last five seconds. Throws when the database does not answer. */
  isReached(): Promise<boolean>;
}

const READ_EVERY_MS = 5000;

interface GasCapContext extends Store, Telemetry, OfChain {}

function createGasCap(ctx: GasCapContext, signers: readonly string[], capWei: bigint): GasCap {
  let wasReached = false;
  let reading: { readonly atMs: number; readonly isReached: Promise<boolean> } | null = null;

  async function read(): Promise<boolean> {
    const spentWei = await readSpentWei(
      ctx.db,
      { chainId: ctx.chain.chainId, signers },
      new Date(ctx.clock.now().getTime() - DAY_MS),
    );
    const isReached = spentWei >= capWei;
    ctx.metrics.gasSpent.set(Number(spentWei));
    ctx.metrics.gasCapReached.set(isReached ? 1 : 0);
    if (isReached && !wasReached)
      ctx.log.error(
        {
          spentWei: String(spentWei),
          capWei: String(capWei),
          chainId: ctx.chain.chainId,
          remedy: 'docs/alerts.md#gascapreached',
        },
        'the cap of gas for a day is reached: payments, deposits and withdrawals are refused until less was spent in 24 hours',
      );
    wasReached = isReached;
    return isReached;
  }

  return {
    async isReached() {
      const nowMs = performance.now();
      if (reading === null || nowMs - reading.atMs > READ_EVERY_MS) {
        const started = { atMs: nowMs, isReached: read() };
        reading = started;
        // One that failed is not kept: the next question reads again.
        started.isReached.catch(() => {
          if (reading === started) reading = null;
        });
      }
      return reading.isReached;
    },
  };
}

import { parseUsdc } from '@agent-network/contracts/money';
import { ConfigError, type Env, integer } from '../lib/read-env.ts';
import { leastDelayS } from './call-time.ts';

/** Limits of the transactions that the node pays gas for. Amounts in micro-USDC. */
export interface PaymentLimits {
  /** Minimum price of a call paid on chain; a treasury pays any price. */
  readonly minPaymentMicro: bigint;
  readonly minDepositMicro: bigint;
  readonly minWithdrawalMicro: bigint;
  /** Maximum withdrawals of an account in 24 hours. */
  readonly withdrawalsPerDay: number;
  /** Minimum refund on chain; a smaller one is credited to the payer's account. */
  readonly minRefundMicro: bigint;
  /** Maximum refunds on chain to a wallet, and of an account, in 24 hours; further ones are credited as well. */
  readonly refundsPerDay: number;
  /** Maximum gas for the payment of a contract wallet. */
  readonly contractGas: bigint;
  /** Maximum registry tokens that the node pays for an account in 24 hours. */
  readonly tokensPerDay: number;
  /** Wei that the sending keys may spend on gas in 24 hours on the default network; null: no cap. */
  readonly gasPerDayWei: bigint | null;
}

export function readFormerWallets(env: Env): readonly string[] {
  const wallets = (env.FORMER_WALLETS ?? '').split(',').flatMap((each) => each.trim().toLowerCase() || []);
  if (wallets.every((each) => /^0x[0-9a-f]{40}$/.test(each))) return wallets;
  throw new ConfigError('FORMER_WALLETS must be addresses of 0x and 40 hex digits, separated by commas.');
}

/** Payment channels (x402 scheme `batch-settlement`). */
export interface ChannelSettings {
  /** True if channels are taken where the chain has their contracts. */
  readonly isOn: boolean;
  /** True if every 402 of a call offers them; else those to clients that ask. */
  readonly isOfferedToAll: boolean;
  /** Minimum deposit, which stock clients deposit as well. */
  readonly minDepositMicro: bigint;
  /** Seconds from the start of a payer's withdrawal to its end, in which the node claims its earnings. */
  readonly withdrawDelayS: number;
}

/** `CHANNELS`: who is offered to pay by channel. */
const offers: Readonly<Record<string, Pick<ChannelSettings, 'isOn' | 'isOfferedToAll'>>> = {
  asked: { isOn: true, isOfferedToAll: false },
  true: { isOn: true, isOfferedToAll: true },
  false: { isOn: false, isOfferedToAll: false },
};

function readOffer({ CHANNELS = 'asked' }: Env) {
  const offer = Object.hasOwn(offers, CHANNELS) ? offers[CHANNELS] : undefined;
  if (offer === undefined) throw new ConfigError('CHANNELS must be asked, true or false.');
  return offer;
}

export function readChannelSettings(
  env: Env,
  { mode, deepestBlocks }: { readonly mode: 'local' | 'production'; readonly deepestBlocks: number },
): ChannelSettings {
  const offer = readOffer(env);
  const withdrawDelayS = integer(env, 'CHANNEL_WITHDRAW_DELAY_SECONDS', 86_400, 900, 2_592_000);
  const leastS = leastDelayS(deepestBlocks);
  if (offer.isOn && withdrawDelayS < leastS)
    throw new ConfigError(
      `CHANNEL_WITHDRAW_DELAY_SECONDS must be at least ${leastS}: a call and its claim, ${deepestBlocks} blocks deep (CONFIRMATIONS), have to fit into half of it.`,
    );
  return {
    ...offer,
    minDepositMicro: amountOf(env, 'CHANNEL_MIN_DEPOSIT', mode === 'local' ? '0.01' : '0.1'),
    withdrawDelayS,
  };
}

function amountOf(env: Env, name: string, fallback: string): bigint {
  const text = env[name] ?? fallback;
  if (!/^\d{1,6}(\.\d{1,6})?$/.test(text)) throw new ConfigError(`${name} must be an amount of USDC like 0.01.`);
  return parseUsdc(text);
}

/** Conditions under which vouchers of channels are claimed, and the limit of refunds per channel. Amounts in micro-USDC. */
export interface ChannelClaimSettings {
  /** A channel that owes this much is claimed at once. */
  readonly thresholdMicro: bigint;
  /** Less is not worth its gas, except at the end of a channel. */
  readonly minMicro: bigint;
  /** Age from which an owed amount is claimed. */
  readonly intervalMs: number;
  /** Minimum refund of a part of a deposit; the whole rest can always be refunded. */
  readonly minRefundMicro: bigint;
  /** Maximum refunds of a payer's channels in 24 hours; one of all that is left in an hour is always possible. */
  readonly refundsPerDay: number;
}

export function readChannelClaims(env: Env, mode: 'local' | 'production'): ChannelClaimSettings {
  const amount = (name: string, local: string, production: string): bigint =>
    amountOf(env, name, mode === 'local' ? local : production);
  return {
    thresholdMicro: amount('CHANNEL_CLAIM_THRESHOLD', '0.01', '1'),
    minMicro: amount('CHANNEL_MIN_CLAIM', '0', '0.01'),
    intervalMs: integer(env, 'CHANNEL_CLAIM_INTERVAL_SECONDS', mode === 'local' ? 60 : 3600, 1, 86_400) * 1000,
    minRefundMicro: amount('CHANNEL_MIN_REFUND', '0', '0.01'),
    refundsPerDay: integer(env, 'CHANNEL_REFUNDS_PER_DAY', mode === 'local' ? 1_000_000 : 20, 0, 1_000_000),
  };
}

/** The limit of new keys for each call; 0: none. */
export function readNewKeyLimit(env: Env): bigint | null {
  const micro = amountOf(env, 'NEW_KEY_PER_CALL', '1');
  return micro === 0n ? null : micro;
}

/** In local mode gas is free: small amounts (but no dust) are accepted, and there are no daily limits. */
export function readPaymentLimits(
  env: Env,
  { mode, gasPerDayWei }: { readonly mode: 'local' | 'production'; readonly gasPerDayWei: bigint | null },
): PaymentLimits {
  const amount = (name: string, local: string, production: string): bigint =>
    amountOf(env, name, mode === 'local' ? local : production);
  const perDay = (name: string, production: number) =>
    integer(env, name, mode === 'local' ? 1_000_000 : production, 0, 1_000_000);
  return {
    minPaymentMicro: amount('MIN_PAYMENT', '0.0001', '0.001'),
    minDepositMicro: amount('MIN_DEPOSIT', '0.0001', '0.01'),
    minWithdrawalMicro: amount('MIN_WITHDRAWAL', '0.0001', '0.01'),
    withdrawalsPerDay: perDay('WITHDRAWALS_PER_DAY', 20),
    minRefundMicro: amount('MIN_REFUND', '0', '0.01'),
    refundsPerDay: perDay('REFUNDS_PER_DAY', 20),
    contractGas: BigInt(integer(env, 'CONTRACT_WALLET_GAS', 300_000, 60_000, 2_000_000)),
    tokensPerDay: perDay('TOKENS_PER_DAY', 5),
    gasPerDayWei,
  };
}

/** Test USDC that accounts are given: the amount of a gift, and the number of gifts in 24 hours. */
export interface FaucetSettings {
  readonly amountMicro: bigint;
  readonly perAccount: number;
  /** All accounts behind one network address together. */
  readonly perAddress: number;
  /** All accounts together. */
  readonly perDay: number;
}

const ACCOUNT_PER_DAY = 1;
const ADDRESS_PER_DAY = 3;

/** On a local chain the money is made up, so only the bound of the node counts. Throws ConfigError for an amount below the least deposit. */
export function readFaucet(
  env: Env,
  { isLocal, minDepositMicro }: { readonly isLocal: boolean; readonly minDepositMicro: bigint },
): FaucetSettings {
  const amountMicro = amountOf(env, 'FAUCET_AMOUNT', isLocal ? '10' : '1');
  if (amountMicro === 0n || amountMicro < minDepositMicro)
    throw new ConfigError('FAUCET_AMOUNT must be an amount of USDC like 1, not below MIN_DEPOSIT.');
  const perDay = integer(env, 'FAUCET_PER_DAY', isLocal ? 10_000 : 100, 1, 1_000_000);
  return {
    ...{ amountMicro, perDay },
    perAccount: isLocal ? perDay : ACCOUNT_PER_DAY,
    perAddress: isLocal ? perDay : ADDRESS_PER_DAY,
  };
}

import { LOCAL_CHAIN_ID } from '@agent-network/chain/addresses';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { type Hex, numberToHex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { purchases } from '../../src/calls/start/pay-and-run.ts';
import { createChainFees } from '../../src/chain/chain-fees.ts';
import type { ChainInfo } from '../../src/chain/chain-info.ts';
import { createSettlementContract } from '../../src/chain/channels/settlement-contract-client.ts';
import { createGasWatches } from '../../src/chain/gas-watch.ts';
import { type Authorization, authorizationDigest } from '../../src/chain/keys/authorization.ts';
import { createLocalSigner, signDigest } from '../../src/chain/keys/local-signer.ts';
import { createUsdcClient } from '../../src/chain/usdc-client.ts';
import { readConfig } from '../../src/config/config.ts';
import type { Confirmations } from '../../src/config/networks.ts';
import type { ChannelClaimSettings } from '../../src/config/payments.ts';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/id.ts';
import { createMetrics } from '../../src/lib/metrics.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import type { NewChainPayment } from '../../src/payments/chain-outbox/chain-payment.ts';
import {
  findBySubject,
  insertChainPayments,
  renewSignatures,
} from '../../src/payments/chain-outbox/chain-payment-store.ts';
import { createSettlementHalt } from '../../src/payments/chain-outbox/settlement-halt.ts';
import { openLedgerAccount } from '../../src/payments/ledger/ledger-store.ts';
import { payerAccountId } from '../../src/payments/ledger/treasury.ts';
import { prepareChain } from '../../src/payments/reconcile/prepare-chain.ts';
import type { ReconcileContext } from '../../src/payments/reconcile/reconcile.ts';
import { createReorgWatch } from '../../src/payments/reconcile/watch-reorgs.ts';
import type { ChannelServices } from '../../src/payments/schemes/batch-settlement/channel-services.ts';
import type { ClaimContext } from '../../src/payments/schemes/batch-settlement/claims/claim-context.ts';
import { createClaimSimulator } from '../../src/payments/schemes/batch-settlement/claims/claim-simulator-client.ts';
import { createClaimer } from '../../src/payments/schemes/batch-settlement/claims/claimer.ts';
import { createWalletFunds } from '../../src/payments/schemes/batch-settlement/claims/wallet-funds.ts';
import type { PaymentChecks } from '../../src/payments/schemes/exact/payment-checks.ts';
import { createContractPayers } from '../../src/payments/settlement/contract-payers.ts';
import { createSimulator } from '../../src/payments/settlement/payment-simulator.ts';
import { createSettler } from '../../src/payments/settlement/settler.ts';
import { signPayout } from '../../src/payments/settlement/sign-payout.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { askDatabase } from './books.ts';
import { type RpcProxy, startRpcProxy } from './rpc-proxy.ts';
import { SMALLEST } from './smallest-amounts.ts';
import { createTestDatabase } from './test-database.ts';

const ETHER = 10n ** 18n;

export interface Payer {
  readonly address: string;
  readonly key: Hex;
}

export interface EngineOptions {
  /** Keys that send beside the node's wallet. */
  readonly senders?: number;
  readonly confirmations?: Confirmations;
  readonly clock?: Clock;
  /** When vouchers are claimed; default: as in local mode. */
  readonly claims?: Partial<ChannelClaimSettings>;
}

export type EngineContext = ReconcileContext &
  ClaimContext &
  Pick<ChannelServices, 'channelClaims'> &
  Pick<PaymentChecks, 'contractPayers'>;

/** The settlement of a node without the rest of it: its database, its chain behind a proxy, its keys. */
export interface Engine {
  readonly chain: LocalChain;
  readonly proxy: RpcProxy;
  readonly databaseUrl: string;
  readonly ctx: EngineContext;
  /** Another process of the same node. */
  anotherProcess(): Promise<EngineContext>;
  newPayer(micro?: bigint): Promise<Payer>;
  /** A payment that is signed, and claimed in the database. */
  claim(payer: Payer, changes?: Partial<Authorization> & { signature?: Hex }): Promise<NewChainPayment>;
  /** Claims one for each of as many new payers. */
  claimMany(count: number): Promise<NewChainPayment[]>;
  /** The refund that is owed for a payment, signed and stored as the node does before it sends it. */
  signedRefundOf(payment: NewChainPayment): Promise<NewChainPayment>;
  mine(blocks: number): Promise<void>;
  /** State of a payment in the database. */
  stateOf(payment: NewChainPayment): Promise<string>;
  stop(): Promise<void>;
}

/** Blocks come with transactions and when asked for, and not by the clock. */
const NEVER_S = 1_000_000;

export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const [database, chain] = await Promise.all([
    createTestDatabase(),
    startLocalChain({ pastStates: 64, blockTimeS: NEVER_S, idleBlockTimeS: NEVER_S }),
  ]);
  const proxy = await startRpcProxy(chain.rpcUrl);
  const walletKey = generatePrivateKey();
  const senderKeys = Array.from({ length: options.senders ?? 0 }, generatePrivateKey);
  const addresses = [walletKey, ...senderKeys].map((key) => privateKeyToAddress(key));
  await chain.fund(addresses.map((address) => ({ address, ethWei: 10n * ETHER, usdcMicro: 0n })));
  const databases: Database[] = [];
  const settlers: ReconcileContext['settler'][] = [];
  const claimers: EngineContext['channelClaims'][] = [];
  const open = async () => {
    const ctx = await createContext({ ...options, databaseUrl: database.url, chain, proxy, walletKey, senderKeys });
    databases.push(ctx.db);
    settlers.push(ctx.settler);
    claimers.push(ctx.channelClaims);
    await prepareChain(ctx);
    return ctx;
  };
  const ctx = await open();
  const payers = payersOf(ctx, chain);
  return {
    chain,
    proxy,
    databaseUrl: database.url,
    ctx,
    anotherProcess: open,
    ...payers,
    async signedRefundOf({ subjectId }) {
      const before = await findBySubject(ctx.db, subjectId, 'refund');
      if (!before) throw new Error('a refund is owed');
      const after = { ...before, ...(await signPayout(ctx, before, BigInt(Math.floor(Date.now() / 1000)))) };
      await renewSignatures(ctx.db, [{ before, after }]);
      return after;
    },
    claimMany: async (count) => Promise.all((await payers.newPayers(count)).map((payer) => payers.claim(payer))),
    mine: async (blocks) => void (await callChain(chain.rpcUrl, 'anvil_mine', numberToHex(blocks))),
    async stateOf({ id }) {
      const [row] = await askDatabase<{ state: string }>(
        database.url,
        'select state from chain_payment where id = $1',
        [id],
      );
      return row?.state ?? 'missing';
    },
    async stop() {
      await Promise.all(claimers.map((claimer) => claimer.stop(0)));
      await Promise.all(settlers.map((settler) => settler.stop(0)));
      await Promise.all(settlers.map((settler) => settler.idle()));
      await Promise.all(databases.map((db) => db.close()));
      await proxy.stop();
      await chain.stop();
      await database.drop();
    },
  };
}

async function createContext(
  parts: EngineOptions & { databaseUrl: string; chain: LocalChain; proxy: RpcProxy; walletKey: Hex; senderKeys: Hex[] },
): Promise<EngineContext> {
  const token = parts.chain.usdc.toLowerCase();
  const usdc = createUsdcClient({ rpcUrl: parts.proxy.url, token });
  const wallet = createLocalSigner(parts.walletKey);
  const keys = { wallet, senders: [wallet, ...parts.senderKeys.map(createLocalSigner)], registrar: null };
  const { name, version, domainSeparator } = await usdc.readToken();
  const chain: ChainInfo = {
    chainId: parts.chain.chainId,
    isLocal: true,
    caip2: `eip155:${parts.chain.chainId}`,
    name: 'base-sepolia',
    token,
    tokenName: name,
    tokenVersion: version,
    ledgerAsset: null,
    domainSeparator,
    wallet: wallet.address,
  };
  const fees = createChainFees({ usdc }, LOCAL_CHAIN_ID);
  const metrics = createMetrics();
  const log = silentLog;
  const db = openDatabase(parts.databaseUrl, { max: 8, log });
  const told = { db, clock: parts.clock ?? systemClock, log, metrics, chain };
  const base = {
    ...told,
    usdc,
    settlementContract: createSettlementContract({ rpcUrl: parts.proxy.url, ...chain }),
    fees,
    ...keys,
    ...createGasWatches(keys, { ...told, usdc, fees, gasPerDayWei: null }),
    confirmations: parts.confirmations ?? [{ fromMicro: 0n, depthBlocks: 1 }],
    simulator: createSimulator({ usdc }),
    contractPayers: createContractPayers({ usdc }),
    settlementHalt: createSettlementHalt({ usdc, chain, log, metrics }),
    purchases,
    claimSimulator: createClaimSimulator({ rpcUrl: parts.proxy.url, from: wallet.address }),
    paymentLimits: readConfig(SMALLEST).config.paymentLimits,
    channelClaimSettings: { ...readConfig(SMALLEST).config.channelClaimSettings, ...parts.claims },
  };
  const channelClaims = createClaimer(base);
  const channels = { channelClaims, walletFunds: createWalletFunds(base, channelClaims) };
  return { ...base, ...channels, settler: createSettler(base), reorgWatch: createReorgWatch(base) };
}

function payersOf(ctx: ReconcileContext, chain: LocalChain) {
  const newPayers = async (count: number, micro = 1_000_000n): Promise<Payer[]> => {
    const keys = Array.from({ length: count }, generatePrivateKey);
    const payers = keys.map((key) => ({ key, address: privateKeyToAddress(key).toLowerCase() }));
    await chain.fund(payers.map(({ address }) => ({ address: address as Hex, ethWei: 0n, usdcMicro: micro })));
    for (const { address } of payers)
      await openLedgerAccount(ctx.db, { id: payerAccountId(address), kind: 'payer', address, now: ctx.clock.now() });
    return payers;
  };
  return {
    newPayers,
    newPayer: async (micro?: bigint) => (await newPayers(1, micro))[0] as Payer,
    async claim(
      payer: Payer,
      { signature, validBeforeS, ...changes }: Partial<Authorization> & { signature?: Hex } = {},
    ): Promise<NewChainPayment> {
      const authorization: Authorization = {
        from: payer.address,
        to: ctx.wallet.address,
        valueMicro: 1_000_000n,
        validAfterS: 0n,
        validBeforeS: validBeforeS ?? (await ctx.usdc.headTimeS()) + 300n,
        nonce: generatePrivateKey(),
        ...changes,
      };
      const payment: NewChainPayment = {
        id: newId('pay'),
        chainId: ctx.chain.chainId,
        token: ctx.chain.token,
        direction: 'in',
        purpose: 'deposit',
        subjectId: newId('trf'),
        accountId: null,
        ledgerAccountId: payerAccountId(payer.address),
        authorization,
        signature: signature ?? signDigest(authorizationDigest(ctx.chain.domainSeparator, authorization), payer.key),
        fingerprint: null,
        x402Version: 2,
      };
      await insertChainPayments(ctx.db, [payment], ctx.clock.now());
      return payment;
    },
  };
}

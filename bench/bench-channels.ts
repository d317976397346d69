import { BATCH_SETTLEMENT_ADDRESS } from '@agent-network/chain/addresses';
import { fundWallets } from '@agent-network/chain/chain-funding';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { createPublicClient, erc20Abi, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import {
  type BenchContext,
  echoed,
  type Figure,
  figureOf,
  invokeRequest,
  peerOf,
  peerRequest,
} from './bench-context.ts';
import { blockNumber, costsAt } from './chain-costs.ts';
import type { Request } from './http-connection.ts';
import type { LoadJob } from './load-jobs.ts';
import { monotonicUs } from './monotonic.ts';
import { installPeers, type Peer, startPeer } from './peers.ts';
import { summarizeProfiles } from './profile-summary.ts';
import { runRounds } from './rounds.ts';
import { type ServiceUnderTest, startService } from './service-under-test.ts';

const CALLERS = [1, 32, 256];
/** Aims: calls a second as a multiple of each peer's, at 256 channels. */
const AIMS = { exact: 20, channels: 8 } as const;
/** Enough for a channel that is measured alone. */
const DEPOSIT_MICRO = '100000000';
const WARM_UP_SECONDS = 5;
const METERED = { channels: 64, callsEach: 100 } as const;
/** Production settings of claims; in local mode the node claims any debt of a channel. */
const CLAIMS = { CHANNEL_CLAIM_THRESHOLD: '1', CHANNEL_MIN_CLAIM: '0.01', CHANNEL_CLAIM_INTERVAL_SECONDS: '3600' };

/**
 * (j) A whole call paid by a voucher: unpaid, 402, signed repeat, result; each caller has a channel of its own. Beside the reference server
 * with `exact` and with channels, all on one chain of their own, which outlives the node that is to claim when it stops.
 */
export async function benchChannels(ctx: BenchContext): Promise<Figure[]> {
  installPeers();
  const chain = await startLocalChain();
  ctx.stops.add(() => chain.stop());
  const payerKeys = Array.from({ length: Math.max(...CALLERS) }, generatePrivateKey);
  const usdcMicro = 1_000_000_000_000n;
  const fundings = payerKeys.map((key) => ({ address: privateKeyToAddress(key), ethWei: 0n, usdcMicro }));
  await fundWallets(chain.rpcUrl, chain.usdc, fundings);
  const onChain = { chain: { rpcUrl: chain.rpcUrl, usdc: chain.usdc } };
  const exact = await startPeer(ctx.stops, 'express', onChain);
  const batch = await startPeer(ctx.stops, 'express', onChain, 'batch-settlement');
  const gas = await meterGas(ctx, chain, payerKeys);
  const figures = await race(ctx, chain, { payerKeys, exact, batch });
  return figures.map((figure, index) => (index === 0 ? { ...figure, note: gas } : figure));
}

interface Contest {
  readonly payerKeys: readonly Hex[];
  readonly exact: Peer;
  readonly batch: Peer;
}

async function race(ctx: BenchContext, chain: LocalChain, { payerKeys, exact, batch }: Contest): Promise<Figure[]> {
  const isProfiled = ctx.service.profileFolder !== null;
  const service = await startService(ctx.stops, { isProfiled, chainRpcUrl: chain.rpcUrl, env: CLAIMS });
  const contestants = (callers: number, seconds: number) => {
    const byChannel = (request: Request, depositsInTurn = false) =>
      channelJob(request, { callers, seconds, payerKeys, depositsInTurn });
    const byExact: LoadJob = {
      ...{ kind: 'paid', callers, seconds, includes: echoed, request: peerRequest(exact.url) },
      payerKeys: payerKeys.slice(0, 16),
    };
    return [
      { name: 'ours', job: byChannel(oursOf({ ...ctx, service })) },
      { name: exact.name, job: byExact },
      { name: batch.name, job: byChannel(peerRequest(batch.url), true) },
    ];
  };
  for (const { job } of contestants(32, WARM_UP_SECONDS)) await ctx.load.run(job);
  const figures: Figure[] = [];
  const fromUs = monotonicUs();
  for (const callers of CALLERS) {
    const [ours, ...theirs] = await runRounds(ctx.load, ctx.rounds, contestants(callers, ctx.seconds));
    for (const [index, peer] of [exact, batch].entries()) {
      const peerResult = theirs[index];
      if (!ours || !peerResult) throw new Error('a contestant has no result');
      const beside = peerOf(peer.name, ours, peerResult);
      const least = peer === exact ? AIMS.exact : AIMS.channels;
      const aim = { text: `at least ${least}x`, isReached: beside.ratio >= least };
      figures.push({
        ...figureOf('j', 'voucher-paid call', callers, ours),
        peer: beside,
        ...(callers === 256 ? { aim } : {}),
      });
    }
  }
  const span = { name: '(j)', fromUs, toUs: monotonicUs() };
  await service.stop();
  if (service.profileFolder) console.log(`\n${await summarizeProfiles(service.profileFolder, [span])}`);
  return figures;
}

const oursOf = (ctx: BenchContext): Request => invokeRequest(ctx, { 'x-payment-method': 'x402', 'x-sync': 'true' });

const channelJob = (
  request: Request,
  job: { callers: number; seconds: number; payerKeys: readonly Hex[]; callsEach?: number; depositsInTurn?: boolean },
): LoadJob => ({ kind: 'channel', request, includes: echoed, depositMicro: DEPOSIT_MICRO, ...job });

/** Costs of the calls on chain, deposits and claims included. Throws unless the wallet gained exactly the sum of the charges. */
async function meterGas(ctx: BenchContext, chain: LocalChain, payerKeys: readonly Hex[]): Promise<string> {
  const service = await startService(ctx.stops, { isProfiled: false, chainRpcUrl: chain.rpcUrl, env: CLAIMS });
  const { channels, callsEach } = METERED;
  const after = await blockNumber(chain.rpcUrl);
  const request = oursOf({ ...ctx, service });
  const job = channelJob(request, { callers: channels, seconds: 120, payerKeys, callsEach });
  const wallet = await readWallet(service);
  const { calls, chargedMicro } = await ctx.load.run(job);
  if (calls !== channels * (callsEach - 1)) throw new Error(`only ${calls} calls were made in time`);
  const deposits = await costsAt(chain.rpcUrl, BATCH_SETTLEMENT_ADDRESS, after);
  await service.stop();
  const all = await costsAt(chain.rpcUrl, BATCH_SETTLEMENT_ADDRESS, after);
  const reader = createPublicClient({ transport: http(chain.rpcUrl) });
  const args = [wallet] as const;
  const gained = await reader.readContract({ address: chain.usdc, abi: erc20Abi, functionName: 'balanceOf', args });
  if (String(gained) !== chargedMicro) throw new Error(`charged ${chargedMicro}, and the wallet has ${gained}`);
  const each = Math.round(all.gas / (channels * callsEach));
  const claims = all.transactions - deposits.transactions;
  return `${channels} channels of ${callsEach} calls: ${each} gas a call, in ${deposits.transactions} transactions of deposits and ${claims} of claims`;
}

async function readWallet({ local }: ServiceUnderTest): Promise<Hex> {
  const answer = await fetch(`${local.baseUrl}/payments/reserves`);
  return ((await answer.json()) as { data: { wallet: Hex } }).data.wallet;
}

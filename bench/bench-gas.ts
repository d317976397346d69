/** Measures the gas of a payment alone and in batches on the local chain, and how many a second it takes. See README.md. */
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { feeBoundsOf, firstFees } from '../packages/service/src/chain/chain-fees.ts';
import { authorizationDigest } from '../packages/service/src/chain/keys/authorization.ts';
import { createLocalSigner, signDigest } from '../packages/service/src/chain/keys/local-signer.ts';
import { type Signer, signTransaction } from '../packages/service/src/chain/keys/signer.ts';
import { type SignedAuthorization, settlementCall } from '../packages/service/src/chain/settlement-call.ts';
import { createUsdcClient, type UsdcClient } from '../packages/service/src/chain/usdc-client.ts';
import { type StopList, withStopList } from './stop-list.ts';

const BATCHES = [1, 10, 60, 150];
const ROUNDS = 10;
const AIM = 0.4;

interface Bench {
  readonly chain: LocalChain;
  readonly usdc: UsdcClient;
  readonly wallet: Signer;
  readonly domainSeparator: Hex;
  nonce: bigint;
}

/** Payments of these wallets in turn, none of which is empty afterwards. */
function signPayments({ wallet, domainSeparator }: Bench, keys: readonly Hex[], count: number): SignedAuthorization[] {
  const validBeforeS = BigInt(Math.floor(Date.now() / 1000) + 3600);
  return Array.from({ length: count }, (_, index) => {
    const key = keys[index % keys.length] as Hex;
    const authorization = {
      from: privateKeyToAddress(key).toLowerCase(),
      to: wallet.address,
      valueMicro: 1_000_000n,
      validAfterS: 0n,
      validBeforeS,
      nonce: generatePrivateKey(),
    };
    return { authorization, signature: signDigest(authorizationDigest(domainSeparator, authorization), key) };
  });
}

/** Sends one batch and waits for its block; answers the gas that it used. */
async function settle(bench: Bench, payments: readonly SignedAuthorization[]): Promise<number> {
  const { chain, usdc, wallet } = bench;
  const call = settlementCall(chain.usdc, payments);
  const fees = firstFees(await usdc.baseFeePerGas(), feeBoundsOf(chain.chainId));
  const unsigned = { chainId: chain.chainId, nonce: bench.nonce++, ...call, ...fees };
  const { raw, hash } = await signTransaction(wallet, unsigned);
  await usdc.send(raw);
  let mined = await usdc.findMined([hash]);
  while (!mined) mined = await usdc.findMined([hash]);
  if (mined.used.size !== payments.length) throw new Error(`${mined.used.size} of ${payments.length} payments moved`);
  const receipt = await callChain<{ gasUsed: Hex }>(chain.rpcUrl, 'eth_getTransactionReceipt', hash);
  return Number(receipt.gasUsed);
}

async function run(stops: StopList): Promise<void> {
  const chain = await startLocalChain();
  stops.add(() => chain.stop());
  const usdc = createUsdcClient({ rpcUrl: chain.rpcUrl, token: chain.usdc.toLowerCase() });
  const { domainSeparator } = await usdc.readToken();
  const key = generatePrivateKey();
  await chain.fund([{ address: privateKeyToAddress(key), ethWei: 10n ** 21n, usdcMicro: 1n }]);
  const bench: Bench = { chain, usdc, domainSeparator, wallet: createLocalSigner(key), nonce: 0n };
  for (const wallets of [150, 8]) await measure(bench, wallets);
}

async function measure(bench: Bench, wallets: number): Promise<void> {
  const keys = Array.from({ length: wallets }, generatePrivateKey);
  const fundings = keys.map((key) => ({ address: privateKeyToAddress(key), ethWei: 0n, usdcMicro: 10n ** 12n }));
  await bench.chain.fund(fundings);
  console.log(`\nby ${wallets} wallets in turn`);
  console.log('payments in a transaction   gas of each   less than alone   payments/s');
  let aloneGas = 0;
  for (const size of BATCHES) {
    const rounds = Array.from({ length: ROUNDS }, () => signPayments(bench, keys, size));
    const startMs = performance.now();
    let gas = 0;
    for (const payments of rounds) gas += await settle(bench, payments);
    const perSecond = (ROUNDS * size * 1000) / (performance.now() - startMs);
    const each = gas / (ROUNDS * size);
    if (size === 1) aloneGas = each;
    const saved = 1 - each / aloneGas;
    const aim = size < 60 ? '' : `aim at least ${AIM * 100} %: ${saved >= AIM ? 'reached' : 'missed'}`;
    const cells = [
      String(size).padStart(23),
      each.toFixed(0).padStart(16),
      `${(saved * 100).toFixed(1)} %`.padStart(18),
    ];
    console.log(`${cells.join('')}${perSecond.toFixed(0).padStart(13)}   ${aim}`.trimEnd());
  }
}

await withStopList(run);

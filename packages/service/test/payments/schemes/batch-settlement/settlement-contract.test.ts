import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import { createPublicClient, createWalletClient, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { baseSepolia } from 'viem/chains';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  allOf,
  claimCall,
  DEPOSIT_COLLECTOR,
  depositCall,
  refundCall,
  SETTLEMENT_CONTRACT,
  sweepCall,
} from '../../../../src/chain/channels/channel-calls.ts';
import { channelDigestsOf } from '../../../../src/chain/channels/channel-digests.ts';
import {
  createSettlementContract,
  type SettlementContract,
} from '../../../../src/chain/channels/settlement-contract-client.ts';
import { signerOf } from '../../../../src/chain/keys/authorization.ts';
import { signDigest } from '../../../../src/chain/keys/local-signer.ts';
import { createUsdcClient } from '../../../../src/chain/usdc-client.ts';
import { channelOf, signDeposit, signVoucher } from '../../../support/channels.ts';

const ETHER = 10n ** 18n;
const digests = channelDigestsOf(84_532);
const [walletKey, payerKey] = [generatePrivateKey(), generatePrivateKey()];
const [wallet, payerAccount] = [privateKeyToAccount(walletKey), privateKeyToAccount(payerKey)];
const payer = { key: payerKey, address: payerAccount.address.toLowerCase() };
let local: LocalChain;
let contract: SettlementContract;
let chain: { chainId: number; token: string; wallet: string; domainSeparator: Hex };

beforeAll(async () => {
  local = await startLocalChain({
    pastStates: 64,
    wallets: [wallet, payerAccount].map(({ address }) => ({ address, ethWei: ETHER, usdcMicro: 1_000_000n })),
  });
  const token = local.usdc.toLowerCase();
  const { domainSeparator } = await createUsdcClient({ rpcUrl: local.rpcUrl, token }).readToken();
  chain = { chainId: 84_532, token, wallet: wallet.address.toLowerCase(), domainSeparator };
  contract = createSettlementContract({ rpcUrl: local.rpcUrl, ...chain });
});
afterAll(() => local.stop());

async function send(account: typeof wallet, data: Hex) {
  const options = { chain: baseSepolia, transport: http(local.rpcUrl), pollingInterval: 20 };
  const hash = await createWalletClient({ ...options, account }).sendTransaction({ to: SETTLEMENT_CONTRACT, data });
  return createPublicClient(options).waitForTransactionReceipt({ hash });
}

it('the contract takes what is encoded and signed natively, and its logs and sums tell it', async () => {
  const config = channelOf(chain, payer);
  const id = digests.channelIdOf(config);
  const { salt, ...deposit } = signDeposit(chain, payer, config, { valueMicro: 1000n });
  const deposited = await send(wallet, depositCall(config, salt, deposit));
  const row = { config, maxMicro: 400n, signature: signVoucher(chain, payer, config, 400n), totalMicro: 300n };
  const batch = digests.claimBatchDigest([{ channelId: id, maxMicro: 400n, totalMicro: 300n }]);
  expect(signerOf(digests.voucherDigest(id, 400n), row.signature)).toBe(payer.address);
  const refund = refundCall(config, 500n, 0n, signDigest(digests.refundDigest(id, 0n, 500n), walletKey));
  const calls = [claimCall([row], signDigest(batch, walletKey)), sweepCall(chain.wallet, chain.token), refund];
  const ended = await send(payerAccount, allOf(calls));
  expect(ended.status).toBe('success');
  const untouched = digests.channelIdOf(channelOf(chain, payer));
  const state = { balanceMicro: 500n, claimedMicro: 300n, refundNonce: 1n, withdrawal: null };
  const none = { balanceMicro: 0n, claimedMicro: 0n, refundNonce: 0n, withdrawal: null };
  expect(await contract.readChannels([id, untouched], null)).toEqual([state, none]);
  const before = { ...none, balanceMicro: 1000n };
  expect(await contract.readChannels([id], deposited.blockNumber)).toEqual([before]);
  expect(await contract.receiverTotals(null)).toEqual({ claimedMicro: 300n, sweptMicro: 300n });
  expect(await contract.receiverTotals(deposited.blockNumber)).toEqual({ claimedMicro: 0n, sweptMicro: 0n });
  const logs = await contract.readLogs(deposited.blockNumber, ended.blockNumber);
  expect(logs.map(({ event }) => event)).toEqual([
    { kind: 'deposited', channelId: id, amountMicro: 1000n },
    { kind: 'claimed', channelId: id, amountMicro: 300n, totalMicro: 300n },
    { kind: 'swept', receiver: chain.wallet, token: chain.token, amountMicro: 300n },
    { kind: 'refunded', channelId: id, amountMicro: 500n },
  ]);
  expect(logs.at(-1)).toMatchObject({ transactionHash: ended.transactionHash, blockHash: ended.blockHash });
});

it('channels are usable where both contracts are what they should be, and the fault is named where they are not', async () => {
  expect(await contract.whyUnusable()).toBeNull();
  const elsewhere = createSettlementContract({ rpcUrl: local.rpcUrl, ...chain, chainId: 8453 });
  expect(await elsewhere.whyUnusable()).toMatch(/another domain/);
  const code = await callChain<Hex>(local.rpcUrl, 'eth_getCode', DEPOSIT_COLLECTOR, 'latest');
  await callChain(local.rpcUrl, 'anvil_setCode', DEPOSIT_COLLECTOR, '0x00');
  expect(await contract.whyUnusable()).toMatch(`${DEPOSIT_COLLECTOR} does not collect`);
  await callChain(local.rpcUrl, 'anvil_setCode', DEPOSIT_COLLECTOR, '0x');
  expect(await contract.whyUnusable()).toMatch(`no contract at ${DEPOSIT_COLLECTOR}`);
  await callChain(local.rpcUrl, 'anvil_setCode', DEPOSIT_COLLECTOR, code);
  const silent = createSettlementContract({ ...chain, rpcUrl: 'http://127.0.0.1:9' });
  await expect(silent.whyUnusable()).rejects.toThrow();
});

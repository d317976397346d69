import {
  bytesToHex,
  encodeFunctionData,
  type Hex,
  hexToBytes,
  hexToSignature,
  type PrivateKeyAccount,
  signatureToHex,
} from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chainReader, chainWriter, USDC, usdcBalance } from '../test/chain-clients.ts';
import {
  type ChannelConfig,
  channelIdOf,
  newChannel,
  settlement,
  signBatch,
  signClaim,
  signDeposit,
  signRefund,
} from '../test/channels.ts';
import { loggedBy, newWallets, refusalOf, ZERO } from '../test/registries.ts';
import { DEPOSIT_COLLECTOR_ADDRESS } from './addresses.ts';
import { contractWalletAbi, contractWalletBytecode } from './artifacts.ts';
import { depositCollectorAbi } from './batch-settlement-abi.ts';
import { callChain } from './chain-rpc-client.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const { accounts, wallets } = newWallets(3);
const [payer, receiver, stranger] = accounts;
let chain: LocalChain;
let reader: ReturnType<typeof chainReader>;

beforeAll(async () => {
  chain = await startLocalChain({ wallets: wallets.map((wallet) => ({ ...wallet, usdcMicro: 1_000_000n })) });
  reader = chainReader(chain.rpcUrl);
});
afterAll(() => chain.stop());

/** Sends a call as this account; a revert rejects with the contract's error. */
async function send(account: PrivateKeyAccount, functionName: string, ...args: readonly unknown[]) {
  const call = { ...settlement, functionName, args, account, blockTag: 'pending' };
  const { request } = await reader.simulateContract(call as never);
  return reader.waitForTransactionReceipt({ hash: await chainWriter(chain.rpcUrl, account).writeContract(request) });
}

const read = (functionName: string, ...args: readonly unknown[]) =>
  reader.readContract({ ...settlement, functionName, args } as never) as Promise<unknown>;
const stateOf = (config: ChannelConfig) => read('channels', channelIdOf(config));
const usdcOf = (address: Hex) => usdcBalance(chain.rpcUrl, address);

/** A channel of the payer with the receiver, with a deposit. */
async function openChannel(amount: bigint, change: Partial<ChannelConfig> = {}): Promise<ChannelConfig> {
  const config = newChannel(payer.address, receiver.address, change);
  await send(stranger, 'deposit', ...(await signDeposit(payer, config, amount)));
  return config;
}

async function elapse(seconds: number) {
  await callChain(chain.rpcUrl, 'evm_increaseTime', seconds);
  await callChain(chain.rpcUrl, 'evm_mine');
}

it('the id of a channel is the EIP-712 digest of its configuration, in the domain of the published contract', async () => {
  const config = newChannel(payer.address, receiver.address);
  expect(await read('getChannelId', config)).toBe(channelIdOf(config));
});

describe('a deposit', () => {
  it('fills the channel named by its nonce, no matter who submits the authorization', async () => {
    const config = newChannel(payer.address, receiver.address);
    const deposit = await signDeposit(payer, config, 500n);
    const before = await usdcOf(payer.address);
    const logs = loggedBy(settlement, await send(stranger, 'deposit', ...deposit));
    const id = channelIdOf(config);
    expect(logs.map(([name, ...args]) => [name, args.at(0)])).toEqual([
      ['ChannelCreated', id],
      ['Deposited', id],
    ]);
    expect(logs[1]?.slice(2)).toEqual([stranger.address, 500n, 500n]);
    expect(await stateOf(config)).toEqual([500n, 0n]);
    expect(await usdcOf(payer.address)).toBe(before - 500n);
    await expect(send(stranger, 'deposit', ...deposit)).rejects.toThrow('authorization is used or canceled');
  });

  it('adds to what is there, and says the new balance', async () => {
    const config = await openChannel(500n);
    const logs = loggedBy(settlement, await send(stranger, 'deposit', ...(await signDeposit(payer, config, 70n))));
    expect(logs).toEqual([['Deposited', channelIdOf(config), stranger.address, 70n, 570n]]);
  });

  it('cannot be turned to another channel, or to another amount', async () => {
    const [config, amount, collector, data] = await signDeposit(payer, newChannel(payer.address, receiver.address), 9n);
    const stolen = { ...config, receiver: stranger.address, receiverAuthorizer: stranger.address };
    await expect(send(stranger, 'deposit', stolen, amount, collector, data)).rejects.toThrow('invalid signature');
    await expect(send(stranger, 'deposit', config, amount + 1n, collector, data)).rejects.toThrow('invalid signature');
  });

  it.each([
    ['without a payer', { payer: ZERO }, 5n, 'InvalidChannel()'],
    ['without a receiver', { receiver: ZERO }, 5n, 'InvalidChannel()'],
    ['without an authorizer of the receiver', { receiverAuthorizer: ZERO }, 5n, 'InvalidChannel()'],
    ['without a token', { token: ZERO }, 5n, 'InvalidChannel()'],
    ['with a withdrawal of less than 15 minutes', { withdrawDelay: 899 }, 5n, 'WithdrawDelayOutOfRange()'],
    ['with a withdrawal of more than 30 days', { withdrawDelay: 2_592_001 }, 5n, 'WithdrawDelayOutOfRange()'],
    ['of nothing', {}, 0n, 'ZeroDeposit()'],
  ] as const)('%s is refused', async (_what, change, amount, reason) => {
    const config = newChannel(payer.address, receiver.address, change);
    expect(await refusalOf(send(stranger, 'deposit', ...(await signDeposit(payer, config, amount))))).toBe(reason);
  });

  it('counts only when the money has come', async () => {
    const config = newChannel(payer.address, receiver.address);
    const [, amount, , data] = await signDeposit(payer, config, 5n);
    const idle = `0x${'1d1e'.repeat(10)}` as const;
    await callChain(chain.rpcUrl, 'anvil_setCode', idle, '0x00');
    expect(await refusalOf(send(stranger, 'deposit', config, amount, idle, data))).toBe('DepositCollectionFailed()');
    expect(await refusalOf(send(stranger, 'deposit', config, amount, ZERO, data))).toBe('InvalidCollector()');
  });

  it('is collected for the settlement contract alone', async () => {
    const call = { address: DEPOSIT_COLLECTOR_ADDRESS, abi: depositCollectorAbi, functionName: 'collect' } as const;
    const args = [payer.address, USDC, 1n, `0x${'00'.repeat(32)}`, '0x'] as const;
    expect(await refusalOf(reader.simulateContract({ ...call, args, account: stranger }))).toBe(
      'OnlyX402BatchSettlement()',
    );
  });
});

describe('a claim', () => {
  it('books the total of a voucher for the receiver, and a sweep pays it', async () => {
    const config = await openChannel(1000n);
    const row = await signClaim(payer, config, 400n, 300n);
    const before = await usdcOf(receiver.address);
    const data = [
      encodeFunctionData({ ...settlement, functionName: 'claim', args: [[row]] }),
      encodeFunctionData({ ...settlement, functionName: 'settle', args: [receiver.address, USDC] }),
    ];
    const logs = loggedBy(settlement, await send(receiver, 'multicall', data));
    expect(logs).toEqual([
      ['Claimed', channelIdOf(config), receiver.address, 300n, 300n],
      ['Settled', receiver.address, USDC, receiver.address, 300n],
    ]);
    expect(await stateOf(config)).toEqual([1000n, 300n]);
    expect(await usdcOf(receiver.address)).toBe(before + 300n);
    expect(loggedBy(settlement, await send(stranger, 'settle', receiver.address, USDC))).toEqual([]);
  });

  it('is booked the same when a stranger submits it with the signature of the authorizer', async () => {
    const [one, other] = [await openChannel(100n), await openChannel(100n)];
    const rows = [await signClaim(payer, one, 10n), await signClaim(payer, other, 20n)];
    const [claimed] = (await read('receivers', receiver.address, USDC)) as [bigint];
    await send(stranger, 'claimWithSignature', rows, await signBatch(receiver, rows));
    expect(await stateOf(one)).toEqual([100n, 10n]);
    expect(await stateOf(other)).toEqual([100n, 20n]);
    expect(((await read('receivers', receiver.address, USDC)) as [bigint])[0]).toBe(claimed + 30n);
  });

  it('that is not above the last one does nothing', async () => {
    const config = await openChannel(100n);
    await send(receiver, 'claim', [await signClaim(payer, config, 60n)]);
    expect(loggedBy(settlement, await send(receiver, 'claim', [await signClaim(payer, config, 60n, 50n)]))).toEqual([]);
    expect(await stateOf(config)).toEqual([100n, 60n]);
  });

  it('of several is undone by one bad row', async () => {
    const [good, empty] = [await openChannel(100n), await openChannel(5n)];
    const rows = [await signClaim(payer, good, 10n), await signClaim(payer, empty, 10n)];
    expect(await refusalOf(send(receiver, 'claim', rows))).toBe('ClaimExceedsBalance()');
    expect(await stateOf(good)).toEqual([100n, 0n]);
  });

  it('is refused above the voucher, above the balance, of nothing, and to strangers', async () => {
    const config = await openChannel(100n);
    const claim = async (by: PrivateKeyAccount, max: bigint, total: bigint) =>
      refusalOf(send(by, 'claim', [await signClaim(payer, config, max, total)]));
    expect(await claim(receiver, 10n, 11n)).toBe('ClaimExceedsCeiling()');
    expect(await claim(receiver, 101n, 101n)).toBe('ClaimExceedsBalance()');
    expect(await claim(stranger, 10n, 10n)).toBe('NotAuthorizedToClaim()');
    expect(await refusalOf(send(receiver, 'claim', []))).toBe('EmptyBatch()');
    const rows = [await signClaim(payer, config, 10n)];
    expect(await refusalOf(send(stranger, 'claimWithSignature', rows, await signBatch(stranger, rows)))).toBe(
      'InvalidSignature()',
    );
    const mixed = [...rows, await signClaim(payer, newChannel(payer.address, stranger.address), 1n)];
    expect(await refusalOf(send(stranger, 'claimWithSignature', mixed, await signBatch(receiver, mixed)))).toBe(
      'NotReceiverAuthorizer()',
    );
  });

  it('takes strict signatures of the voucher’s signer alone', async () => {
    const config = await openChannel(100n);
    const good = await signClaim(payer, config, 10n);
    const { r, s, yParity } = hexToSignature(good.signature);
    const mirrored = `0x${(CURVE_ORDER - BigInt(s)).toString(16).padStart(64, '0')}` as const;
    const bare = hexToBytes(good.signature);
    bare[64] = (bare[64] ?? 27) - 27;
    const bad = [
      signatureToHex({ r, s: mirrored, yParity: yParity === 0 ? 1 : 0 }),
      bytesToHex(bare),
      good.signature.slice(0, -2),
      (await signClaim(stranger, config, 10n)).signature,
      (await signClaim(payer, config, 11n)).signature,
    ];
    for (const signature of bad)
      expect(await refusalOf(send(receiver, 'claim', [{ ...good, signature }]))).toBe('InvalidSignature()');
    await send(receiver, 'claim', [good]);
  });

  it('without a voucher’s signer asks the payer, a contract by its own rule', async () => {
    const deployed = await chainWriter(chain.rpcUrl, stranger).deployContract({
      abi: contractWalletAbi,
      bytecode: contractWalletBytecode,
      args: [payer.address],
    });
    const wallet = (await reader.waitForTransactionReceipt({ hash: deployed })).contractAddress ?? ZERO;
    await chain.fund([{ address: wallet, ethWei: 0n, usdcMicro: 100n }]);
    const config = await openChannel(100n, { payer: wallet, payerAuthorizer: ZERO });
    await send(receiver, 'claim', [await signClaim(payer, config, 10n)]);
    expect(await stateOf(config)).toEqual([100n, 10n]);
    expect(await refusalOf(send(receiver, 'claim', [await signClaim(stranger, config, 20n)]))).toBe(
      'InvalidSignature()',
    );
  });
});

describe('a refund', () => {
  it('gives what is not claimed, at most the amount, and moves the nonce also for nothing', async () => {
    const config = await openChannel(100n);
    await send(receiver, 'claim', [await signClaim(payer, config, 40n)]);
    const before = await usdcOf(payer.address);
    expect(loggedBy(settlement, await send(receiver, 'refund', config, 1000n))).toEqual([
      ['Refunded', channelIdOf(config), receiver.address, 60n],
    ]);
    expect(await usdcOf(payer.address)).toBe(before + 60n);
    expect(await stateOf(config)).toEqual([40n, 40n]);
    expect(loggedBy(settlement, await send(receiver, 'refund', config, 1n))).toEqual([]);
    expect(await read('refundNonce', channelIdOf(config))).toBe(2n);
    expect(await refusalOf(send(receiver, 'refund', config, 0n))).toBe('ZeroRefund()');
    expect(await refusalOf(send(payer, 'refund', config, 1n))).toBe('NotAuthorizedToRefund()');
  });

  it('by signature is for its nonce alone, whoever submits it', async () => {
    const config = await openChannel(100n);
    const signed = await signRefund(receiver, config, 0n, 30n);
    expect(await refusalOf(send(stranger, 'refundWithSignature', config, 31n, 0n, signed))).toBe('InvalidSignature()');
    expect(await refusalOf(send(stranger, 'refundWithSignature', config, 30n, 1n, signed))).toBe(
      'InvalidRefundNonce()',
    );
    await send(stranger, 'refundWithSignature', config, 30n, 0n, signed);
    expect(await stateOf(config)).toEqual([70n, 0n]);
    expect(await refusalOf(send(stranger, 'refundWithSignature', config, 30n, 0n, signed))).toBe(
      'InvalidRefundNonce()',
    );
  });

  it('of everything closes a channel of which nothing was claimed', async () => {
    const config = await openChannel(100n);
    const logs = loggedBy(settlement, await send(receiver, 'refund', config, 100n));
    expect(logs.map(([name]) => name)).toEqual(['Refunded', 'ChannelClosed']);
  });
});

describe('a withdrawal', () => {
  it('waits for its delay, and takes what is not claimed by then', async () => {
    const config = await openChannel(100n);
    const [log] = loggedBy(settlement, await send(payer, 'initiateWithdraw', config, 100n));
    expect(log?.slice(0, 3)).toEqual(['WithdrawInitiated', channelIdOf(config), 100n]);
    expect(await refusalOf(send(payer, 'finalizeWithdraw', config))).toBe('WithdrawDelayNotElapsed()');
    expect(await refusalOf(send(payer, 'initiateWithdraw', config, 1n))).toBe('WithdrawalAlreadyPending()');
    await send(receiver, 'claim', [await signClaim(payer, config, 30n)]);
    await elapse(901);
    expect(loggedBy(settlement, await send(payer, 'finalizeWithdraw', config))).toEqual([
      ['WithdrawFinalized', channelIdOf(config), payer.address, 70n],
    ]);
    expect(await stateOf(config)).toEqual([30n, 30n]);
    expect(await refusalOf(send(receiver, 'claim', [await signClaim(payer, config, 31n)]))).toBe(
      'ClaimExceedsBalance()',
    );
  });

  it('is for the payer’s side alone, of no more than is left', async () => {
    const config = await openChannel(100n);
    expect(await refusalOf(send(receiver, 'initiateWithdraw', config, 1n))).toBe('InvalidChannel()');
    expect(await refusalOf(send(payer, 'initiateWithdraw', config, 0n))).toBe('NothingToWithdraw()');
    expect(await refusalOf(send(payer, 'initiateWithdraw', config, 101n))).toBe('WithdrawAmountExceedsAvailable()');
    expect(await refusalOf(send(payer, 'finalizeWithdraw', config))).toBe('WithdrawalNotPending()');
    expect(await refusalOf(send(stranger, 'finalizeWithdraw', config))).toBe('NotAuthorizedToFinalizeWithdraw()');
  });

  it('is lowered by a refund, and ended by one of as much', async () => {
    const config = await openChannel(100n);
    await send(payer, 'initiateWithdraw', config, 80n);
    await send(receiver, 'refund', config, 30n);
    expect(((await read('pendingWithdrawals', channelIdOf(config))) as [bigint])[0]).toBe(50n);
    await send(receiver, 'refund', config, 60n);
    expect(await read('pendingWithdrawals', channelIdOf(config))).toEqual([0n, 0]);
  });
});

import { bytesToHex, type Hex, hexToBytes, hexToSignature, parseEventLogs, signatureToHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Authorization,
  bytesArguments,
  domain,
  openAuthorization,
  signTransfer,
  splitArguments,
  types,
} from '../test/authorization.ts';
import { chainReader, chainWriter, USDC, usdcBalance } from '../test/chain-clients.ts';
import { contractWalletAbi, contractWalletBytecode } from './artifacts.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';
import { usdcAbi } from './usdc-abi.ts';

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const ZERO = '0x0000000000000000000000000000000000000000';
const token = { address: USDC, abi: usdcAbi } as const;
const payer = privateKeyToAccount(generatePrivateKey());
const settler = privateKeyToAccount(generatePrivateKey());
const payee = privateKeyToAccount(generatePrivateKey()).address;
let chain: LocalChain;
let reader: ReturnType<typeof chainReader>;
let writer: ReturnType<typeof chainWriter>;

beforeAll(async () => {
  chain = await startLocalChain({
    wallets: [
      { address: payer.address, ethWei: 0n, usdcMicro: 1_000_000n },
      { address: settler.address, ethWei: 10n ** 18n, usdcMicro: 0n },
    ],
  });
  reader = chainReader(chain.rpcUrl);
  writer = chainWriter(chain.rpcUrl, settler);
});
afterAll(() => chain.stop());

/** Settles through the chain and returns the receipt; a revert rejects with the token's reason. */
async function settle(authorization: Authorization, signature: Hex) {
  const args = bytesArguments(authorization, signature);
  const { request } = await reader.simulateContract({
    ...token,
    functionName: 'transferWithAuthorization',
    args,
    account: settler,
    blockTag: 'pending',
  });
  return reader.waitForTransactionReceipt({ hash: await writer.writeContract(request) });
}

function isUsed(authorization: Authorization): Promise<boolean> {
  const args = [authorization.from, authorization.nonce] as const;
  return reader.readContract({ ...token, functionName: 'authorizationState', args });
}

it('the signing domain is the one that stock clients assume for USDC on Base Sepolia', async () => {
  const read = (functionName: 'name' | 'symbol' | 'version' | 'decimals') =>
    reader.readContract({ ...token, functionName });
  expect(await Promise.all((['name', 'symbol', 'version', 'decimals'] as const).map(read))).toEqual([
    'USDC',
    'USDC',
    '2',
    6,
  ]);
});

it('an authorization moves exactly its value once, and names itself in the logs', async () => {
  const authorization = openAuthorization(payer.address, payee);
  const signature = await signTransfer(payer, authorization);
  const before = [await usdcBalance(chain.rpcUrl, payer.address), await usdcBalance(chain.rpcUrl, payee)] as const;
  const receipt = await settle(authorization, signature);
  expect(await usdcBalance(chain.rpcUrl, payer.address)).toBe(before[0] - 10_000n);
  expect(await usdcBalance(chain.rpcUrl, payee)).toBe(before[1] + 10_000n);
  expect(
    parseEventLogs({ abi: usdcAbi, logs: receipt.logs }).map(({ eventName, args }) => ({ eventName, args })),
  ).toEqual([
    { eventName: 'AuthorizationUsed', args: { authorizer: payer.address, nonce: authorization.nonce } },
    { eventName: 'Transfer', args: { from: payer.address, to: payee, value: 10_000n } },
  ]);
  expect(await isUsed(authorization)).toBe(true);
  await expect(settle(authorization, signature)).rejects.toThrow('FiatTokenV2: authorization is used or canceled');
});

it('the form with v, r and s accepts the same signature', async () => {
  const authorization = openAuthorization(payer.address, payee);
  const args = splitArguments(authorization, await signTransfer(payer, authorization));
  const hash = await writer.writeContract({ ...token, functionName: 'transferWithAuthorization', args });
  expect((await reader.waitForTransactionReceipt({ hash })).status).toBe('success');
  expect(await isUsed(authorization)).toBe(true);
});

it.each([
  ['expired', { validBefore: 1n }, 'FiatTokenV2: authorization is expired'],
  ['not yet valid', { validAfter: 4_000_000_000n }, 'FiatTokenV2: authorization is not yet valid'],
  ['more than the balance', { value: 10n ** 12n }, 'ERC20: transfer amount exceeds balance'],
  ['to the zero address', { to: ZERO }, 'ERC20: transfer to the zero address'],
  ['to the token itself', { to: USDC }, 'Blacklistable: account is blacklisted'],
] as const)('an authorization %s is refused', async (_name, change, reason) => {
  const authorization = openAuthorization(payer.address, payee, change);
  await expect(settle(authorization, await signTransfer(payer, authorization))).rejects.toThrow(reason);
  expect(await isUsed(authorization)).toBe(false);
});

it.each([
  ['another chain', { ...domain, chainId: 8453 }],
  ['another token name', { ...domain, name: 'USD Coin' }],
  ['another contract', { ...domain, verifyingContract: ZERO }],
])('a signature for %s is refused', async (_name, signedDomain) => {
  const authorization = openAuthorization(payer.address, payee);
  const signature = await signTransfer(payer, authorization, signedDomain);
  await expect(settle(authorization, signature)).rejects.toThrow('FiatTokenV2: invalid signature');
});

it('the mirrored signature with a high s is refused', async () => {
  const authorization = openAuthorization(payer.address, payee);
  const { r, s, yParity } = hexToSignature(await signTransfer(payer, authorization));
  const mirrored = `0x${(CURVE_ORDER - BigInt(s)).toString(16).padStart(64, '0')}` as const;
  const signature = signatureToHex({ r, s: mirrored, yParity: yParity === 0 ? 1 : 0 });
  await expect(settle(authorization, signature)).rejects.toThrow("ECRecover: invalid signature 's' value");
});

it('a recovery byte of 0 or 1 is refused', async () => {
  const authorization = openAuthorization(payer.address, payee);
  const bytes = hexToBytes(await signTransfer(payer, authorization));
  bytes[64] = (bytes[64] ?? 27) - 27;
  await expect(settle(authorization, bytesToHex(bytes))).rejects.toThrow("ECRecover: invalid signature 'v' value");
});

it('a cancelled authorization is refused', async () => {
  const authorization = openAuthorization(payer.address, payee);
  const message = { authorizer: payer.address, nonce: authorization.nonce };
  const signature = await payer.signTypedData({ domain, types, primaryType: 'CancelAuthorization', message });
  const args = [payer.address, authorization.nonce, signature] as const;
  const hash = await writer.writeContract({ ...token, functionName: 'cancelAuthorization', args });
  const { logs } = await reader.waitForTransactionReceipt({ hash });
  expect(parseEventLogs({ abi: usdcAbi, logs })[0]).toMatchObject({
    eventName: 'AuthorizationCanceled',
    args: message,
  });
  await expect(settle(authorization, await signTransfer(payer, authorization))).rejects.toThrow('used or canceled');
});

it('receiveWithAuthorization is for the payee alone', async () => {
  const sign = (message: Authorization) =>
    payer.signTypedData({ domain, types, primaryType: 'ReceiveWithAuthorization', message });
  const receive = async (authorization: Authorization) => {
    const args = bytesArguments(authorization, await sign(authorization));
    const hash = await writer.writeContract({ ...token, functionName: 'receiveWithAuthorization', args });
    return (await reader.waitForTransactionReceipt({ hash })).status;
  };
  await expect(receive(openAuthorization(payer.address, payee))).rejects.toThrow('caller must be the payee');
  expect(await receive(openAuthorization(payer.address, settler.address))).toBe('success');
});

it('a contract wallet pays with its owner key (EIP-1271), and with no other key', async () => {
  const hash = await writer.deployContract({
    abi: contractWalletAbi,
    bytecode: contractWalletBytecode,
    args: [payer.address],
  });
  const wallet = (await reader.waitForTransactionReceipt({ hash })).contractAddress ?? ZERO;
  await chain.fund([{ address: wallet, ethWei: 0n, usdcMicro: 10_000n }]);
  const authorization = openAuthorization(wallet, payee);
  await expect(settle(authorization, await signTransfer(settler, authorization))).rejects.toThrow('invalid signature');
  expect((await settle(authorization, await signTransfer(payer, authorization))).status).toBe('success');
  expect(await usdcBalance(chain.rpcUrl, wallet)).toBe(0n);
});

it('a permit sets the allowance once', async () => {
  const message = {
    owner: payer.address,
    spender: settler.address,
    value: 77n,
    nonce: await reader.readContract({ ...token, functionName: 'nonces', args: [payer.address] }),
    deadline: 4_000_000_000n,
  };
  const fields = ['owner address', 'spender address', 'value uint256', 'nonce uint256', 'deadline uint256'];
  const Permit = fields.map((field) => ({ name: field.split(' ')[0] ?? '', type: field.split(' ')[1] ?? '' }));
  const signature = await payer.signTypedData({ domain, types: { Permit }, primaryType: 'Permit', message });
  const args = [message.owner, message.spender, message.value, message.deadline, signature] as const;
  const hash = await writer.writeContract({ ...token, functionName: 'permit', args });
  await reader.waitForTransactionReceipt({ hash });
  const allowance = { ...token, functionName: 'allowance', args: [message.owner, message.spender] } as const;
  expect(await reader.readContract(allowance)).toBe(77n);
  await expect(writer.writeContract({ ...token, functionName: 'permit', args })).rejects.toThrow(
    'EIP2612: invalid signature',
  );
});

import { invocationReceiptDomain, invocationReceiptTypes } from '@agent-network/contracts/payments/receipt-types';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { hashOfJson, type InvocationReceipt, type SignedReceipt, verifyReceipt } from './receipts.ts';

const node = privateKeyToAccount(generatePrivateKey());
const sent = { task: 'hello', input: { b: 2, a: 'ü' }, context: null, result: [1, { ok: true }] };
const CHAIN = 84532;

const message: InvocationReceipt = {
  requestId: 'req_1',
  node: 'https://node.example',
  agentId: 'agt_1',
  owner: node.address,
  payer: node.address.toLowerCase(),
  paymentMethod: 'x402',
  asset: node.address,
  price: '50000',
  cost: '50000',
  refund: '0',
  transaction: `0x${'a'.repeat(64)}`,
  channel: '',
  status: 'completed',
  taskHash: hashOfJson(sent.task),
  inputHash: hashOfJson(sent.input),
  contextHash: hashOfJson(sent.context),
  resultHash: hashOfJson(sent.result),
  createdAt: 1_800_000_000,
  completedAt: 1_800_000_001,
  issuedAt: 1_800_000_002,
};

async function receipt(signer = node): Promise<SignedReceipt> {
  const typed = {
    domain: invocationReceiptDomain(CHAIN),
    types: invocationReceiptTypes,
    primaryType: 'InvocationReceipt',
  } as const;
  // biome-ignore lint/suspicious/noExplicitAny: text for integers, as on the wire
  const signature = await signer.signTypedData({ ...typed, message: message as any });
  return {
    ...typed,
    types: { InvocationReceipt: [...invocationReceiptTypes.InvocationReceipt] },
    signer: signer.address.toLowerCase(),
    signature,
    message,
  };
}

const reasonOf = (given: unknown, expected: object = {}) =>
  verifyReceipt(given as SignedReceipt, { wallet: node.address, ...expected }).then(
    () => null,
    ({ reason }) => reason,
  );

it('a receipt of the wallet about these values returns what was signed', async () => {
  expect(await verifyReceipt(await receipt(), { wallet: node.address, ...sent })).toEqual(message);
  const otherSpelling = { wallet: node.address.toLowerCase(), input: { a: 'ü', b: 2.0 } };
  expect(await verifyReceipt(await receipt(), otherSpelling)).toEqual(message);
  // The client does not send a field that is undefined.
  const asGiven = { wallet: node.address, input: { ...sent.input, c: undefined } };
  expect(await verifyReceipt(await receipt(), asGiven)).toEqual(message);
});

describe('is refused', () => {
  it.each([
    ['other_task', { task: 'hello ' }],
    ['other_input', { input: { b: 2 } }],
    ['other_context', { context: '' }],
    ['other_result', { result: null }],
    ['other_request', { requestId: 'req_2' }],
    ['other_chain', { chainId: 8453 }],
    ['wrong_signature', { wallet: `0x${'1'.repeat(40)}` }],
  ])('as %s', async (reason, expected) => {
    expect(await reasonOf(await receipt(), expected)).toBe(reason);
  });

  it('when anything that is signed was changed', async () => {
    const good = await receipt();
    for (const [name, value = ''] of Object.entries(message)) {
      const other =
        typeof value === 'number'
          ? value + 1
          : value === ''
            ? 'x'
            : `${value.slice(0, -1)}${value.endsWith('2') ? 3 : 2}`;
      expect([name, await reasonOf({ ...good, message: { ...message, [name]: other } })]).toEqual([
        name,
        'wrong_signature',
      ]);
    }
    expect(await reasonOf({ ...good, domain: { ...good.domain, chainId: 8453 } })).toBe('wrong_signature');
  });

  it('when another wallet signed it, whatever it says of its signer', async () => {
    const forged = await receipt(privateKeyToAccount(generatePrivateKey()));
    expect(await reasonOf({ ...forged, signer: node.address.toLowerCase() })).toBe('wrong_signature');
  });

  it('when it brings types of its own, in which other fields count', async () => {
    const types = { InvocationReceipt: [{ name: 'requestId', type: 'string' }] } as const;
    const domain = invocationReceiptDomain(CHAIN);
    const signature = await node.signTypedData({
      domain,
      types,
      primaryType: 'InvocationReceipt',
      message: { requestId: 'req_1' },
    });
    expect(await reasonOf({ ...(await receipt()), types, signature })).toBe('wrong_signature');
  });

  it.each([
    [null],
    [{}],
    ['x'],
    [{ message, domain: {}, signature: '0x' }],
    [{ message: { ...message, cost: null }, domain: { chainId: 1 }, signature: '0x' }],
  ])('as malformed: %j', async (given) => {
    expect(await reasonOf(given)).toBe('malformed_receipt');
  });

  it('when its signature is no signature', async () => {
    const good = await receipt();
    for (const signature of ['', '0x', 'x', good.signature.slice(0, -2), `${good.signature}00`])
      expect(await reasonOf({ ...good, signature })).toBe('wrong_signature');
  });
});

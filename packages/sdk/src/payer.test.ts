import { encodePaymentRequiredHeader } from '@x402/core/http';
import { recoverTypedDataAddress, type TypedDataDefinition } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { failure, type Reply, type Seen, startFakeNode, success } from '../test/support/fake-node.ts';
import { createClient } from './client.ts';
import { mayHaveHappened } from './invoke-and-wait.ts';
import { createPayer } from './payer.ts';
import type { PayerSigner } from './payer-signer.ts';
import { PaymentRefusedError } from './payment-refused-error.ts';

const account = privateKeyToAccount(generatePrivateKey());
const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const payTo = '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063';
const offer = {
  scheme: 'exact',
  network: 'eip155:84532' as `${string}:${string}`,
  amount: '50000',
  asset: asset as string,
  payTo,
  maxTimeoutSeconds: 120,
  extra: { name: 'USDC', version: '2', memo: 'inv_0123456789abcdef' } as Record<string, string>,
};

const termsHeader = (...accepts: (typeof offer)[]) =>
  encodePaymentRequiredHeader({ x402Version: 2, error: 'pay', resource: { url: 'http://127.0.0.1/x' }, accepts });
const asksFor = (...accepts: (typeof offer)[]): Reply =>
  failure(402, 'PAYMENT_REQUIRED', {}, { 'payment-required': termsHeader(...accepts) });

const paymentOf = (seen: Seen) => seen.headers['payment-signature'];
const decode = (header: unknown) => JSON.parse(Buffer.from(String(header), 'base64').toString());
const call = { params: { agentId: 'agt_0123456789abcdef' }, body: { task: 'x' } };
const clientOf = (node: { baseUrl: string }, maxPerCall = '0.05') =>
  createClient({ baseUrl: node.baseUrl, payer: createPayer({ account, maxPerCall }) });

it.each(['', '0x12', 'f'.repeat(64), undefined])(
  'an invalid private key (%s) is an error with its name',
  (privateKey) => {
    const options = { privateKey: privateKey as `0x${string}`, maxPerCall: '0.05' };
    expect(() => createPayer(options)).toThrow('privateKey must be a string of 0x and 64 hexadecimal digits');
  },
);

it.each([0.05, undefined])('a maximum that is no string (%s) is named', (maxPerCall) => {
  const options = { account, maxPerCall: maxPerCall as unknown as string };
  expect(() => createPayer(options)).toThrow(`not a USDC amount, which is a string such as "0.05": ${maxPerCall}`);
});

describe('a paying client', () => {
  it('asks for channels when it has some, and for nothing else', async () => {
    await using node = await startFakeNode(() => success({}));
    await clientOf(node).invokeAgent(call);
    const payer = createPayer({ account, maxPerCall: '0.05', channels: true });
    await createClient({ baseUrl: node.baseUrl, payer }).invokeAgent(call);
    expect(node.seen.map(({ headers }) => headers['x-payment-scheme'])).toEqual([undefined, 'batch-settlement']);
  });

  it('says in USDC what a call costs that it may not pay', async () => {
    await using node = await startFakeNode(() => asksFor(offer));
    await expect(clientOf(node, '0.01').invokeAgent(call)).rejects.toThrow(
      'The call costs 0.05 USDC, and maxPerCall allows 0.01: nothing was paid',
    );
    expect(node.seen).toHaveLength(1);
  });

  it('signs no more than its total, whatever becomes of the payments', async () => {
    await using node = await startFakeNode((seen) =>
      paymentOf(seen) ? failure(503, 'UNAVAILABLE', {}) : asksFor(offer),
    );
    const payer = createPayer({ account, maxPerCall: '0.05', maxTotal: '0.12' });
    const paid = async () => payer.pay(termsHeader(offer));
    const all = await Promise.allSettled([paid(), paid(), paid()]);
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await expect(createClient({ baseUrl: node.baseUrl, payer }).invokeAgent(call)).rejects.toThrow(
      'The call costs 0.05 USDC, and 0.02 of maxTotal is left: nothing was paid',
    );
  });

  it('counts no payment that was not signed', async () => {
    let isAway = true;
    const signer: PayerSigner = {
      address: account.address,
      signTypedData: async (data) => {
        if (isAway) throw new Error('the device is away');
        return account.signTypedData(data as Parameters<typeof account.signTypedData>[0]);
      },
    };
    const payer = createPayer({ signer, maxPerCall: '0.05', maxTotal: '0.05' });
    await expect(payer.pay(termsHeader(offer))).rejects.toThrow('away');
    isAway = false;
    await payer.pay(termsHeader(offer));
    await expect(payer.pay(termsHeader(offer))).rejects.toMatchObject({ reason: 'above_total' });
  });

  it.each([
    ['', undefined],
    [', under the nonce that the offer binds to this purchase', `0x${'5a'.repeat(32)}`],
    [', under a nonce of its own when that of the offer is none', '0x5a'],
  ])('answers a 402 with an authorization of the asked amount, signed by its account%s', async (_how, bound) => {
    const asked = { ...offer, extra: { ...offer.extra, ...(bound ? { nonce: bound } : {}) } };
    await using node = await startFakeNode((seen) => (paymentOf(seen) ? success({ paid: true }) : asksFor(asked)));
    expect(await clientOf(node).invokeAgent(call)).toEqual({ paid: true });
    const { accepted, payload } = decode(paymentOf(node.seen[1] as Seen));
    const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
    expect(accepted).toEqual(asked);
    expect(nonce === bound).toBe(bound?.length === 66);
    expect(nonce).toMatch(/^0x[0-9a-f]{64}$/);
    expect({ from, to, value }).toEqual({ from: account.address, to: payTo, value: '50000' });
    const bytes32 = { type: 'bytes32' };
    const signer = await recoverTypedDataAddress({
      domain: { name: 'USDC', version: '2', chainId: 84532, verifyingContract: asset },
      primaryType: 'TransferWithAuthorization',
      types: {
        TransferWithAuthorization: [
          { name: 'from', type: 'address' },
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'validAfter', type: 'uint256' },
          { name: 'validBefore', type: 'uint256' },
          { name: 'nonce', ...bytes32 },
        ],
      },
      message: {
        from,
        to,
        value: BigInt(value),
        validAfter: BigInt(validAfter),
        validBefore: BigInt(validBefore),
        nonce,
      },
      signature: payload.signature,
    });
    expect(signer).toBe(account.address);
  });

  it('shows the same bytes again while the payment is pending, the node is away or the connection is lost', async () => {
    const pending = failure(503, 'PAYMENT_PENDING', {}, { 'retry-after': '0' });
    const replies = [asksFor(offer), pending, 'hang up' as const, failure(503, 'UNAVAILABLE'), success({ paid: true })];
    await using node = await startFakeNode((_seen, count) => replies[count - 1] ?? 'hang up');
    expect(await clientOf(node).invokeAgent(call)).toEqual({ paid: true });
    const payments = node.seen.slice(1).map(paymentOf);
    expect(payments).toHaveLength(4);
    expect(payments[0]).toBeTypeOf('string');
    expect(new Set(payments).size).toBe(1);
    expect(new Set(node.seen.map((seen) => seen.body)).size).toBe(1);
  });

  it.each(['', ' as a stream'])(
    'keeps key and payment of a call that was given up while it was paid%s',
    async (how) => {
      const abort = new AbortController();
      await using node = await startFakeNode((seen) => {
        if (!paymentOf(seen)) return asksFor(offer);
        abort.abort();
        return success({ paid: true });
      });
      const client = clientOf(node);
      const options = { signal: abort.signal, idempotencyKey: 'mine' };
      const { agentId } = call.params;
      const calling: Promise<unknown> = how
        ? client.invokeStreaming(agentId, call.body, options).next()
        : client.invokeAgent(call, options);
      const error = await calling.catch((thrown: unknown) => thrown);
      const paymentHeaders = { 'payment-signature': paymentOf(node.seen[1] as Seen) };
      expect(error).toMatchObject({ idempotencyKey: 'mine', paymentHeaders, cause: abort.signal.reason });
      expect(mayHaveHappened(error)).toBe(true);
    },
  );

  it('does not sign a second payment when the first was refused', async () => {
    await using node = await startFakeNode(() => asksFor(offer));
    const error = await clientOf(node)
      .invokeAgent(call)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'PAYMENT_REQUIRED' });
    expect(node.seen.map(paymentOf).filter(Boolean)).toHaveLength(1);
    expect(error).toMatchObject({ paymentHeaders: { 'payment-signature': paymentOf(node.seen[1] as Seen) } });
  });

  it('leaves a 402 to a caller who shows a payment of its own', async () => {
    await using node = await startFakeNode(() => asksFor(offer));
    const paid = { ...call, headers: { 'payment-signature': 'bXkgb3du' } };
    await expect(clientOf(node).invokeAgent(paid)).rejects.toMatchObject({ code: 'PAYMENT_REQUIRED' });
    expect(node.seen.map(paymentOf)).toEqual(['bXkgb3du']);
  });

  it('chooses the cheapest offer that it may pay', async () => {
    const dear = { ...offer, amount: '60000' };
    const strange = { ...offer, network: 'eip155:1' as const, amount: '1' };
    await using node = await startFakeNode((seen) => (paymentOf(seen) ? success({}) : asksFor(dear, strange, offer)));
    await clientOf(node).invokeAgent(call);
    expect(decode(paymentOf(node.seen[1] as Seen)).accepted.amount).toBe('50000');
  });

  it.each([
    ['an amount above the cap', 'above_cap', asksFor({ ...offer, amount: '50001' })],
    ['another token', 'unknown_asset', asksFor({ ...offer, asset: payTo })],
    ['another network', 'unknown_asset', asksFor({ ...offer, network: 'eip155:1' })],
    ['another scheme', 'unknown_asset', asksFor({ ...offer, scheme: 'upto' })],
    ['a permit', 'unknown_asset', asksFor({ ...offer, extra: { ...offer.extra, assetTransferMethod: 'permit2' } })],
    ['an amount that is no number', 'unknown_asset', asksFor({ ...offer, amount: '-5' })],
    ['a signature valid for a day', 'validity_too_long', asksFor({ ...offer, maxTimeoutSeconds: 86_400 })],
    ['nothing readable', 'malformed_terms', failure(402, 'PAYMENT_REQUIRED', {}, { 'payment-required': '!' })],
    ['no terms at all', 'malformed_terms', failure(402, 'PAYMENT_REQUIRED')],
  ])('signs nothing for %s', async (_name, reason, reply) => {
    await using node = await startFakeNode(() => reply);
    const error = await clientOf(node)
      .invokeAgent(call)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PaymentRefusedError);
    expect(error).toMatchObject({ reason });
    expect(node.seen).toHaveLength(1);
  });

  it('has a signer of the caller sign, once and only what it would sign itself', async () => {
    await using node = await startFakeNode((seen) => (paymentOf(seen) ? success({ paid: true }) : asksFor(offer)));
    const signed: object[] = [];
    const signer = {
      address: account.address,
      signTypedData: (data: Parameters<PayerSigner['signTypedData']>[0]) => {
        signed.push(data);
        return account.signTypedData(data as TypedDataDefinition);
      },
    };
    const payer = createPayer({ signer, maxPerCall: '0.05' });
    expect(payer.address).toBe(account.address);
    expect(await createClient({ baseUrl: node.baseUrl, payer }).invokeAgent(call)).toEqual({ paid: true });
    const { payload } = decode(paymentOf(node.seen[1] as Seen));
    expect(signed).toHaveLength(1);
    const typed = signed[0] as TypedDataDefinition;
    expect(await recoverTypedDataAddress({ ...typed, signature: payload.signature })).toBe(account.address);
    expect(typed).toMatchObject({ domain: { chainId: 84532 }, primaryType: 'TransferWithAuthorization' });
  });

  it('passes on that the signer declined, and has shown nothing', async () => {
    await using node = await startFakeNode(() => asksFor(offer));
    const signer = { address: account.address, signTypedData: () => Promise.reject(new Error('declined')) };
    const payer = createPayer({ signer, maxPerCall: '0.05' });
    await expect(createClient({ baseUrl: node.baseUrl, payer }).invokeAgent(call)).rejects.toThrow('declined');
    expect(node.seen).toHaveLength(1);
  });

  it('refuses a cap that is no amount', () => {
    expect(() => createPayer({ account, maxPerCall: '$1' })).toThrow(RangeError);
  });
});

import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { type Hex, keccak256 } from 'viem';
import { privateKeyToAccount, sign as signWithViem } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setPaymentResponse } from '../../http/answer/payment-response.ts';
import { type CardKey, createCardSigner } from '../../http/gateways/a2a/card-signer.ts';
import type { ChainInfo } from '../chain-info.ts';
import { settlementCall } from '../settlement-call.ts';
import { authorizationDigest } from './authorization.ts';
import { createLocalSigner } from './local-signer.ts';
import { createNodeKeys } from './node-keys.ts';
import { invocationReceiptDigest } from './receipt-digests.ts';
import { type Signer, signText, signTransaction } from './signer.ts';

const hexOf = (min: number, max = min) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((array) => `0x${Buffer.from(array).toString('hex')}` as Hex);
const key: Hex = `0x${'4c'.repeat(32)}`;
const account = privateKeyToAccount(key);
const local = createLocalSigner(key);

const unsigned = fc.record({
  chainId: fc.integer({ min: 1, max: 2 ** 31 }),
  nonce: fc.bigInt(0n, 2n ** 50n),
  to: hexOf(20),
  data: hexOf(0, 400),
  gas: fc.bigInt(21_000n, 30_000_000n),
  maxFeePerGas: fc.bigInt(10n ** 9n, 10n ** 12n),
  maxPriorityFeePerGas: fc.bigInt(0n, 10n ** 9n),
});

describe('a local signer', () => {
  it('has the address of its key, in lower case', () => expect(local.address).toBe(account.address.toLowerCase()));

  it('signs transactions byte for byte as viem does', () =>
    fc.assert(
      fc.asyncProperty(unsigned, async (transaction) => {
        const { raw, hash } = await signTransaction(local, transaction);
        const { nonce } = transaction;
        expect(raw).toBe(await account.signTransaction({ ...transaction, type: 'eip1559', nonce: Number(nonce) }));
        expect(hash).toBe(keccak256(raw));
      }),
    ));

  it('does not expose its key to inspection', () => {
    const secretKey = 'a secret of at least thirty-two characters';
    const keys = createNodeKeys({
      ...{ settlementPrivateKey: key, senderPrivateKeys: [`0x${'5d'.repeat(32)}`] },
      ...{ registrarPrivateKey: `0x${'6e'.repeat(32)}`, faucetPrivateKey: null, secretKeys: [secretKey] },
    });
    for (const hidden of [key.slice(2), '5d5d', '6e6e', secretKey]) expect(JSON.stringify(keys)).not.toContain(hidden);
    expect(Object.values(keys.wallet)).not.toContain(key);
  });
});

/** A service that holds keys, as a key management service does: it signs a hash, or bytes, and gives no key out. */
function createKeyService(ofCards: KeyObject): Server {
  return createServer(async (request, response) => {
    const asked = await text(request);
    const isCard = request.url === '/card';
    const signed = isCard
      ? sign('sha256', Buffer.from(asked, 'base64'), { key: ofCards, dsaEncoding: 'ieee-p1363' }).toString('base64')
      : await signWithViem({ hash: asked as Hex, privateKey: key, to: 'hex' });
    response.end(signed);
  });
}

describe('a remote signer, which is asked over HTTP', () => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const service = createKeyService(pair.privateKey);
  const ask = async (path: string, body: string) => {
    const { port } = service.address() as AddressInfo;
    return (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })).text();
  };
  const remote: Signer = { address: local.address, signHash: async (hash) => (await ask('/hash', hash)) as Hex };

  beforeAll(() => new Promise<void>((resolve) => void service.listen(0, '127.0.0.1', resolve)));
  afterAll(() => new Promise<void>((resolve) => void service.close(() => resolve())));

  const authorization = {
    ...{ from: local.address, to: `0x${'ab'.repeat(20)}`, valueMicro: 1_000_000n },
    ...{ validAfterS: 0n, validBeforeS: 2_000_000_000n, nonce: `0x${'01'.repeat(32)}` },
  };
  const separator: Hex = `0x${'02'.repeat(32)}`;

  it.each([undefined, `0x${'cd'.repeat(20)}` as Hex])(
    'signs a settlement transaction byte for byte as the local one (delegation: %s)',
    async (delegateTo) => {
      const settle = async (signer: Signer) => {
        const signature = await signer.signHash(authorizationDigest(separator, authorization));
        const call = settlementCall(`0x${'ef'.repeat(20)}`, [{ authorization, signature }]);
        const fees = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000n };
        return signTransaction(signer, { chainId: 84532, nonce: 7n, ...call, ...fees, delegateTo });
      };
      expect(await settle(remote)).toEqual(await settle(local));
    },
  );

  it('signs receipts and texts byte for byte as the local one', async () => {
    const chain = { caip2: 'eip155:84532', name: 'base-sepolia' } as ChainInfo;
    const delivery = { resourceUrl: 'https://node.example/invoke/agt_1', at: new Date(0) };
    const paid = { payer: authorization.to, asset: null, version: 2, transactionHash: separator, delivery } as const;
    const invocation = {
      ...{ requestId: 'req_1', node: 'https://node.example', agentId: 'agt_1', owner: authorization.to, payer: '' },
      ...({ paymentMethod: 'treasury', status: 'failed' } as const),
      ...{ asset: authorization.to, price: '50000', cost: '0', refund: '50000', transaction: '', channel: '' },
      ...{ taskHash: separator, inputHash: separator, contextHash: separator, resultHash: separator },
      ...{ createdAt: 1, completedAt: 2, issuedAt: 3 },
    };
    const receipts = async (receiptSigner: Signer) => {
      const headers: string[] = [];
      await setPaymentResponse({ chain, receiptSigner }, { setHeader: (...header) => headers.push(...header) }, paid);
      return [
        headers,
        await receiptSigner.signHash(invocationReceiptDigest(84532, invocation)),
        await signText(receiptSigner, 'Sign in'),
      ];
    };
    expect(await receipts(remote)).toEqual(await receipts(local));
    expect(await signText(remote, 'Sign in')).toBe(await account.signMessage({ message: 'Sign in' }));
  });

  it('signs the same bytes of a card as the local one, and verifies by the same key', async () => {
    const asked: Buffer[] = [];
    const cardKey = (signBytes: CardKey['sign']): CardKey => ({
      id: 'one',
      jwk: pair.publicKey.export({ format: 'jwk' }),
      sign(bytes) {
        asked.push(bytes);
        return signBytes(bytes);
      },
    });
    const ofRemote = cardKey(async (bytes) => Buffer.from(await ask('/card', bytes.toString('base64')), 'base64'));
    const ofLocal = cardKey(async (bytes) =>
      sign('sha256', bytes, { key: pair.privateKey, dsaEncoding: 'ieee-p1363' }),
    );
    for (const each of [ofRemote, ofLocal]) {
      const signer = createCardSigner(async () => each);
      const { protected: header, signature } = await signer.sign(
        { name: 'Agent', b: 1, a: 2 },
        'https://node.example/k',
      );
      expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ alg: 'ES256', kid: 'one' });
      const [jwk] = (await signer.jwks()).keys;
      const publicKey = createPublicKey({ key: jwk as Record<string, string>, format: 'jwk' });
      const bytes = asked.at(-1) ?? Buffer.alloc(0);
      const by = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
      expect(verify('sha256', bytes, by, Buffer.from(signature, 'base64url'))).toBe(true);
    }
    // ECDSA takes a random number for each signature, so what is signed is the same, and its signatures are not.
    expect(asked[0]).toEqual(asked[1]);
  });
});

import { expect, it, onTestFinished, vi } from 'vitest';
import { findChannel, onlyChannels } from './channel-payer.ts';

const payer = `0x${'1'.repeat(40)}`;
const origin = 'https://node.example';
const paidIn = { chainId: 84532, usdc: `0x${'2'.repeat(40)}` };
const books = {
  network: 'eip155:84532',
  channelId: `0x${'3'.repeat(64)}`,
  config: { payer },
  url: `${origin}/invoke/agt_1`,
  isKnown: true,
  balanceMicro: '500000',
  chargedMicro: '20000',
  boundMicro: '20000',
  deposit: null,
};

/** A browser that keeps these books. */
function openBrowser(): void {
  class Kept {
    getItem(key: string): string | null {
      return Object.entries(this).find(([name]) => name === key)?.[1] ?? null;
    }
  }
  const kept = Object.assign(new Kept(), {
    [`agent-network channel ${payer} ${origin} eip155:84532`]: JSON.stringify(books),
  });
  vi.stubGlobal('localStorage', kept);
  vi.stubGlobal('location', { origin });
  onTestFinished(() => void vi.unstubAllGlobals());
}

it.each(['eth_chainId', 'eth_call'])(
  'a wallet that never answers %s is given up after 10 s: the channel is as the books have it',
  async (hanging) => {
    openBrowser();
    const limits: { readonly ms: number; readonly end: AbortController }[] = [];
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const end = new AbortController();
      limits.push({ ms, end });
      return end.signal;
    });
    onTestFinished(() => timeout.mockRestore());
    const provider = {
      async request({ method }: { method: string }) {
        if (method === 'eth_requestAccounts') return [payer];
        if (method !== hanging) return '0x14a34';
        queueMicrotask(() => limits.at(-1)?.end.abort());
        return new Promise<never>(() => undefined);
      },
    };
    const found = await findChannel(provider, paidIn as Parameters<typeof findChannel>[1]);
    expect(found).toMatchObject({ isOnChain: false, balance: '0.50', charged: '0.02' });
    expect(new Set(limits.map(({ ms }) => ms))).toEqual(new Set([10_000]));
  },
);

const encode = (terms: unknown) =>
  btoa(Array.from(new TextEncoder().encode(JSON.stringify(terms)), (byte) => String.fromCharCode(byte)).join(''));
const decode = (header: string) =>
  JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (char) => char.charCodeAt(0))));

it('leaves the offers of channels, and everything else as it is', () => {
  const [exact, channel] = [{ scheme: 'exact' }, { scheme: 'batch-settlement', amount: '5' }];
  const rest = { x402Version: 2, resource: { description: 'für „alle“ ✓' } };
  expect(decode(onlyChannels(encode({ ...rest, accepts: [exact, channel] })))).toEqual({ ...rest, accepts: [channel] });
});

it.each([[{ accepts: [{ scheme: 'exact' }] }], [{ accepts: [] }], [{}]])('refuses terms without one: %j', (terms) =>
  expect(() => onlyChannels(encode(terms))).toThrow('Nothing was signed'),
);

it('leaves what cannot be read to the payer', () => expect(onlyChannels('%%%')).toBe('%%%'));

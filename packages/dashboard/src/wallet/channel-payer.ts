import type { ChannelPayer, ChannelStorage, ClosedChannel, OpenChannel, PaymentHeaders } from '@agent-network/sdk';
import type { Eip1193Provider } from './injected-wallets.ts';
import type { PaidIn } from './paid-in.ts';
import { requireUsdc } from './require-usdc.ts';
import { connectWallet } from './sign-text.ts';
import { switchChain } from './switch-chain.ts';
import { walletError } from './wallet-error.ts';
import type { WalletPayer } from './wallet-payer.ts';

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

interface Offers {
  readonly accepts?: readonly { readonly scheme?: unknown }[];
}

/**
 * The terms of a 402 without its offers of a transfer: who chose a channel signs no other payment. Throws when nothing is left. Terms that
 * cannot be read are left to the payer, which refuses them.
 */
export function onlyChannels(header: string): string {
  let terms: Offers;
  try {
    terms = JSON.parse(new TextDecoder().decode(bytesOf(header))) as Offers;
  } catch {
    return header;
  }
  const accepts = terms.accepts?.filter(({ scheme }) => scheme === 'batch-settlement') ?? [];
  if (accepts.length === 0)
    throw new Error("The node doesn't accept a channel for this call. Choose another way to pay. Nothing was signed.");
  const text = new TextEncoder().encode(JSON.stringify({ ...terms, accepts }));
  return btoa(Array.from(text, (byte) => String.fromCharCode(byte)).join(''));
}

const PREFIX = 'agent-network channel ';

/** Keeps the books of channels in this browser. They hold sums and configurations, and no key. */
const browserStorage = (): ChannelStorage => ({
  get: async (key) => localStorage.getItem(PREFIX + key),
  async set(key, value) {
    localStorage.setItem(PREFIX + key, value);
  },
  keys: async () =>
    Object.keys(localStorage).flatMap((name) => (name.startsWith(PREFIX) ? [name.slice(PREFIX.length)] : [])),
});

const LOCK = 'agent-network channels';

/** Locks the books against other tabs, as two that sign for one channel could not explain each other's sums. Resolves to the release. */
async function holdBooks(): Promise<() => void> {
  // Without a secure context there are no locks.
  if (!navigator.locks) return () => undefined;
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const lock = navigator.locks.request(LOCK, () => {
    held.resolve();
    return released.promise;
  });
  await Promise.race([held.promise, lock]);
  return released.resolve;
}

/** URL that stands for the wallet, which reads the chain for channels without books in this browser. */
const WALLET_RPC = 'https://wallet.invalid/';

/** Rejects with the signal's reason once it aborts: a wallet may never answer. */
function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return answer;
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  return Promise.race([answer, aborted.promise]).finally(() => signal.removeEventListener('abort', stop));
}

/** Sends reads of the chain to the wallet, and refunds to the node without the session: the voucher itself proves who owns the channel. */
const fetchWith =
  (provider: Eip1193Provider): typeof fetch =>
  async (input, init) => {
    if (input !== WALLET_RPC) return fetch(input, { ...init, credentials: 'omit' });
    const { method, params } = JSON.parse(String(init?.body)) as { method: string; params: unknown[] };
    const asked = provider.request({ method, params }).catch((error) => {
      throw walletError(error);
    });
    const result = await unlessAborted(asked, init?.signal);
    return Response.json({ result });
  };

interface Amounts {
  readonly most: string;
  readonly deposit: string;
}

async function open(provider: Eip1193Provider, paidIn: PaidIn, { most, deposit }: Amounts): Promise<ChannelPayer> {
  const address = await connectWallet(provider);
  const { sdkPayer } = await import('./sdk-payer.ts');
  const storage = browserStorage();
  const channels = { deposit, storage, rpcUrl: WALLET_RPC, fetch: fetchWith(provider) };
  return sdkPayer(provider, address, paidIn, most, channels);
}

const nothing: Amounts = { most: '0', deposit: '0' };

const ownChannel = async (payer: ChannelPayer, { chainId }: PaidIn): Promise<OpenChannel | null> => {
  const channels = await payer.channels();
  const isHere = ({ network, url }: OpenChannel) =>
    network === `eip155:${chainId}` && new URL(url).origin === location.origin;
  return channels.find(isHere) ?? null;
};

/** The channel of a wallet with this node, by the books of this browser, and by the chain where the wallet reads it in time; null: none. */
export const findChannel = async (provider: Eip1193Provider, paidIn: PaidIn): Promise<OpenChannel | null> =>
  ownChannel(await open(provider, paidIn, nothing), paidIn);

/** Asks the node to refund the balance of a wallet's channel. */
export async function closeChannel(provider: Eip1193Provider, paidIn: PaidIn): Promise<readonly ClosedChannel[]> {
  const letGo = await holdBooks();
  try {
    await switchChain(provider, paidIn.chainId);
    return await (await open(provider, paidIn, nothing)).close();
  } finally {
    letGo();
  }
}

/**
 * Pays one call by the wallet's channel with this node: a voucher for at most `most`, and a deposit of `deposit` when the channel has
 * less left (USDC). Throws in words when the wallet stays on another chain, or does not hold the deposit.
 */
export async function channelPayer(
  provider: Eip1193Provider,
  paidIn: PaidIn,
  amounts: Amounts & { readonly needsDeposit: boolean },
): Promise<WalletPayer> {
  const payer = await open(provider, paidIn, amounts);
  await switchChain(provider, paidIn.chainId);
  if (amounts.needsDeposit) await requireUsdc(provider, payer.address, { usdc: paidIn.usdc, amount: amounts.deposit });
  let payment: PaymentHeaders | undefined;
  let letGo = () => {};
  return {
    address: payer.address,
    ...(payer.schemes ? { schemes: payer.schemes } : {}),
    signed: () => payment,
    async pay(header, url) {
      letGo = await holdBooks();
      try {
        payment = await payer.pay(onlyChannels(header), url);
        return payment;
      } catch (error) {
        letGo();
        throw error;
      }
    },
    async answered(shown, answer) {
      let next: PaymentHeaders | null = null;
      try {
        const required = answer?.paymentRequired;
        const told = answer && required ? { ...answer, paymentRequired: onlyChannels(required) } : answer;
        next = (await payer.answered?.(shown, told)) ?? null;
        payment = next ?? payment;
        return next;
      } finally {
        if (next === null) letGo();
      }
    },
  };
}

import type { Page } from 'playwright-core';
import { numberToHex, type TypedDataDefinition } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { callChain } from '../../../chain/src/chain-rpc-client.ts';

export interface TestWallet {
  readonly address: `0x${string}`;
  /** Requests of pages to the wallet. */
  readonly asked: string[];
  /** The next request, or the next of this kind, fails, as when its owner declines. */
  refuseNext(method?: string): void;
  /** The next question of this kind is answered once the returned function is called, as when its owner takes time. */
  holdNext(method: string): () => void;
  /** Switches the wallet to another account, as its owner may. */
  choose(account: PrivateKeyAccount): void;
  /** From now on it says that it is on this chain, until it is asked to switch. */
  strayTo(chainId: number): void;
  request(method: string, params: readonly unknown[]): Promise<unknown>;
}

const ANY = 'any';

/** A wallet like a browser extension's, with a test key and the chain of the node. */
export function walletOf(first: PrivateKeyAccount, rpcUrl: string): TestWallet {
  const asked: string[] = [];
  let account = first;
  let refused: string | null = null;
  let strayChain: number | null = null;
  let held: { readonly method: string; readonly released: Promise<void> } | null = null;
  const answers: Record<string, (params: readonly unknown[]) => unknown> = {
    eth_requestAccounts: () => [account.address],
    eth_accounts: () => [account.address],
    eth_chainId: () => (strayChain === null ? callChain(rpcUrl, 'eth_chainId') : numberToHex(strayChain)),
    eth_call: ([call, block]) => callChain(rpcUrl, 'eth_call', call, block),
    wallet_switchEthereumChain() {
      strayChain = null;
      return null;
    },
    personal_sign: ([text]) => account.signMessage({ message: { raw: text as `0x${string}` } }),
    eth_signTypedData_v4: ([, text]) => account.signTypedData(JSON.parse(String(text)) as TypedDataDefinition),
    eth_sendTransaction: ([transaction]) => send(account.address, rpcUrl, transaction as object),
  };
  return {
    address: first.address,
    asked,
    choose(chosen) {
      account = chosen;
    },
    refuseNext(method = ANY) {
      refused = method;
    },
    holdNext(method) {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      held = { method, released };
      return release;
    },
    strayTo(chainId) {
      strayChain = chainId;
    },
    async request(method, params) {
      asked.push(method);
      if (refused === ANY || refused === method) {
        refused = null;
        return { error: { code: 4001, message: 'User rejected the request.' } };
      }
      if (held?.method === method) {
        const { released } = held;
        held = null;
        await released;
      }
      const answer = answers[method];
      if (!answer) return { error: { code: 4200, message: `${method} is not supported` } };
      return { result: await answer(params) };
    },
  };
}

/** The local chain takes transactions of any address that is impersonated, so that the wallet needs no gas. */
async function send(from: string, rpcUrl: string, transaction: object): Promise<unknown> {
  await callChain(rpcUrl, 'anvil_setBalance', from, numberToHex(10n ** 18n));
  await callChain(rpcUrl, 'anvil_impersonateAccount', from);
  return callChain(rpcUrl, 'eth_sendTransaction', { ...transaction, from });
}

/** Runs in the page, before its own scripts: announces the wallet (EIP-6963). */
const announce = `(() => {
  const provider = {
    async request({ method, params = [] }) {
      const { result, error } = await window.testWallet(method, params);
      if (error) throw Object.assign(new Error(error.message), error);
      return result;
    },
    on() {},
    removeListener() {},
  };
  const info = { uuid: '6a1d1c50-0000-4000-8000-000000000001', name: 'Test wallet', icon: 'data:,', rdns: 'test.wallet' };
  const tell = () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
  addEventListener('eip6963:requestProvider', tell);
  tell();
})()`;

export async function injectWallet(page: Page, wallet: TestWallet): Promise<void> {
  await page.exposeFunction('testWallet', (method: string, params: readonly unknown[]) =>
    wallet.request(method, params),
  );
  await page.addInitScript(announce);
}

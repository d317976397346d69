import { SESSION_COOKIE } from '@agent-network/contracts/access/sessions';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { Answer, Harness, RequestOptions, TestWallet } from './harness.ts';

/** A browser that is on a page of the node: it keeps the session cookie, and says where its calls come from. */
export interface Browser {
  readonly wallet: TestWallet;
  /** `Cookie` as it would be sent. */
  cookie(): string;
  /** Sends a request like the page does; `headers` replace the browser's own. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
}

type Node = Pick<Harness, 'request' | 'baseUrl'>;

/** Headers that a browser sends with a call of the node's own page. */
export const fromOwnPage = (h: Pick<Harness, 'baseUrl'>) => ({ 'sec-fetch-site': 'same-origin', origin: h.baseUrl });

export const newSigner = (): TestWallet => privateKeyToAccount(generatePrivateKey());

/** The body that signs a wallet in. */
export async function signedChallenge(h: Node, wallet: TestWallet) {
  const asked = await h.request('POST', '/auth/challenge', { body: { address: wallet.address } });
  const { challengeId, message } = asked.body.data;
  return { challengeId: challengeId as string, signature: await wallet.signMessage({ message }) };
}

export const cookieOf = (answer: Answer): string =>
  `${SESSION_COOKIE}=${new RegExp(`^${SESSION_COOKIE}=([^;]*)`).exec(answer.headers.get('set-cookie') ?? '')?.[1]}`;

/** Signs a wallet in; `cookie` of an earlier sign-in goes on with that. */
export async function openBrowser(h: Node, wallet = newSigner(), cookie?: string): Promise<Browser> {
  const known =
    cookie ??
    cookieOf(
      await h.request('POST', '/auth/session', { body: await signedChallenge(h, wallet), headers: fromOwnPage(h) }),
    );
  return {
    wallet,
    cookie: () => known,
    request: (method, path, options = {}) =>
      h.request(method, path, {
        ...options,
        headers: {
          cookie: known,
          ...(options.headers ?? (method === 'GET' ? { 'sec-fetch-site': 'same-origin' } : fromOwnPage(h))),
        },
      }),
  };
}

import type { Session } from '@agent-network/contracts/access/sessions';
import { client } from '../../app/client.ts';
import type { Eip1193Provider } from '../../wallet/injected-wallets.ts';
import { connectWallet, signText } from '../../wallet/sign-text.ts';

/** Has the wallet sign that it is us, and opens the session of its account. */
export async function signInWithWallet(provider: Eip1193Provider): Promise<Session> {
  const address = await connectWallet(provider);
  const { challengeId, message } = await client.requestSignIn({ body: { address } });
  const signature = await signText(provider, address, message);
  return client.createSession({ body: { challengeId, signature } });
}

export const signInLocally = (): Promise<Session> => client.createLocalSession();

import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { issueApiKey } from '../../../../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../../../src/accounts/open-account.ts';
import type { Answer, Harness, TestAccount } from '../../../support/harness.ts';

export type WalletOwner = TestAccount & { readonly wallet: ReturnType<typeof privateKeyToAccount> };

/** An account with a wallet that can sign; it has proven nothing yet. */
export async function newWalletOwner({ ctx }: Pick<Harness, 'ctx'>): Promise<WalletOwner> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const account = await openAccount(ctx, { address: wallet.address, plan: 'enterprise', isWalletProven: false });
  const scopes = ['agents:write', 'invoke', 'payments:read', 'payments:write', 'payments:withdraw'] as const;
  const { accountId } = account;
  const { apiKey: key } = await issueApiKey(ctx, { accountId, name: 'test', scopes, expiresAt: null });
  return { ...account, key, wallet };
}

/** Proves to own an agent: asks for the text, signs it. The answer to the first step if that is refused. */
export async function proveWallet(
  h: Pick<Harness, 'request'>,
  { key, wallet }: WalletOwner,
  agentId: string,
): Promise<Answer> {
  const asked = await h.request('POST', '/identity/verify', { key, body: { agentId, proof: 'wallet' } });
  if (asked.status !== 200) return asked;
  const { challengeId, message } = asked.body.data;
  const signature = await wallet.signMessage({ message });
  return h.request('POST', '/identity/verify', { key, body: { challengeId, signature } });
}

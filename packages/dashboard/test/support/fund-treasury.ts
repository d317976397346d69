import { issueApiKey } from '../../../service/src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../../service/src/accounts/open-account.ts';
import type { Harness } from '../../../service/test/support/harness.ts';
import { deposit } from '../../../service/test/support/treasury.ts';

/** A key of the account that signs in with this wallet. */
export async function keyOf({ ctx }: Harness, address: string): Promise<string> {
  const { accountId } = await openAccount(ctx, { address, plan: 'enterprise', isWalletProven: true });
  const key = await issueApiKey(ctx, {
    accountId,
    name: 'of a test',
    scopes: ['payments:write', 'payments:read', 'invoke', 'agents:write'],
    expiresAt: null,
  });
  return key.apiKey;
}

/** Pays this much USDC into the treasury of the account. */
export async function fundTreasury(h: Harness, key: string, amount: string): Promise<void> {
  const { body } = await h.request('POST', '/payments/treasury', { key, body: {} });
  await deposit(h, key, body.data.treasuryId, amount);
}

import { createHash } from 'node:crypto';
import type { HasDb } from '../../db/database.ts';
import { accountIdsOf } from './account-store.ts';

/** Visitors share this many accounts, so that their number is bounded, and one who uses a limit up is in the way of few. */
const ACCOUNTS = 64;

/** Addresses of the accounts that visitors share: hashes, and no wallets', so that nobody can sign in to one. */
export const visitorAddresses: readonly string[] = Array.from({ length: ACCOUNTS }, (_, number) => {
  const hash = createHash('sha256').update(`agent-network visitors ${number}`).digest('hex');
  return `0x${hash.slice(0, 40)}`;
});

/** Ids of the accounts that visitors share, as far as there are any yet. */
export const visitorAccountIds = ({ db }: HasDb): Promise<string[]> => accountIdsOf(db, visitorAddresses);

import { isDeepStrictEqual } from 'node:util';
import { assetIdOf, type ChainInfo, tokenKey } from '../../chain/chain-info.ts';
import type { Store } from '../../store/database.ts';
import { inAsset } from './asset-account.ts';
import { type AssetRow, deleteAssets, hasTransfers, insertAssets, listAssets, lockAssets } from './asset-store.ts';
import { openLedgerAccounts, ownKinds } from './ledger-store.ts';

/**
 * Records the assets of the configured networks and opens the node's own accounts in them. Throws if the books have another USDC for a
 * network or another default asset, unless they have no transfers yet.
 */
export async function keepAssets({ db, clock }: Store, chains: readonly ChainInfo[]): Promise<void> {
  const wanted = chains.map((chain) => ({
    ...{ id: assetIdOf(chain), chainId: chain.chainId, token: chain.token },
    isDefault: chain.ledgerAsset === null,
    domain: { name: chain.tokenName, version: chain.tokenVersion, domainSeparator: chain.domainSeparator },
  }));
  const known = await listAssets(db);
  if (wanted.every((asset) => known.some((each) => isDeepStrictEqual(each, asset)))) return;
  await db.transaction(async (tx) => {
    await lockAssets(tx);
    const before = await listAssets(tx);
    const problem = wanted.map((asset) => problemOf(before, asset)).find((each) => each !== null);
    if (problem && (await hasTransfers(tx))) throw new Error(problem);
    if (problem) await deleteAssets(tx);
    await insertAssets(tx, wanted);
    const others = chains.flatMap(({ ledgerAsset }) => ledgerAsset ?? []);
    const own = others.flatMap((asset) => ownKinds.map((kind) => ({ id: inAsset(kind, asset), kind })));
    await openLedgerAccounts(tx, own, clock.now());
  });
}

/** Contradiction between an asset and the books, as a message; null: none. */
function problemOf(known: readonly AssetRow[], asset: AssetRow): string | null {
  const { id, chainId, isDefault } = asset;
  const onChain = known.find((each) => each.chainId === chainId && tokenKey(each) === tokenKey(asset));
  if (onChain && onChain.id !== id)
    return `The books of this database have ${onChain.id} on chain ${chainId}, not ${id}; nothing was changed.`;
  const before = known.find((each) => each.isDefault);
  if (before && (before.id === id) !== isDefault)
    return `The default asset of the books of this database is ${before.id}, and stays it: name its network first; nothing was changed.`;
  return onChain && onChain.isDefault !== isDefault
    ? `The books of this database have ${id} beside their default asset; nothing was changed.`
    : null;
}

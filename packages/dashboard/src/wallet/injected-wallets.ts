import { useSyncExternalStore } from 'react';

/** Interface of a browser wallet (EIP-1193). */
export interface Eip1193Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/** A wallet that announced itself (EIP-6963). Its icon is left out, as it would be a stranger's picture. */
export interface InjectedWallet {
  readonly id: string;
  readonly name: string;
  readonly provider: Eip1193Provider;
}

interface Announcement extends Event {
  readonly detail?: { readonly info?: { uuid?: unknown; name?: unknown }; readonly provider?: Eip1193Provider };
}

let wallets: readonly InjectedWallet[] = [];
const listeners = new Set<() => void>();

function onAnnounced(event: Event): void {
  const { info, provider } = (event as Announcement).detail ?? {};
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string' || typeof provider?.request !== 'function')
    return;
  const wallet = { id: info.uuid, name: info.name.slice(0, 60), provider };
  if (wallets.some(({ id }) => id === wallet.id)) return;
  wallets = [...wallets, wallet];
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) addEventListener('eip6963:announceProvider', onAnnounced);
  listeners.add(listener);
  dispatchEvent(new Event('eip6963:requestProvider'));
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeEventListener('eip6963:announceProvider', onAnnounced);
  };
}

/** The announced wallets of this browser. */
export const useInjectedWallets = (): readonly InjectedWallet[] => useSyncExternalStore(subscribe, () => wallets);

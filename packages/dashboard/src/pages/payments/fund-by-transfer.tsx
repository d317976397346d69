import { useApi } from '../../app/api-query.ts';
import { ChainLink } from '../../app/chain-link.tsx';
import { networkName } from '../../app/network-name.ts';
import { useSession, useSessionInfo } from '../../app/session.ts';
import { Detail, Details } from '../../ui/layout/details.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { ClaimWallet } from './claim-wallet.tsx';

/** Address for USDC from any wallet or exchange, and the steps to claim it for the account. */
export function FundByTransfer() {
  const info = useSessionInfo();
  const { chainId, usdc } = info;
  const { address } = useSession();
  const { data, error, refetch } = useApi('getReserves');
  if (!data)
    return error ? <ErrorNote error={error} onRetry={() => void refetch()} /> : <Skeleton className="h-32 w-full" />;
  return (
    <div className="space-y-4">
      <p>Send USDC to the node's wallet. It is credited to the account's treasury once confirmed on chain.</p>
      <div className="*:grid-cols-1 *:sm:grid-cols-1">
        <Details>
          <Detail label="Network">{`${networkName(info)} (chain id ${chainId})`}</Detail>
          <Detail label="Send to">
            <ChainLink kind="address" id={data.wallet} label="address of the node" short={false} />
          </Detail>
          <Detail label="Token">
            <ChainLink kind="address" id={usdc} label="address of the token" short={false} />
          </Detail>
          <Detail label="From">
            <ChainLink kind="address" id={address} label="wallet of the account" short={false} />
          </Detail>
        </Details>
      </div>
      <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
        Send only this token, on this network. USDC sent from another wallet is held until you claim it below.
      </p>
      <ClaimWallet />
    </div>
  );
}

import { BaseError, type CallExecutionError, createPublicClient, ExecutionRevertedError, type Hex } from 'viem';
import { SETTLEMENT_CONTRACT } from '../../../../chain/channels/channel-calls.ts';
import { rpcTransport } from '../../../../chain/rpc/rpc-transport.ts';

/** Tries a call of the settlement contract on the pending state, without sending it. Throws viem's errors when the chain does not answer. */
export interface ClaimSimulator {
  /** The reason for which the call would revert; null: it would not. */
  simulate(data: Hex): Promise<string | null>;
}

export function createClaimSimulator(options: { rpcUrl: string; from: string }): ClaimSimulator {
  const client = createPublicClient({ transport: rpcTransport(options.rpcUrl, { timeout: 10_000, retryCount: 1 }) });
  return {
    async simulate(data) {
      try {
        // The pending block, because on a quiet chain the latest one may be old.
        await client.call({ account: options.from as Hex, to: SETTLEMENT_CONTRACT, data, blockTag: 'pending' });
        return null;
      } catch (error) {
        if (isRevert(error)) return (error as CallExecutionError).shortMessage;
        throw error;
      }
    },
  };
}

const isRevert = (error: unknown): boolean =>
  error instanceof BaseError && error.walk((cause) => cause instanceof ExecutionRevertedError) !== null;

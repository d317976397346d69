import { isDeepStrictEqual } from 'node:util';
import {
  BATCH_EXECUTOR_ADDRESS,
  batchExecutorAbi,
  CREATE2_FACTORY,
  putBatchExecutorData,
} from '@agent-network/chain/batch-executor';
import { encodeFunctionData, type Hex } from 'viem';
import type { Lease } from '../../chain/keys/signer.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { type ChainCall, type OpenTransaction, openTransaction } from '../../payments/chain-outbox/open-transaction.ts';
import type { Tx } from '../../store/sql.ts';
import { firstBatch, gasOfAll, type NewWrite } from './registry-write.ts';
import { countDueWrites, lockDueWrites, markSent } from './registry-write-store.ts';
import type { WriterContext } from './writer-context.ts';

const MAX_IN_BATCH = 100;

/**
 * State of the batch executor. `there`: several writes fit into a transaction; `missing`: it has to be deployed first; `unused`: each write
 * goes alone.
 */
type Executor = 'there' | 'missing' | 'unused';

/** Creates the function that takes due writes and stores the signed transaction that carries them. */
export function createWriteAhead(ctx: WriterContext, registrar: string, lease: Lease) {
  let hasRegistry = false;
  let hasExecutor = false;

  async function executorFor(due: number): Promise<Executor> {
    if (due <= 1) return 'unused';
    hasExecutor ||= await ctx.usdc.hasCode(BATCH_EXECUTOR_ADDRESS);
    if (hasExecutor) return 'there';
    return (await ctx.usdc.hasCode(CREATE2_FACTORY)) ? 'missing' : 'unused';
  }

  /**
   * Commits together: the registrar's key and nonce, the signed bytes, and the writes as sent. Null when nothing is due, the key has an
   * open transaction, or it cannot pay. An empty transaction carries no writes and only deploys the executor. Throws when the chain does
   * not answer.
   */
  return async (): Promise<(OpenTransaction & { readonly isEmpty: boolean }) | null> => {
    const due = await countDueWrites(ctx.db, ctx.chain.chainId, MAX_IN_BATCH);
    if (due === 0) return null;
    // A call of an address without code would succeed and do nothing.
    hasRegistry ||= await ctx.usdc.hasCode(ctx.registry.address);
    if (!hasRegistry) return null;
    const executor = await executorFor(due);
    const fees = await ctx.fees.current();
    const most = executor === 'unused' ? 1 : MAX_IN_BATCH;
    const batch = firstBatch(await lockDueWrites(ctx.db, ctx.chain.chainId, most));
    if (batch.length === 0) return null;
    const putsExecutor = executor === 'missing' && batch.length > 1;
    const call = putsExecutor ? putExecutorCall : batchCall(registrar, batch);
    const costWei = call.gas * fees.maxFeePerGas;
    const signers = ctx.registrarGas.fundedSenders(costWei);
    const carried = putsExecutor ? [] : batch.map(({ id }) => id);
    const record = async (tx: Tx, hash: string) => {
      const locked = firstBatch(await lockDueWrites(tx, ctx.chain.chainId, most));
      if (!isDeepStrictEqual(locked, batch)) throw new ChangedWritesError();
      await markSent(tx, carried, hash);
    };
    const beforeCommit = () => failpoint('before-registry-write-commit');
    const asked = { signers, call, fees, lease, record, beforeCommit };
    const written = await openTransaction(ctx, asked).catch((error) => {
      if (error instanceof ChangedWritesError) return null;
      throw error;
    });
    if (written) ctx.registrarGas.spend(registrar, costWei);
    failpoint('after-registry-write-commit');
    return written && { ...written, isEmpty: putsExecutor };
  };
}

/** The due writes differ from the signed ones: the next run signs them again. */
class ChangedWritesError extends Error {}

/** Deploys the executor on a chain that lacks it; anyone may do so once. */
const putExecutorCall: ChainCall = { to: CREATE2_FACTORY, data: putBatchExecutorData, gas: 500_000n };

/**
 * Builds the transaction for writes: one goes straight to its registry; several go to the registrar itself, which delegates to the executor
 * in the same transaction (EIP-7702), so that the registry sees the registrar as the caller.
 */
function batchCall(registrar: string, writes: readonly NewWrite[]): ChainCall {
  const gas = gasOfAll(writes);
  const [only] = writes;
  if (only && writes.length === 1) return { to: only.target as Hex, data: only.data as Hex, gas };
  const calls = writes.map(({ target, data }) => ({ target: target as Hex, data: data as Hex }));
  const data = encodeFunctionData({ abi: batchExecutorAbi, functionName: 'execute', args: [calls] });
  return { to: registrar as Hex, data, gas, delegateTo: BATCH_EXECUTOR_ADDRESS };
}

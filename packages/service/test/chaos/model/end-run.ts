import { formatUsdc } from '@agent-network/contracts/money';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { until } from '../../../src/lib/concurrency/until.ts';
import { WAIT_MS } from '../../support/until.ts';
import { expectOneOf, waysOf } from './expect-outcome.ts';
import { type ModelRun, nodeWallet } from './model-run.ts';
import { WALLET_MICRO } from './model-world.ts';
import { arrived, type MoneyModel, openRefs } from './money-model.ts';
import { prepare } from './perform.ts';
import { forgetSeen } from './seen.ts';

/** Lets everything come to its end, and asks users, records and chain once more where all money is. */
export async function endRun(run: ModelRun, model: MoneyModel): Promise<void> {
  run.world.trouble.calm();
  let last = model;
  for (const [index, ref] of openRefs(model).entries()) {
    const end = { kind: 'completed', claimMicro: null } as const;
    const operation = index % 2 === 0 ? ({ kind: 'answer', ref, end } as const) : ({ kind: 'cancel', ref } as const);
    const reply = await (await prepare(run, operation)).perform();
    last = await expectOneOf(run, waysOf(last, operation), [reply]);
  }
  await run.world.node.untilAtRest();
  forgetSeen(run);
  last = await expectOneOf(run, [{ replies: [], model: arrived(last) }], []);
  await expectConserved(run, last);
  await expectNoContradictions(run);
  await expectCallsKnown(run);
}

/** Every micro-USDC of the run is in its wallets or in the node's; what the node has of it is owed to somebody. */
async function expectConserved(run: ModelRun, model: MoneyModel): Promise<void> {
  const { world, before } = run;
  const nodeMicro = await world.usdc.balanceOf(nodeWallet(world));
  const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
  const wallets = await Promise.all(run.clients.map(({ wallet }) => world.usdc.balanceOf(wallet.address)));
  const gained = nodeMicro - before.nodeMicro;
  equal('all wallets together have', sum(wallets) + gained, 2n * WALLET_MICRO);
  const owed = sum(model.clients.map(({ availableMicro, heldMicro }) => availableMicro + heldMicro));
  equal('the node has of this run', gained, owed + model.earnedMicro + model.feesMicro);
  const [books] = await world.db.query<{ wallet: bigint; fees: bigint; holds: bigint; loss: bigint }>(
    '',
    `select coalesce(sum(case when debit = 'wallet' then amount_micro when credit = 'wallet' then -amount_micro end), 0)::bigint as wallet,
            coalesce(sum(case when debit = 'loss' then amount_micro when credit = 'loss' then -amount_micro end), 0)::bigint as loss,
            (select count(*) from hold where ended_at is null) as holds from transfer`,
  );
  equal('the wallet of the node has', nodeMicro, books?.wallet ?? 0n);
  equal('the node has lost', books?.loss ?? 0n, 0n);
  if (books?.holds !== 0n) throw new Error(`${books?.holds} holds have not ended`);
}

function equal(what: string, is: bigint, should: bigint): void {
  if (is !== should) throw new Error(`${what} ${formatUsdc(is)}, not ${formatUsdc(should)}`);
}

async function expectNoContradictions({ world }: ModelRun): Promise<void> {
  let found = await findMoneyContradictions(world);
  const none = async () => {
    if (found.length === 0) return true;
    found = await findMoneyContradictions(world);
    return null;
  };
  await until(none, { timeoutMs: WAIT_MS, firstMs: 5, maxMs: 200 });
  if (found.length > 0)
    throw new Error(found.map(({ kind, subject, detail }) => `${kind}: ${subject} ${detail}`).join('\n'));
}

/** Agents were called for requests of the run and for no others: what is bought once runs under one key. */
async function expectCallsKnown(run: ModelRun): Promise<void> {
  const known = new Set(run.requestIds.values());
  for (const agent of run.world.agents)
    for (const id of agent.takeCalled())
      if (!known.has(id)) throw new Error(`an agent was called for ${id}, which nobody bought`);
}

import type { Balance } from '@agent-network/contracts/payments/payments';
import { type Command, Option } from 'commander';
import { ownAgentIdOf } from '../agent-id.ts';
import { action } from '../command.ts';
import { CommandError, EXIT } from '../exit-codes.ts';
import { once } from '../once.ts';
import { integer, usdc } from '../output/arguments.ts';
import { formatFacts, formatTable, oneLine } from '../output/table.ts';
import type { Session } from '../session.ts';

interface MoveOptions {
  readonly treasury?: string;
  readonly idempotencyKey?: string;
}

interface WithdrawOptions extends MoveOptions {
  readonly to?: string;
  readonly all?: boolean;
  readonly agent?: string;
}

const keyOption = () =>
  new Option('--idempotency-key <key>', 'repeat with the same key and amount within 24 hours to avoid paying twice');

export function addMoney(program: Command): void {
  program.command('balance').description('your balance in USDC, on each network').action(action(balance));
  program
    .command('deposit')
    .argument('[amount]', 'USDC; not with --test', usdc)
    .option('--treasury <id>', "treasury to fund (default: the account's)")
    .addOption(
      new Option('--test', 'add test USDC from the node: local mode, and test networks with a faucet').conflicts(
        'treasury',
      ),
    )
    .addOption(keyOption())
    .description('add USDC from the wallet of AGENTNET_WALLET_KEY to your balance over x402; asks first')
    .action(action<[string | undefined, MoveOptions & { test?: boolean }]>(deposit));
  program
    .command('history')
    .description('payments, newest first')
    .addOption(new Option('--limit <count>').argParser(integer(1, 100)).default(20))
    .option('--cursor <cursor>', 'nextCursor of the previous page')
    .action(action<[{ limit: number; cursor?: string }]>(history));
  program
    .command('collect')
    .option('--agent <agent>', 'only the earnings of this agent: its id or name')
    .addOption(keyOption())
    .description("move your agents' earnings to your balance, which pays for calls")
    .action(action<[Pick<WithdrawOptions, 'agent' | 'idempotencyKey'>]>(collect));
  program
    .command('withdraw')
    .argument('[amount]', 'USDC; not with --all', usdc)
    .addOption(
      new Option('--all', "everything: your balance with your agents' earnings, or all of --agent").conflicts(
        'idempotencyKey',
      ),
    )
    .option('--agent <agent>', 'from the earnings of this agent: its id or name')
    .option('--to <address>', "receiving wallet (default: the account's)")
    .addOption(
      new Option('--treasury <id>', "treasury to withdraw from (default: the account's)").conflicts(['agent', 'all']),
    )
    .addOption(keyOption())
    .description('send USDC from your balance to a wallet on chain; asks first')
    .action(action<[string | undefined, WithdrawOptions]>(withdraw));
}

async function balance(session: Session): Promise<void> {
  const found = await session.requireClient().getBalance();
  const { terminal } = session;
  terminal.result(found, () => {
    const facts = formatFacts([
      ['you can spend', `${found.spendable.total} USDC`],
      // Nodes of before do not tell it.
      ['earnings to collect', found.earnings === undefined ? null : `${found.earnings} USDC`],
      ['held', `${found.held} USDC`],
      ['pending', `${found.pending} USDC`],
      ['in all', `${found.available} USDC`],
      ['network', found.network],
    ]);
    const { columns } = terminal;
    // Nodes of before networks have no `byAsset`.
    const hasSeveral = (found.byAsset?.length ?? 0) > 1;
    return [
      facts,
      ...(hasSeveral ? [assetTable(found, columns)] : []),
      ...(found.treasuries.length > 0 ? [treasuryTable(found.treasuries, columns)] : []),
      ...(hasSeveral && found.otherTreasuries.length > 0 ? [treasuryTable(found.otherTreasuries, columns)] : []),
    ].join('\n\n');
  });
  // Earnings belong to the agents: calls of the account are paid from its own treasury.
  if (found.spendable.limitedBy !== 'funds' || Number(found.spendable.total) > 0) return;
  if (Number(found.earnings ?? 0) > 0)
    terminal.note('Calls can\'t be paid from earnings. Run "agentnet collect" first.');
  else terminal.note('Your balance is 0. Add funds with "agentnet deposit <amount>".');
}

const assetTable = ({ byAsset }: Balance, columns: number | null): string =>
  formatTable(
    byAsset,
    [
      { title: 'NETWORK', value: (each) => each.network },
      { title: 'TOKEN', value: (each) => each.symbol },
      { title: 'AVAILABLE', value: (each) => each.available, alignsRight: true },
      { title: 'HELD', value: (each) => each.held, alignsRight: true },
      { title: 'PENDING', value: (each) => each.pending, alignsRight: true },
    ],
    columns,
  );

const treasuryTable = (treasuries: Balance['treasuries'], columns: number | null): string =>
  formatTable(
    treasuries,
    [
      { title: 'TREASURY', value: (each) => each.treasuryId },
      { title: 'OF', value: (each) => each.agentName ?? each.label ?? 'the account', isFlexible: true },
      { title: 'AVAILABLE', value: (each) => each.available, alignsRight: true },
      { title: 'HELD', value: (each) => each.held, alignsRight: true },
    ],
    columns,
  );

async function deposit(
  session: Session,
  amount: string | undefined,
  { treasury, test, idempotencyKey: given }: MoveOptions & { test?: boolean },
): Promise<void> {
  if (test ? amount !== undefined : amount === undefined)
    throw new CommandError(
      test ? 'The node decides how much --test adds: leave the amount out.' : 'Say how much: agentnet deposit 5',
    );
  const receipt =
    amount === undefined ? await addTestFunds(session, given) : await pay(session, amount, treasury, given);
  session.terminal.result(receipt, () =>
    formatFacts([
      ['deposited', `${receipt.amount} USDC`],
      ['balance', `${receipt.balance} USDC`],
      ['transaction', receipt.transactionHash],
    ]),
  );
}

const addTestFunds = (session: Session, given: string | undefined) =>
  once(given, (idempotencyKey) => session.requireClient().addTestFunds({}, { idempotencyKey }));

async function pay(session: Session, amount: string, treasury: string | undefined, given: string | undefined) {
  const payer = session.payer(amount);
  const client = session.requireClient({ payer });
  await session.confirm(`Pay ${amount} USDC from ${payer.address} into your treasury at ${session.url}?`);
  if (!treasury) await client.createTreasury({ body: {} });
  const body = { amount, ...(treasury ? { treasuryId: treasury } : {}) };
  return once(given, (idempotencyKey) => client.depositToTreasury({ body }, { idempotencyKey }));
}

async function collect(
  session: Session,
  { agent, idempotencyKey: given }: Pick<WithdrawOptions, 'agent' | 'idempotencyKey'>,
): Promise<void> {
  const client = session.requireClient();
  const body = agent === undefined ? {} : { agentId: await ownAgentIdOf(client, agent) };
  const collected = await once(given, (idempotencyKey) => client.collectEarnings({ body }, { idempotencyKey }));
  session.terminal.result(collected, () =>
    formatFacts([
      ['collected', `${collected.amount} USDC`],
      ['balance', `${collected.balance} USDC`],
      ['left out', collected.left.length === 0 ? null : collected.left.join(', ')],
    ]),
  );
}

async function history(session: Session, { limit, cursor }: { limit: number; cursor?: string }): Promise<void> {
  const page = await session.requireClient().listPayments({ query: { limit, cursor } });
  const { terminal } = session;
  terminal.result(page, () =>
    page.payments.length === 0
      ? 'No payments.'
      : formatTable(
          page.payments,
          [
            { title: 'TIME', value: (each) => each.createdAt.slice(0, 19).replace('T', ' ') },
            { title: 'TYPE', value: (each) => each.type },
            { title: 'AMOUNT', value: (each) => each.amount, alignsRight: true },
            { title: 'STATUS', value: (each) => each.status },
            { title: 'REQUEST', value: (each) => each.requestId ?? '', isFlexible: true },
            { title: 'TRANSACTION', value: (each) => each.transactionHash ?? '', isFlexible: true },
          ],
          terminal.columns,
        ),
  );
  if (page.hasMore) terminal.note(`${page.payments.length} of ${page.total}; more: --cursor ${page.nextCursor}`);
}

async function withdraw(session: Session, given: string | undefined, options: WithdrawOptions): Promise<void> {
  if ((given === undefined) === !options.all)
    throw new CommandError(
      options.all ? 'Give an amount or --all, not both.' : 'Say how much: agentnet withdraw 5, or --all',
    );
  const client = session.requireClient();
  const to = options.to ?? (await client.getAccount()).address;
  const source = await sourceOf(session, options);
  const amount = given ?? source.available;
  if (Number(amount) === 0) throw new CommandError('There is nothing to withdraw.', { exitCode: EXIT.failed });
  await session.confirm(`Send ${amount} USDC to ${to}?`);
  if (options.all && options.agent === undefined) {
    const { balance: all } = await once(undefined, (idempotencyKey) =>
      client.collectEarnings({ body: {} }, { idempotencyKey }),
    );
    return send(session, { amount: all, to }, undefined);
  }
  return send(
    session,
    { amount, to, ...(source.treasuryId ? { treasuryId: source.treasuryId } : {}) },
    options.idempotencyKey,
  );
}

/** The treasury to withdraw from, undefined for the account's, and what there is to withdraw. */
async function sourceOf(session: Session, { agent, treasury }: WithdrawOptions) {
  const client = session.requireClient();
  const found = await client.getBalance();
  if (agent === undefined) return { treasuryId: treasury, available: found.available };
  const agentId = await ownAgentIdOf(client, agent);
  const own = found.treasuries.find((each) => each.agentId === agentId);
  if (!own)
    throw new CommandError(
      `You have no agent with the id or name "${oneLine(agent)}". List yours with "agentnet agents list".`,
      { code: 'NOT_FOUND', exitCode: EXIT.failed },
    );
  return own;
}

interface Sent {
  readonly amount: string;
  readonly to: string;
  readonly treasuryId?: string;
}

async function send(session: Session, body: Sent, given: string | undefined): Promise<void> {
  const client = session.requireClient();
  const sent = await once(given, (idempotencyKey) => client.withdraw({ body }, { idempotencyKey }));
  session.terminal.result(sent, () =>
    formatFacts([
      ['withdrawal', sent.withdrawalId],
      ['status', sent.status],
      ['amount', `${sent.amount} USDC`],
      ['to', sent.to],
      ['transaction', sent.transactionHash],
    ]),
  );
}

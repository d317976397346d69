import type { Balance } from '@agent-network/contracts/payments/payments';
import { type Command, Option } from 'commander';
import { action } from '../command.ts';
import { once } from '../once.ts';
import { integer, usdc } from '../output/arguments.ts';
import { formatFacts, formatTable } from '../output/table.ts';
import type { Session } from '../session.ts';

interface MoveOptions {
  readonly treasury?: string;
  readonly idempotencyKey?: string;
}

const keyOption = () =>
  new Option('--idempotency-key <key>', 'repeat with the same key and amount within 24 hours to avoid paying twice');

export function addMoney(program: Command): void {
  program.command('balance').description('your balance in USDC, on each network').action(action(balance));
  program
    .command('deposit')
    .argument('<amount>', 'USDC', usdc)
    .option('--treasury <id>', "treasury to fund (default: the account's)")
    .addOption(keyOption())
    .description('add USDC from the wallet of AGENTNET_WALLET_KEY to your balance over x402; asks first')
    .action(action<[string, MoveOptions]>(deposit));
  program
    .command('history')
    .description('payments, newest first')
    .addOption(new Option('--limit <count>').argParser(integer(1, 100)).default(20))
    .option('--cursor <cursor>', 'nextCursor of the previous page')
    .action(action<[{ limit: number; cursor?: string }]>(history));
  program
    .command('withdraw')
    .argument('<amount>', 'USDC', usdc)
    .option('--to <address>', "receiving wallet (default: the account's)")
    .option('--treasury <id>', "treasury to withdraw from (default: the account's)")
    .addOption(keyOption())
    .description('send USDC from your balance to a wallet on chain; asks first')
    .action(action<[string, MoveOptions & { to?: string }]>(withdraw));
}

async function balance(session: Session): Promise<void> {
  const found = await session.requireClient().getBalance();
  const { terminal } = session;
  terminal.result(found, () => {
    const facts = formatFacts([
      ['available', `${found.available} USDC`],
      ['held', `${found.held} USDC`],
      ['pending', `${found.pending} USDC`],
      ['for calls', `${found.spendable.total} USDC`],
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
  if (found.spendable.limitedBy === 'funds' && Number(found.spendable.total) === 0)
    terminal.note('Your balance is 0. Add funds with "agentnet deposit <amount>".');
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
  amount: string,
  { treasury, idempotencyKey: given }: MoveOptions,
): Promise<void> {
  const payer = session.payer(amount);
  const client = session.requireClient({ payer });
  await session.confirm(`Pay ${amount} USDC from ${payer.address} into your treasury at ${session.url}?`);
  if (!treasury) await client.createTreasury({ body: {} });
  const body = { amount, ...(treasury ? { treasuryId: treasury } : {}) };
  const receipt = await once(given, (idempotencyKey) => client.depositToTreasury({ body }, { idempotencyKey }));
  session.terminal.result(receipt, () =>
    formatFacts([
      ['deposited', `${receipt.amount} USDC`],
      ['balance', `${receipt.balance} USDC`],
      ['transaction', receipt.transactionHash],
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

async function withdraw(session: Session, amount: string, options: MoveOptions & { to?: string }): Promise<void> {
  const client = session.requireClient();
  const to = options.to ?? (await client.getAccount()).address;
  await session.confirm(`Send ${amount} USDC to ${to}?`);
  const { treasury, idempotencyKey: given } = options;
  const body = { amount, to, ...(treasury ? { treasuryId: treasury } : {}) };
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

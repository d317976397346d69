import { writeFile } from 'node:fs/promises';
import { formatUsdc } from '@agent-network/contracts/money';
import { ReceiptVerificationError, type SignedReceipt, verifyReceipt } from '@agent-network/sdk';
import type { Command } from 'commander';
import { action } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { formatFacts } from '../output/table.ts';
import type { Session } from '../session.ts';

interface ReceiptOptions {
  readonly wallet?: string;
  readonly output?: string;
}

export function addReceipt(program: Command): void {
  program
    .command('receipt')
    .argument('<request>')
    .option('--wallet <address>', "the node's wallet that must have signed it (default: the one that it names)")
    .option('-o, --output <file.json>', 'write the signed receipt to this file as well')
    .description('the signed receipt of a finished request, verified; exit code 1 if it is not genuine')
    .action(action<[string, ReceiptOptions]>(receipt));
}

async function receipt(session: Session, requestId: string, { wallet, output }: ReceiptOptions): Promise<ExitCode> {
  const client = session.requireClient();
  const signed = await client.getReceipt({ params: { requestId } });
  const { task, status, result } = await client.getInvocation({ params: { requestId } });
  const problem = await problemOf(signed, {
    ...{ wallet: wallet ?? signed.signer, requestId, task },
    ...(status === 'completed' ? { result } : {}),
  });
  if (output !== undefined) await writeFile(output, `${JSON.stringify(signed, null, 2)}\n`);
  session.terminal.result({ ...signed, isGenuine: problem === null, problem }, () => factsOf(signed));
  if (problem === null) {
    session.terminal.note(
      'Genuine: signed by that wallet, for this task and result. Compare the wallet with the one you paid.',
    );
    return EXIT.done;
  }
  if (!session.terminal.isJson)
    session.terminal.failure({ exitCode: EXIT.failed, code: 'RECEIPT_NOT_GENUINE', message: problem, requestId });
  return EXIT.failed;
}

const problemOf = (signed: SignedReceipt, expected: Parameters<typeof verifyReceipt>[1]): Promise<string | null> =>
  verifyReceipt(signed, expected).then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof ReceiptVerificationError)) throw error;
      return error.message;
    },
  );

const amount = (units: string): string => `${formatUsdc(BigInt(units))} USDC`;
const time = (seconds: string | number): string => new Date(Number(seconds) * 1000).toISOString();

const factsOf = ({ message, signer }: SignedReceipt): string =>
  formatFacts([
    ['request', message.requestId],
    ['agent', message.agentId],
    ['status', message.status],
    ['payer', message.payer || null],
    ['paid by', message.paymentMethod],
    ['price', amount(message.price)],
    ['cost', amount(message.cost)],
    ['refund', amount(message.refund)],
    ['transaction', message.transaction || null],
    ['completed', time(message.completedAt)],
    ['signed by', signer],
  ]);

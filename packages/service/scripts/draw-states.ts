import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentTransitions } from '../src/agents/agent.ts';
import { invocationTransitions } from '../src/calls/invocation.ts';
import { chainPaymentTransitions } from '../src/payments/chain-outbox/chain-payment-state.ts';
import { claimTransitions } from '../src/payments/schemes/batch-settlement/claims/claim-state.ts';

/** Writes `docs/architecture/states.md` from the state tables; with `--check` exits 1 when the page is another. */
const FILE = join(import.meta.dirname, '../../../docs/architecture/states.md');
const HEADER = `# States

The state machines of the service, drawn from their tables by \`npm run states\`; do not edit. A column is an event, a cell the next state: "–" has no effect, an empty cell never happens.
A compare-and-set expects the states in which its event has an effect, so of two processes one moves the row.
`;

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>;

const machines: readonly { readonly title: string; readonly text: string; readonly table: Table }[] = [
  {
    title: 'Invocation',
    text: '`calls/invocation.ts`, column `invocation.status`. `queued` (it waits for a slot) and `awaitingPayment` (it waits for its payment on chain) are both stored and shown as `pending`; `payment_method` tells them apart.',
    table: invocationTransitions,
  },
  {
    title: 'Payment on chain',
    text: '`payments/chain-outbox/chain-payment-state.ts`, column `chain_payment.state`: payments for invocations, deposits, refunds, withdrawals and bills.',
    table: chainPaymentTransitions,
  },
  {
    title: 'Claim or refund of a channel',
    text: '`payments/schemes/batch-settlement/claims/claim-state.ts`, columns `channel_claim.state` and, of a refund, `channel_refund.state`. The events are what is seen of its transaction. A charge (`channel_charge`) has no state of its own: it is reserved until `ended_at`, and ends once.',
    table: claimTransitions,
  },
  { title: 'Agent', text: '`agents/agent.ts`, column `agent.status`.', table: agentTransitions },
];

const cellOf = (next: string | undefined) => {
  if (next === undefined || next === 'illegal') return '';
  return next === 'ignored' ? '–' : `\`${next}\``;
};

/** Draws the table as a diagram: an arrow for each change, named for its events. */
function drawDiagram(table: Table): string {
  const arrows = Object.entries(table).flatMap(([state, cells]) => {
    const changes = Object.entries(cells).filter(([, next]) => next !== 'illegal' && next !== 'ignored');
    const nexts = [...new Set(changes.map(([, next]) => next))];
    return nexts.map((next) => {
      const events = changes.filter(([, to]) => to === next).map(([event]) => event);
      return `  ${state} --> ${next}: ${events.join(', ')}`;
    });
  });
  return ['```mermaid', 'stateDiagram-v2', ...arrows, '```'].join('\n');
}

function draw({ title, text, table }: (typeof machines)[number]): string {
  const states = Object.keys(table);
  const events = Object.keys(Object.values(table)[0] ?? {});
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const lines = states.map((state) => row([`\`${state}\``, ...events.map((event) => cellOf(table[state]?.[event]))]));
  return [
    `\n## ${title}\n`,
    text,
    '',
    drawDiagram(table),
    '',
    row(['', ...events]),
    row(['---', ...events.map(() => '---')]),
    ...lines,
    '',
  ].join('\n');
}

const page = HEADER + machines.map(draw).join('');
if (!process.argv.includes('--check')) await writeFile(FILE, page);
else if ((await readFile(FILE, 'utf8').catch(() => '')) !== page) {
  console.error('docs/architecture/states.md is not what the state tables say: npm run states');
  process.exitCode = 1;
} else console.log('states.md is what the state tables say');

import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PaymentRefusedError } from '@agent-network/sdk';
import { type Command, Option } from 'commander';
import { action } from '../command.ts';
import { createKeptPayments, type KeptPayment, type KeptPayments } from '../curl/kept-payments.ts';
import { type CurlAnswer, type CurlRequest, NobodyAnsweredError, send, sendPaid } from '../curl/send.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts';
import { integer, readText, usdc } from '../output/arguments.ts';
import { oneLine, withoutControls } from '../output/table.ts';
import { configDir } from '../profile/profile-store.ts';
import type { Session, Transfer } from '../session.ts';

interface CurlOptions {
  readonly request?: string;
  readonly header: string[];
  readonly data?: string;
  readonly output?: string;
  readonly maxCost?: string;
  readonly payAgain?: boolean;
  readonly timeout: number;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const MAX_URL_CHARS = 8_192;
const MAX_HEADERS = 50;
const MAX_DATA_BYTES = 1024 * 1024;
/** With neither a terminal's answer nor --max-cost: what --yes accepts. */
const ANY_PRICE = '1000000';

export function addCurl(program: Command): void {
  program
    .command('curl')
    .argument('<url>', 'any URL that asks for a payment by x402 (version 2, USDC on Base)')
    .addOption(new Option('-X, --request <method>', 'default: GET, with --data POST').choices(METHODS))
    .option(
      '-H, --header <name: value>',
      'a header; can be repeated',
      (each: string, all: string[]) => [...all, each],
      [],
    )
    .option('-d, --data <text|@file>', 'the body; "-" reads stdin; without a content-type it is sent as JSON')
    .option('-o, --output <file>', 'write the answer to this file instead of stdout')
    .option('--max-cost <usdc>', 'maximum payment; payments at or below it need no confirmation', usdc)
    .option('--pay-again', 'sign a new payment, although an earlier one for this request may have been taken')
    .addOption(new Option('--timeout <seconds>', 'for an answer').argParser(integer(1, 600)).default(60))
    .description(
      'request a URL and pay for it from the wallet of AGENTNET_WALLET_KEY; shows the price and asks first, unless --max-cost or --yes is given',
    )
    .action(action<[string, CurlOptions]>(curl));
}

async function curl(session: Session, url: string, options: CurlOptions): Promise<ExitCode> {
  const request = await readRequest(url, options);
  const kept = createKeptPayments(join(configDir(session.env), 'payments'));
  const key = keyOf(request);
  const earlier = await kept.find(key);
  if (earlier && !options.payAgain) return present(session, request, options, { kept, key, payment: earlier });
  const unpaid = await send(request);
  if (unpaid.status !== 402) return show(session, unpaid, options, null);
  const payment = await sign(session, request, unpaid, options);
  if (earlier) await kept.forget(key);
  await kept.keep(key, payment);
  return present(session, request, options, { kept, key, payment });
}

async function readRequest(url: string, options: CurlOptions): Promise<CurlRequest> {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if ((parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') || url.length > MAX_URL_CHARS)
    throw new CommandError(`"${url.slice(0, 200)}" is not an http(s) URL of at most ${MAX_URL_CHARS} characters.`);
  if (parsed.username || parsed.password)
    throw new CommandError('Put the credentials into a header: --header "Authorization: …".');
  parsed.hash = '';
  const body = await readData(options.data);
  const headers = headersOf(options.header);
  if (body !== undefined) headers['content-type'] ??= 'application/json';
  const method = options.request ?? (body === undefined ? 'GET' : 'POST');
  if (method === 'GET' && body !== undefined) throw new CommandError('A GET has no --data.');
  return { url: parsed.href, method, headers, body, timeoutMs: options.timeout * 1000 };
}

async function readData(data: string | undefined): Promise<string | undefined> {
  if (data === undefined) return undefined;
  const isFile = data.startsWith('@');
  const text = isFile ? await readFile(data.slice(1), 'utf8').catch(() => null) : await readText(data, process);
  if (text === null) throw new CommandError(`--data: cannot read the file ${data.slice(1)}.`);
  if (Buffer.byteLength(text) > MAX_DATA_BYTES) throw new CommandError('--data has more than 1 MiB.');
  return text;
}

function headersOf(lines: readonly string[]): Record<string, string> {
  if (lines.length > MAX_HEADERS) throw new CommandError(`There are more than ${MAX_HEADERS} headers.`);
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = /^([\w!#$%&'*+.^`|~-]{1,100}):\s*([\x20-\x7e]{0,8000})$/.exec(line) ?? [];
      if (name === '') throw new CommandError(`"${oneLine(line).slice(0, 100)}" is not a header. Write "name: value".`);
      if (/^(payment-signature|x-payment)$/i.test(name))
        throw new CommandError(`The header ${name} is made by the payment.`);
      return [name.toLowerCase(), value];
    }),
  );
}

/** Identifies a request: the same command finds the payment that was signed for it. */
const keyOf = ({ url, method, headers, body }: CurlRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([method, url, Object.entries(headers).sort(), body ?? null]))
    .digest('hex');

/** Signs what the answer asks for, within --max-cost, or once the person agreed. Nothing is sent. */
async function sign(
  session: Session,
  { method, url }: CurlRequest,
  { headers }: CurlAnswer,
  { maxCost }: CurlOptions,
): Promise<KeptPayment> {
  const terms = headers.get('payment-required');
  if (terms === null)
    throw new CommandError(
      'The URL asks for a payment, but not by x402 version 2: it sends no PAYMENT-REQUIRED header.',
      {
        code: 'PAYMENT_REQUIRED',
        exitCode: EXIT.payment,
      },
    );
  let signed: Transfer | null = null;
  const approve = async (transfer: Transfer) => {
    if (maxCost === undefined)
      await session.confirm(
        `Pay ${transfer.amount} USDC to ${transfer.to} for ${method} ${oneLine(url).slice(0, 200)}?`,
      );
    signed = transfer;
  };
  const payment = await session.payer(maxCost ?? ANY_PRICE, approve).pay(terms, url);
  if (signed === null) throw new PaymentRefusedError('malformed_terms', 'The terms ask for no payment');
  return { ...(signed as Transfer), url, headers: { 'payment-signature': payment['payment-signature'] } };
}

/** Sends a request with its payment. Only an answer that is a success, or a redirect, ends the purchase. */
async function present(
  session: Session,
  request: CurlRequest,
  options: CurlOptions,
  { kept, key, payment }: { kept: KeptPayments; key: string; payment: KeptPayment },
): Promise<ExitCode> {
  const answer = await sendPaid(request, payment.headers).catch((error: unknown) => {
    if (!(error instanceof NobodyAnsweredError)) throw error;
    throw new CommandError(`${error.message}. ${unknownOutcome(payment)}`, {
      code: 'NO_ANSWER',
      exitCode: EXIT.failed,
    });
  });
  if (answer.status === 402)
    throw new CommandError(
      `The payment of ${payment.amount} USDC was refused, or was taken before${reasonOf(answer)}. Check your wallet; to sign a new one, add --pay-again.`,
      { code: 'PAYMENT_REFUSED', exitCode: EXIT.payment },
    );
  if (answer.status < 400) await kept.forget(key);
  const code = await show(session, answer, options, payment);
  if (answer.status >= 400) session.terminal.note(unknownOutcome(payment));
  return code;
}

const unknownOutcome = ({ amount }: KeptPayment): string =>
  `The payment of ${amount} USDC may have been taken. The same command presents the same payment, which can't be taken twice.`;

/** Reason of a refused payment, from the terms of its answer. */
function reasonOf({ headers }: CurlAnswer): string {
  try {
    const { error } = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString('utf8'));
    return typeof error === 'string' ? ` (${oneLine(error).slice(0, 200)})` : '';
  } catch {
    return '';
  }
}

async function show(
  { terminal }: Session,
  { status, headers, body }: CurlAnswer,
  { output }: CurlOptions,
  payment: KeptPayment | null,
): Promise<ExitCode> {
  const location = headers.get('location');
  if (output !== undefined) await writeFile(output, body);
  if (terminal.isJson || output !== undefined) {
    const paid = payment && { amount: payment.amount, to: payment.to, settlement: settlementOf(headers) };
    const shown = output === undefined ? { body: bodyOf(body) } : { output };
    terminal.result({ status, headers: Object.fromEntries(headers), ...shown, paid }, () => `Written to ${output}.`);
  } else if (terminal.columns === null) process.stdout.write(body);
  else terminal.item(null, () => `${withoutControls(body.toString('utf8'))}\n`);
  if (payment && status < 400) terminal.note(terminal.dim(`Paid ${payment.amount} USDC${transactionOf(headers)}`));
  if (location !== null && status >= 300 && status < 400) terminal.note(`Redirected to ${location}: request that URL.`);
  if (status >= 400) terminal.note(`The answer has the status ${status}.`);
  return status < 300 ? EXIT.done : EXIT.failed;
}

/** The body as JSON if it is, else as text. */
function bodyOf(body: Buffer): unknown {
  const text = body.toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function settlementOf(headers: Headers): unknown {
  try {
    return JSON.parse(Buffer.from(headers.get('payment-response') ?? '', 'base64').toString('utf8'));
  } catch {
    return null;
  }
}

function transactionOf(headers: Headers): string {
  const { transaction } = (settlementOf(headers) ?? {}) as { readonly transaction?: unknown };
  return typeof transaction === 'string' && /^0x[0-9a-f]{64}$/i.test(transaction) ? `: ${transaction}` : '';
}

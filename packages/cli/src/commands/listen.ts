import { createHmac, randomBytes } from 'node:crypto';
import type { EventType } from '@agent-network/contracts/events';
import type { StoredEvent } from '@agent-network/contracts/webhooks';
import type { Command } from 'commander';
import { action } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { listOf } from '../output/arguments.ts';
import { cleanUrl, type Session } from '../session.ts';
import { readEventTypes } from './webhooks.ts';

interface ListenOptions {
  readonly forwardTo?: string;
  readonly events?: string[];
  readonly printSecret?: boolean;
}

const FORWARD_TIMEOUT_MS = 15_000;

export function addListen(program: Command): void {
  program
    .command('listen')
    .option('--forward-to <url>', 'POST each event to this URL, as a webhook delivery')
    .option('--events <types>', 'comma-separated event types to show', listOf)
    .option('--print-secret', 'print the signing secret for forwarded events and exit')
    .description('events of the account as they happen; for testing webhooks without a public address')
    .action(action<[ListenOptions]>(listen));
}

async function listen(session: Session, { forwardTo, events, printSecret }: ListenOptions): Promise<ExitCode> {
  const { terminal, url } = session;
  const types = readEventTypes(events);
  const wanted: ReadonlySet<EventType> | null = types ? new Set(types) : null;
  const secret = await webhookSecret(session);
  if (printSecret) {
    terminal.result({ secret }, () => secret);
    return EXIT.done;
  }
  const target = forwardTo === undefined ? null : readTarget(forwardTo);
  const client = session.requireClient();
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  try {
    const onOpen = () =>
      terminal.status(
        { listening: url, forwardTo: target },
        `Listening to ${url}${target ? `, forwarding to ${target} signed with ${secret}` : ''}. Ctrl-C ends it.`,
      );
    for await (const event of client.followEvents({ signal: stop.signal, onOpen })) {
      if (wanted && !wanted.has(event.type)) continue;
      terminal.item(event, () => `${event.timestamp}  ${event.type}  ${event.eventId}\n`);
      if (target) await forward(session, target, secret, event);
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  return EXIT.interrupted;
}

/** The address as written: a trailing slash may be part of the receiver's path. */
function readTarget(text: string): string {
  cleanUrl(text);
  return new URL(text).href;
}

/** The secret of the profile, made at the first use, so that a receiver's settings stay good. */
async function webhookSecret({ store, profileName }: Session): Promise<string> {
  const { webhookSecret: kept } = await store.credentialsOf(profileName);
  if (kept) return kept;
  const made = `whsec_${randomBytes(24).toString('base64')}`;
  await store.saveCredentials(profileName, { webhookSecret: made });
  return made;
}

/** Headers and body of a delivery (Standard Webhooks 1.0). */
export function signedDelivery(secret: string, event: StoredEvent, nowS: number) {
  const { eventId, type, timestamp, data, sequence } = event;
  const body = JSON.stringify({ type, timestamp, data });
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${eventId}.${nowS}.${body}`).digest('base64');
  const headers = {
    'content-type': 'application/json',
    'webhook-id': eventId,
    'webhook-timestamp': String(nowS),
    'webhook-signature': `v1,${signature}`,
    'webhook-sequence': String(sequence),
  };
  return { headers, body };
}

async function forward({ terminal }: Session, target: string, secret: string, event: StoredEvent): Promise<void> {
  const { headers, body } = signedDelivery(secret, event, Math.floor(Date.now() / 1000));
  try {
    const signal = AbortSignal.timeout(FORWARD_TIMEOUT_MS);
    const response = await fetch(target, { method: 'POST', headers, body, signal, redirect: 'manual' });
    await response.body?.cancel();
    terminal.note(`  ${response.status} from ${target}`);
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    terminal.note(`  no answer from ${target}: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

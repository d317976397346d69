import { type EventType, eventTypes } from '@agent-network/contracts/events';
import { type Command, Option } from 'commander';
import { action, addList } from '../command.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-codes.ts';
import { integer, listOf } from '../output/arguments.ts';
import { formatTable } from '../output/table.ts';
import type { Session } from '../session.ts';

interface WebhookOptions {
  readonly url?: string;
  readonly events?: string[];
  readonly description?: string;
  readonly status?: 'enabled' | 'disabled';
}

interface DeliveriesOptions {
  readonly limit: number;
  readonly status?: 'pending' | 'delivered' | 'failed';
}

export function addWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('webhook endpoints of the account; see also "listen"');
  addList(webhooks).description('all endpoints').action(action(list));
  webhooks
    .command('create')
    .argument('<url>', 'URL that events are sent to')
    .option('--events <types>', 'comma-separated event types (default: all)', listOf)
    .option('--description <text>')
    .description('create an endpoint; its signing secret is printed')
    .action(action<[string, WebhookOptions]>(create));
  webhooks
    .command('update')
    .argument('<webhook>', 'its id')
    .option('--url <url>')
    .option('--events <types>', 'comma-separated event types', listOf)
    .option('--description <text>')
    .addOption(new Option('--status <status>').choices(['enabled', 'disabled']))
    .description('change an endpoint')
    .action(action<[string, WebhookOptions]>(update));
  webhooks
    .command('delete')
    .argument('<webhook>', 'its id')
    .description('delete an endpoint; asks first, or needs --yes')
    .action(action<[string]>(remove));
  webhooks
    .command('test')
    .argument('<webhook>', 'its id')
    .description('send a test event now; exit code 1 if it did not arrive')
    .action(action<[string]>(test));
  webhooks
    .command('deliveries')
    .argument('<webhook>', 'its id; "account" for the webhookUrl of single requests')
    .addOption(new Option('--limit <count>').argParser(integer(1, 100)).default(20))
    .addOption(new Option('--status <status>').choices(['pending', 'delivered', 'failed']))
    .description('what was sent to an endpoint, newest first')
    .action(action<[string, DeliveriesOptions]>(deliveries));
  webhooks
    .command('replay')
    .argument('<webhook>', 'its id')
    .option('--delivery <delivery>', 'only this one (default: all that failed)')
    .description('send deliveries again')
    .action(action<[string, { delivery?: string }]>(replay));
  webhooks
    .command('secret')
    .argument('<webhook>', 'its id; "account" for the webhookUrl of single requests')
    .description('the signing secret of an endpoint')
    .action(action<[string]>(secret));
}

/** Throws for an event type that does not exist. */
export function readEventTypes(events: string[] | undefined): EventType[] | undefined {
  const wrong = events?.find((type) => !(eventTypes as readonly string[]).includes(type));
  if (wrong !== undefined) throw new CommandError(`There is no event "${wrong}". Events: ${eventTypes.join(', ')}.`);
  return events as EventType[] | undefined;
}

const fieldsOf = ({ url, events, description, status }: WebhookOptions) => {
  const types = readEventTypes(events);
  return {
    ...(url === undefined ? {} : { url }),
    ...(types === undefined ? {} : { eventTypes: types }),
    ...(description === undefined ? {} : { description }),
    ...(status === undefined ? {} : { status }),
  };
};

async function list(session: Session): Promise<void> {
  const { webhooks } = await session.requireClient().listWebhooks();
  const { terminal } = session;
  terminal.result(webhooks, () =>
    webhooks.length === 0
      ? 'No webhooks. Create one with "agentnet webhooks create <url>".'
      : formatTable(
          webhooks,
          [
            { title: 'WEBHOOK', value: (each) => each.webhookId },
            { title: 'URL', value: (each) => each.url, isFlexible: true },
            { title: 'EVENTS', value: (each) => each.eventTypes?.join(',') ?? 'all', isFlexible: true },
            { title: 'STATUS', value: (each) => (each.failingSince ? `${each.status}, failing` : each.status) },
          ],
          terminal.columns,
        ),
  );
}

async function create(session: Session, url: string, options: WebhookOptions): Promise<void> {
  const made = await session.requireClient().createWebhook({ body: { ...fieldsOf(options), url } });
  session.terminal.result(made, () => made.secret);
  session.terminal.note(`${made.webhookId}: deliveries are signed with this secret.`);
}

async function update(session: Session, webhookId: string, options: WebhookOptions): Promise<void> {
  const body = fieldsOf(options);
  if (Object.keys(body).length === 0) throw new CommandError('Nothing to change. Pass a field, for example --url.');
  const changed = await session.requireClient().updateWebhook({ params: { webhookId }, body });
  session.terminal.result(changed, () => `Updated ${webhookId}.`);
}

async function remove(session: Session, webhookId: string): Promise<void> {
  const client = session.requireClient();
  await session.confirm(`Delete the webhook ${webhookId}? Events are not sent to it any more.`);
  const removed = await client.deleteWebhook({ params: { webhookId } });
  session.terminal.result(removed, () => `Deleted ${webhookId}.`);
}

async function test(session: Session, webhookId: string): Promise<ExitCode> {
  const sent = await session.requireClient().testWebhook({ params: { webhookId } });
  const attempt = sent.attempts.at(-1);
  session.terminal.result(sent, () =>
    sent.status === 'delivered'
      ? `Delivered: the endpoint answered ${attempt?.status}.`
      : `Not delivered: ${attempt?.error ?? `the endpoint answered ${attempt?.status ?? 'nothing'}`}.`,
  );
  return sent.status === 'delivered' ? EXIT.done : EXIT.failed;
}

async function deliveries(session: Session, webhookId: string, { limit, status }: DeliveriesOptions): Promise<void> {
  const page = await session.requireClient().listDeliveries({ params: { webhookId }, query: { limit, status } });
  const { terminal } = session;
  terminal.result(page, () =>
    page.deliveries.length === 0
      ? 'No deliveries.'
      : formatTable(
          page.deliveries,
          [
            { title: 'DELIVERY', value: (each) => each.deliveryId },
            { title: 'CREATED', value: (each) => each.createdAt.slice(0, 19).replace('T', ' ') },
            { title: 'TYPE', value: (each) => each.type },
            { title: 'STATUS', value: (each) => each.status },
            { title: 'ATTEMPTS', value: (each) => String(each.attempts.length), alignsRight: true },
            { title: 'LAST ANSWER', value: (each) => lastAnswer(each.attempts.at(-1)), isFlexible: true },
          ],
          terminal.columns,
        ),
  );
}

const lastAnswer = (attempt: { status: number | null; error: string | null } | undefined): string =>
  attempt === undefined ? '' : (attempt.error ?? String(attempt.status ?? ''));

async function replay(session: Session, webhookId: string, { delivery }: { delivery?: string }): Promise<void> {
  const body = delivery === undefined ? { status: 'failed' as const } : { deliveryId: delivery };
  const { replayed, ...rest } = await session.requireClient().replayWebhook({ params: { webhookId }, body });
  session.terminal.result({ ...rest, replayed }, () => `${replayed} deliveries are sent again.`);
}

async function secret(session: Session, webhookId: string): Promise<void> {
  const found = await session.requireClient().getWebhookSecret({ params: { webhookId } });
  session.terminal.result(found, () => found.secret);
}

import { CommandError, EXIT } from '../exit-codes.ts';
import { oneLine } from '../output/table.ts';
import type { Session } from '../session.ts';
import type { Proposal } from './openapi-operation.ts';
import { probe } from './probe.ts';
import { headersFor, readTarget, type Target, type TargetOptions, urlOf } from './target.ts';

/**
 * Finds out what an endpoint is by asking it, and serves it so after a confirmation. Throws `CommandError` with what to type when it does
 * not tell.
 */
export async function proposeTarget(session: Session, named: string, options: TargetOptions): Promise<Target> {
  const { env, terminal } = session;
  const url = urlOf(named);
  if (!url) throw new CommandError(`"${oneLine(named)}" is not a URL.`);
  terminal.progress(`Asking ${url.host} what it is …`);
  const probed = await probe(url, headersFor(options, env));
  terminal.progress('');
  if (probed.kind === 'silent')
    throw new CommandError(`Nothing answers at ${url.host}. Start the service first.`, {
      ...{ code: 'UNREACHABLE', exitCode: EXIT.failed },
    });
  if (probed.kind === 'several')
    throw new CommandError(
      `This service describes several operations. Serve one of them:\n${probed.urls.map((each) => `  ${commandOf(named, { found: '', url: each, options: {} })}`).join('\n')}`,
    );
  if (probed.kind === 'unknown') throw new CommandError(`${url.host} does not say what it is. ${whatToType(named)}`);
  const { proposal } = probed;
  await session.confirm(`${oneLine(proposal.found)}. Serve it so? ${commandOf(named, proposal)}`);
  const merged = { ...options, ...proposal.options };
  return readTarget(proposal.url, merged.protocol ?? 'http-template', merged, env);
}

const whatToType = (named: string): string => {
  const template = { body: '{"text":"{{task}}"}', result: '/text' };
  return `Which protocol does this URL use? Pass --protocol openai, mcp or a2a. For any other HTTP service say what it takes and where its result is: ${commandOf(named, { found: '', url: named, options: template })} For a program: agentnet serve -- <program>. More: /docs/existing-endpoints.`;
};

/** This command line with the URL and the options of a proposal. */
function commandOf(named: string, { url, options }: Proposal): string {
  const given = process.argv.slice(2).map((each) => (each === named ? url : each));
  return ['agentnet', ...given, ...argumentsOf(options)].map(quoted).join(' ');
}

function argumentsOf({ protocol, model, method, query = [], body, contentType, result }: Partial<TargetOptions>) {
  const named = { protocol, model, method, body, 'content-type': contentType, result };
  return [
    ...Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
    ...query.flatMap((pair) => ['--query', pair]),
  ];
}

/** An argument as a shell reads it. */
const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${oneLine(text).replaceAll("'", `'\\''`)}'`;

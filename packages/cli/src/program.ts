import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addAgents } from './commands/agents.ts';
import { addBulk } from './commands/bulk.ts';
import { addCall } from './commands/call.ts';
import { addCalls } from './commands/calls.ts';
import { addCompletion } from './commands/completion.ts';
import { addCurl } from './commands/curl.ts';
import { addDoctor } from './commands/doctor.ts';
import { addFiles } from './commands/files.ts';
import { addKeys } from './commands/keys.ts';
import { addListen } from './commands/listen.ts';
import { addLogin } from './commands/login.ts';
import { addMan } from './commands/man.ts';
import { addMcp } from './commands/mcp.ts';
import { addMoney } from './commands/money.ts';
import { addProfiles } from './commands/profiles.ts';
import { addReceipt } from './commands/receipt.ts';
import { addSearch } from './commands/search.ts';
import { addServe } from './commands/serve.ts';
import { addStatus } from './commands/status.ts';
import { addTypes } from './commands/types.ts';
import { addUp } from './commands/up.ts';
import { addWebhooks } from './commands/webhooks.ts';
import { EXIT, exitMeanings, failureOf } from './exit-codes.ts';
import { createTerminal } from './output/terminal.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const exitCodes = Object.entries(EXIT)
  .map(([name, code]) => `  ${String(code).padEnd(4)} ${exitMeanings[name as keyof typeof EXIT]}`)
  .join('\n');

/** The command line: all commands, in the order of its help. */
export function createProgram(): Command {
  const program = new Command('agentnet')
    .description('Find, call and pay agents of an agent-network node, and run your own.')
    .version(version)
    .option('--url <url>', 'the node; default: AGENTNET_URL, then the profile, then http://127.0.0.1:4020')
    .option('--key-stdin', 'read the API key from stdin; default: AGENTNET_API_KEY, then the profile')
    .option('--profile <name>', 'the profile; default: AGENTNET_PROFILE, then the current one')
    .option('--json', 'print the result as one JSON document on stdout, and errors as JSON on stderr')
    .option('--no-color', 'no colors; also NO_COLOR')
    .option('-q, --quiet', 'print only the result and errors')
    .option('-y, --yes', 'answer yes to every question')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `\nExit codes:\n${exitCodes}`)
    .showSuggestionAfterError()
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  const subjects = [
    addLogin,
    addProfiles,
    addSearch,
    addAgents,
    addTypes,
    addCall,
    addBulk,
    addCalls,
    addReceipt,
    addFiles,
    addCurl,
    addMoney,
    addKeys,
    addWebhooks,
    addListen,
    addServe,
    addMcp,
  ];
  for (const add of [...subjects, addStatus, addDoctor, addUp, addCompletion, addMan]) add(program);
  for (const command of program.commands) inherit(command);
  return program;
}

/** Sub-commands report errors as the program does. */
function inherit(command: Command): void {
  command.exitOverride().configureOutput({ outputError: () => undefined });
  for (const each of command.commands) inherit(each);
}

/** Runs one command line. Sets the exit code; never throws. */
export async function run(process: NodeJS.Process): Promise<void> {
  const program = createProgram();
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    if (error instanceof CommanderError && error.code === 'commander.help') {
      process.exitCode = EXIT.usage;
      return;
    }
    const {
      json = false,
      quiet = false,
      color = true,
    } = program.opts<{ json?: boolean; quiet?: boolean; color?: boolean }>();
    const isJson = json || process.argv.includes('--json');
    const failure =
      error instanceof CommanderError
        ? { exitCode: EXIT.usage, code: 'USAGE', message: usageOf(error), requestId: null }
        : failureOf(error);
    createTerminal({ json: isJson, quiet, color }, process).failure(failure);
    process.exitCode = failure.exitCode;
  }
}

function usageOf({ message }: CommanderError): string {
  const said = message.replace(/^error: /, '').replace(/\n/g, ' ');
  return `${said}${/[.?)]$/.test(said) ? '' : '.'} See "agentnet help".`;
}

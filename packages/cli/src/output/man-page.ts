import type { Argument, Command } from 'commander';
import { EXIT, exitMeanings } from '../exit-codes.ts';

/** A word of roff text: a backslash, and a dot or quote at the start of a line, would be read as a request. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

const argumentOf = (argument: Argument): string => {
  const text = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${text}>` : `[${text}]`;
};

/** Commands that do something, in the order of the help, each with its full name. */
function leavesOf(command: Command, path: readonly string[] = []): { path: string; command: Command }[] {
  const own = command.registeredArguments.length > 0 || command.commands.length === 0;
  const below = command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
  return [...(own && path.length > 0 ? [{ path: path.join(' '), command }] : []), ...below];
}

const optionsOf = (command: Command): string[] =>
  command.options.flatMap(({ flags, description, defaultValue }) => {
    const isShown = defaultValue !== undefined && typeof defaultValue !== 'boolean' && !description.includes('default');
    const text = [description, isShown ? `default: ${String(defaultValue)}` : ''].filter(Boolean).join('; ');
    return ['.TP', `.B ${roff(flags)}`, roff(text)];
  });

const commandOf = ({ path, command }: { path: string; command: Command }): string[] => [
  `.SS ${roff([path, ...command.registeredArguments.map(argumentOf)].join(' '))}`,
  roff(command.description()),
  ...command.registeredArguments.flatMap((each) =>
    each.description ? ['.TP', `.I ${roff(each.name())}`, roff(each.description)] : [],
  ),
  ...optionsOf(command),
];

const environment = [
  ['AGENTNET_URL', 'The node; --url comes first.'],
  ['AGENTNET_API_KEY', 'The API key; --key-stdin comes first.'],
  ['AGENTNET_PROFILE', 'The profile; --profile comes first.'],
  ['AGENTNET_WALLET_KEY', 'Private key of the wallet that pays by x402, and that login --wallet signs in with.'],
  [
    'AGENTNET_CONFIG_DIR',
    'Folder of profiles and credentials; default: agentnet under XDG_CONFIG_HOME (~/.config), on Windows under APPDATA.',
  ],
  ['NO_COLOR', 'Without colors, if it is set.'],
] as const;

const exitStatus = Object.entries(EXIT).map(
  ([name, code]) => [String(code), exitMeanings[name as keyof typeof EXIT]] as const,
);

const list = (rows: readonly (readonly [string, string])[]) =>
  rows.flatMap(([name, text]) => ['.TP', `.B ${roff(name)}`, roff(text)]);

/** The manual of all commands, man(7), made from the same table as the help. */
export function manPage(program: Command, version: string): string {
  return `${[
    `.TH AGENTNET 1 "" "agentnet ${roff(version)}"`,
    '.SH NAME',
    `agentnet \\- ${roff(program.description())}`,
    '.SH SYNOPSIS',
    '.B agentnet',
    '[options] <command> [arguments]',
    '.SH DESCRIPTION',
    roff(
      'The result is on stdout, everything else on stderr. A call shows its price and asks first; without a terminal it needs --max-cost or --yes. Ctrl-C does not cancel a request: agentnet calls wait reads on.',
    ),
    '.SH OPTIONS',
    ...optionsOf(program),
    '.SH COMMANDS',
    ...leavesOf(program).flatMap(commandOf),
    '.SH ENVIRONMENT',
    ...list(environment),
    '.SH EXIT STATUS',
    ...list(exitStatus),
  ].join('\n')}\n`;
}

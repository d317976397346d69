import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { agentIdOf } from '../agent-id.ts';
import { action } from '../command.ts';
import { CommandError } from '../exit-codes.ts';
import { typeScriptOf } from '../output/type-writer.ts';
import type { Session } from '../session.ts';

export function addTypes(program: Command): void {
  program
    .command('types')
    .argument('<agent>', 'its id, slug or name')
    .option('-o, --output <file.ts>', 'write to this file instead of stdout')
    .description("TypeScript types of an agent's input and output")
    .action(action<[string, { output?: string }]>(writeTypes));
}

async function writeTypes(
  { client, terminal }: Session,
  agent: string,
  { output }: { output?: string },
): Promise<void> {
  const id = await agentIdOf({ client }, agent);
  const { name, types } = await client.getAgent({ params: { id } });
  if (!types) throw new CommandError('This agent declares no types.');
  const text = typeScriptOf({ id, name }, types);
  if (output !== undefined) await writeFile(output, text);
  terminal.result({ types, typescript: text }, () => (output === undefined ? text : `Written to ${output}.`));
}

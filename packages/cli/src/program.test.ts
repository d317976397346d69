import { spawnSync } from 'node:child_process';
import { type Command, CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { manPage } from './output/man-page.ts';
import { createProgram } from './program.ts';

const leavesOf = (command: Command, path: readonly string[] = []): { path: string[]; command: Command }[] => [
  ...(command.commands.length === 0 ? [{ path: [...path], command }] : []),
  ...command.commands.flatMap((each) => leavesOf(each, [...path, each.name()])),
];
const leaves = leavesOf(createProgram());

const errorOf = async (words: readonly string[]): Promise<unknown> => {
  const program = createProgram();
  for (const { command } of leavesOf(program)) command.action(() => undefined);
  return program.parseAsync(words, { from: 'user' }).then(
    () => null,
    (error: unknown) => error,
  );
};

describe('every command', () => {
  it.each(
    leaves
      .filter(({ command }) => command.registeredArguments.some(({ required }) => required))
      .map(({ path }) => path.join(' ')),
  )('%s refuses a line without its arguments', async (path) => {
    expect(await errorOf(path.split(' '))).toMatchObject({
      code: expect.stringMatching(/missing(Argument|MandatoryOptionValue)$/),
    });
  });

  it.each(leaves.map(({ path }) => path.join(' ')))('%s refuses an option that it does not have', async (path) => {
    const error = await errorOf([...path.split(' '), '--no-such-option']);
    expect(error).toBeInstanceOf(CommanderError);
    expect(error).toMatchObject({ code: expect.stringMatching(/(unknownOption|missingMandatoryOptionValue)$/) });
  });

  it.each(leaves.map(({ path, command }) => [path.join(' '), command.description()]))(
    '%s is described: %s',
    (_path, description) => expect(description).toMatch(/^\w.*[^.]$/),
  );
});

describe('the man page', () => {
  const program = createProgram();
  const page = manPage(program, '1.2.3');

  it('has every command, argument and option', () => {
    for (const { path, command } of leaves) {
      expect(page).toContain(`.SS ${path.join(' ').replaceAll('-', '\\-')}`);
      for (const { flags } of command.options) expect(page).toContain(`.B ${flags.replaceAll('-', '\\-')}`);
    }
  });

  const hasGroff = spawnSync('groff', ['--version']).status === 0;
  it.skipIf(!hasGroff)('is read by groff without a warning', () => {
    const { status, stderr } = spawnSync('groff', ['-man', '-Tascii', '-ww', '-z'], { input: page, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});

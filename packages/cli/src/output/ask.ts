import { confirm, isCancel, password, select, text } from '@clack/prompts';
import { CommandError, EXIT } from '../exit-codes.ts';

// Questions go to stderr: stdout carries the result only.
const output = process.stderr;

const interrupted = () => new CommandError('Interrupted.', { code: 'INTERRUPTED', exitCode: EXIT.interrupted });

export async function ask(question: string): Promise<boolean> {
  const answer = await confirm({ message: question, output });
  if (isCancel(answer)) throw interrupted();
  return answer;
}

export async function askText(question: string, isRequired = true): Promise<string> {
  const validate = (value: string | undefined) => (isRequired && !value ? 'Write something.' : undefined);
  const answer = await text({ message: question, output, validate });
  if (isCancel(answer)) throw interrupted();
  return answer ?? '';
}

export async function askSecret(question: string): Promise<string> {
  const answer = await password({ message: question, output });
  if (isCancel(answer)) throw interrupted();
  return answer;
}

export async function askChoice<T extends string>(
  question: string,
  choices: readonly { value: T; label: string }[],
): Promise<T> {
  const answer = await select<T>({ message: question, options: choices as never, output });
  if (isCancel(answer)) throw interrupted();
  return answer;
}

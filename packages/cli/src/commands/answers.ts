import { readFile } from 'node:fs/promises';
import type { InputRequest } from '@agent-network/contracts/invocations/turns';
import type { InputAnswer, OnInput } from '@agent-network/sdk';
import { CommandError, EXIT } from '../exit-codes.ts';
import { ask, askChoice, askText } from '../output/ask.ts';
import { oneLine, withoutControls } from '../output/table.ts';
import type { Session } from '../session.ts';

const DECLINE: InputAnswer = { action: 'decline' };

/**
 * Answers the questions of an agent: from `--answers`, in their order, else by asking the person; null: there is neither, so that the agent
 * is not allowed to ask.
 */
export async function answererOf({ terminal }: Session, answers: string | undefined): Promise<OnInput | null> {
  if (answers !== undefined) return fromList(await readAnswers(answers));
  return terminal.isInteractive ? askPerson : null;
}

function fromList(answers: readonly InputAnswer[]): OnInput {
  let next = 0;
  return ({ message }) => {
    const answer = answers[next++];
    if (answer) return answer;
    throw new CommandError(`The agent asks: "${oneLine(message)}". --answers has no answer number ${next}.`, {
      code: 'INPUT_REQUIRED',
      exitCode: EXIT.failed,
    });
  };
}

/** Reads `[{ "day": "Monday" }, "decline"]`, as text or from @FILE: one input per question, or "decline". */
async function readAnswers(text: string): Promise<InputAnswer[]> {
  const source = text.startsWith('@') ? await readFile(text.slice(1), 'utf8').catch(() => null) : text;
  if (source === null) throw new CommandError(`--answers: cannot read the file ${text.slice(1)}.`);
  const value = parse(source);
  if (!Array.isArray(value))
    throw new CommandError('--answers must be a JSON list: one object per question, or "decline".');
  return value.map((each) => answerOf(each, '--answers'));
}

function parse(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    throw new CommandError('--answers is not JSON. Write a list, or @FILE.');
  }
}

/** An answer from JSON: the input, or "decline". */
export function answerOf(value: unknown, name: string): InputAnswer {
  if (value === 'decline') return DECLINE;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new CommandError(`${name}: an answer is a JSON object, or "decline".`);
  return { action: 'accept', input: value as Record<string, unknown> };
}

/** Shows what the agent wrote, marked as its own words: it is text of a stranger. A link is never opened from here. */
async function askPerson(question: InputRequest): Promise<InputAnswer> {
  const { kind, message, url, schema } = question;
  process.stderr.write(`\nThe agent asks:\n${withoutControls(message).replaceAll(/^/gm, '  | ')}\n`);
  if (url !== undefined) {
    process.stderr.write(`It wants you to open a page of ${new URL(url).host}:\n  ${oneLine(url)}\n`);
    return (await ask('Done there?')) ? { action: 'accept' } : DECLINE;
  }
  if (kind === 'approval' && schema === undefined) return (await ask('Do you agree?')) ? { action: 'accept' } : DECLINE;
  if (!(await ask('Answer?'))) return DECLINE;
  if (schema === undefined) return { action: 'accept', message: await askText('Answer') };
  return { action: 'accept', input: await askFields(schema) };
}

interface Field {
  readonly type?: string;
  readonly title?: string;
  readonly enum?: readonly unknown[];
}

async function askFields(schema: Record<string, unknown>): Promise<Record<string, unknown>> {
  const fields = Object.entries((schema.properties ?? {}) as Record<string, Field>);
  const required = new Set(schema.required as readonly string[] | undefined);
  const input: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    const value = await askField(oneLine(field.title ?? name), field, required.has(name));
    if (value !== undefined) input[name] = value;
  }
  return input;
}

/** The value of one field; undefined: an optional one was left empty. */
async function askField(label: string, field: Field, isRequired: boolean): Promise<unknown> {
  if (field.type === 'boolean') return ask(label);
  if (field.enum?.length && field.enum.every((each) => typeof each === 'string'))
    return askChoice(
      label,
      field.enum.map((value) => ({ value, label: oneLine(value) })),
    );
  const text = await askText(isRequired ? label : `${label} (optional)`, isRequired);
  if (text === '') return undefined;
  if (field.type === 'string' || field.type === undefined) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

import type { InputAnswer, InputRequest } from '@agent-network/contracts/invocations/turns';
import { isObject } from '../../../lib/json/json-object.ts';

const isText = (schema: unknown): boolean =>
  isObject(schema) &&
  (schema.type === 'string' ||
    (schema.type === undefined &&
      Array.isArray(schema.enum) &&
      schema.enum.every((value: unknown) => typeof value === 'string')));

/** The only field of a schema, if it is a string; null: the schema is of another shape. */
export function onlyText(schema: InputRequest['schema']): string | null {
  const properties = isObject(schema?.properties) ? Object.entries(schema.properties) : [];
  const [only] = properties;
  return only && properties.length === 1 && isText(only[1]) ? only[0] : null;
}

/** A text as an answer: the value of the only field where that is a string, else a message to the agent. */
export function answerOfText(schema: InputRequest['schema'], text: string): Omit<InputAnswer, 'inputId'> {
  const field = onlyText(schema);
  return { action: 'accept', ...(field === null ? { message: text } : { input: { [field]: text } }) };
}

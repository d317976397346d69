import { ANSWER_TOKEN } from './a2a-call.ts';
import { invalidParam } from './errors.ts';
import { withoutPayment } from './payments.ts';
import { a2aMetadata, INPUT, INVOKE_EXTENSION } from './tasks.ts';
import { isSet, type Part, type SendMessage } from './wire.ts';

/** A message as the invocation that it asks for. */
export interface AskedInvocation {
  /** Body of POST /invoke/{agentId}: validated as there. */
  readonly body: Readonly<Record<string, unknown>> & { readonly task: string };
  readonly quoteId: string | undefined;
}

/** The task of a message without text. */
const SEE_INPUT = 'See the input.';

/** Fields of the extension that are fields of an invocation. */
const bodyFields = ['capability', 'maxCost', 'priority', 'deadline', 'context', 'interactive', 'inputTimeout'] as const;

/** Reads the invocation in a message. Throws INVALID_PARAMS with the field of the message. */
export function readMessage({ message, metadata = {}, configuration }: SendMessage): AskedInvocation {
  const all = { ...metadata, ...message.metadata };
  const {
    [INVOKE_EXTENSION]: ours,
    a2a: _ours,
    [INPUT]: _input,
    [ANSWER_TOKEN]: _token,
    ...theirs
  } = withoutPayment(all);
  const wanted = objectOf(ours) ?? {};
  if (isSet(ours) && !objectOf(ours))
    throw invalidParam(`message.metadata["${INVOKE_EXTENSION}"]`, 'must be an object');
  const { quoteId } = wanted;
  if (isSet(quoteId) && typeof quoteId !== 'string') throw invalidParam('quoteId', 'must be a string');
  const texts = message.parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []));
  const joined = texts.join('\n');
  return {
    body: {
      task: joined.trim() === '' ? SEE_INPUT : joined,
      input: inputOf(message.parts),
      // Clients of this protocol know tasks that wait for them.
      interactive: true,
      metadata: {
        ...theirs,
        ...a2aMetadata({ ...message, wantsText: wantsText(configuration?.acceptedOutputModes ?? []) }),
      },
      ...Object.fromEntries(
        bodyFields.flatMap((name) => (isSet(wanted[name]) ? [[name, asGiven(name, wanted[name])]] : [])),
      ),
    },
    quoteId: (quoteId as string | null | undefined) ?? undefined,
  };
}

/** True for a client that takes text and no JSON. */
const wantsText = (modes: readonly string[]): boolean =>
  modes.some((mode) => /^text(\/(plain|\*|markdown))?\s*(;|$)/i.test(mode)) &&
  !modes.some((mode) => /json|^\*\/\*/i.test(mode));

/** Amounts are decimal strings; clients of ProtoJSON may write numbers. */
const asGiven = (name: string, value: unknown) =>
  name === 'maxCost' && typeof value === 'number' ? String(value) : value;

const objectOf = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : null;

/** The first data part that is an object. Other parts that are neither it nor text become its `parts`. */
export function inputOf(parts: readonly Part[]): Readonly<Record<string, unknown>> {
  const first = parts.find(({ data }) => objectOf(data));
  const further = parts.filter((part) => part !== first && typeof part.text !== 'string').map(shownPart);
  const input = objectOf(first?.data) ?? {};
  if (further.length === 0) return input;
  if (Object.hasOwn(input, 'parts'))
    throw invalidParam(
      'message.parts',
      'has further parts, and the first data has a field "parts" where they would stand',
    );
  return { ...input, parts: further };
}

function shownPart({ raw, url, data, filename, mediaType, $file }: Part) {
  const content = isSet($file) ? { $file } : isSet(raw) ? { raw } : isSet(url) ? { url } : { data };
  return {
    ...content,
    ...(filename === undefined ? {} : { filename }),
    ...(mediaType === undefined ? {} : { mediaType }),
  };
}

import { createLineEnds } from '@agent-network/contracts/line-ends';
import { type AgentCall, AgentError } from '@agent-network/sdk/agent';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { CommandError } from '../exit-codes.ts';
import { type Backend, hasInput, isObject, type Json } from './backend.ts';
import { below, Endpoint, failed, type Headers, readJson } from './endpoint-client.ts';

const CHECK_MS = 10_000;

/** Chat completions of an endpoint that speaks the OpenAI API. Throws `CommandError` if it does not serve the model. */
export async function openaiBackend(base: URL, headers: Headers, named?: string): Promise<Backend> {
  const endpoint = new Endpoint(headers);
  const model = await chooseModel(endpoint, base, named);
  const url = below(base, 'chat/completions');
  return {
    async run(call) {
      const { signal, isStreamed } = call;
      const options = isStreamed ? { stream_options: { include_usage: true } } : {};
      const body = { model, messages: messagesOf(call), stream: isStreamed, ...options };
      const response = await endpoint.send(url, { body, signal });
      if (isStreamed) return deltasOf(endpoint, response, call);
      return readCompletion(await readJson(response, signal), call);
    },
    close: async () => undefined,
  };
}

async function chooseModel(endpoint: Endpoint, base: URL, named?: string): Promise<string> {
  const signal = AbortSignal.timeout(CHECK_MS);
  const listed = await endpoint
    .send(below(base, 'models'), { signal })
    .then((response) => readJson(response, signal))
    .catch((error: unknown): never => {
      throw new CommandError(`GET ${base.pathname}/models: ${error instanceof Error ? error.message : String(error)}`);
    });
  const models = (Array.isArray(listed.data) ? listed.data : []).flatMap((each) =>
    isObject(each) && typeof each.id === 'string' ? [each.id] : [],
  );
  const model = named ?? (models.length === 1 ? models[0] : undefined);
  if (model === undefined) throw new CommandError('Name the model with --model: the endpoint does not have just one.');
  if (!models.includes(model)) throw new CommandError(`The endpoint does not list the model ${model}.`);
  return model;
}

function messagesOf(call: AgentCall): unknown {
  const { task, context, input } = call;
  if (Array.isArray(input.messages) && input.messages.length > 0) return input.messages;
  const user = { role: 'user', content: hasInput(call) ? `${task}\n\n${JSON.stringify(input)}` : task };
  return context ? [{ role: 'system', content: context }, user] : [user];
}

/** The result. Tells the node its usage, which pays an agent with a price by usage. */
function resultOf(call: AgentCall, text: string, finishReason: unknown, { usage, model }: Json) {
  const name = typeof model === 'string' ? { model } : {};
  if (isObject(usage)) call.used({ ...usage, ...name });
  return {
    text,
    finishReason: typeof finishReason === 'string' ? finishReason : null,
    usage: isObject(usage) ? usage : null,
    model: name.model ?? null,
  };
}

const choiceOf = ({ choices }: Json): Json => {
  const first: unknown = Array.isArray(choices) ? choices[0] : null;
  return isObject(first) ? first : {};
};

function readCompletion(value: Json, call: AgentCall) {
  const { message, finish_reason: finishReason } = choiceOf(value);
  if (!isObject(message) || typeof message.content !== 'string') throw failed('The endpoint answered without a text.');
  return resultOf(call, message.content, finishReason, value);
}

/** Yields the pieces of a streamed completion; returns the whole. */
async function* deltasOf(endpoint: Endpoint, response: Response, call: AgentCall): AsyncGenerator<string, unknown> {
  const { signal } = call;
  if (!response.body) throw failed('The endpoint answered without a body.');
  const events = response.body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .pipeThrough(inLf())
    .pipeThrough(new EventSourceParserStream());
  let text = '';
  let finishReason: unknown = null;
  const about: { usage?: unknown; model?: unknown } = {};
  try {
    for await (const { data } of events) {
      if (data.trim() === '[DONE]') break;
      const value = parseEvent(data);
      if (value.error) throw failed(`The endpoint failed${endpoint.reasonOf(value.error)}.`);
      const { delta, finish_reason: reason } = choiceOf(value);
      finishReason = reason ?? finishReason;
      about.usage = value.usage ?? about.usage;
      about.model = value.model ?? about.model;
      const piece = isObject(delta) ? delta.content : undefined;
      if (typeof piece !== 'string' || piece === '') continue;
      text += piece;
      yield piece;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof AgentError ? error : failed('The endpoint broke off its stream.');
  }
  if (finishReason === null) throw failed('The endpoint ended its stream before its answer.');
  return resultOf(call, text, finishReason, about);
}

/** Has each line end in LF. */
function inLf(): TransformStream<string, string> {
  const toLf = createLineEnds();
  return new TransformStream({ transform: (piece, controller) => controller.enqueue(toLf(piece)) });
}

function parseEvent(data: string): Json {
  try {
    const value: unknown = JSON.parse(data);
    if (isObject(value)) return value;
  } catch {
    // Falls to the error below.
  }
  throw failed('The endpoint streamed an event that is not a JSON object.');
}

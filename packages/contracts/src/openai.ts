import { z } from 'zod';

const Part = z.looseObject({ type: z.string().optional(), text: z.string().optional() });
const Content = z.union([z.string(), z.array(Part).max(1000)]).nullish();

/** One message of a conversation, in the form of chat completions and of responses alike. */
export const Message = z.looseObject({ role: z.string().max(64).optional(), content: Content });
export type Message = z.output<typeof Message>;

/** Fields of both requests besides the conversation. `model` is an agent's id; `max_cost` is an extension, in USDC. */
const common = {
  model: z.string().min(1).max(200),
  stream: z.boolean().nullish(),
  max_cost: z.union([z.string().max(32), z.number()]).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  interactive: z.boolean().nullish(),
};

/** Body of POST /v1/chat/completions; other fields go to the agent unchanged. */
export const ChatRequest = z.looseObject({
  ...common,
  messages: z.array(Message).min(1).max(2000),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, 'must be 1: an agent gives one answer').nullish(),
});

const Item = z.looseObject({ type: z.string().optional() }).and(Message);
/** Body of POST /v1/responses; other fields go to the agent unchanged. */
export const ResponseRequest = z.looseObject({
  ...common,
  input: z.union([z.string(), z.array(Item).min(1).max(2000)]),
  instructions: z.string().nullish(),
  previous_response_id: z.string().max(200).nullish(),
  background: z.boolean().nullish(),
});

import { z } from 'zod';
import { plainText } from '../scalars.ts';
import { TEXT_RESULT, templateContentTypes, templateMethods } from './http-template.ts';

/** The protocols in which the node calls agents. `http` is the node's own contract. */
export const agentProtocols = ['http', 'http-template', 'a2a', 'openai', 'mcp', 'mip-003'] as const;
export type AgentProtocol = (typeof agentProtocols)[number];

export const AgentProtocolName = z
  .enum(agentProtocols)
  .describe(
    'Protocol of the endpoint: `http` (the contract of this node), `http-template` (any HTTP service, by a template of its requests), `a2a`, `openai`, `mcp` or `mip-003`. Default: `http`.',
  );

/** Placeholder for the value of a header that is stored and never shown. */
export const HIDDEN_VALUE = '***';

const HeaderName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is not a header name');
const HeaderValue = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be visible ASCII characters');
const Headers = z
  .record(HeaderName, HeaderValue)
  .refine((headers) => Object.keys(headers).length <= 16, 'names more than 16 headers');
const Tool = plainText(200)
  .min(1)
  .meta({ examples: ['summarize'] });
const Model = plainText(200)
  .min(1)
  .meta({ examples: ['gpt-5-mini'] });

const Method = z.enum(templateMethods);
const Path = z.string().max(1024);
const Body = plainText(16_384);
const ContentType = z.enum(templateContentTypes);
const Result = plainText(512);

const example = { headers: { 'X-Team': 'blue' } };

const PLACEHOLDERS = '`{{task}}`, `{{input}}` and `{{input/name}}`, a JSON pointer into the input';

/** The way in which the node calls the endpoint, at registration. */
export const Upstream = z
  .object({
    tool: Tool.optional().describe('mcp: the tool to call. Default: the only tool of the server.'),
    model: Model.optional().describe('openai: the model to ask. Required.'),
    method: Method.optional().describe('http-template: default `POST` with a body, else `GET`.'),
    path: Path.optional().describe(
      `http-template: added to the path of the endpoint, with a query after \`?\`. May hold ${PLACEHOLDERS}; values are percent-encoded. Default: none.`,
    ),
    body: Body.optional().describe(
      `http-template: the body, as a JSON text. Its texts may hold ${PLACEHOLDERS}; a placeholder that is a whole text becomes the value itself. Default: no body.`,
    ),
    contentType: ContentType.optional().describe('http-template: form of the body. Default: `application/json`.'),
    result: Result.optional().describe(
      `http-template: JSON pointer to the result in the answer, or \`${TEXT_RESULT}\` for an answer that is the result. Default: the whole JSON answer.`,
    ),
    headers: Headers.optional().describe(
      "Headers of every call, such as `Authorization`. Sent to the endpoint's origin only. Values are stored encrypted and never shown.",
    ),
  })
  .meta({ examples: [example] });

/** Fields of an upstream in an update; omitted ones stay. */
export const UpstreamUpdate = z
  .object({
    tool: Tool.nullable().optional(),
    model: Model.nullable().optional(),
    method: Method.nullable().optional(),
    path: Path.nullable().optional(),
    body: Body.nullable().optional(),
    contentType: ContentType.nullable().optional(),
    result: Result.nullable().optional(),
    headers: Headers.optional().describe('Replaces all headers; the value `***` keeps the stored one.'),
  })
  .meta({ examples: [example] });
export type UpstreamUpdate = z.output<typeof UpstreamUpdate>;

/** The owner's view. */
export const OwnUpstream = z
  .object({
    tool: z.string().nullable(),
    model: z.string().nullable(),
    method: Method.optional().describe('This and the next four: http-template only.'),
    path: z.string().optional(),
    body: z.string().nullable().optional(),
    contentType: ContentType.optional(),
    result: z.string().optional(),
    headers: z.record(z.string(), z.literal(HIDDEN_VALUE)).describe('Names of the headers; values are never shown.'),
  })
  .meta({ examples: [{ tool: null, model: null, headers: { 'X-Team': HIDDEN_VALUE } }] });

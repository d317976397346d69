import type { Endpoint } from '@agent-network/contracts/endpoint';
import { valuesOf } from '@agent-network/contracts/openapi/openapi-values';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** The part of an operation of the OpenAPI document that a sample is made of. */
interface SampledOperation {
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly example?: unknown }>> };
}

/** One call, to show in each language. */
export interface SampleCall {
  readonly name: string;
  readonly method: string;
  /** With the values of its parameters. */
  readonly path: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** A content that is sent as it is; undefined: none. */
  readonly content: string | undefined;
  /** True if the answer is a content, and no JSON. */
  readonly answersContent: boolean;
  /** The environment variable with the credential; none for calls that need no key. */
  readonly secret: 'AGENT_NETWORK_KEY' | 'IDENTITY_TOKEN' | undefined;
  readonly isStream: boolean;
}

export interface Sample {
  readonly language: 'curl' | 'TypeScript' | 'Python';
  readonly code: string;
}

/** Headers without which a call shows less than a reader wants. */
const usefulHeaders: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  invokeAgent: { 'x-sync': 'true' },
  invokeAuto: { 'x-sync': 'true' },
  putFile: { 'content-type': 'text/plain' },
  createFile: { 'content-type': 'text/plain' },
};
/** The content with the SHA-256 that stands as the example of one. */
const CONTENT = 'hello';

function exampleOfParameter(name: string, schema: Parameter['schema'] | undefined): unknown {
  const [example] = (schema?.examples ?? []) as unknown[];
  return example ?? valuesOf(name).find((value) => value !== null);
}

/** The sample call of a row; null for calls that only the node's own pages can make. */
export function sampleCall(name: string, row: Endpoint, operation: SampledOperation): SampleCall | null {
  if (row.sameOrigin) return null;
  const names = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, each = '']) => each);
  const inPath = operation.parameters.filter((each): each is Parameter => 'in' in each && each.in === 'path');
  const params = Object.fromEntries(names.map((each, at) => [each, exampleOfParameter(each, inPath[at]?.schema)]));
  return {
    name,
    method: row.method,
    path: row.path.replace(/\{(\w+)\}/g, (_place, each: string) => encodeURIComponent(String(params[each]))),
    params,
    headers: { ...usefulHeaders[name], ...(row.stream === 'always' ? { accept: 'text/event-stream' } : {}) },
    body: operation.requestBody?.content?.['application/json']?.example,
    content: row.bytes === 'sent' ? CONTENT : undefined,
    answersContent: row.bytes === 'answered',
    secret: secretOf(row),
    isStream: row.stream === 'always',
  };
}

function secretOf({ auth, keyless }: Endpoint): SampleCall['secret'] {
  if (auth === 'none' || keyless === 'pays') return undefined;
  return auth === 'agent' ? 'IDENTITY_TOKEN' : 'AGENT_NETWORK_KEY';
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

const titled = (name: string) => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

function curl({ method, path, headers, body, content, secret, isStream }: SampleCall, baseUrl: string): string {
  const lines = [
    `curl${isStream ? ' -N' : ''}${method === 'GET' ? '' : ` -X ${method}`} ${quoted(baseUrl + path)}`,
    ...(secret ? [`-H "Authorization: Bearer $${secret}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${titled(name)}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`]),
    ...(content === undefined ? [] : [`--data-binary ${quoted(content)}`]),
  ];
  return lines.join(' \\\n  ');
}

function withSdk(call: SampleCall, baseUrl: string): string {
  const { name, params, headers, body, content, secret, isStream } = call;
  const parts = {
    ...(Object.keys(params).length > 0 ? { params } : {}),
    ...(Object.keys(headers).length > 0 && !isStream ? { headers } : {}),
    ...(body === undefined ? {} : { body }),
  };
  const json = Object.keys(parts).length > 0 ? literal(parts, typescript) : '';
  const bytes = `, body: new TextEncoder().encode(${literal(content ?? '', typescript)}) }`;
  const given = content === undefined ? json : json.replace(/,?\s*}$/, bytes);
  const client = [`baseUrl: ${literal(baseUrl, typescript)}`, ...(secret ? [`apiKey: process.env.${secret}`] : [])];
  const use = isStream
    ? `for await (const event of client.${name}(${given})) console.log(event);`
    : `const answer = await client.${name}(${given});\nconsole.log(answer);`;
  return `// npm install ${baseUrl}/sdk.tgz\nimport { createClient } from '@agent-network/sdk';\n\nconst client = createClient({ ${client.join(', ')} });\n${use}`;
}

function withPython(
  { method, path, headers, body, content, answersContent, secret, isStream }: SampleCall,
  baseUrl: string,
): string {
  const sent = [
    ...(secret ? [`"Authorization": f"Bearer {os.environ['${secret}']}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `"${titled(name)}": ${literal(value, python)}`),
    ...(body === undefined ? [] : ['"Content-Type": "application/json"']),
  ];
  const modules = ['json', ...(secret ? ['os'] : []), 'urllib.request'].filter(
    (each) => each !== 'json' || body !== undefined || !(isStream || answersContent),
  );
  const read = isStream
    ? ['for line in answer:', '    print(line.decode().rstrip())']
    : [answersContent ? 'print(answer.read())' : 'print(json.load(answer)["data"])'];
  return [
    `import ${modules.join(', ')}`,
    '',
    ...(body === undefined ? [] : [`body = ${literal(body, python)}`]),
    'request = urllib.request.Request(',
    `  "${baseUrl}${path}",`,
    ...(method === 'GET' ? [] : [`  method="${method}",`]),
    ...(sent.length === 0 ? [] : [`  headers={${sent.join(', ')}},`]),
    ...(body === undefined ? [] : ['  data=json.dumps(body).encode(),']),
    ...(content === undefined ? [] : [`  data=b${literal(content, python)},`]),
    ')',
    'with urllib.request.urlopen(request) as answer:',
    ...read.map((line) => `    ${line}`),
  ].join('\n');
}

/** A complete sample of the call in each language. */
export const samplesOf = (call: SampleCall, baseUrl: string): Sample[] => [
  { language: 'curl', code: curl(call, baseUrl) },
  { language: 'TypeScript', code: withSdk(call, baseUrl) },
  { language: 'Python', code: withPython(call, baseUrl) },
];

/** The words of a language for JSON's values. */
interface Notation {
  readonly key: (name: string) => string;
  readonly text: (value: string) => string;
  readonly words: Readonly<Record<'null' | 'true' | 'false', string>>;
  /** An object on one line has a space inside its braces. */
  readonly gap: '' | ' ';
}

const WIDTH = 90;

const typescript: Notation = {
  key: (name) => (/^[a-z_]\w*$/i.test(name) ? name : singleQuoted(name)),
  text: singleQuoted,
  words: { null: 'null', true: 'true', false: 'false' },
  gap: ' ',
};

/** Escapes of JSON are escapes of Python too. */
const python: Notation = {
  key: (name) => JSON.stringify(name),
  text: (value) => JSON.stringify(value),
  words: { null: 'None', true: 'True', false: 'False' },
  gap: '',
};

function singleQuoted(value: string): string {
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** A JSON value as a literal of a language; on one line while it is short. `indent` precedes every line after the first. */
function literal(value: unknown, notation: Notation, indent = ''): string {
  if (typeof value === 'string') return notation.text(value);
  if (value === null || typeof value === 'boolean') return notation.words[`${value}`];
  if (typeof value !== 'object') return String(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((each) => literal(each, notation, inner))
    : Object.entries(value as object).map(([name, each]) => `${notation.key(name)}: ${literal(each, notation, inner)}`);
  const [open, close, gap] = isList ? ['[', ']', ''] : ['{', '}', notation.gap];
  if (parts.length === 0) return open + close;
  const line = open + gap + parts.join(', ') + gap + close;
  if (line.length + indent.length <= WIDTH && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

import { randomUUID } from 'node:crypto';
import { Message } from '@a2a-js/sdk';
import * as a2a from '@a2a-js/sdk/client';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newContent, sha256Of } from '../../files/support/file-actions.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient } from '../../support/treasury.ts';

let h: Harness;
let agent: TestAgent;
let buyer: Client;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
  buyer = await newClient(h, '2.00');
});
beforeEach(() => {
  agent.calls.length = 0;
});
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

const picture = newContent(120_000);
const pictureId = `sha256:${sha256Of(picture)}`;
const drawn = { text: 'A picture.', picture: `data:image/png;base64,${picture.toString('base64')}` };

const withKey: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set('authorization', `Bearer ${buyer.key}`);
  return fetch(input, { ...init, headers });
};

/** As anybody fetches it, without a key. */
async function fetched(url: string): Promise<Buffer> {
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

it('A2A: large parts of a message become files of the caller, and files of a result are parts', async () => {
  agent.behave(answerWith(200, { result: drawn }));
  const factory = new a2a.ClientFactory({
    ...a2a.ClientFactoryOptions.default,
    transports: [new a2a.JsonRpcTransportFactory({ fetchImpl: withKey })],
    cardResolver: new a2a.DefaultAgentCardResolver({ fetchImpl: withKey }),
  });
  const client = await factory.createFromUrl(`${h.baseUrl}/a2a/${agent.id}/`, '.well-known/agent-card.json');
  const sent = newContent(90_000);
  const small = newContent(100);
  const message = Message.fromJSON({
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [
      { text: 'draw' },
      { raw: sent.toString('base64'), mediaType: 'audio/wav', filename: 'a.wav' },
      { raw: small.toString('base64'), mediaType: 'audio/wav' },
      { url: 'https://files.example/b.png', mediaType: 'image/png' },
    ],
  });
  const task = (await client.sendMessage({ message } as never)) as unknown as {
    artifacts: { parts: { content?: { $case: string; value: unknown }; mediaType?: string; filename?: string }[] }[];
  };
  const { input } = agent.calls[0]?.body ?? {};
  expect(input.parts).toMatchObject([
    { $file: `sha256:${sha256Of(sent)}`, mediaType: 'audio/wav', name: 'a.wav', size: 90_000 },
    { raw: small.toString('base64') },
    { url: 'https://files.example/b.png', mediaType: 'image/png' },
  ]);
  expect((await fetched(input.parts[0].url)).equals(sent)).toBe(true);
  const parts = task.artifacts[0]?.parts ?? [];
  expect(parts).toHaveLength(3);
  const last = parts[2];
  expect(last).toMatchObject({ content: { $case: 'url' }, mediaType: 'image/png' });
  expect((await fetched(String(last?.content?.value))).equals(picture)).toBe(true);
  expect(JSON.stringify(parts[1])).toContain(pictureId);
});

it('MCP: a file is uploaded by a tool, and files of a result are links, small images besides', async () => {
  agent.behave(answerWith(200, { result: drawn }));
  const client = new McpClient({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${buyer.key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${h.baseUrl}/mcp`), { requestInit }));
  const sent = newContent(2000);
  const upload = { name: 'a.wav', mediaType: 'audio/wav', data: sent.toString('base64') };
  const { structuredContent: stored } = await client.callTool({ name: 'upload_file', arguments: upload });
  expect(stored).toMatchObject({
    fileId: `sha256:${sha256Of(sent)}`,
    name: 'a.wav',
    mediaType: 'audio/wav',
    size: 2000,
  });
  const input = { sound: { $file: (stored as { fileId: string }).fileId } };
  const call = { agentId: agent.id, task: 'draw', maxCost: '0.05', input };
  const { content, structuredContent } = await client.callTool({ name: 'invoke_agent', arguments: call });
  expect((await fetched(agent.calls[0]?.body.input.sound.url)).equals(sent)).toBe(true);
  const [text, link, image, ...others] = content as { type: string; uri?: string; data?: string }[];
  expect([text?.type, others]).toEqual(['text', []]);
  expect(link).toMatchObject({ type: 'resource_link', name: 'file', mimeType: 'image/png', size: 120_000 });
  expect((await fetched(link?.uri ?? '')).equals(picture)).toBe(true);
  expect(image).toEqual({ type: 'image', data: picture.toString('base64'), mimeType: 'image/png' });
  const { requestId } = structuredContent as { requestId: string };
  // Deleted: the record and its link stay, the image does not.
  await h.request('DELETE', `/files/${pictureId}`, { key: buyer.key });
  const again = await client.callTool({ name: 'get_invocation', arguments: { requestId } });
  expect((again.content as { type: string }[]).map(({ type }) => type)).toEqual(['text', 'resource_link']);
  for (const wrong of [{ data: 'a'.repeat(700_004) }, { data: '?' }, { mediaType: 'none' }])
    expect((await client.callTool({ name: 'upload_file', arguments: { ...upload, ...wrong } })).isError).toBe(true);
  await client.close();
});

it('OpenAI: files are uploaded, listed and removed by the stock client, named in a chat, and those of a result are linked', async () => {
  agent.behave(answerWith(200, { result: drawn }));
  const client = new OpenAI({ baseURL: `${h.baseUrl}/v1`, apiKey: buyer.key, maxRetries: 0 });
  const sent = newContent(700_000);
  const file = await client.files.create({
    file: await toFile(sent, 'a b.pdf', { type: 'application/pdf' }),
    purpose: 'user_data',
    expires_after: { anchor: 'created_at', seconds: 3600 },
  });
  const id = `file-${sha256Of(sent)}`;
  expect(file).toMatchObject({ id, object: 'file', bytes: 700_000, filename: 'a b.pdf', status: 'processed' });
  expect((file.expires_at ?? 0) - file.created_at).toBe(3600);
  expect((await client.files.retrieve(id)).bytes).toBe(700_000);
  expect(Buffer.from(await (await client.files.content(id)).arrayBuffer()).equals(sent)).toBe(true);
  const small = await client.files.create({ file: await toFile(newContent(10), 'c'), purpose: 'vision' });
  const listed: string[] = [];
  for await (const each of client.files.list({ limit: 1 })) listed.push(each.id);
  expect(listed).toContain(id);
  expect(listed[0]).toBe(small.id);

  const chat = await client.chat.completions.create({
    model: agent.id,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'draw' },
          { type: 'file', file: { file_id: id } },
        ],
      },
    ],
  });
  const [, part] = agent.calls[0]?.body.input.messages[0].content ?? [];
  expect(part.file).toMatchObject({ file_id: id, mediaType: 'application/pdf', name: 'a b.pdf', size: 700_000 });
  expect((await fetched(part.file.url)).equals(sent)).toBe(true);
  const [shown] = (chat as unknown as { agent_network: { files: { id: string; url: string }[] } }).agent_network.files;
  expect(shown).toMatchObject({ id: `file-${sha256Of(picture)}`, media_type: 'image/png', size: 120_000 });
  expect(chat.choices[0]?.message.content).toBe(`A picture.\n\n![file](${shown?.url})`);
  expect((await fetched(shown?.url ?? '')).equals(picture)).toBe(true);

  const response = await client.responses.create({
    model: agent.id,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'draw' },
          { type: 'input_image', file_id: small.id, detail: 'auto' },
        ],
      },
    ],
  });
  expect(agent.calls[1]?.body.input.messages[0].content[1]).toMatchObject({
    $file: small.id.replace('file-', 'sha256:'),
  });
  expect(response.output_text).toContain('![file](');
  const stream = await client.chat.completions.create({
    model: agent.id,
    messages: [{ role: 'user', content: 'x' }],
    stream: true,
  });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  expect(text).toContain('![file](');

  expect(await client.files.delete(id)).toMatchObject({ id, deleted: true });
  await expect(client.files.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
  const stranger = client.withOptions({ apiKey: (await h.newAccount()).key });
  await expect(stranger.files.retrieve(small.id)).rejects.toThrow(OpenAI.NotFoundError);
  const post = (body: string, type = 'multipart/form-data; boundary=x') =>
    fetch(`${h.baseUrl}/v1/files`, {
      method: 'POST',
      body,
      headers: { 'content-type': type, authorization: `Bearer ${buyer.key}` },
    });
  const field = (name: string) => `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n1\r\n`;
  for (const body of [
    '',
    '--x--',
    '--x\r\n\r\n',
    field('file'),
    `${field('purpose')}--x--`,
    `${field('a').repeat(17)}--x--`,
  ])
    expect((await post(body)).status).toBe(400);
  expect((await post('{}', 'application/json')).status).toBe(400);
});

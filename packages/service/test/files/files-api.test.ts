import { connect, type Socket } from 'node:net';
import { createClient } from '@agent-network/sdk';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { rawRequest } from '../support/raw-request.ts';
import { until } from '../support/until.ts';
import {
  holdRemovals,
  newContent,
  nothingStored,
  processWith,
  removeNow,
  sha256Of,
  storedFiles,
} from './support/file-actions.ts';

const FILES_HOST = 'files.example.com';

let h: Harness;
let account: TestAccount;
let node: ReturnType<typeof processWith>;
beforeAll(async () => {
  h = await startHarness({ env: { FILES_BASE_URL: `http://${FILES_HOST}` } });
  await holdRemovals(h);
  account = await h.newAccount();
  node = processWith(h, {});
});
afterAll(() => h.stop());

const contentOf = (sha256: string) => `/files/${sha256}/content`;

async function put(body: Buffer<ArrayBuffer>, headers: Record<string, string> = {}, key = account.key) {
  const sha256 = sha256Of(body);
  const answer = await h.request('PUT', `/files/${sha256}`, { key, text: body, headers });
  return { ...answer, sha256 };
}

/** Sends the beginning of an upload over a connection of its own. */
function beginUpload(body: Uint8Array, { key = account.key, length = body.byteLength, sha256 = sha256Of(body) } = {}) {
  const socket: Socket = connect(Number(new URL(h.baseUrl).port), '127.0.0.1');
  let text = '';
  socket.on('data', (part) => {
    text += part;
  });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(
    `PUT /files/${sha256} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${length}\r\n\r\n`,
  );
  return { socket, text: () => text };
}

describe('a file', () => {
  it('is stored once: 201, then 200; read with its facts; deleted', async () => {
    const body = newContent(5000);
    const first = await put(body, {
      'content-type': 'IMAGE/png; x=1',
      'content-disposition': 'attachment; filename="a.png"',
    });
    expect([first.status, first.body.data]).toEqual([
      201,
      {
        ...{ fileId: `sha256:${first.sha256}`, size: 5000, mediaType: 'image/png', name: 'a.png' },
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
      },
    ]);
    const { createdAt, expiresAt } = first.body.data;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(7 * 86_400_000);
    expect((await put(body, { 'content-type': 'application/octet-stream' })).status).toBe(200);
    for (const id of [first.sha256, `sha256:${first.sha256}`]) {
      const { status, body: answer } = await h.request('GET', `/files/${id}`, { key: account.key });
      // The last upload had no type and no name of its own.
      expect([status, answer.data.mediaType, answer.data.name]).toEqual([200, 'image/png', 'a.png']);
    }
    expect((await storedFiles(h, account.accountId))?.files).toBe(1);
    expect((await h.request('DELETE', `/files/${first.sha256}`, { key: account.key })).body.data.deleted).toBe(true);
    expect((await h.request('GET', `/files/${first.sha256}`, { key: account.key })).status).toBe(404);
    await removeNow(h);
    expect(await storedFiles(h, account.accountId)).toEqual(nothingStored);
  });

  it('is stored without a hash by POST, and kept as long as is asked', async () => {
    const body = newContent(10);
    const sent = await h.request('POST', '/files?expiresIn=3600', { key: account.key, text: body });
    expect([sent.status, sent.body.data.fileId]).toEqual([201, `sha256:${sha256Of(body)}`]);
    const { createdAt, expiresAt } = sent.body.data;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(3_600_000);
    expect((await h.request('POST', '/files?expiresIn=3599', { key: account.key, text: body })).status).toBe(400);
    await h.ctx.db.query('', `update file set expires_at = now() - interval '1 second' where sha256 = $1`, [
      Buffer.from(sha256Of(body), 'hex'),
    ]);
    await removeNow(h);
    expect((await h.request('GET', `/files/${sha256Of(body)}`, { key: account.key })).status).toBe(404);
    expect(await storedFiles(h, account.accountId)).toEqual(nothingStored);
  });

  it('may be empty', async () => {
    const sent = await put(Buffer.alloc(0), { 'content-length': '0' });
    expect([sent.status, sent.body.data.size]).toEqual([201, 0]);
    const { status, bytes } = await node.call('GET', contentOf(sent.sha256), { key: account.key });
    expect([status, bytes.byteLength]).toEqual([200, 0]);
    await h.request('DELETE', `/files/${sent.sha256}`, { key: account.key });
  });

  it('is listed, newest first, in pages', async () => {
    const owner = await h.newAccount();
    const ids: string[] = [];
    for (let nth = 0; nth < 5; nth++) ids.unshift((await put(newContent(10), {}, owner.key)).body.data.fileId);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await h.request('GET', `/files?limit=2${cursor && `&cursor=${cursor}`}`, { key: owner.key });
      seen.push(...body.data.files.map(({ fileId }: { fileId: string }) => fileId));
      cursor = body.data.nextCursor;
    }
    expect(seen).toEqual(ids);
  });
});

it('the SDK stores and reads bytes', async () => {
  const client = createClient({ baseUrl: h.baseUrl, apiKey: account.key });
  const body = new Uint8Array(newContent(70_000));
  const { fileId } = await client.createFile({ body, headers: { 'content-type': 'audio/wav' } });
  expect(await client.putFile({ params: { sha256: fileId }, body })).toMatchObject({ fileId, mediaType: 'audio/wav' });
  expect(Buffer.from(await client.getFileContent({ params: { fileId } })).equals(body)).toBe(true);
  const params = { fileId: sha256Of(newContent(1)) };
  await expect(client.getFileContent({ params })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await client.deleteFile({ params: { fileId } });
});

describe('a content is read', () => {
  let sha256: string;
  const body = Buffer.from('0123456789');
  const read = (headers: Record<string, string>, method = 'GET') =>
    node.call(method, contentOf(sha256), { key: account.key, headers });
  beforeAll(async () => {
    ({ sha256 } = await put(body, { 'content-type': 'text/plain' }));
  });

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=8-', 206, '89', 'bytes 8-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=0-999999999999', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=5-4', 200, '0123456789', null],
    ['bytes=0-1,3-4', 200, '0123456789', null],
    ['lines=0-1', 200, '0123456789', null],
    ['bytes=99999999999999999999-', 200, '0123456789', null],
  ])('by range: %s', async (range, status, text, contentRange) => {
    const answer = await read({ range });
    expect([answer.status, answer.bytes.toString(), answer.headers.get('content-range')]).toEqual([
      status,
      text,
      contentRange,
    ]);
  });

  it('with an entity tag: 304 to whoever has it, and the whole to whoever has another', async () => {
    const etag = `"${sha256}"`;
    expect((await read({})).headers.get('etag')).toBe(etag);
    const known = await read({ 'if-none-match': `"x", ${etag}` });
    expect([known.status, known.bytes.byteLength]).toEqual([304, 0]);
    expect((await read({ range: 'bytes=0-1', 'if-range': etag })).status).toBe(206);
    expect((await read({ range: 'bytes=0-1', 'if-range': '"another"' })).status).toBe(200);
  });

  it('by HEAD, without its bytes', async () => {
    const { status, headers, text } = await rawRequest(h.baseUrl, {
      method: 'HEAD',
      path: contentOf(sha256),
      headers: { authorization: `Bearer ${account.key}` },
    });
    expect([status, headers['content-length'], text]).toEqual([200, '10', '']);
  });

  it('through a link without a key, until its end, for this content only', async () => {
    const { url } = (await h.request('GET', `/files/${sha256}`, { key: account.key })).body.data;
    const link = new URL(url);
    expect(link.host).toBe(FILES_HOST);
    const path = link.pathname + link.search;
    expect((await node.call('GET', path)).bytes.toString()).toBe('0123456789');
    const other = await put(newContent(10));
    const wrong = [
      path.replace(sha256, other.sha256),
      path.replace(/exp=\d+/, (exp) => `exp=${Number(exp.slice(4)) + 1}`),
      path.replace(/sig=./, (sig) => `sig=${sig.endsWith('A') ? 'B' : 'A'}`),
      path.replace(/&exp=\d+/, ''),
    ];
    for (const each of wrong) expect((await node.call('GET', each)).status, each).toBe(404);
    const now = h.ctx.clock.now();
    const clock = { now: () => new Date(now.getTime() + 3_601_000) };
    expect((await processWith(h, { clock }).call('GET', path)).status).toBe(404);
    await h.request('DELETE', `/files/${sha256}`, { key: account.key });
    expect((await node.call('GET', path)).status).toBe(404);
    ({ sha256 } = await put(body, { 'content-type': 'text/plain' }));
    // The link was to the content that was deleted.
    expect((await node.call('GET', path)).status).toBe(404);
  });

  it('at its own origin, where nothing else is', async () => {
    const { url } = (await h.request('GET', `/files/${sha256}`, { key: account.key })).body.data;
    const { pathname, search } = new URL(url);
    const at = (path: string, method = 'GET') => rawRequest(h.baseUrl, { path, method, headers: { host: FILES_HOST } });
    expect((await at(pathname + search)).status).toBe(200);
    for (const path of ['/', '/agents', '/dashboard/', '/docs', `/files/${sha256}`, '/openapi.json', '/livez'])
      expect((await at(path)).status, path).toBe(404);
    expect((await at('/auth/session', 'POST')).status).toBe(404);
    expect((await at(pathname, 'DELETE')).status).toBe(404);
  });
});

describe('nothing of a stranger runs at the origin of the node:', () => {
  const polyglot = Buffer.from('GIF89a/*\x01\x00*/=1;alert(document.domain)//');
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  it.each([
    ['text/html', '<script>alert(1)</script>', 'application/octet-stream'],
    ['application/xhtml+xml', '<html/>', 'application/octet-stream'],
    ['image/svg+xml', svg, 'application/octet-stream'],
    ['text/xml', svg, 'application/octet-stream'],
    ['application/javascript', 'alert(1)', 'application/octet-stream'],
    ['text/css', '*{}', 'application/octet-stream'],
    ['multipart/x-mixed-replace', '--x', 'application/octet-stream'],
    ['application/x-shockwave-flash', 'FWS', 'application/octet-stream'],
    ['text/html;charset=utf-7', '+ADw-script+AD4-', 'application/octet-stream'],
    ['image/gif', polyglot.toString('latin1'), 'image/gif'],
    ['text/plain', '<script>alert(1)</script>', 'text/plain; charset=utf-8'],
    ['application/pdf', '%PDF-1.7 <script>', 'application/pdf'],
    ['image/jpg', 'x', 'image/jpeg'],
  ])('%s', async (type, text, shown) => {
    const { sha256 } = await put(Buffer.from(text, 'latin1'), {
      'content-type': type,
      'content-disposition': 'inline; filename="a.html"',
    });
    const { headers } = await node.call('GET', contentOf(sha256), { key: account.key });
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': shown,
      'x-content-type-options': 'nosniff',
      'content-disposition': "attachment; filename*=UTF-8''a.html",
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-site',
      'referrer-policy': 'no-referrer',
    });
    await h.request('DELETE', `/files/${sha256}`, { key: account.key });
  });

  it.each([
    ['attachment; filename="../../etc/passwd"', 'passwd'],
    ['attachment; filename="C:\\\\x\\\\a.txt"', 'a.txt'],
    ["attachment; filename*=UTF-8''%E2%82%AC%20rates.txt; filename=x", '€ rates.txt'],
    ["attachment; filename*=UTF-8''a%0d%0aSet-Cookie%3A%20x", 'aSet-Cookie: x'],
    ["attachment; filename*=UTF-8''invoice%E2%80%AEfdp.exe", 'invoicefdp.exe'],
    ["attachment; filename*=UTF-8''%E0%A4%A", null],
    ['attachment; filename=".."', null],
    ['attachment', null],
  ])('the name of %s', async (disposition, name) => {
    const { body, sha256 } = await put(Buffer.from('x'), { 'content-disposition': disposition });
    expect(body.data.name).toBe(name);
    await h.request('DELETE', `/files/${sha256}`, { key: account.key });
  });
});

describe('of another account', () => {
  it('neither status nor answer tells what it has', async () => {
    const body = newContent(1000);
    const { sha256 } = await put(body, { 'content-type': 'image/png' });
    const stranger = await h.newAccount();
    for (const path of [`/files/${sha256}`, contentOf(sha256)]) {
      const known = await h.request('GET', path, { key: stranger.key });
      const unknown = await h.request('GET', path.replace(sha256, sha256Of(newContent(9))), { key: stranger.key });
      const told = ({ status, body: { error } }: typeof known) => ({ status, ...error, requestId: '' });
      expect(told(known)).toEqual(told(unknown));
      expect(known.status).toBe(404);
    }
    expect((await h.request('DELETE', `/files/${sha256}`, { key: stranger.key })).status).toBe(404);
    // The first upload of an account is new, and all of it is read, whoever else has the content.
    expect((await put(body, {}, stranger.key)).status).toBe(201);
    await h.request('DELETE', `/files/${sha256}`, { key: account.key });
    await removeNow(h);
    const { bytes } = await node.call('GET', contentOf(sha256), { key: stranger.key });
    expect(bytes.equals(body)).toBe(true);
  });

  it('an agent has files of its own, apart from those of its owner, that count for the account', async () => {
    const { startTestAgent } = await import('../support/test-agent.ts');
    const owner = await h.newAccount();
    const agent = await startTestAgent(h, { owner });
    const mine = await put(newContent(100), {}, owner.key);
    expect((await h.request('GET', `/files/${mine.sha256}`, { key: agent.identityToken })).status).toBe(404);
    const its = await put(newContent(100), {}, agent.identityToken);
    expect(its.status).toBe(201);
    expect((await h.request('GET', `/files/${its.sha256}`, { key: owner.key })).status).toBe(404);
    expect((await storedFiles(h, owner.accountId))?.counted).toBe(2 * (100 + 1024));
    await agent.die();
  });
});

describe('refused, with nothing kept or counted:', () => {
  let owner: TestAccount;
  beforeAll(async () => {
    owner = await h.newAccount();
  });
  const expectNothing = async () => {
    await removeNow(h);
    expect(await storedFiles(h, owner.accountId)).toEqual(nothingStored);
  };
  const send = (path: string, body: Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
    h.request('PUT', path, { key: owner.key, text: body, headers });

  it('a content with another hash than the path or Content-Digest says', async () => {
    const body = newContent(300_000);
    const other = sha256Of(newContent(9));
    const digest = (hex: string) => ({ 'content-digest': `sha-256=:${Buffer.from(hex, 'hex').toString('base64')}:` });
    const answers = [
      await send(`/files/${other}`, body),
      await send(`/files/${sha256Of(body)}`, body, digest(other)),
      await h.request('POST', '/files', { key: owner.key, text: body, headers: digest(other) }),
    ];
    expect(answers.map(({ status, body: { error } }) => [status, error.code])).toEqual(
      Array(3).fill([422, 'DIGEST_MISMATCH']),
    );
    await expectNothing();
    expect((await send(`/files/${sha256Of(body)}`, body, digest(sha256Of(body)))).status).toBe(201);
    await h.request('DELETE', `/files/${sha256Of(body)}`, { key: owner.key });
    await expectNothing();
  });

  it('one without a length, with an encoding, or with malformed headers', async () => {
    const body = newContent(100);
    const path = `/files/${sha256Of(body)}`;
    const chunked = await rawRequest(h.baseUrl, {
      method: 'PUT',
      path,
      headers: { authorization: `Bearer ${owner.key}`, 'transfer-encoding': 'chunked' },
    });
    expect([chunked.status, JSON.parse(chunked.text).error.code]).toEqual([411, 'LENGTH_REQUIRED']);
    const wrong: Record<string, string>[] = [
      { 'content-encoding': 'gzip' },
      { 'content-type': 'nonsense' },
      { 'content-type': 'text/html\u00e4' },
      { 'content-digest': 'sha-256=:short:' },
      { 'content-digest': `sha-256=${'a'.repeat(43)}=` },
    ];
    for (const headers of wrong) expect((await send(path, body, headers)).body.error.code).toBe('VALIDATION_ERROR');
    expect((await send('/files/nonsense', body)).status).toBe(400);
    expect((await send(`/files/${sha256Of(body).toUpperCase()}`, body)).status).toBe(400);
    await expectNothing();
  });

  it('one larger than the limit, before a byte of it is read; its connection ends', async () => {
    const { socket, text } = beginUpload(Buffer.from('x'), { key: owner.key, length: 16 * 1024 * 1024 + 1 });
    await until(async () => socket.destroyed || socket.readableEnded);
    expect(text()).toMatch(/^HTTP\/1.1 413 .*"PAYLOAD_TOO_LARGE"/s);
    await expectNothing();
  });

  it('one that is cut off, or whose key is revoked while it arrives', async () => {
    const body = newContent(2_000_000);
    const { socket } = beginUpload(body, { key: owner.key });
    socket.write(body.subarray(0, 1_000_000));
    await until(async () => ((await storedFiles(h, owner.accountId))?.pieces ?? 0) > 2);
    socket.destroy();
    await until(async () => (await storedFiles(h, owner.accountId))?.counted === 0);
    await expectNothing();

    const { keyId, apiKey } = (
      await h.request('POST', '/account/keys', { key: owner.key, body: { name: 'x', scopes: ['invoke'] } })
    ).body.data;
    const upload = beginUpload(body, { key: apiKey });
    upload.socket.write(body.subarray(0, 1_000_000));
    await until(async () => ((await storedFiles(h, owner.accountId))?.pieces ?? 0) > 2);
    await h.request('DELETE', `/account/keys/${keyId}`, { key: owner.key });
    upload.socket.write(body.subarray(1_000_000));
    await until(async () => upload.text().includes('"UNAUTHORIZED"'));
    await expectNothing();
  });

  it('the third upload of an account at a time', async () => {
    const body = newContent(100_000);
    for (const nth of [1, 2]) {
      beginUpload(body.subarray(nth), { key: owner.key }).socket.write(body.subarray(nth, 50_000));
      await until(async () => (await storedFiles(h, owner.accountId))?.blobs === nth);
    }
    const third = await send(`/files/${sha256Of(body)}`, body);
    expect([third.status, third.body.error.details.type]).toEqual([429, 'uploads']);
    // Uploads of a process that died are given up after their time.
    await h.ctx.db.query('', `update file_blob set due_at = now() - interval '1 second' where account_id = $1`, [
      owner.accountId,
    ]);
    await removeNow(h);
    expect((await send(`/files/${sha256Of(body)}`, body)).status).toBe(201);
    await h.request('DELETE', `/files/${sha256Of(body)}`, { key: owner.key });
    await expectNothing();
  });

  it('whatever does not fit into the storage of the plan, however many are sent at a time', async () => {
    const free = await h.newAccount({ plan: 'free' });
    const limits = { ...h.ctx.storageLimits, free: 1_000_000 };
    const small = processWith(h, { storageLimits: limits });
    const bodies = [newContent(600_000), newContent(600_000)];
    const upload = (body: Buffer<ArrayBuffer>) =>
      small.call('PUT', `/files/${sha256Of(body)}`, { key: free.key, body });
    const answers = await Promise.all(bodies.map(upload));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403]);
    const refused = answers.find(({ status }) => status === 403);
    expect(refused?.body.error).toMatchObject({
      code: 'STORAGE_LIMIT_EXCEEDED',
      details: { storedBytes: 601_024, limitBytes: 1_000_000 },
    });
    // What is there already may be sent again.
    const kept = bodies.find((_, at) => answers[at]?.status === 201) as Buffer<ArrayBuffer>;
    expect((await upload(kept)).status).toBe(200);
    expect((await storedFiles(h, free.accountId))?.counted).toBe(601_024);
    const other = bodies.find((body) => body !== kept) as Buffer<ArrayBuffer>;
    expect((await small.call('DELETE', `/files/${sha256Of(kept)}`, { key: free.key })).status).toBe(200);
    expect((await upload(other)).status).toBe(201);
  });
});

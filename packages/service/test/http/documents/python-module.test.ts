import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { type Harness, newWallet, type TestAccount } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { untilStatus } from '../../support/test-agent.ts';
import { type Client, newClient, untilUsdc } from '../../support/treasury.ts';
import { filled, snippetsOf } from '../gateways/guide-snippets.ts';

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
const PRICE = 10_000n;

describe.skipIf(!hasPython)('the module for Python (needs python3 of 3.9 or later)', () => {
  let h: Harness;
  let owner: TestAccount;
  let buyer: Client;
  let python: ChildProcess;
  let port: number;
  let agentId: string;

  beforeAll(async () => {
    h = await borrowHarness();
    [owner, buyer] = [await h.newAccount(), await newClient(h, '1')];
    port = await freePort(0);
    const { status, body } = await h.request('GET', '/python/agent_network.py');
    expect(status).toBe(200);
    writeFileSync(join(h.dataDir, 'agent_network.py'), body);
    const serving = snippetsOf('guides/python-module.md', 'python').find((code) => code.includes('@agent(')) ?? '';
    writeFileSync(
      join(h.dataDir, 'shouter.py'),
      filled(serving, { 'http://127.0.0.1:4020': h.baseUrl, '8801': `${port}` }),
    );
    python = spawn('python3', ['shouter.py'], {
      cwd: h.dataDir,
      env: { ...process.env, AGENT_NETWORK_KEY: owner.key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(python.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    agentId = /serving (agt_\w+)/.exec(String(said))?.[1] ?? '';
    await untilStatus(h, agentId, 'online');
  });
  afterAll(async () => {
    if (python && python.exitCode === null) {
      python.kill('SIGKILL');
      await once(python, 'exit');
    }
    // Other files of tests look for a shouter at the same node.
    await h?.request('DELETE', `/agents/${agentId}`, { key: owner.key });
    await h?.stop();
  });

  /** Runs Python with the module, and returns what it printed as JSON, by line. */
  async function run(code: string, env: Record<string, string> = {}) {
    const { stdout } = await promisify(execFile)(
      'python3',
      ['-c', `import json\nfrom agent_network import *\n${code}`],
      {
        cwd: h.dataDir,
        env: { ...process.env, NODE_URL: h.baseUrl, AGENT: agentId, KEY: buyer.key, ...env },
        timeout: 150_000,
      },
    );
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  }
  const client = `import os\nclient = Client(os.environ["NODE_URL"], os.environ["KEY"])\nagent_id = os.environ["AGENT"]\n`;
  const snippet = async (index: number, env: Record<string, string>) => {
    const code = snippetsOf('guides/python-module.md', 'python')[index] ?? '';
    const { stdout } = await promisify(execFile)(
      'python3',
      ['-c', filled(code, { 'http://127.0.0.1:4020': h.baseUrl })],
      {
        cwd: h.dataDir,
        env: { ...process.env, ...env },
      },
    );
    return stdout.trim();
  };
  const spent = async () => {
    const { available } = (await h.request('GET', '/payments/balance', { key: buyer.key })).body.data;
    return Math.round((1 - Number(available)) * 1e6);
  };

  describe('a wallet', () => {
    it('signs as viem does, under the deterministic nonce', async () => {
      const keys = ['1', 'f'.repeat(63), ...Array.from({ length: 6 }, () => randomBytes(32).toString('hex').slice(1))];
      const digests = keys.map(() => randomBytes(32).toString('hex'));
      const code = `import agent_network as a
for key, digest in json.loads(os.environ["CASES"]):
    number = int(key, 16)
    print(json.dumps([a.address_of(number), a.sign_digest(number, bytes.fromhex(digest)).hex()]))`;
      const cases = JSON.stringify(keys.map((key, at) => [key, digests[at]]));
      const said = await run(`import os\n${code}`, { CASES: cases });
      const expected = await Promise.all(
        keys.map(async (key, at) => {
          const account = privateKeyToAccount(`0x${key.padStart(64, '0')}`);
          return [account.address, (await account.sign({ hash: `0x${digests[at]}` })).slice(2)];
        }),
      );
      expect(said).toEqual(expected);
    });

    it('makes the digest of the typed data, for names and amounts of any length', async () => {
      const account = privateKeyToAccount(`0x${randomBytes(32).toString('hex')}`);
      const domain = {
        name: 'USD Coin – Ünïcode'.repeat(20),
        version: '2',
        chainId: 84_532,
        verifyingContract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      } as const;
      const message = {
        from: account.address,
        to: '0x1111111111111111111111111111111111111111',
        value: 123_456_789_012_345_678n,
        validAfter: 0n,
        validBefore: 2n ** 40n,
        nonce: `0x${'ab'.repeat(32)}`,
      } as const;
      const fields = ['address from', 'address to', 'uint256 value', 'uint256 validAfter', 'uint256 validBefore'];
      const types = {
        TransferWithAuthorization: [...fields, 'bytes32 nonce'].map((field) => {
          const [type = '', name = ''] = field.split(' ');
          return { type, name };
        }),
      };
      const signature = await account.signTypedData({
        domain,
        types,
        primaryType: 'TransferWithAuthorization',
        message,
      });
      const offer = {
        network: 'eip155:84532',
        asset: domain.verifyingContract,
        extra: { name: domain.name, version: domain.version },
      };
      const authorization = Object.fromEntries(Object.entries(message).map(([name, value]) => [name, `${value}`]));
      const code = `import os, agent_network as a
offer, authorization, signature, address = json.loads(os.environ["CASE"])
digest, raw = a.transfer_digest(offer, authorization), bytes.fromhex(signature[2:])
point = a._recovered(digest, int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:64], "big"), raw[64] - 27)
print(json.dumps(a._checksummed(a.keccak256(b"".join(each.to_bytes(32, "big") for each in point))[12:]) == address))`;
      expect(await run(code, { CASE: JSON.stringify([offer, authorization, signature, account.address]) })).toEqual([
        true,
      ]);
    });

    it('signs by eth_account where it is installed, and sends no signature of another key', async () => {
      const code = `import sys, types, agent_network as a
payer = Payer("11" * 32, max_per_call="1")
digest = a.keccak256(b"a payment")
for key in (payer._key, payer._key + 1):
    account = types.SimpleNamespace(unsafe_sign_hash=lambda digest, _: types.SimpleNamespace(signature=a.sign_digest(key, digest)))
    sys.modules["eth_account"] = types.SimpleNamespace(Account=account)
    try:
        print(json.dumps(payer._sign(digest) == a.sign_digest(payer._key, digest)))
    except RuntimeError as error:
        print(json.dumps(str(error)))`;
      expect(await run(code)).toEqual([true, 'a signature does not fit its key; nothing was paid']);
    });

    it('signs nothing that it should not, and says why', async () => {
      const good = {
        scheme: 'exact',
        network: 'eip155:84532',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        payTo: '0x1111111111111111111111111111111111111111',
        amount: '50000',
        maxTimeoutSeconds: 300,
        extra: { name: 'USDC', version: '2' },
      };
      const cases = {
        above_cap: [{ ...good, amount: '50001' }],
        unknown_asset: [
          { ...good, asset: '0x1111111111111111111111111111111111111111' },
          { ...good, network: 'eip155:1' },
          { ...good, scheme: 'upto' },
          { ...good, maxTimeoutSeconds: 3601 },
          { ...good, maxTimeoutSeconds: -1 },
          { ...good, payTo: '0x11' },
          { ...good, payTo: `${good.payTo}\n` },
          { ...good, amount: '-1' },
          { ...good, amount: 50_000 },
          { ...good, extra: { ...good.extra, assetTransferMethod: 'permit2' } },
          { ...good, extra: { name: 'USDC' } },
          { ...good, extra: null },
          null,
          'x',
        ],
      };
      const headers = Object.values(cases)
        .flat()
        .map((offer) => Buffer.from(JSON.stringify({ x402Version: 2, accepts: [offer] })).toString('base64'));
      const bad = ['', 'e30=', '!', Buffer.from('{"x402Version":1,"accepts":[]}').toString('base64')];
      const goodHeader = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [good] })).toString('base64url');
      const code = `import os
payer = Payer("11" * 32, max_per_call="0.05", max_total="0.12")
for header in json.loads(os.environ["HEADERS"]):
    try:
        payer.pay(header)
        print(json.dumps("signed"))
    except PaymentRefused as error:
        print(json.dumps(error.reason))`;
      const said = await run(code, { HEADERS: JSON.stringify([...headers, ...bad, ...Array(3).fill(goodHeader)]) });
      expect(said).toEqual([
        'above_cap',
        ...cases.unknown_asset.map(() => 'unknown_asset'),
        ...bad.map(() => 'malformed_terms'),
        ...['signed', 'signed', 'above_total'],
      ]);
    });
  });

  describe('a caller', () => {
    it('calls and pays from a treasury, and a repetition under the same key costs nothing', async () => {
      const before = await spent();
      expect(await snippet(0, { AGENT_NETWORK_KEY: buyer.key })).toBe('SAY HELLO for 0.01 USDC');
      const first = await snippet(2, { AGENT_NETWORK_KEY: buyer.key });
      expect(first).toMatch(/^req_/);
      expect(await snippet(2, { AGENT_NETWORK_KEY: buyer.key })).toBe(first);
      expect((await spent()) - before).toBe(2 * Number(PRICE));
    });

    it('reads errors, failures with their refund, streams and quotes', async () => {
      const code = `${client}
try:
    client.invoke("agt_nobody", "x", max_cost="1")
except ApiError as error:
    print(json.dumps([error.code, error.status, len(error.idempotency_key)]))
try:
    client.invoke(agent_id, "héllo", max_cost="1")
except InvocationFailed as error:
    print(json.dumps([error.record["status"], "not_ascii" in str(error)]))
try:
    client.invoke(agent_id, "x", max_cost="0.001")
except ApiError as error:
    print(json.dumps(error.code))
started = client.invoke(agent_id, "one two", stream=True, wait=False)
print(json.dumps([[e.type, e.data.get("chunk")] for e in client.events(started["requestId"])]))
quote = client.quote(agent_id, "say it")
print(json.dumps(client.invoke(agent_id, "say it", quote=quote["quoteId"], max_cost="1")["result"]))
try:
    client.invoke(agent_id, "slow", max_cost="1", timeout=0, wait=False) and client.wait("req_nothing")
except ApiError as error:
    print(json.dumps(error.code))`;
      const [missing, failed, dear, events, result, unknown] = await run(code);
      expect(missing).toEqual(['NOT_FOUND', 404, 36]);
      expect(failed).toEqual(['failed', true]);
      expect(typeof dear).toBe('string');
      expect(events.filter(([type]: [string]) => type === 'invocation.chunk')).toEqual([
        ['invocation.chunk', 'ONE '],
        ['invocation.chunk', 'TWO '],
      ]);
      expect(events.at(-1)[0]).toBe('invocation.completed');
      expect([result, unknown]).toEqual(['SAY IT', 'NOT_FOUND']);
    });

    it('pays by wallet without a key, once, also when the answer to the payment is lost', async () => {
      const key = `0x${randomBytes(32).toString('hex')}` as const;
      const { address } = privateKeyToAccount(key);
      await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, key);
      expect(await snippet(1, { AGENT_NETWORK_WALLET: key })).toBe('SAY HELLO');
      expect(await untilUsdc(h, address, 1_000_000n - PRICE)).toBe(1_000_000n - PRICE);
      const lossy = await startLossyFront(h.baseUrl);
      const code = `import os
client = Client(os.environ["FRONT"], payer=Payer(os.environ["WALLET"], max_per_call="0.05"))
print(json.dumps(client.invoke(os.environ["AGENT"], "say it", max_cost="0.05")["result"]))
silent = Client(os.environ["FRONT"], payer=client.payer, max_retries=0)
import agent_network
agent_network._MAX_PAID_RETRIES = 0
try:
    silent.invoke(os.environ["AGENT"], "say more", max_cost="0.05")
except NoAnswer as error:
    again = {"idempotency_key": error.idempotency_key, "payment": error.payment}
    print(json.dumps(client.invoke(os.environ["AGENT"], "say more", max_cost="0.05", **again)["result"]))`;
      expect(await run(code, { FRONT: lossy.url, WALLET: key })).toEqual(['SAY IT', 'SAY MORE']);
      expect(lossy.lost()).toBe(2);
      expect(await untilUsdc(h, address, 1_000_000n - 3n * PRICE)).toBe(1_000_000n - 3n * PRICE);
    });

    it('calls from a shell, by an API key or a wallet', async () => {
      const shell = (args: readonly string[], env: Record<string, string>) =>
        promisify(execFile)('python3', ['agent_network.py', ...args], {
          cwd: h.dataDir,
          env: { ...process.env, AGENT_NETWORK_URL: h.baseUrl, ...env },
        }).then(
          ({ stdout }) => ({ code: 0, said: stdout }),
          ({ code, stderr }) => ({ code, said: String(stderr) }),
        );
      const call = ['call', agentId, 'say hello', '--max-cost', '0.05'];
      expect(await shell(call, { AGENT_NETWORK_KEY: buyer.key })).toEqual({ code: 0, said: '"SAY HELLO"\n' });
      const bySlug = ['call', 'shouter', ...call.slice(2)];
      expect(await shell(bySlug, { AGENT_NETWORK_KEY: buyer.key })).toEqual({ code: 0, said: '"SAY HELLO"\n' });
      const found = await shell(['search', 'shouter'], {});
      expect(JSON.parse(found.said)[0].id).toBe(agentId);
      const refused = await shell(call, {});
      expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('PAYMENT_REQUIRED')]);
      const dear = await shell(['call', agentId, 'x', '--max-cost', '0.001'], { AGENT_NETWORK_WALLET: '0x1' });
      expect([dear.code, dear.said]).toEqual([1, expect.stringContaining('64 hexadecimal digits')]);
    });
  });

  describe('an agent', () => {
    it('is registered with what its decorator says, verified, and keeps its token for its user alone', async () => {
      const { data } = (await h.request('GET', `/agents/${agentId}`)).body;
      expect(data).toMatchObject({
        name: 'Shouter',
        capabilities: ['shouting'],
        rates: { perRequest: '0.01' },
        exampleQuestions: ['Say it louder.', 'Put it in capitals.'],
        verified: true,
      });
      const file = join(h.dataDir, 'shouter.json');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ agentId, baseUrl: h.baseUrl });
    });

    it('is paid for its calls', async () => {
      const { data } = (await h.request('GET', '/payments/history?type=earning', { key: owner.key })).body;
      expect(data.payments.length).toBeGreaterThan(0);
      for (const { amount } of data.payments) expect(Number(amount)).toBeGreaterThan(0);
    });

    it('refuses what the node has not signed, and bodies without an honest length', async () => {
      const forged = (headers: Record<string, string>) =>
        fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{"request_id":"x"}', headers });
      expect((await forged({})).status).toBe(401);
      const stamp = `${Math.floor(Date.now() / 1000)}`;
      const signed = { 'webhook-id': 'x', 'webhook-timestamp': stamp, 'webhook-signature': 'v1,AAAA' };
      expect((await forged(signed)).status).toBe(401);
      for (const [length, status] of [
        ['Content-Length: -1', 411],
        ['Content-Length: 99999999', 413],
        ['Transfer-Encoding: chunked', 411],
      ] as const) {
        const stranger = connect(port, '127.0.0.1');
        stranger.write(`POST / HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`);
        const [said] = await once(stranger, 'data');
        stranger.destroy();
        expect(String(said)).toMatch(new RegExp(`^HTTP/1\\.\\d ${status} `));
      }
      expect((await fetch(`http://127.0.0.1:${port}/?request_id=x&proof=y`)).status).toBe(404);
    });

    it.each(['False', 'True'])(
      'asks its caller, who answers, declines or has no answer ready (defer=%s)',
      async (defer) => {
        const code = `import os
asked = []
@agent("Booker ${defer}", capabilities=["booking"], price="0.01", defer=${defer})
def booker(call):
    if len(call.answers) == 0:
        return Ask("Which day?", id="day", schema={"type": "object", "required": ["day"]}, state={"step": 1})
    if len(call.answers) == 1:
        return Ask("For whom?", state={"step": 2})
    return [call.turn, call.state, [[each["action"], each.get("input"), each.get("message")] for each in call.answers]]
booker.start(os.environ["NODE_URL"], os.environ["OWNER"], token_file="booker-${defer}.json", port=int(os.environ["PORT"]))
client = Client(os.environ["NODE_URL"], os.environ["KEY"])
def answers(question):
    asked.append(question["message"])
    return {"day": "Monday"} if "schema" in question else "Ada"
record = client.invoke(booker.agent_id, "book", max_cost="0.01", on_input=answers)
print(json.dumps([record["result"], record["cost"], asked]))
declined = client.invoke(booker.agent_id, "book", max_cost="0.01", on_input=lambda question: None)
print(json.dumps([each[0] for each in declined["result"][2]]))
try:
    client.invoke(booker.agent_id, "book", max_cost="0.01", interactive=True)
except InputRequired as error:
    waits = error.record
client.answer(waits["requestId"], waits["inputRequest"]["inputId"], {"day": "Friday"})
print(json.dumps(client.wait(waits["requestId"], on_input=answers)["result"][2][0][1]))
try:
    client.invoke(booker.agent_id, "book", max_cost="0.01")
except InvocationFailed as error:
    print(json.dumps([error.record["error"]["code"], error.record["refund"]]))
payer = Payer(os.environ["WALLET"], max_per_call="0.01", max_total="0.01")
keyless = Client(os.environ["NODE_URL"], payer=payer)
print(json.dumps(keyless.invoke(booker.agent_id, "book", max_cost="0.01", on_input=answers)["cost"]))
booker.stop()`;
        const key = randomBytes(32).toString('hex');
        await newWallet(h.rpcUrl, h.ctx.chain.token, PRICE, `0x${key}`);
        const before = await spent();
        const said = await run(code, { OWNER: owner.key, PORT: `${await freePort(0)}`, WALLET: key });
        expect(said).toEqual([
          [
            [
              3,
              { step: 2 },
              [
                ['accept', { day: 'Monday' }, null],
                ['accept', {}, 'Ada'],
              ],
            ],
            '0.01',
            ['Which day?', 'For whom?'],
          ],
          ['decline', 'decline'],
          { day: 'Friday' },
          ['agent_needs_input', '0.01'],
          '0.01',
        ]);
        expect((await spent()) - before).toBe(30_000);
      },
    );

    it('can answer later, lower its price, and is offline once it is stopped; a later start is the same agent', async () => {
      const code = `import os
@agent("Later", capabilities=["later"], price="0.02", defer=True)
def later(call):
    return Result({"said": call.input["word"]}, cost="0.005")
options = {"token_file": "later.json", "port": int(os.environ["PORT"])}
ids = []
for word in ("one", "two"):
    later.start(os.environ["NODE_URL"], os.environ["OWNER"], **options)
    ids.append(later.agent_id)
    client = Client(os.environ["NODE_URL"], os.environ["KEY"])
    record = client.invoke(later.agent_id, "say", input={"word": word}, max_cost="0.02")
    later.stop()
    print(json.dumps([record["result"], record["cost"], client.agent(later.agent_id)["status"]]))
print(json.dumps(ids[0] == ids[1]))`;
      const said = await run(code, { OWNER: owner.key, PORT: `${await freePort(0)}` });
      expect(said).toEqual([[{ said: 'one' }, '0.005', 'offline'], [{ said: 'two' }, '0.005', 'offline'], true]);
    });
  });
});

/** A node's address at which the first answer to every payment is lost, after the node has done the call. */
async function startLossyFront(baseUrl: string) {
  const shown = new Set<string>();
  let lost = 0;
  const server = createServer((message: IncomingMessage, response) => {
    const { method = 'GET', url = '/', headers } = message;
    const payment = headers['payment-signature'];
    const isLost = typeof payment === 'string' && !shown.has(payment);
    if (isLost) shown.add(payment);
    const passed = send(baseUrl + url, { method, headers }, (answer) => {
      if (!isLost) return void answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers));
      answer.resume().once('end', () => {
        lost += 1;
        response.destroy();
      });
    });
    message.pipe(passed);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lost: () => lost };
}

import { expect, test } from 'vitest';
import { createLog, type LogOptions, silentLog } from './log.ts';

function capture(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({ level: 'debug', destination: { write: (line) => lines.push(line) }, ...options });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? 'null') };
}

const secretNames = [
  'authorization',
  'Authorization',
  'proxy-authorization',
  'cookie',
  'Set-Cookie',
  'X-PAYMENT',
  'PAYMENT-SIGNATURE',
  'payment_signature',
  'webhook-signature',
  'signature',
  'apiKey',
  'api_key',
  'X-Api-Key',
  'identityToken',
  'identity_token',
  'privateKey',
  'SETTLEMENT_PRIVATE_KEY',
  'secret',
  'SECRET_KEY',
  'webhookSecret',
  'password',
];

test.each(secretNames)('a value under %s is hidden at every depth, in bindings and in lists', (name) => {
  const { log, lines } = capture();
  const holder = { [name]: 'hunter2' };
  log.info({ ...holder, a: holder, b: { c: { d: { e: holder } } }, list: [holder] }, 'call');
  log.info({ [name]: { nested: 'hunter2' } });
  log.child({ headers: holder, ...holder }).info('child');
  log.error(Object.assign(new Error('failed', { cause: Object.assign(new Error('inner'), holder) }), holder));
  expect(lines).toHaveLength(4);
  expect(lines.join('')).not.toContain('hunter2');
  expect(lines.join('')).toContain('[redacted]');
});

test('names that only resemble secret ones are kept', () => {
  const { log, last } = capture();
  log.info({ paymentId: 'pay_1', keyId: 'key_1', token: '0xusdc', secretary: 'Ann', 'x-payment-response': 'ok' });
  expect(last()).toMatchObject({
    paymentId: 'pay_1',
    keyId: 'key_1',
    token: '0xusdc',
    secretary: 'Ann',
    'x-payment-response': 'ok',
  });
});

test.each([
  'connect postgres://app:hunter2@db.example:5432/main failed',
  'connect postgres://app:hun@ter2@db.example/main failed',
  'GET https://rpc.example/?apikey=hunter2&x=1',
  'GET https://rpc.example/v2/hunter2hunter2hunter2hunter2 503',
  'host=db password=hunter2 user=app',
  'sent Authorization: Bearer hunter2',
  `cookie ses_${'0'.repeat(26)}.hunter2${'a'.repeat(36)} was refused`,
])('credentials inside a text are hidden: %s', (text) => {
  const { log, lines, last } = capture();
  log.info(text);
  log.info({ url: text, deep: { list: [text] } });
  log.error(new Error(text, { cause: new Error(text) }));
  expect(lines.join('')).not.toMatch(/hunter2|ter2@/);
  expect(last().msg).toContain('[redacted]');
});

test('an error is written with its type, stack, fields and the chain of causes', () => {
  const { log, last } = capture();
  const root = Object.assign(new TypeError('socket closed'), { code: 'ECONNRESET' });
  const middle = new AggregateError([new Error('first'), root], 'all failed', { cause: root });
  log.error({ err: new Error('could not deliver', { cause: middle }), attempt: 2 }, 'delivery failed');
  expect(last()).toMatchObject({
    level: 'error',
    msg: 'delivery failed',
    attempt: 2,
    err: {
      type: 'Error',
      message: 'could not deliver',
      stack: expect.stringContaining('log.test.ts'),
      cause: {
        message: 'all failed',
        cause: { type: 'TypeError', message: 'socket closed', code: 'ECONNRESET' },
        errors: [{ message: 'first' }, { message: 'socket closed' }],
      },
    },
  });
});

test('bigints, bytes, dates, maps and cycles can be logged', () => {
  const { log, last } = capture();
  const cycle: Record<string, unknown> = { amountMicro: 1_500_000n, at: new Date(0), body: Buffer.alloc(9) };
  cycle.self = cycle;
  log.info({ cycle, headers: new Map([['cookie', 'hunter2']]) });
  expect(last()).toMatchObject({
    cycle: { amountMicro: '1500000', at: '1970-01-01T00:00:00.000Z', body: '[9 bytes]' },
    headers: { cookie: '[redacted]' },
  });
});

test('lines below the level are not written', () => {
  const { log, lines } = capture({ level: 'warn' });
  log.info('quiet');
  log.warn('loud');
  expect(lines).toHaveLength(1);
  expect(silentLog.isLevelEnabled('fatal')).toBe(false);
});

test('pretty lines are readable and hide the same', () => {
  const { log, lines } = capture({ pretty: true });
  log.warn({ err: new Error('outer', { cause: new Error('inner') }), port: 4020, apiKey: 'hunter2' }, 'started');
  expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d warn {2}started port=4020 apiKey=\[redacted\]\nError: outer\n/);
  expect(lines[0]).toContain('caused by Error: inner');
});

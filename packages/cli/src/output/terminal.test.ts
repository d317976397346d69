import { expect, it } from 'vitest';
import { formatFacts } from './table.ts';
import { createTerminal } from './terminal.ts';

const EVIL = 'x\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u009b1;1Hpaid\u202e\r\u007f';
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's own language is looked for
const OBEYED = /(?!\n)[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/;

function terminal(json: boolean, columns = 80) {
  let shown = '';
  const write = (text: string) => {
    shown += text;
  };
  const stream = { isTTY: true, columns, write };
  const process = { stdout: stream, stderr: stream, stdin: {}, env: {} } as unknown as NodeJS.Process;
  return { terminal: createTerminal({ json, quiet: false, color: true }, process), shown: () => shown };
}

it.each([true, false])(
  'nothing that a node or an agent says writes to the terminal as it likes (--json: %s)',
  (json) => {
    const { terminal: to, shown } = terminal(json);
    to.result({ name: EVIL }, () => `${EVIL} ${EVIL}`);
    to.item({ name: EVIL }, () => EVIL);
    to.note(EVIL);
    if (json) for (const line of shown().match(/\{[^}]+\}/g) ?? []) expect(JSON.parse(line)).toEqual({ name: EVIL });
    expect(shown()).toContain('paid');
    expect(shown()).not.toMatch(OBEYED);
  },
);

it('an error and the progress are shown in colors of our own only', () => {
  const { terminal: to, shown } = terminal(false);
  to.failure({ exitCode: 1, code: 'X', message: EVIL, requestId: EVIL });
  to.progress(EVIL);
  const plain = shown().replaceAll('\u001b[31m', '').replaceAll('\u001b[39m', '').replaceAll('\u001b[2m', '');
  expect(plain.replaceAll('\u001b[22m', '').replace('\r\u001b[2K', '')).not.toMatch(OBEYED);
  expect(shown()).toContain('\u001b[31merror\u001b[39m');
});

it('a value of several lines makes no further fact', () =>
  expect(
    formatFacts([
      ['task', 'a\ncost    0.00\r\nx'],
      ['cost', '5.00'],
    ]),
  ).toBe('task  a\n      cost    0.00\n      x\ncost  5.00'));

it('a terminal that tells no width is taken as one of 80 columns', () => {
  const { terminal: to, shown } = terminal(false, 0);
  expect(to.columns).toBe(80);
  to.progress('waiting');
  expect(shown()).toContain('waiting');
});

import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { brokenRule, docCommentsOf, messagesOf } from '../../../scripts/check-words.ts';
import { docRules, messageRules } from '../../../scripts/words.ts';

const parse = (text: string) => ts.createSourceFile('a.tsx', text, ts.ScriptTarget.Latest, true);

describe('a message', () => {
  it('is found in errors, templates, HTML and JSX, with its line', () => {
    const source = parse(`throw new Error('not signed in');
      log.warn({ id }, \`no answer from \${url}\`);
      html\`<p>Page not found.</p>\${title('All agents')}\`;
      const view = <p className="mt-1 mb-2">Nothing was charged.</p>;`);
    expect(messagesOf(source)).toEqual([
      { line: 1, text: 'not signed in' },
      { line: 2, text: 'no answer from {}' },
      { line: 3, text: 'Page not found.' },
      { line: 3, text: 'All agents' },
      { line: 4, text: 'Nothing was charged.' },
    ]);
  });

  it('is not SQL, a key, a class name or other code', () => {
    const source = parse(`query('select id from agent where id = $1'); get('agents:write'); sql\`from agent a\`;`);
    expect(messagesOf(source)).toEqual([]);
  });

  it.each([
    'Slugger is no agent of yours.',
    'The request was failed: no answer.',
    'The agent could not be reached.. 0.02 USDC came back.',
    'There is no such agent.',
    'What does not verify is refused.',
    'The same key is the same purchase.',
    'below it, nobody is asked',
    'rates.perRequest must be a string, and is a number',
    'Mend the call.',
  ])('breaks a rule: %s', (text) => expect(brokenRule(text, messageRules)).toBeDefined());

  it.each([
    'You have no agent with the id "Slugger".',
    'There is no terminal to ask on.',
    'The agent is no longer listed.',
    'Run `mend ..` in the folder.',
    'Loading...',
  ])('breaks none: %s', (text) => expect(brokenRule(text, messageRules)).toBeUndefined());
});

it('a doc comment is read as one text, and may not open with a riddle', () => {
  const [first, second] = docCommentsOf(parse('/** Its\n * own key. */\nlet a;\n/** A key of the node. */\nlet b;'));
  expect(first).toEqual({ line: 1, text: 'Its own key.' });
  expect(brokenRule('Its own key.', docRules)).toBeDefined();
  expect(brokenRule(second?.text ?? '', docRules)).toBeUndefined();
});

import { Capability } from '@agent-network/contracts/agents/agent-search';
import { expect, it } from 'vitest';
import { suggestCapabilities } from './suggest-capabilities.ts';

const known = ['translation', 'text-analysis', 'convert', 'poems', 'ocr'];

it.each([
  ['French', 'Translates English into French.', ['translation']],
  ['Analyst', 'Analysis of any text', ['text-analysis']],
  ['Case Converter', '', ['convert']],
  ['Title Slugger', 'Makes links.', ['title-slugger']],
  ['Scans', 'An OCR service that translates poems and converts them', ['translation', 'convert', 'poems']],
  ['مترجم', 'يترجم', []],
  ['', '', []],
])('suggests for %s', (name, description, suggested) => {
  expect(suggestCapabilities({ name, description }, known)).toEqual(suggested);
});

it('suggests only what the API takes', () => {
  for (const name of ['-- x --', 'a'.repeat(200), 'B  2  C!'])
    for (const each of suggestCapabilities({ name, description: '' }, []))
      expect(Capability.safeParse(each).success).toBe(true);
});

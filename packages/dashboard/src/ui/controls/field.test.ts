import { expect, it } from 'vitest';
import { errorText } from './field.tsx';

it.each([
  ['Name', 'is required', 'Enter a name'],
  ['Endpoint', 'is required', 'Enter an endpoint'],
  ['URL', 'is required', 'Enter a URL'],
  ['API key', 'is required', 'Enter an API key'],
  ['Capabilities', 'must have at least 1', 'Add at least one'],
  ['Endpoint', 'must be an http(s) URL', 'Endpoint must be an http(s) URL'],
  ['Name', 'Choose another name.', 'Choose another name.'],
])('%s: %s', (label, error, text) => expect(errorText(label, error)).toBe(text));

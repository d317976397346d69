import { expect, it } from 'vitest';
import { changeBody, type WebhookValues } from './webhook.ts';

const before: WebhookValues = { url: 'https://a.example/', description: 'a', eventTypes: ['agent.online'] };

it.each<[string, Partial<WebhookValues>, object]>([
  ['nothing: a field as it was', {}, { description: 'a' }],
  ['the URL', { url: ' https://b.example/ ' }, { url: 'https://b.example/' }],
  ['the events', { eventTypes: null }, { eventTypes: null }],
  ['the description', { description: 'b' }, { description: 'b' }],
])('an endpoint is sent only what was changed: %s', (_name, change, body) => {
  expect(changeBody({ ...before, ...change }, before)).toEqual(body);
});

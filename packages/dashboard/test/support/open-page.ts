import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export interface OpenPage {
  readonly page: Page;
  /** Errors in the console, of scripts and of the content policy; a test that provokes one takes it out. */
  readonly complaints: string[];
}

/** Browser messages about error answers, which the tests check themselves. */
const ABOUT_ANSWERS = /^Failed to load resource: the server responded with a status of [45]/;

export function watchPage(page: Page): OpenPage {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !ABOUT_ANSWERS.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  // What a view needs is waited for by what it shows.
  const goto = page.goto.bind(page);
  page.goto = (url, options) => goto(url, { waitUntil: 'domcontentloaded', ...options });
  return { page, complaints };
}

export const expectNoComplaints = ({ complaints }: OpenPage): void => expect(complaints).toEqual([]);

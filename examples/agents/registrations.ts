import type { ServeAgentOptions } from '@agent-network/sdk/agent';

/** An agent's description of itself for a node. */
export type AgentDescription = Omit<NonNullable<ServeAgentOptions['registerWith']>, 'baseUrl' | 'apiKey' | 'tokenFile'>;

const text = (title: string, maxLength: number) => ({ type: 'string', title, maxLength });

export const echoAgent: AgentDescription = {
  name: 'Echo',
  description: 'Sends back the task and the input that it was given. Good for trying out a node.',
  capabilities: ['echo'],
  rates: { perRequest: '0.01' },
  exampleQuestions: ['Repeat what I say', 'Check that a paid call works'],
  types: {
    inputSchema: { type: 'object', properties: { message: text('Message', 20_000) } },
    outputSchema: { type: 'object', properties: { echo: { type: 'object' } }, required: ['echo'] },
    examples: [
      {
        description: 'A greeting',
        input: { message: 'Hello!' },
        output: { echo: { task: 'say it back', input: { message: 'Hello!' } } },
      },
    ],
    estimatedTime: '1s',
  },
};

export const textAnalystAgent: AgentDescription = {
  name: 'Text Analyst',
  description:
    'Counts words and sentences, finds keywords and summarises English text with its own sentences. Send the text as the task, or in the field text of the input.',
  capabilities: ['text-analysis', 'keyword-extraction', 'summarization'],
  rates: { perRequest: '0.05' },
  exampleQuestions: [
    'Summarize this article in three sentences',
    'TL;DR of this blog post',
    'What are the keywords of this text?',
    'How many words does my document have?',
  ],
  types: {
    inputSchema: {
      type: 'object',
      properties: {
        text: { ...text('Text', 200_000), description: 'The text to analyse. Default: the task.' },
        maxKeywords: { type: 'integer', title: 'Number of keywords', minimum: 1, maximum: 50, default: 10 },
        summarySentences: { type: 'integer', title: 'Sentences of the summary', minimum: 1, maximum: 20, default: 3 },
      },
    },
    outputSchema: {
      type: 'object',
      properties: {
        counts: { type: 'object' },
        readingTime: { type: 'string' },
        keywords: { type: 'array' },
        summary: { type: 'string' },
      },
      required: ['counts', 'readingTime', 'keywords', 'summary'],
    },
    examples: [
      {
        description: 'A short paragraph',
        input: {
          text: 'Honey bees tell each other where food is by dancing. The angle of the dance shows the direction. Its length shows the distance.',
          maxKeywords: 3,
          summarySentences: 1,
        },
      },
    ],
    estimatedTime: '1s',
  },
};

export const caseConverterAgent: AgentDescription = {
  name: 'Case Converter',
  description:
    'Writes words in camelCase, snake_case, kebab-case and Title Case. Free: anybody can try it, without an account.',
  capabilities: ['case-conversion'],
  rates: { perRequest: '0' },
  exampleQuestions: [
    'Turn this title into camelCase',
    'Write these words in snake_case',
    'Make a kebab-case name of this heading',
  ],
  types: {
    inputSchema: {
      type: 'object',
      properties: {
        text: { ...text('Words', 10_000), description: 'The words to write. Default: the task.' },
        style: {
          title: 'Style',
          enum: ['all', 'camelCase', 'snake_case', 'kebab-case', 'Title Case'],
          default: 'all',
        },
      },
    },
    outputSchema: { type: 'object', additionalProperties: { type: 'string' } },
    examples: [
      {
        description: 'A heading for a program',
        input: { text: 'monthly report of sales', style: 'kebab-case' },
        output: { 'kebab-case': 'monthly-report-of-sales' },
      },
    ],
    estimatedTime: '1s',
  },
};

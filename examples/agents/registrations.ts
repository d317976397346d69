/** An agent's description of itself for a node. */
export interface AgentDescription {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly rates: { readonly perRequest: string };
}

export const echoAgent: AgentDescription = {
  name: 'Echo',
  description: 'Sends back the task and the input that it was given. Good for trying out a node.',
  capabilities: ['echo'],
  rates: { perRequest: '0.01' },
};

export const textAnalystAgent: AgentDescription = {
  name: 'Text Analyst',
  description:
    'Counts words and sentences, finds keywords and summarises English text with its own sentences. Send the text as the task, or in the field text of the input.',
  capabilities: ['text-analysis', 'keyword-extraction', 'summarization'],
  rates: { perRequest: '0.05' },
};

export const caseConverterAgent: AgentDescription = {
  name: 'Case Converter',
  description:
    'Writes words in camelCase, snake_case, kebab-case and Title Case. Free: anybody can try it, without an account.',
  capabilities: ['case-conversion'],
  rates: { perRequest: '0' },
};

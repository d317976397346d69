import { convertCases } from './cases.ts';
import { caseConverterAgent } from './registrations.ts';
import { startAgent } from './start-agent.ts';

await startAgent(caseConverterAgent, ({ task, input }) => convertCases(task, input));

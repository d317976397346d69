import { inCases } from './cases.ts';
import { caseConverterAgent } from './registrations.ts';
import { startAgent } from './start-agent.ts';

await startAgent(caseConverterAgent, ({ task }) => inCases(task));

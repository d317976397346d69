import { textAnalystAgent } from './registrations.ts';
import { startAgent } from './start-agent.ts';
import { analyseText } from './text/analyse-text.ts';
import { readRequest } from './text/read-request.ts';

await startAgent(textAnalystAgent, ({ task, input }) => {
  const { text, wanted } = readRequest(task, input);
  return analyseText(text, wanted);
});

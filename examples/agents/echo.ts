import { echoAgent } from './registrations.ts';
import { startAgent } from './start-agent.ts';

await startAgent(echoAgent, ({ task, input }) => ({ echo: { task, input } }));

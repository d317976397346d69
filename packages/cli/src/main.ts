import { run } from './program.ts';

// A reader that went away (agentnet … | head) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
await run(process);

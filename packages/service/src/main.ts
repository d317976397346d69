import { warnOfMisspelt } from './compose/start-warnings.ts';
import { readConfig } from './config/config.ts';
import { startDashboardBuild } from './http/site/dashboard-build.ts';
import { stopAsked } from './lib/process/stop-asked.ts';
import { createLog } from './lib/telemetry/log.ts';
import { redactText } from './lib/telemetry/redact.ts';
import { startLocalNode } from './local-mode.ts';
import { startNode } from './node.ts';

/** Reads the configuration, starts the node, waits for a stop signal, stops. Exit code 1: start or orderly stop failed. */
async function main(): Promise<void> {
  const { config, secrets } = readConfig(process.env);
  const log = createLog({ level: config.logLevel, pretty: config.mode === 'local' });
  warnOfMisspelt(process.env, log);
  process.on('unhandledRejection', (err) => log.error({ err }, 'unhandled promise rejection'));
  const dashboard = config.servesDashboard ? startDashboardBuild(log) : undefined;
  const start = config.mode === 'local' ? startLocalNode : startNode;
  const node = await start({ config, secrets, log, ...(dashboard ? { dashboard } : {}) });
  if (config.mode === 'production') log.info({ baseUrl: node.baseUrl }, 'ready');
  await stopAsked();
  dashboard?.stop();
  await node.stop();
  // Work that waits for an unresponsive chain or agent has been handed back.
  process.exit();
}

main().catch((error: unknown) => {
  process.stderr.write(
    redactText(`agent-network could not start: ${error instanceof Error ? error.message : error}\n`),
  );
  if (process.env.LOG_LEVEL === 'debug' && error instanceof Error) process.stderr.write(redactText(`${error.stack}\n`));
  process.exit(1);
});

/** The processor time that a node has used by its own `/metrics`, in milliseconds, and the requests that it has answered. */
export async function nodeCpu(baseUrl: string): Promise<{ readonly cpuMs: number; readonly requests: number }> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const [, seconds] = /^process_cpu_seconds_total (\S+)/m.exec(text) ?? [];
  const counts = [...text.matchAll(/^http_server_request_duration_seconds_count\{[^}]*\} (\S+)/gm)];
  const requests = counts.reduce((sum, [, count]) => sum + Number(count), 0);
  return { cpuMs: Number(seconds) * 1000, requests };
}

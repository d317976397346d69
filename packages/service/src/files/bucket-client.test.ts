import { expect, it } from 'vitest';
import { signedHeaders } from './bucket-client.ts';

/** The examples of "Authenticating Requests: Using the Authorization Header" in the reference of Amazon S3. */
it('a request is signed as in the examples of the S3 reference', () => {
  const keys = {
    region: 'us-east-1',
    keyId: 'AKIAIOSFODNN7EXAMPLE',
    keySecret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
  const at = new Date('2013-05-24T00:00:00Z');
  const get = signedHeaders(keys, {
    method: 'GET',
    url: 'https://examplebucket.s3.amazonaws.com/test.txt',
    headers: { range: 'bytes=0-9' },
    at,
  });
  expect(get.authorization).toMatch(/Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41$/);
  const put = signedHeaders(keys, {
    method: 'PUT',
    url: 'https://examplebucket.s3.amazonaws.com/test%24file.text',
    body: Buffer.from('Welcome to Amazon S3.'),
    headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
    at,
  });
  expect(put.authorization).toMatch(/Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd$/);
});

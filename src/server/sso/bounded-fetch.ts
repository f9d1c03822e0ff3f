/** fetch() for what a provider answers: no more of it is read than anything here needs. */

/** Bytes; metadata, keys and tokens are some kilobytes. */
const LARGEST = 1024 * 1024;

/** The answer, read to its end. Throws for one that is too large, and when the request's signal says that it takes too long. */
export async function boundedFetch(url: string, options: object): Promise<Response> {
  const response = await fetch(url, options as RequestInit);
  const { status, statusText, headers } = response;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > LARGEST) throw new TypeError("the answer is too large");
    chunks.push(chunk);
  }
  const kept = new Headers(headers);
  // The body has already been decoded.
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) kept.delete(name);
  return new Response(length === 0 ? null : Buffer.concat(chunks), { status, statusText, headers: kept });
}

import type { Compression } from '#engine/ports/compression.ts'

export const gzip: Compression = {
  compress: async (text) => bytesOf(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))),
  decompress: async (bytes) =>
    new Response(new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream('gzip'))).text(),
}

const bytesOf = async (stream: ReadableStream<BufferSource>): Promise<Uint8Array> =>
  new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())

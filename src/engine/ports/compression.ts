/** For what is kept and hardly ever looked at. */
export interface Compression {
  compress(text: string): Promise<Uint8Array>
  decompress(bytes: Uint8Array): Promise<string>
}
